"""What onnx-ir refuses, set aside before it reads the model: one diagnostic each, never an error.

The parsed model is changed in place to the least that onnx-ir accepts. What that loses is kept
in :class:`Aside`, from which the loader completes the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import onnx

from ..diagnostics import Diagnostic, Severity
from .dtypes import dtype_name
from .model import Attribute, GraphPath, NodeId, TensorType, Weight
from .texts import escape_texts
from .weights import sparse_weight, unreadable_weight

Kind = onnx.AttributeProto.AttributeType
_GRAPH_PARTS = (
    "input",
    "output",
    "value_info",
    "initializer",
    "sparse_initializer",
    "quantization_annotation",
    "metadata_props",
)
_EXTERNAL_KEYS = ("location", "offset", "length", "checksum")


@dataclass
class Aside:
    """What onnx-ir cannot hold; it takes precedence over what onnx-ir says.

    Attributes:
        types: by graph and value name.
        weights: by graph and initializer name.
        attributes: by node and attribute name.
        outputs: the outputs of functions that do not produce all of them.
        diagnostics: what was found.
    """

    types: dict[tuple[GraphPath, str], TensorType] = field(default_factory=dict)
    weights: dict[GraphPath, dict[str, Weight]] = field(default_factory=dict)
    attributes: dict[NodeId, dict[str, Attribute]] = field(default_factory=dict)
    outputs: dict[GraphPath, tuple[str, ...]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def function_path(domain: str, name: str, overload: str) -> GraphPath:
    """The path of a function's body."""
    return (f"{domain}::{name}" + (f":{overload}" if overload else ""),)


def repair(proto: onnx.ModelProto, where: str) -> Aside:
    """Change ``proto`` in place to what onnx-ir accepts.

    Args:
        proto: as parsed; its nesting is bounded by protobuf's own limit of 100 messages.
        where: begins the errors of weights that cannot be read (the model's path).
    """
    work = _Repair(where)
    work.model(proto)
    return work.aside


