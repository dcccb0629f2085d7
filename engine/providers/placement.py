"""Placement over a graph: the verdict of a target on every node of a model."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.model import Graph, Model, Node, NodeId, captured_inputs
from ..ops.use import OpUse
from .imports import import_verdicts
from .ort import OrtProvider
from .ort_graph import place_ort
from .provider import HOST, Provider
from .support import Reason, Status, Support
from .targets import target
from .uses import Types, model_uses

LOOPS = frozenset(("Loop", "Scan"))
RANDOM = frozenset(
    (
        "RandomNormal",
        "RandomUniform",
        "RandomNormalLike",
        "RandomUniformLike",
        "Bernoulli",
        "Multinomial",
    )
)


def place(
    model: Model, target_id: str, types: Types, concrete: Types | None = None
) -> Mapping[NodeId, Support]:
    """The verdict on every node of every graph.

    Args:
        model: the model.
        target_id: id of a target.
        types: static types of the model's values (``ir.infer``).
        concrete: a plan's types, where one was made. ORT places without having seen an input: for
            its targets they say nothing.
    """
    chosen = target(target_id).provider
    if isinstance(chosen, OrtProvider):
        placed = {**place_ort(model, types, chosen), **import_verdicts(model, chosen)}
        calls = (n for n in model.nodes.values() if model.function_of(n) is not None)
        return placed | {node.id: CALL for node in calls}
    uses = {node.id: use for node, use in model_uses(model, concrete or types)}
    looped = _loop_bodies(model)
    verdicts: dict[NodeId, Support] = {}
    for graph in model.graphs():
        if graph.path in looped:
            verdicts |= _within_a_loop(graph, uses, looped[graph.path])
        else:
            verdicts |= _place_ours(graph, uses, chosen)
        verdicts |= {node.id: CALL for node in graph.nodes if model.function_of(node) is not None}
    return verdicts


CALL = Support(Status.FOLDED, Reason.NONE, "a function call: its body is put in place of the node")
"""The body's nodes are judged instead."""


def _place_ours(
    graph: Graph, uses: Mapping[NodeId, OpUse], provider: Provider
) -> dict[NodeId, Support]:
    """Before a plan exists: constants and shapes fold, the registry says the rest."""
    verdicts: dict[NodeId, Support] = {}
    constants = set(graph.initializers)
    for node in graph.sorted_nodes:
        verdict = _folded_by_us(node, constants)
        if verdict is not None and node.op != "If":
            constants |= set(node.outputs)
        verdicts[node.id] = verdict or provider.support(uses[node.id])
    return verdicts


def _folded_by_us(node: Node, constants: set[str]) -> Support | None:
    if node.op == "If":
        detail = "its condition is read while planning, and the branch that it takes is opened"
        return Support(Status.FOLDED, Reason.NONE, detail)
    if node.op in ("Shape", "Size"):
        return Support(Status.FOLDED, Reason.NONE, "computed while planning, from shapes")
    if node.op not in RANDOM and all(name in constants for name in captured_inputs(node)):
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
