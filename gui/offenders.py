"""The nodes that keep a model off the GPU, in the order in which they run, across all graphs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..engine.diagnostics import Diagnostic, Severity
from ..engine.ir.model import Graph, GraphPath, Model, NodeId
from ..engine.providers.support import Support
from .verdict import is_off

_BAD = (Severity.ERROR, Severity.WARNING)


def execution_order(model: Model) -> tuple[NodeId, ...]:
    """Every node once, as they run: what is inside a node comes right after it.

    A function's body comes after its first call; one that nobody calls comes last.
    """
    seen: set[GraphPath] = set()
    order = [node for graph in model.graphs() for node in _walk(model, graph, seen)]
    return tuple(order)


def _walk(model: Model, graph: Graph, seen: set[GraphPath]) -> Iterator[NodeId]:
    """Without recursion: files nest graphs as deeply as they like."""
    stack: list[Iterator[NodeId | Graph]] = [_inside(model, graph, seen)]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
        elif isinstance(item, NodeId):
            yield item
        else:
            stack.append(_inside(model, item, seen))


def _inside(model: Model, graph: Graph, seen: set[GraphPath]) -> Iterator[NodeId | Graph]:
    if graph.path in seen:
        return
    seen.add(graph.path)
    for node in graph.sorted_nodes:
        yield node.id
        yield from (inner for _, inner in node.subgraphs)
        if (function := model.function_of(node)) is not None:
            yield function.graph


def offenders(
    order: Sequence[NodeId],
    verdicts: Mapping[NodeId, Support],
    findings: Mapping[NodeId, Sequence[Diagnostic]],
) -> tuple[NodeId, ...]:
    """The nodes of ``order`` that are off the GPU, fail, or have an error or a warning."""
    return tuple(
        node
        for node in order
        if ((verdict := verdicts.get(node)) is not None and is_off(verdict))
        or any(d.severity in _BAD for d in findings.get(node, ()))
    )


@dataclass(frozen=True, slots=True)
class Step:
    """Where a step leads: the node, its place (from 1) among how many, and whether it wrapped."""

    node: NodeId
    place: int
    total: int
    wrapped: bool


def step(
    order: Sequence[NodeId], stops: Sequence[NodeId], here: NodeId | None, by: int
) -> Step | None:
    """The next (1) or previous (-1) of ``stops`` from ``here``, around the ends.

    Args:
        order: every node; ``stops`` are some of them, in the same order.
        stops: where a step may lead.
        here: from where; None is before the first and after the last.
        by: 1 or -1.
    """
    if not stops:
        return None
    rank = {node: i for i, node in enumerate(order)}
    places = [rank[node] for node in stops]
    if here is None or here not in rank:
        return Step(stops[0 if by > 0 else -1], 1 if by > 0 else len(stops), len(stops), False)
    at = bisect_left(places, rank[here])
    on = at < len(places) and places[at] == rank[here]
    place = at + (1 if on else 0) if by > 0 else at - 1
    return Step(
        stops[place % len(stops)], place % len(stops) + 1, len(stops), not 0 <= place < len(stops)
    )
