"""Quantizers beside Transposes, where what ORT leaves of them is not simulated.

ORT copies a quantizer past a Transpose (qdq_propagation.cc in onnxruntime/core/optimizer/
qdq_transformer), moves the Transposes of its layouts through both, and takes out pairs that have
nothing between them any more. Which of the user's own is left depends on the order of all that:
where one was lost in the 0.4.0 plugin, a Transpose to or from channels-last was beside it which
nothing had cancelled; with other permutations, and on the CPU provider alone, none was lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..ir.model import Graph, Node, NodeId
from .support import Reason, Status, Support

STEP = "quantizers moved"


def moved_quantizers(
    graph: Graph, found: Mapping[NodeId, Support], cancelled: Collection[NodeId]
) -> dict[NodeId, Support]:
    """The verdicts on quantizers and Transposes of which ORT may leave others than the user's.

    Args:
        graph: the graph.
        found: the verdicts on its nodes.
        cancelled: Transposes that were gone before there were any layouts; what was beside them is
            left as it was.
    """
    verdicts: dict[NodeId, Support] = {}
    for quantizer, transpose in _pairs(graph):
        if transpose.id in cancelled:
            continue
        for node, beside in ((quantizer, transpose), (transpose, quantizer)):
            before = found.get(node.id)
            if before is None or before.status is Status.FOLDED:
                continue
            detail = (
                f"ORT moves quantizers and Transposes past each other here ('{node.label}' and "
                f"'{beside.label}') and may put a node of its own in its place; by itself: "
                f"{before.detail}"
            )
            verdicts[node.id] = Support(Status.UNKNOWN, Reason.UNKNOWN, detail, {"step": STEP})
    return verdicts


def _pairs(graph: Graph) -> Iterator[tuple[Node, Node]]:
    """Each DequantizeLinear before, and QuantizeLinear after, a Transpose of a layout."""
    makers = {name: n for n in graph.nodes if n.op == "DequantizeLinear" for name in n.outputs}
    turned = {n.outputs[0]: n for n in graph.nodes if n.op == "Transpose" and _is_layout(n)}
    if not turned:
        return
    for node in turned.values():
        if node.inputs and (maker := makers.get(node.inputs[0])) is not None:
            yield maker, node
    for node in graph.nodes:
        if node.op == "QuantizeLinear" and node.inputs and node.inputs[0] in turned:
            yield node, turned[node.inputs[0]]


def _is_layout(transpose: Node) -> bool:
    """Whether it goes from channels-first to channels-last, or back."""
    perm = transpose.attributes.get("perm")
    if not transpose.outputs or not isinstance(perm, tuple | list) or len(perm) < 3:
        return False
    last = (0, *range(2, len(perm)), 1)
    first = (0, len(perm) - 1, *range(1, len(perm) - 1))
    return tuple(perm) in (last, first)
