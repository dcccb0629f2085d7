"""Types of a whole model's values, by onnx's inference over graphs, subgraphs and functions.

The model is written back as a proto without its large weights. A first pass goes without what onnx
calls data propagation (values of shapes followed through Shape, Gather, Concat, ...). Where that
leaves shapes unknown, further passes follow the values, but only through nodes whose tensors are
known to be short: onnx makes one object for each element of a 1-D tensor that it follows, so that
a declared dimension of 2^31 would take the machine's memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import onnx
import onnx.checker
import onnx.defs
from onnx import shape_inference

from ..diagnostics import Diagnostic, Severity
from ..errors import ModelFileError
from .calls import (
    Call,
    Calls,
    agreed_attributes,
    agreed_types,
    all_nodes,
    callers_first,
    expanded_nodes,
)
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
    ValueId,
    Weight,
)
from .proto import opset_imports, tensor_type, value_info
from .writer import Writer

LARGEST_TENSOR_BYTES = 4096
"""Weights up to this size are read and shown to the inference: shapes, axes, scales."""
LONGEST_FOLLOWED = 16_384
"""Elements of a 1-D tensor whose values may be followed."""
MOST_FOLLOWED = 4_000_000
"""The same for all tensors of a model together."""
MAX_PASSES = 3
"""Passes that follow values; each can only refine what the one before found."""
MAX_EXPANDED_NODES = 200_000
"""Nodes that a model may have with all its function calls expanded, as onnx does; a few nested
functions can stand for billions."""

_ERROR = re.compile(r"\(op_type:(?P<op>[^,]*), node name: (?P<name>[^)]*)\): (?P<text>.*)")
_GENERATED = re.compile(r"unk__\d+")
_FAILURES = (
    ModelFileError,
    shape_inference.InferenceError,
    onnx.checker.ValidationError,
    RuntimeError,
    ValueError,
)


def onnx_is_wrong(op_type: str, attributes: Mapping[str, Attribute]) -> bool:
    """Whether onnx infers a wrong shape: ConvTranspose's SAME_* loses output_padding."""
    return op_type == "ConvTranspose" and str(attributes.get("auto_pad", "")).startswith("SAME")


