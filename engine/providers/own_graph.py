"""Our own engine's placement over a graph, before a plan exists."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.model import Graph, Model, Node, NodeId, captured_inputs
from ..ops.use import OpUse
from .provider import HOST, Provider
from .support import Reason, Status, Support
from .uses import Types, model_uses

LOOPS = frozenset(("Loop", "Scan"))


def place_ours(model: Model, types: Types, provider: Provider) -> dict[NodeId, Support]:
    """The verdict of one of our engine's providers on every node of every graph.

    Args:
        model: the model.
        types: types of its values, a plan's where there is one.
        provider: the one that is asked.
    """
    uses = {node.id: use for node, use in model_uses(model, types)}
    looped = _loop_bodies(model)
    verdicts: dict[NodeId, Support] = {}
    for graph in model.graphs():
        if graph.path in looped:
            verdicts |= _within_a_loop(graph, uses, looped[graph.path])
        else:
            verdicts |= _place_graph(graph, uses, provider)
    return verdicts


def _place_graph(
    graph: Graph, uses: Mapping[NodeId, OpUse], provider: Provider
) -> dict[NodeId, Support]:
    """Constants and shapes fold, the registry says the rest."""
    verdicts: dict[NodeId, Support] = {}
    constants = set(graph.initializers)
    for node in graph.sorted_nodes:
        verdict = _folded(uses[node.id], node, constants)
        if verdict is not None and node.op != "If":
            constants |= set(node.outputs)
        verdicts[node.id] = verdict or provider.support(uses[node.id])
    return verdicts


def _folded(use: OpUse, node: Node, constants: set[str]) -> Support | None:
    if node.op == "If":
        detail = "its condition is read while planning, and the branch that it takes is opened"
        return Support(Status.FOLDED, Reason.NONE, detail)
    if node.op in ("Shape", "Size"):
        return Support(Status.FOLDED, Reason.NONE, "computed while planning, from shapes")
    if not use.draws and all(name in constants for name in captured_inputs(node)):
        return Support(Status.FOLDED, Reason.NONE, "computed on the host while planning")
    return None


def _loop_bodies(model: Model) -> dict[tuple[str, ...], Node]:
    """Path of each graph inside a Loop or Scan -> that node (the outermost one)."""
    found: dict[tuple[str, ...], Node] = {}
    for graph in model.graphs():
        for node in graph.nodes:
            for _, body in node.subgraphs:
                if graph.path in found:
                    found[body.path] = found[graph.path]
                elif node.op in LOOPS:
                    found[body.path] = node
    return found


def _within_a_loop(graph: Graph, uses: Mapping[NodeId, OpUse], loop: Node) -> dict[NodeId, Support]:
    """Our engine evaluates a loop as a whole on the host."""
    verdicts: dict[NodeId, Support] = {}
    detail = f"part of '{loop.label}' ({loop.op}), which is evaluated on the host as a whole"
    for node in graph.nodes:
        able = HOST.support(uses[node.id])
        verdicts[node.id] = (
            able
            if able.status is Status.UNSUPPORTED
            else Support(Status.HOST, Reason.NO_KERNEL, detail, {"loop": str(loop.id)})
        )
    return verdicts
