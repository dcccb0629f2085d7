"""Types that follow from a model's inputs alone, not from what its file says of values in between.

Such a statement can be older than the file: whoever made an input's batch free may have left a 1 in
every ``value_info``. A placement may trust it; a rule that bakes a shape into the file may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..ir.model import Graph, Model, Node, Port, TensorType, ValueId
from ..ir.schema import schema


def without_declared_shapes(model: Model) -> Model:
    """``model`` with no type declared but for its inputs and for outputs that onnx cannot infer."""
    return replace(model, graph=_bare(model, model.graph))


def _bare(model: Model, graph: Graph) -> Graph:
    ends = {name for node in graph.nodes if not _is_inferred(model, node) for name in node.outputs}
    ends |= {port.name for port in graph.inputs} | set(graph.initializers)
    return replace(
        graph,
        nodes=tuple(_bare_node(model, node) for node in graph.nodes),
        outputs=tuple(p if p.name in ends else Port(p.name) for p in graph.outputs),
        values={name: kind for name, kind in graph.values.items() if name in ends},
    )


def _bare_node(model: Model, node: Node) -> Node:
    if not node.subgraphs:
        return node
    attributes: dict[str, Any] = dict(node.attributes)
    for name, value in attributes.items():
        if isinstance(value, Graph):
            attributes[name] = _bare(model, value)
        elif isinstance(value, tuple) and any(isinstance(v, Graph) for v in value):
            attributes[name] = tuple(_bare(model, v) for v in value)
    return replace(node, attributes=attributes)


def _is_inferred(model: Model, node: Node) -> bool:
    """Whether onnx knows the operator: for others a declaration is all that there is."""
    if model.function_of(node) is not None:
        return True
    opset = model.opset(node)
    return bool(opset) and schema(node.domain, node.op_type, opset or 0) is not None


@dataclass(frozen=True)
class Contradiction:
    """A value of which the file says something else than what follows from its nodes."""

    value: ValueId
    declared: TensorType
    inferred: TensorType

    @property
    def text(self) -> str:
        """What is wrong, and what helps, on one line."""
        ours, theirs = self.declared, self.inferred
        remedy = "export it again"
        if (ours.kind, ours.dtype) == (theirs.kind, theirs.dtype):
            remedy = "fix-shapes as the first rule writes what follows from the inputs' shapes"
        return f"the file says that '{self.value[1]}' is {ours}, its nodes give {theirs}; {remedy}"


def contradictions(model: Model, inferred: Mapping[ValueId, TensorType]) -> Iterator[Contradiction]:
    """Declarations of the main graph and its subgraphs that cannot be true.

    Args:
        model: the model.
        inferred: the types of :func:`without_declared_shapes`.
    """
    bodies = {function.graph.path for function in model.functions.values()}
    for graph in model.graphs():
        if graph.path[:1] in bodies:
            continue  # what is declared of a function may hold for one of its calls alone
        declared = dict(graph.values)
        declared |= {port.name: port.type for port in graph.outputs if port.type is not None}
        for name, kind in declared.items():
            found = inferred.get((graph.path, name))
            if found is not None and not _compatible(kind, found):
                yield Contradiction((graph.path, name), kind, found)


def _compatible(a: TensorType, b: TensorType) -> bool:
    if "map" in (a.kind, b.kind):
        return True  # onnx infers none
    if a.kind != b.kind or (a.dtype != b.dtype and "?" not in (a.dtype, b.dtype)):
        return False
    if a.shape is None or b.shape is None:
        return True
    if len(a.shape) != len(b.shape):
        return False
    pairs = zip(a.shape, b.shape, strict=True)
    return all(x == y for x, y in pairs if isinstance(x, int) and isinstance(y, int))