class StaticTypes:
    """Infers the types of one model; see the module.

    Attributes:
        types: what is known, by graph and value name.
        diagnostics: what failed.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.types: dict[ValueId, TensorType] = {}
        self.diagnostics: list[Diagnostic] = []
        self._by_name = {str(i): node for i, node in model.nodes.items()}
        self._reported: set[str] = set()
        self._follows = False  # whether this pass follows values
        self._followed = 0  # elements of 1-D tensors that this pass follows
        self._expands = True  # whether function calls may be expanded

    def run(self) -> None:
        """Fill ``types`` and ``diagnostics``."""
        model = self._model
        for graph in model.graphs():
            self.types.update(_declared(graph))
        functions = callers_first(model)
        self._expands = self._may_expand(functions)
        self._graph(model.graph, dict(model.opset_imports), {}, None)
        calls = Calls(model, self._lookup)
        calls.collect(model.graph)
        for function in functions:
            if found := calls.of(function):
                self._body(function, found)
            calls.collect(function.graph)

    def _may_expand(self, functions: Sequence[Function]) -> bool:
        """Whether all calls can be expanded within bounds; a finding where they cannot."""
        recursive = len(self._model.functions) - len(functions)
        nodes = expanded_nodes(self._model, functions)
        if not recursive and nodes <= MAX_EXPANDED_NODES:
            return True
        text = f"{recursive} function(s) call themselves, directly or through others"
        if not recursive:
            text = f"with its functions expanded the model has {nodes:,} nodes"
        self._failed(self._model.graph, f"{text}; function calls were left out")
        return False

    def _body(self, function: Function, calls: Sequence[Call]) -> None:
        """Infer a function's body from what all its calls agree on."""
        ports = function.graph.inputs
        kinds = agreed_types(calls, len(ports))
        for port, kind in zip(ports, kinds, strict=True):
            if kind is not None:
                self.types[function.graph.path, port.name] = kind
        imports = {**self._model.opset_imports, **function.opset_imports}
        inputs = [value_info(p.name, kind) for p, kind in zip(ports, kinds, strict=True)]
        self._graph(function.graph, imports, agreed_attributes(calls), inputs)

    def _graph(
        self,
        graph: Graph,
        imports: dict[str, int],
        bindings: Mapping[str, Attribute],
        inputs: list[onnx.ValueInfoProto] | None,
    ) -> None:
        for domain, _, _ in self._model.functions:
            imports.setdefault(domain, 1)
        leave_out = partial(self._unbound, bindings)
        writer = Writer(
            imports=imports,
            bindings=bindings,
            largest_tensor_bytes=LARGEST_TENSOR_BYTES,
            on_unreadable=self._unread,
            leave_out=leave_out,
            declare=self._known_types,
            name_by_identity=True,
        )
        self._follows = False
        unknown = self._pass(writer, graph, inputs)
        for _ in range(MAX_PASSES):
            if unknown == 0:
                break
            self._follows, self._followed = True, 0
            before, unknown = unknown, self._pass(writer, graph, inputs)
            if unknown == before:
                break

    def _pass(self, writer: Writer, graph: Graph, inputs: list[onnx.ValueInfoProto] | None) -> int:
        """Infer and take the types; gives how much of them is still unknown."""
        failures: list[re.Match[str]] = []
        try:
            proto = onnx.ModelProto(ir_version=max(self._model.ir_version, 3))
            proto.graph.CopyFrom(writer.graph(graph, inputs))
            proto.opset_import.extend(opset_imports(writer.imports))
            if self._expands and not self._follows:
                bodies = replace(writer, leave_out=self._left_out)
                functions = self._model.functions.values()
                proto.functions.extend(bodies.function(f) for f in functions)
            inferred = self._infer(proto, failures)
        except _FAILURES as error:
            self._failed(graph, str(error))
            return 0
        self._take(inferred.graph, graph)
        for failure in failures:
            self._node_failed(failure)
        return self._unknown(graph)

    def _known_types(self, graph: Graph) -> Mapping[str, TensorType]:
        names = (*graph.producers, *(p.name for p in graph.outputs))
        found = {name: self.types.get((graph.path, name)) for name in names}
        return {name: kind for name, kind in found.items() if kind is not None}

    def _unknown(self, root: Graph) -> int:
        """How many dimensions of values are unknown; a value without shape counts for ten."""
        count = 0
        for node in all_nodes(root):
            for name in filter(None, node.outputs):
                kind = self.types.get((node.id.graph, name))
                known = kind is not None and kind.shape is not None
                count += kind.shape.count(None) if known else 10  # type: ignore[union-attr]
        return count

    def _unread(self, weight: Weight, error: ModelFileError) -> None:
        """Say once that a small weight cannot be read; the reader said so of external data."""
        if weight.location or str(error) in self._reported:
            return
        self._reported.add(str(error))
        self.diagnostics.append(
            Diagnostic("unreadable-weight", Severity.ERROR, str(error), "Export the model again.")
        )

    def _unbound(
        self, bindings: Mapping[str, Attribute], node: Node, imports: Mapping[str, int]
    ) -> bool:
        references = (v for v in node.attributes.values() if isinstance(v, AttributeReference))
        return any(r.name not in bindings for r in references) or self._left_out(node, imports)

    def _left_out(self, node: Node, imports: Mapping[str, int]) -> bool:
        """Whether onnx is not to see ``node``: it has no rule, a wrong one, or a costly one.

        A single node without rule would hide what is wrong with all the others.
        """
        if self._model.function_of(node) is not None:
            return self._follows or not self._expands
        version = imports.get(node.domain, 0)
        if version <= 0 or not onnx.defs.has(node.op_type, version, node.domain):
            return True
        if node.domain or not self._follows:
            return not node.domain and onnx_is_wrong(node.op_type, node.attributes)
        schema = onnx.defs.get_schema(node.op_type, version)
        if node.op_type in ("Shape", "Size") or not schema.has_data_propagation_function:
            return onnx_is_wrong(node.op_type, node.attributes)
        return not self._may_follow(node)

    def _may_follow(self, node: Node) -> bool:
        """Whether the node's 1-D tensors are known to be short, alone and together with others'."""
        length = 0
        for name in filter(None, node.inputs):
            kind = self._lookup(name, _scopes(node))
            if kind is None or kind.shape is None:
                return False
            if len(kind.shape) == 1:
                (dim,) = kind.shape
                if not isinstance(dim, int):
                    return False
                length += dim
        self._followed += length
        return length <= LONGEST_FOLLOWED and self._followed <= MOST_FOLLOWED

    def _infer(self, proto: onnx.ModelProto, failures: list[re.Match[str]]) -> onnx.ModelProto:
        """Strictly first, since only that tells what failed; then again past the failures."""
        try:
            return shape_inference.infer_shapes(proto, strict_mode=True, data_prop=self._follows)
        except shape_inference.InferenceError as error:
            failures += _ERROR.finditer(str(error))
            if not failures:
                raise
            return shape_inference.infer_shapes(proto, data_prop=self._follows)

    def _node_failed(self, match: re.Match[str]) -> None:
        node = self._by_name.get(match["name"])
        if match["name"] in self._reported:
            return
        if node is not None and not self._inputs_known(node):
            return  # it was not asked anything: an operator before it has no rule
        self._reported.add(match["name"])
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
        return all(self._lookup(n, _scopes(node)) is not None for n in node.inputs if n)

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
                found = without_generated(tensor_type(info.type))
                if found is not None:
                    key = (ours.path, info.name)
                    self.types[key] = _refined(self.types.get(key), found)
            for node in inferred.node:
                subgraphs = dict(self._by_name[node.name].subgraphs)
                for attribute in node.attribute:
                    if attribute.name in subgraphs and attribute.HasField("g"):
                        stack.append((attribute.g, subgraphs[attribute.name]))

    def _lookup(self, name: str, scopes: tuple[GraphPath, ...]) -> TensorType | None:
        return next((self.types[s, name] for s in scopes if (s, name) in self.types), None)


