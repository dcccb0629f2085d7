"""What onnx-ir refuses, set aside before it reads the model: one diagnostic each, never an error.

The parsed model is changed in place to the least that onnx-ir accepts. What that loses is kept
in :class:`.aside.Aside`, from which the loader completes the model.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableSequence, Sequence

import onnx

from ..diagnostics import Severity
from .aside import Aside
from .model import Attribute, GraphPath, NodeId
from .repair_values import Kind, broken_tensor, dense_weight, refused_type, settle_kind
from .texts import escape_texts

_GRAPH_PARTS = (
    "input",
    "output",
    "value_info",
    "initializer",
    "sparse_initializer",
    "quantization_annotation",
    "metadata_props",
)


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
        self.aside = Aside(where)

    def model(self, proto: onnx.ModelProto) -> None:
        functions: set[tuple[str, str, str]] = set()
        index = 0
        while index < len(proto.functions):
            function = proto.functions[index]
            self.aside.escape(function, f"function {index}", "onnx.NodeProto")
            key = (function.domain, function.name, function.overload)
            if key in functions:
                self.aside.say(
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
                self.aside.escape(message, f"the model's {part}")
        self.aside.escape(proto, "the model", deep=False)
        self.graph(proto.graph, ())

    def function(self, proto: onnx.FunctionProto, path: GraphPath) -> None:
        names = _Names(proto.node)
        for index, name in enumerate(proto.input):
            proto.input[index] = self.define(names, name, f"input {index} of the function", path)
        self.types(proto.value_info, path)
        self.nodes(proto.node, names, path)
        self.attributes(proto.attribute_proto, NodeId(path, -1), f"the function '{proto.name}'")
        produced = [n for n in proto.output if n in names.defined]
        if len(produced) < len(proto.output):
            self.aside.outputs[path] = tuple(proto.output)
            proto.output[:] = produced

    def graph(self, graph: onnx.GraphProto, path: GraphPath) -> None:
        where = f"the graph {'/'.join(path)}" if path else "the graph"
        self.aside.escape(graph, where, deep=False)
        for part in _GRAPH_PARTS:
            for index, message in enumerate(getattr(graph, part)):
                self.aside.escape(message, f"{where}'s {part} {index}")
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
            self.aside.say(
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
            if broken := broken_tensor(self.aside, tensor, f"initializer '{tensor.name}'"):
                weights[tensor.name] = broken
        for sparse in graph.sparse_initializer:
            name = sparse.values.name
            if name in inputs:
                inputs.discard(name)
            else:
                name = self.define(names, name, "a sparse initializer", path)
            weights[name] = dense_weight(self.aside, sparse, name, f"sparse initializer '{name}'")
        del graph.sparse_initializer[:]

    def nodes(self, nodes: Iterable[onnx.NodeProto], names: _Names, path: GraphPath) -> None:
        for index, node in enumerate(nodes):
            identity = NodeId(path, index)
            self.aside.not_utf8(f"node {identity}", escape_texts(node), identity, node)
            label = f"node '{node.name or f'{node.op_type} #{index}'}'"
            for slot, name in enumerate(node.output):
                if name:
                    new = self.define(names, name, label, path, identity, node)
                    if new != name:
                        node.output[slot] = new
            if node.attribute:
                self.attributes(node.attribute, identity, label, node)

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
        self.aside.say(
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
            if refused := refused_type(self.aside, info.type, f"value '{info.name}'"):
                self.aside.types[path, info.name] = refused
                info.ClearField("type")

    def attributes(
        self,
        attributes: MutableSequence[onnx.AttributeProto],
        owner: NodeId,
        label: str,
        proto: onnx.NodeProto | None = None,
    ) -> None:
        """Look through a node's attributes, or (index -1) the defaults of a function's."""
        aside: dict[str, Attribute] = {}
        drop: list[int] = []
        seen: set[str] = set()
        for index, attribute in enumerate(attributes):
            what = f"attribute '{attribute.name}' of {label}"
            if attribute.name in seen:
                text = f"{what} is given twice; the second is left out"
                self.aside.say(
                    "attribute-given-twice", Severity.WARNING, text, "Keep one.", owner, proto
                )
                drop.append(index)
                continue
            seen.add(attribute.name)
            if attribute.ref_attr_name:
                continue
            if not settle_kind(attribute):
                self.aside.say(
                    "attribute-without-type",
                    Severity.WARNING,
                    f"{what} states neither a type nor a value and is left out",
                    "The model was written for a newer ONNX, or is damaged.",
                    owner,
                    proto,
                )
                drop.append(index)
                continue
            replaced, value = self.value(attribute, owner, what, proto)
            if replaced:
                aside[attribute.name] = value
                drop.append(index)
        for index in reversed(drop):
            del attributes[index]
        if aside:
            self.aside.attributes[owner] = aside

    def value(
        self,
        attribute: onnx.AttributeProto,
        owner: NodeId,
        what: str,
        proto: onnx.NodeProto | None,
    ) -> tuple[bool, Attribute]:
        """(whether onnx-ir refuses the attribute's value, the value to take instead)."""
        path = (*owner.graph, f"{owner.index}.{attribute.name}")
        match attribute.type:
            case Kind.GRAPH:
                self.graph(attribute.g, path)
            case Kind.GRAPHS:
                for k, graph in enumerate(attribute.graphs):
                    self.graph(graph, (*path[:-1], f"{path[-1]}[{k}]"))
            case Kind.TENSOR:
                if broken := broken_tensor(self.aside, attribute.t, what):
                    return True, broken
            case Kind.TENSORS:
                found = [broken_tensor(self.aside, t, what) for t in attribute.tensors]
                if broken := next(filter(None, found), None):
                    return True, (broken,) * len(found)
            case Kind.SPARSE_TENSOR:
                sparse = attribute.sparse_tensor
                return True, dense_weight(self.aside, sparse, attribute.name, what)
            case Kind.SPARSE_TENSORS:
                many = attribute.sparse_tensors
                return True, tuple(dense_weight(self.aside, s, attribute.name, what) for s in many)
            case Kind.TYPE_PROTO:
                if refused := refused_type(self.aside, attribute.tp, what):
                    return True, refused
            case Kind.STRING | Kind.STRINGS:
                many = attribute.type == Kind.STRINGS
                values = tuple(map(_text, attribute.strings if many else [attribute.s]))
                if any(isinstance(v, bytes) for v in values):
                    text = f"{what} is not valid UTF-8; its bytes are kept as they are"
                    self.aside.say("invalid-utf8", Severity.INFO, text, "", owner, proto)
                    return True, values if many else values[0]
        return False, None


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


def _text(value: bytes) -> str | bytes:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value
