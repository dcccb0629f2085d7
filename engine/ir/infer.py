"""Types and shapes from ONNX's own inference: what the file declares, and what follows from it.

It is not exact (the planner's own rules are, from concrete inputs): it serves to draw a graph, and
to plan operators that have no rule of ours. No weight over a few KB is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx.defs
from onnx import shape_inference

from ..diagnostics import Diagnostic, Severity
from ..errors import ModelFileError
from .model import (
    Attribute,
    AttributeReference,
    Dim,
    Function,
    Graph,
    GraphPath,
    Model,
    Node,
    TensorType,
    Weight,
)
from .proto import (
    Writer,
    input_name,
    node_model,
    opset_imports,
    output_name,
    tensor_proto,
    tensor_type,
    type_proto,
    value_info,
)

if TYPE_CHECKING:
    from ..ops.use import OpUse

ValueId = tuple[GraphPath, str]
Types = dict[ValueId, TensorType]

LARGEST_TENSOR_BYTES = 4096
"""Weights up to this size are read and shown to the inference: shapes, axes, scales."""
MAX_VALUES = 1024
"""Known inputs of at most so many elements are shown to the inference of one node."""

_ERROR = re.compile(r"\(op_type:(?P<op>[^,]*), node name: (?P<name>[^)]*)\): (?P<text>.*)")
_GENERATED = re.compile(r"unk__\d+")


@dataclass(frozen=True)
class Inference:
    """Static types of a model's values, and what went wrong in finding them."""

    types: Mapping[ValueId, TensorType]
    diagnostics: tuple[Diagnostic, ...] = ()


def infer_types(model: Model) -> Mapping[ValueId, TensorType]:
    """The types alone; whoever shows findings takes :func:`infer`, which has the failures too."""
    return infer(model).types


def infer(model: Model) -> Inference:
    """Types of the values of every graph, subgraph and function body, as far as they are known.

    A function's body gets what all its callers agree on.
    """
    work = _Inference(model)
    work.run()
    return Inference(work.types, tuple(work.diagnostics))


def infer_node(
    use: OpUse, values: Mapping[int, np.ndarray] | None = None
) -> tuple[TensorType | None, ...]:
    """Types of a node's outputs from concrete input types; None where they stay unknown.

    They stay so for operators without a schema or with subgraphs, where onnx is wrong
    (:func:`onnx_is_wrong`), and where it refuses the node: whoever runs that finds what is wrong.

    Args:
        use: the node.
        values: input index -> value; by default those that ``use`` knows and that are small.
    """
    nothing: tuple[TensorType | None, ...] = (None,) * len(use.outputs)
    version = use.since_version or use.opset
    if not version or not onnx.defs.has(use.op_type, version, use.domain):
        return nothing
    if onnx_is_wrong(use.op_type, use.attributes):
        return nothing
    if any(isinstance(v, Graph | AttributeReference) for v in use.attributes.values()):
        return nothing
    protos = {input_name(i): type_proto(t) for i, t in enumerate(use.inputs) if t is not None}
    types = {name: proto for name, proto in protos.items() if proto is not None}
    if len(types) < len(protos):
        return nothing
    known = _small_values(use) if values is None else values
    data = {
        input_name(i): tensor_proto("", array)
        for i, array in known.items()
        if array.size <= MAX_VALUES
    }
    model = node_model(use)
    try:
        found = shape_inference.infer_node_outputs(
            onnx.defs.get_schema(use.op_type, version, use.domain),
            model.graph.node[0],
            types,
            data,
            opset_imports=list(model.opset_import),
        )
    except (shape_inference.InferenceError, RuntimeError):
        return nothing
    outputs = (found.get(output_name(i)) for i in range(len(use.outputs)))
    return tuple(None if p is None else _without_generated(tensor_type(p)) for p in outputs)


def onnx_is_wrong(op_type: str, attributes: Mapping[str, Attribute]) -> bool:
    """Whether onnx infers a wrong shape: ConvTranspose's SAME_* loses output_padding."""
    return op_type == "ConvTranspose" and str(attributes.get("auto_pad", "")).startswith("SAME")


def _small_values(use: OpUse) -> dict[int, np.ndarray]:
    small: dict[int, np.ndarray] = {}
    for index, read in use.values.items():
        kind = use.inputs[index] if index < len(use.inputs) else None
        dims = None if kind is None else kind.known_dims
        if dims is not None and math.prod(dims) <= MAX_VALUES:
            small[index] = read()
    return small