class _Repair:
    def __init__(self, where: str) -> None:
        self.where = where
        self.aside = Aside()

    def say(
        self,
        code: str,
        severity: Severity,
        text: str,
        remedy: str,
        node: NodeId | None = None,
        proto: onnx.NodeProto | None = None,
        **data: Any,
    ) -> None:
        name, op = ("", "") if proto is None else (proto.name, _op(proto))
        self.aside.diagnostics.append(
            Diagnostic(code, severity, text, remedy, node, name, op, data=data)
        )

    def texts(self, message: Any, owner: str, stop: str = "onnx.GraphProto") -> None:
        """Escape the broken strings of what is no node."""
        if broken := escape_texts(message, stop):
            self.not_utf8(owner, broken)

    def not_utf8(
        self,
        owner: str,
        fields: list[str],
        node: NodeId | None = None,
        proto: onnx.NodeProto | None = None,
    ) -> None:
        names, verb = " and ".join(fields), "is" if len(fields) == 1 else "are"
        shown = f" and shown as '{proto.name}'" if proto is not None and "name" in fields else ""
        self.say(
            "invalid-utf8",
            Severity.WARNING,
            f"{owner}'s {names} {verb} not valid UTF-8; the bad bytes are escaped{shown}",
            "Have the exporter write names as UTF-8; other readers may refuse the file.",
            node,
            proto,
            fields=fields,
        )

    def model(self, proto: onnx.ModelProto) -> None:
        functions: set[tuple[str, str, str]] = set()
        index = 0
        while index < len(proto.functions):
            function = proto.functions[index]
            self.texts(function, f"function {index}", "onnx.NodeProto")
            key = (function.domain, function.name, function.overload)
            if key in functions:
                self.say(
                    "function-defined-twice",
                    Severity.WARNING,
                    f"the function '{function.domain}::{function.name}' is defined twice; "
                    "the second definition is left out",
                    "Keep one definition of it.",
                )
                del proto.functions[index]
                continue
            functions.add(key)
            self.function(function, function_path(*key))
            index += 1
        for part in ("opset_import", "metadata_props", "configuration"):
            for message in getattr(proto, part, ()):
                self.texts(message, f"the model's {part}")
        for name in ("producer_name", "producer_version", "domain", "doc_string"):
            value = getattr(proto, name)
            if isinstance(value, bytes):
                setattr(proto, name, value.decode("utf-8", "backslashreplace"))
                self.not_utf8("the model", [name])
        self.graph(proto.graph, ())

    def function(self, proto: onnx.FunctionProto, path: GraphPath) -> None:
        names = _Names(proto.node)
        for index, name in enumerate(proto.input):
            proto.input[index] = self.define(names, name, f"input {index} of the function", path)
        self.types(proto.value_info, path)
        self.nodes(proto.node, names, path)
        for attribute in proto.attribute_proto:
            self.untyped(attribute)
        produced = [n for n in proto.output if n in names.defined]
        if len(produced) < len(proto.output):
            self.aside.outputs[path] = tuple(proto.output)
            proto.output[:] = produced

    def graph(self, graph: onnx.GraphProto, path: GraphPath) -> None:
        where = f"the graph {'/'.join(path)}" if path else "the graph"
        for name in ("name", "doc_string"):
            value = getattr(graph, name)
            if isinstance(value, bytes):
                setattr(graph, name, value.decode("utf-8", "backslashreplace"))
                self.not_utf8(where, [name])
        for part in _GRAPH_PARTS:
            for index, message in enumerate(getattr(graph, part)):
                self.texts(message, f"{where}'s {part} {index}")
        for infos in (graph.input, graph.output, graph.value_info):
            self.types(infos, path)
        names = _Names(graph.node)
        for index, info in enumerate(graph.input):
            info.name = self.define(names, info.name, f"input {index} of {where}", path)
        self.initializers(graph, names, path)
        self.nodes(graph.node, names, path)

    def initializers(self, graph: onnx.GraphProto, names: _Names, path: GraphPath) -> None:
        inputs = set(names.defined)
        weights = self.aside.weights.setdefault(path, {})
        unnamed = [i for i, tensor in enumerate(graph.initializer) if not tensor.name]
        if unnamed:
            self.say(
                "unnamed-initializer",
                Severity.WARNING,
                f"{len(unnamed)} initializers have no name and are left out (first: number "
                f"{unnamed[0]})",
                "Nothing can read them; remove them.",
            )
            for index in reversed(unnamed):
                del graph.initializer[index]
        for index, tensor in enumerate(graph.initializer):
            if tensor.name in inputs:
                inputs.discard(tensor.name)  # an input's default value, not a second definition
            else:
                tensor.name = self.define(names, tensor.name, f"initializer {index}", path)
            if broken := self.tensor(tensor, f"initializer '{tensor.name}'"):
                weights[tensor.name] = broken
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            if name in inputs:
                inputs.discard(name)
            else:
                name = self.define(names, name, "a sparse initializer", path)
            weights[name] = self.sparse(sparse, name, f"sparse initializer '{name}'")
        del graph.sparse_initializer[:]

    def nodes(self, nodes: Iterable[onnx.NodeProto], names: _Names, path: GraphPath) -> None:
        for index, node in enumerate(nodes):
            identity = NodeId(path, index)
            if broken := escape_texts(node):
                self.not_utf8(f"node {identity}", broken, identity, node)
            for slot, name in enumerate(node.output):
                if name:
                    by = f"node {_label(node, identity)}"
                    new = self.define(names, name, by, path, identity, node)
                    if new != name:
                        node.output[slot] = new
            if node.attribute:
                self.attributes(node, identity)

    def define(
        self,
        names: _Names,
        name: str,
        by: str,
        path: GraphPath,
        node: NodeId | None = None,
        proto: onnx.NodeProto | None = None,
    ) -> str:
        """The name under which ``by`` defines ``name``: another one if it is taken."""
        if name not in names.defined:
            names.defined[name] = by
            return name
        new = names.fresh(name)
        names.defined[new] = by
        self.say(
            "value-defined-twice",
            Severity.ERROR,
            f"the value '{name}' is defined twice: by {names.defined[name]} and by {by}; the "
            f"second is shown as '{new}', and what reads '{name}' gets the first",
            "Give each value a name of its own in the model.",
            node,
            proto,
            value=name,
            renamed=new,
            graph=list(path),
        )
        return new

    def types(self, infos: Iterable[onnx.ValueInfoProto], path: GraphPath) -> None:
        for info in infos:
            if refused := self.refused(info.type, f"value '{info.name}'"):
                self.aside.types[path, info.name] = refused
                info.ClearField("type")

    def refused(self, proto: onnx.TypeProto, what: str) -> TensorType | None:
        """What a type says, where onnx-ir refuses it (and then a diagnostic); None otherwise."""
        kinds: list[str] = []
        while (kind := proto.WhichOneof("value")) in ("sequence_type", "optional_type"):
            kinds.append(kind.removesuffix("_type"))
            proto = getattr(proto, kind).elem_type
        text = " of ".join((*kinds, ""))
        outer = kinds[0] if kinds else "tensor"
        if kind == "map_type":
            key = dtype_name(proto.map_type.key_type) or "?"
            value = _element(proto.map_type.value_type)
            self.say(
                "map-type",
                Severity.INFO,
                f"{what} is a {text}map from {key} to {value}, which is shown but not computed",
                "Only classical machine-learning operators (ZipMap) make maps.",
            )
            return TensorType(value, None, kinds[0] if kinds else "map")
        tensor = getattr(proto, kind) if kind in ("tensor_type", "sparse_tensor_type") else None
        if tensor is not None and dtype_name(tensor.elem_type) is None:
            self.say(
                "unknown-element-type",
                Severity.WARNING,
                f"{what} has the element type {tensor.elem_type}, which is unknown",
                "The model was written for a newer ONNX, or is damaged.",
                element_type=tensor.elem_type,
            )
            return TensorType("?", _shape(tensor), outer)
        if kinds and (tensor is None or not tensor.elem_type):
            self.say(
                "incomplete-type",
                Severity.INFO,
                f"{what} is a {text}values whose type is not stated",
                "",
            )
            return TensorType("?", None, outer)
        return None

    def attributes(self, node: onnx.NodeProto, identity: NodeId) -> None:
        aside: dict[str, Attribute] = {}
        drop: list[int] = []
        seen: set[str] = set()
        for index, attribute in enumerate(node.attribute):
            name = attribute.name
            what = f"attribute '{name}' of node {_label(node, identity)}"
            if name in seen:
                self.say(
                    "attribute-given-twice",
                    Severity.WARNING,
                    f"{what} is given twice; the second is left out",
                    "Keep one of them.",
                    identity,
                    node,
                )
                drop.append(index)
                continue
            seen.add(name)
            if attribute.ref_attr_name:
                continue
            if not self.untyped(attribute):
                self.say(
                    "attribute-without-type",
                    Severity.WARNING,
                    f"{what} states neither a type nor a value and is left out",
                    "The model was written for a newer ONNX, or is damaged.",
                    identity,
                    node,
                )
                drop.append(index)
                continue
            replaced, value = self.value(attribute, identity, what, node)
            if replaced:
                aside[name] = value
                if attribute.type not in (Kind.TENSOR, Kind.TENSORS):
                    drop.append(index)
        for index in reversed(drop):
            del node.attribute[index]
        if aside:
            self.aside.attributes[identity] = aside

    def untyped(self, attribute: onnx.AttributeProto) -> bool:
        """Give an attribute of the oldest models its type, from its value; False if impossible."""
        if attribute.type == Kind.UNDEFINED:
            for kind, name in _FIELDS.items():
                single = kind in (Kind.FLOAT, Kind.INT, Kind.STRING, Kind.TENSOR, Kind.GRAPH)
                if attribute.HasField(name) if single else len(getattr(attribute, name)):
                    attribute.type = kind
                    break
        return bool(attribute.type != Kind.UNDEFINED)

    def value(
        self, attribute: onnx.AttributeProto, node: NodeId, what: str, proto: onnx.NodeProto
    ) -> tuple[bool, Attribute]:
        """(whether onnx-ir refuses the attribute's value, the value to take instead)."""
        name = attribute.name
        match attribute.type:
            case Kind.GRAPH:
                self.graph(attribute.g, (*node.graph, f"{node.index}.{name}"))
            case Kind.GRAPHS:
                for k, graph in enumerate(attribute.graphs):
                    self.graph(graph, (*node.graph, f"{node.index}.{name}[{k}]"))
            case Kind.TENSOR:
                if broken := self.tensor(attribute.t, what):
                    return True, broken
            case Kind.TENSORS:
                weights = [self.tensor(t, what) for t in attribute.tensors]
                if broken := next(filter(None, weights), None):
                    return True, tuple(broken for _ in weights)
            case Kind.SPARSE_TENSOR:
                return True, self.sparse(attribute.sparse_tensor, name, what)
            case Kind.SPARSE_TENSORS:
                return True, tuple(self.sparse(s, name, what) for s in attribute.sparse_tensors)
            case Kind.TYPE_PROTO:
                if refused := self.refused(attribute.tp, what):
                    return True, refused
            case Kind.STRING | Kind.STRINGS:
                values = attribute.strings if attribute.type == Kind.STRINGS else [attribute.s]
                if not all(map(_is_text, values)):
                    self.say(
                        "invalid-utf8",
                        Severity.INFO,
                        f"{what} is not valid UTF-8; its bytes are kept as they are",
                        "",
                        node,
                        proto,
                    )
                    decoded = tuple(v.decode() if _is_text(v) else v for v in values)
                    return True, decoded if attribute.type == Kind.STRINGS else decoded[0]
        return False, None

    def tensor(self, tensor: onnx.TensorProto, what: str) -> Weight | None:
        """A stand-in for a tensor of which the file tells too little; None if it is fine."""
        code, reason = "unknown-element-type", ""
        if dtype_name(tensor.data_type) is None:
            reason = f"its element type {tensor.data_type} is unknown"
        elif any(d < 0 for d in tensor.dims):
            code, reason = "invalid-tensor", f"its shape {list(tensor.dims)} is negative"
        elif tensor.data_location == onnx.TensorProto.EXTERNAL:
            code, reason = "external-data-invalid", self.external(tensor)
        if not reason:
            return None
        self.say(
            code,
            Severity.ERROR,
            f"{what}: {reason}, so it was not read",
            "Export the model again; it is damaged, or written for a newer ONNX.",
        )
        shape = tuple(max(d, 0) for d in tensor.dims)
        if dtype_name(tensor.data_type) is None:
            tensor.data_type = onnx.TensorProto.UNDEFINED
        del tensor.dims[:]
        del tensor.external_data[:]
        return unreadable_weight(self.where, tensor.name, shape, reason)

    def external(self, tensor: onnx.TensorProto) -> str:
        """What is wrong with where the values are said to be, or ""."""
        entries = {e.key: e.value for e in tensor.external_data}
        if unknown := sorted(entries.keys() - set(_EXTERNAL_KEYS)):
            self.say(
                "external-data-key",
                Severity.INFO,
                f"tensor '{tensor.name}': its external data states {unknown}, which is ignored",
                "",
            )
        del tensor.external_data[:]
        for key in _EXTERNAL_KEYS:
            if key in entries:
                tensor.external_data.add(key=key, value=entries[key])
        if not entries.get("location"):
            return "its external data has no location"
        for key in ("offset", "length"):
            text = entries.get(key, "0")
            if not (text.isascii() and text.isdigit() and len(text) < 20):
                return f"the {key} of its external data is '{text}'"
        return ""

    def sparse(self, proto: onnx.SparseTensorProto, name: str, what: str) -> Weight:
        self.say(
            "sparse-tensor",
            Severity.INFO,
            f"{what} is sparse ({len(proto.indices.dims) and proto.indices.dims[0]:,} values of "
            f"shape {list(proto.dims)}); it is used as a dense tensor",
            "",
        )
        copy = onnx.SparseTensorProto()
        copy.CopyFrom(proto)
        for tensor in (copy.values, copy.indices):
            if tensor.data_location == onnx.TensorProto.EXTERNAL or any(d < 0 for d in copy.dims):
                reason = "it is sparse with external data or a negative shape"
                return unreadable_weight(self.where, name, (), reason)
        return sparse_weight(self.where, name, copy)


