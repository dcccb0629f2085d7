"""Types that follow from a model's inputs alone, not from what its file says of values in between.

Such a statement can be older than the file: whoever made an input's batch free may have left a 1 in
every ``value_info``. A placement may trust it; a rule that bakes a shape into the file may not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..ir.model import Graph, Model, Node, Port
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