class _Inference:
    def __init__(self, model: Model) -> None:
        self._model = model
        self.types: Types = {}
        self.diagnostics: list[Diagnostic] = []
        self._by_name = {str(i): node for i, node in model.nodes.items()}
        self._unreadable: dict[str, None] = {}
        self._calls: dict[int, list[tuple[TensorType | None, ...]]] = {}
        self._bindings: dict[int, list[Mapping[str, Attribute]]] = {}

    def run(self) -> None:
        model = self._model
        for graph in model.graphs():
            self.types.update(_declared(graph))
        imports = dict(model.opset_imports)
        self._graph(model.graph, imports, {}, None)
        self._collect_calls(model.graph)
        for function in self._callers_first():
            self._body(function)
            self._collect_calls(function.graph)

    def _body(self, function: Function) -> None:
        calls = self._calls.get(id(function), [])
        if not calls:
            return
        kinds = [_agreed([call[i] for call in calls if i < len(call)]) for i in _inputs(function)]
        for port, kind in zip(function.graph.inputs, kinds, strict=True):
            if kind is not None:
                self.types[function.graph.path, port.name] = kind
        bindings = self._bindings[id(function)]
        bound = {
            name: value
            for name, value in bindings[0].items()
            if all(b.get(name) == value for b in bindings)
        }
        imports = {**self._model.opset_imports, **function.opset_imports}
        ports = zip(function.graph.inputs, kinds, strict=True)
        inputs = [value_info(p.name, kind) for p, kind in ports]
        self._graph(function.graph, imports, bound, inputs)

    def _graph(
        self,
        graph: Graph,
        imports: dict[str, int],
        bindings: Mapping[str, Attribute],
        inputs: list[onnx.ValueInfoProto] | None,
    ) -> None:
        for domain, _, _ in self._model.functions:
            imports.setdefault(domain, 1)
        in_functions = Writer(
            {}, {}, LARGEST_TENSOR_BYTES, self._unread, self._unknown, name_by_identity=True
        )
        writer = replace(
            in_functions,
            imports=imports,
            bindings=bindings,
            leave_out=partial(self._unknown_or_unbound, bindings),
        )
        failures: list[re.Match[str]] = []
        try:
            proto = onnx.ModelProto(ir_version=max(self._model.ir_version, 3))
            proto.graph.CopyFrom(writer.graph(graph, inputs))
            proto.opset_import.extend(opset_imports(imports))
            functions = self._model.functions.values()
            proto.functions.extend(in_functions.function(f) for f in functions)
            inferred = self._infer(proto, failures)
        except (ModelFileError, shape_inference.InferenceError, RuntimeError, ValueError) as error:
            self._failed(graph, str(error))
            return
        self._take(inferred.graph, graph)
        for failure in failures:
            self._node_failed(failure)

    def _unread(self, weight: Weight, error: ModelFileError) -> None:
        """Say once that a small weight cannot be read; the reader said so of external data."""
        if weight.location or str(error) in self._unreadable:
            return
        self._unreadable[str(error)] = None
        self.diagnostics.append(
            Diagnostic("unreadable-weight", Severity.ERROR, str(error), "Export the model again.")
        )

    def _unknown(self, node: Node, imports: Mapping[str, int]) -> bool:
        """Whether the inference has no rule for ``node``; one such would hide all failures."""
        if self._model.function_of(node) is not None:
            return False
        version = imports.get(node.domain, 0)
        if version <= 0 or not onnx.defs.has(node.op_type, version, node.domain):
            return True
        return not node.domain and onnx_is_wrong(node.op_type, node.attributes)

    def _unknown_or_unbound(
        self, bindings: Mapping[str, Attribute], node: Node, imports: Mapping[str, int]
    ) -> bool:
        references = (v for v in node.attributes.values() if isinstance(v, AttributeReference))
        return any(r.name not in bindings for r in references) or self._unknown(node, imports)

    def _infer(self, proto: onnx.ModelProto, failures: list[re.Match[str]]) -> onnx.ModelProto:
        """Strictly first, since only that tells what failed; then again past the failures."""
        try:
            return shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True)
        except shape_inference.InferenceError as error:
            failures += _ERROR.finditer(str(error))
            if not failures:
                raise
            return shape_inference.infer_shapes(proto, data_prop=True)

    def _node_failed(self, match: re.Match[str]) -> None:
        node = self._by_name.get(match["name"])
        if node is not None and not self._inputs_known(node):
            return  # it was not asked anything: an operator before it has no rule
        label = f"'{node.label}' ({node.op})" if node else f"({match['op']})"
        self.diagnostics.append(
            Diagnostic(
                "shape-inference-failed",
                Severity.WARNING,
                f"the shapes after node {label} cannot be inferred: {_plain(match['text'])}",
                "The model may be invalid there; a run with concrete inputs tells.",
                node.id if node else None,
                node.name if node else "",
                node.op if node else match["op"],
            )
        )

    def _inputs_known(self, node: Node) -> bool:
        path = node.id.graph
        scopes = tuple(path[:length] for length in range(len(path), -1, -1))
        return all(self._lookup(name, scopes) is not None for name in node.inputs if name)

    def _failed(self, graph: Graph, text: str) -> None:
        place = "/".join(graph.path) or "the main graph"
        self.diagnostics.append(
            Diagnostic(
                "shape-inference-failed",
                Severity.WARNING,
                f"no shapes could be inferred in {place}: {_plain(text)}",
                "Only declared shapes are shown; a run with concrete inputs finds them all.",
            )
        )

    def _take(self, proto: onnx.GraphProto, graph: Graph) -> None:
        """Take the types of an inferred graph and of its subgraphs."""
        stack = [(proto, graph)]
        while stack:
            inferred, ours = stack.pop()
            for info in (*inferred.value_info, *inferred.output, *inferred.input):
                found = _without_generated(tensor_type(info.type))
                if found is not None:
                    key = (ours.path, info.name)
                    self.types[key] = _refined(self.types.get(key), found)
            for node in inferred.node:
                subgraphs = dict(self._by_name[node.name].subgraphs)
                for attribute in node.attribute:
                    if attribute.name in subgraphs and attribute.HasField("g"):
                        stack.append((attribute.g, subgraphs[attribute.name]))

    def _collect_calls(self, root: Graph) -> None:
        stack: list[tuple[Graph, tuple[GraphPath, ...]]] = [(root, (root.path,))]
        while stack:
            graph, scopes = stack.pop()
            for node in graph.nodes:
                function = self._model.function_of(node)
                if function is not None:
                    self._calls.setdefault(id(function), []).append(
                        tuple(self._lookup(name, scopes) for name in node.inputs)
                    )
                    values = {**function.attribute_defaults, **node.attributes}
                    self._bindings.setdefault(id(function), []).append(values)
                stack += [(inner, (inner.path, *scopes)) for _, inner in node.subgraphs]

    def _lookup(self, name: str, scopes: tuple[GraphPath, ...]) -> TensorType | None:
        return next((self.types[s, name] for s in scopes if (s, name) in self.types), None)

    def _callers_first(self) -> Iterator[Function]:
        """The functions, each after all that call it; those that call each other are left out."""
        calls = {
            id(f): {id(c) for n in _all_nodes(f.graph) if (c := self._model.function_of(n))}
            for f in self._model.functions.values()
        }
        waiting = {key: sum(key in called for called in calls.values()) for key in calls}
        by_id = {id(f): f for f in self._model.functions.values()}
        ready = [key for key, count in waiting.items() if count == 0]
        while ready:
            key = ready.pop()
            yield by_id[key]
            for called in calls[key]:
                waiting[called] -= 1
                if waiting[called] == 0:
                    ready.append(called)


