"""The order of boxes from top to bottom: ranks by longest path, sources near their consumers."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

Edges = list[tuple[int, int]]

_SINK_ROUNDS = 6


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


def sink_groups(rank: list[int], edges: Edges, limit: int) -> None:
    """Move groups that feed others from too far above down to their first consumer.

    A group is what hangs together by edges of at most ``limit`` ranks. One that takes nothing from
    another group (a subtree of shape arithmetic, an input used late) can go down as a whole.
    Changes ``rank`` in place; the edges must all go to a higher rank.
    """
    for _ in range(_SINK_ROUNDS):
        group = groups(len(rank), [(a, b) for a, b in edges if rank[b] - rank[a] <= limit])
        room: dict[int, int] = {}
        for source, target in edges:
            if group[source] != group[target]:
                slack = rank[target] - rank[source] - 1
                room[group[source]] = min(slack, room.get(group[source], slack))
        for source, target in edges:
            if group[source] != group[target]:
                room.pop(group[target], None)
        if not room:
            return
        for box, own in enumerate(group):
            rank[box] += room.get(own, 0)


def groups(count: int, edges: Edges) -> list[int]:
    """A number per box that is equal for boxes that hang together."""
    parent = list(range(count))

    def root(box: int) -> int:
        while parent[box] != box:
            parent[box] = parent[parent[box]]
            box = parent[box]
        return box

    for source, target in edges:
        parent[root(source)] = root(target)
    return [root(box) for box in range(count)]


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
