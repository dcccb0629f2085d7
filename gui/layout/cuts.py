"""Cutting a long graph where a single box is all that connects above and below.

A block is laid out alone and joined to the next at their shared box. Identical blocks (a model's
layers) share one layout.
"""

from __future__ import annotations

from dataclasses import dataclass

from .ranks import Edges, groups


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a graph.

    Attributes:
        boxes: in order; the first is the box shared with the block before (if ``joined``), the
            last the one shared with the block after.
        edges: indices of its edges.
        joined: whether the first box belongs to the block before too.
    """

    boxes: tuple[int, ...]
    edges: tuple[int, ...]
    joined: bool


def components(count: int, edges: Edges) -> list[list[int]]:
    """The weakly connected components, each in rising order, the largest first."""
    members: dict[int, list[int]] = {}
    for box, group in enumerate(groups(count, edges)):
        members.setdefault(group, []).append(box)
    return sorted(members.values(), key=lambda group: (-len(group), group[0]))


def cut(boxes: list[int], edges: Edges, rank: list[int], indices: list[int]) -> list[Block]:
    """Cut one component into blocks.

    Args:
        boxes: the component's boxes.
        edges: all edges of the graph, each to a higher rank.
        rank: rank of every box.
        indices: the component's edges.
    """
    leaving: dict[int, list[int]] = {box: [] for box in boxes}
    entering: dict[int, int] = dict.fromkeys(boxes, 0)
    for index in indices:
        source, target = edges[index]
        leaving[source].append(index)
        entering[target] += 1

    def place(box: int) -> tuple[int, int, int]:
        # Within a rank: ends first, sources last, so that neither keeps a cut from being seen.
        kind = 0 if not leaving[box] else 2 if entering[box] == 0 else 1
        return (rank[box], kind, box)

    order = sorted(boxes, key=place)
    pending = {box: len(leaving[box]) for box in boxes}  # edges whose target is still to come
    open_sources = 0
    sources_of: dict[int, list[int]] = {box: [] for box in boxes}
    for index in indices:
        source, target = edges[index]
        sources_of[target].append(source)
    blocks: list[Block] = []
    current: list[int] = []
    joined = False
    for position, box in enumerate(order):
        for source in sources_of[box]:
            pending[source] -= 1
            if pending[source] == 0:
                open_sources -= 1
        current.append(box)
        last = position == len(order) - 1
        alone = open_sources == 0 and bool(pending[box])
        if pending[box]:
            open_sources += 1
        if last or (alone and len(current) > 1):
            members = set(current)
            inside = (i for m in current for i in leaving[m] if edges[i][1] in members)
            blocks.append(Block(tuple(current), tuple(inside), joined))
            current, joined = [box], True
    return blocks