def _inputs(function: Function) -> range:
    return range(len(function.graph.inputs))


def _all_nodes(graph: Graph) -> Iterator[Node]:
    stack = [graph]
    while stack:
        at = stack.pop()
        for node in at.nodes:
            yield node
            stack += [inner for _, inner in node.subgraphs]


def _declared(graph: Graph) -> Iterator[tuple[ValueId, TensorType]]:
    for name, weight in graph.initializers.items():
        yield (graph.path, name), weight.type
    for name, kind in graph.values.items():
        yield (graph.path, name), kind
    for port in (*graph.inputs, *graph.outputs):
        if port.type is not None:
            yield (graph.path, port.name), port.type


def _agreed(kinds: list[TensorType | None]) -> TensorType | None:
    """The type that all of ``kinds`` have; dimensions in which they differ are unknown."""
    first = kinds[0] if kinds else None
    if first is None:
        return None
    shape = first.shape
    for kind in kinds[1:]:
        if kind is None or (kind.dtype, kind.kind) != (first.dtype, first.kind):
            return None
        if shape is None or kind.shape is None or len(shape) != len(kind.shape):
            shape = None
        else:
            shape = tuple(a if a == b else None for a, b in zip(shape, kind.shape, strict=True))
    return TensorType(first.dtype, shape, first.kind)


def _refined(declared: TensorType | None, found: TensorType) -> TensorType:
    """What was found, with the dimensions that only the declaration knows."""
    if declared is None:
        return found
    if found.dtype == "?" and found.kind == declared.kind:
        found = TensorType(declared.dtype, found.shape, found.kind)
    if found.shape is None or declared.shape is None or len(found.shape) != len(declared.shape):
        shape = declared.shape if found.shape is None else found.shape
    else:
        pairs = zip(found.shape, declared.shape, strict=True)
        shape = tuple(b if a is None or isinstance(b, int) else a for a, b in pairs)
    return TensorType(found.dtype, shape, found.kind)


def _without_generated(kind: TensorType | None) -> TensorType | None:
    """The type with the symbols that onnx makes up for unknown dimensions taken out."""
    if kind is None or kind.shape is None:
        return kind
    return TensorType(kind.dtype, tuple(_dim(d) for d in kind.shape), kind.kind)


def _dim(dim: Dim) -> Dim:
    return None if isinstance(dim, str) and _GENERATED.fullmatch(dim) else dim


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\[\w+Error\]", "", text).split())[:300]
