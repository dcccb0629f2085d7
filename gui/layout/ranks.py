"""The order of boxes from top to bottom: ranks by longest path, sources near their consumers."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

Edges = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Ranks:
    """The vertical order of a graph.

    Attributes:
        rank: rank per box; every edge that is not backward goes to a higher rank.
        backward: indices of the edges that close a cycle (no valid model has one).
    """

    rank: list[int]
    backward: frozenset[int]


def rank_boxes(count: int, edges: Edges) -> Ranks:
    """Rank ``count`` boxes. Linear but for a heap; no recursion, cycles allowed."""
    followers: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for index, (source, target) in enumerate(edges):
        followers[source].append(index)
        waiting[target] += 1
    rank = [0] * count
    order: list[int] = []
    placed = [False] * count
    backward: set[int] = set()
    ready = [box for box in range(count) if waiting[box] == 0]
    next_unplaced = 0
    while len(order) < count:
        if not ready:  # only cycles are left: the first box in file order goes ahead
            while placed[next_unplaced]:
                next_unplaced += 1
            ready.append(next_unplaced)
        box = heapq.heappop(ready)
        if placed[box]:
            continue
        placed[box] = True
        order.append(box)
        for index in followers[box]:
            target = edges[index][1]
            if placed[target]:
                backward.add(index)
                continue
            rank[target] = max(rank[target], rank[box] + 1)
            waiting[target] -= 1
            if waiting[target] == 0:
                heapq.heappush(ready, target)
    forward = [edge for index, edge in enumerate(edges) if index not in backward]
    _sink_sources(order, rank, forward)
    return Ranks(rank, frozenset(backward))


def _sink_sources(order: list[int], rank: list[int], edges: Edges) -> None:
    """Move sources, and the private chains that start at them, down to their first consumer.

    A constant's Cast belongs beside the node that uses it, not at the top of the page.
    """
    before: list[list[int]] = [[] for _ in rank]
    after: list[list[int]] = [[] for _ in rank]
    for source, target in edges:
        before[target].append(source)
        after[source].append(target)
    floating = [False] * len(rank)
    for box in order:
        floating[box] = all(floating[b] and len(set(after[b])) == 1 for b in before[box])
    for box in reversed(order):
        if floating[box] and after[box]:
            rank[box] = min(rank[target] for target in after[box]) - 1