class _Names:
    """The values defined so far in one graph, and the names that are taken there."""

    def __init__(self, nodes: Sequence[onnx.NodeProto]) -> None:
        self.defined: dict[str, str] = {}
        self._nodes = nodes
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def fresh(self, name: str) -> str:
        """A name like ``name`` that nothing here has or reads."""
        self._taken = self._taken or {n for p in self._nodes for n in (*p.input, *p.output)}
        count = self._counts.get(name, 1) + 1
        while (new := f"{name} ({count})") in self._taken or new in self.defined:
            count += 1
        self._counts[name] = count
        return new


_FIELDS = {
    Kind.FLOAT: "f",
    Kind.INT: "i",
    Kind.STRING: "s",
    Kind.TENSOR: "t",
    Kind.GRAPH: "g",
    Kind.FLOATS: "floats",
    Kind.INTS: "ints",
    Kind.STRINGS: "strings",
    Kind.TENSORS: "tensors",
    Kind.GRAPHS: "graphs",
}


def _op(node: onnx.NodeProto) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain else str(node.op_type)


def _label(node: onnx.NodeProto, identity: NodeId) -> str:
    return f"'{node.name}'" if node.name else f"'{node.op_type} #{identity.index}'"


def _is_text(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _element(proto: onnx.TypeProto) -> str:
    kind = proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        return dtype_name(getattr(proto, kind).elem_type) or "?"
    return "?"


def _shape(tensor: Any) -> tuple[int | str | None, ...] | None:
    if not tensor.HasField("shape"):
        return None
    return tuple(
        d.dim_value if d.WhichOneof("value") == "dim_value" else d.dim_param or None
        for d in tensor.shape.dim
    )