def _scopes(node: Node) -> tuple[GraphPath, ...]:
    """The graphs whose values ``node`` sees, from its own outwards."""
    path = node.id.graph
    return tuple(path[:length] for length in range(len(path), -1, -1))


def _declared(graph: Graph) -> Iterator[tuple[ValueId, TensorType]]:
    for name, weight in graph.initializers.items():
        yield (graph.path, name), weight.type
    for name, kind in graph.values.items():
        yield (graph.path, name), kind
    for port in (*graph.inputs, *graph.outputs):
        if port.type is not None:
            yield (graph.path, port.name), port.type


def _refined(declared: TensorType | None, found: TensorType) -> TensorType:
    """What was found, with the dimensions that only the declaration knows."""
    if declared is None:
        return found
    if declared.kind == "map":
        return declared
    if found.dtype == "?" and found.kind == declared.kind:
        found = TensorType(declared.dtype, found.shape, found.kind)
    if found.shape is None or declared.shape is None or len(found.shape) != len(declared.shape):
        shape = declared.shape if found.shape is None else found.shape
    else:
        pairs = zip(found.shape, declared.shape, strict=True)
        shape = tuple(b if a is None or isinstance(b, int) else a for a, b in pairs)
    return TensorType(found.dtype, shape, found.kind)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\[\w+Error\]", "", text).split())[:300]


def without_generated(kind: TensorType | None) -> TensorType | None:
    """The type with the symbols that onnx makes up for unknown dimensions taken out."""
    if kind is None or kind.shape is None:
        return kind
    return TensorType(kind.dtype, tuple(_dim(d) for d in kind.shape), kind.kind)


def _dim(dim: Dim) -> Dim:
    return None if isinstance(dim, str) and _GENERATED.fullmatch(dim) else dim
