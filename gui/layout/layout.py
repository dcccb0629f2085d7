"""Laying out a whole graph: long edges become portals, then blocks are laid out and joined.

Four steps keep the engine's cost near linear (they turn minutes into a second at 20,000 nodes):

1. an edge over more than ``PORTAL_RANKS`` ranks becomes a pair of name plates (portals);
2. each connected component is cut where one box is all that connects above and below;
3. blocks are laid out one by one and joined at their shared box;
4. identical blocks share one layout.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import spacing
from .cuts import Block, components, cut
from .labels import place_labels
from .ranks import Edges, rank_boxes, sink_groups
from .sugiyama import BlockLayout, lay_out_block
from .types import LayoutRequest, LayoutResult, Path, Point, Portal, Progress

PORTAL_RANKS = 40


@dataclass
class _Work:
    """The graph that is laid out: the request's boxes, then the portals' plates."""

    sizes: list[Point]
    edges: Edges = field(default_factory=list)
    carries: list[tuple[int, ...]] = field(default_factory=list)  # the request's edges, per edge
    plates: list[tuple[tuple[int, ...], bool]] = field(default_factory=list)  # edges, outgoing


def lay_out(
    request: LayoutRequest, progress: Progress | None = None, portal_ranks: int = PORTAL_RANKS
) -> LayoutResult:
    """Lay out ``request``; ``progress`` hears fractions from 0 to 1.

    Raises:
        LayoutError: the engine refused a block.
    """
    work = _with_portals(request, portal_ranks)
    ranks = rank_boxes(len(work.sizes), work.edges).rank
    pieces = components(len(work.sizes), work.edges)
    membership = [0] * len(work.sizes)
    for number, boxes in enumerate(pieces):
        for box in boxes:
            membership[box] = number
    indices: list[list[int]] = [[] for _ in pieces]
    for index, (source, _) in enumerate(work.edges):
        indices[membership[source]].append(index)
    composer = _Composer(work, progress, len(work.sizes))
    for boxes, own in zip(pieces, indices, strict=True):
        composer.add_component(cut(boxes, work.edges, ranks, own))
    return composer.result(request)


def _with_portals(request: LayoutRequest, portal_ranks: int) -> _Work:
    """Replace edges that are too long, or close a cycle, by plates at both ends."""
    edges = list(request.edges)
    found = rank_boxes(len(request.sizes), edges)
    rank = found.rank
    forward = [edge for index, edge in enumerate(edges) if index not in found.backward]
    sink_groups(rank, forward, portal_ranks)
    work = _Work(list(request.sizes))
    leaving: dict[int, list[int]] = {}  # by the value carried: one plate below the source
    for index, (source, target) in enumerate(edges):
        if index in found.backward or rank[target] - rank[source] > portal_ranks:
            leaving.setdefault(request.shared[index], []).append(index)
        else:
            work.edges.append((source, target))
            work.carries.append((index,))
    for group in leaving.values():
        source = edges[group[0]][0]
        _add_plate(work, request, tuple(group), outgoing=True, ends=(source, None))
        targets: dict[int, list[int]] = {}
        for index in group:
            targets.setdefault(edges[index][1], []).append(index)
        for target, own in targets.items():
            _add_plate(work, request, tuple(own), outgoing=False, ends=(None, target))
    return work


def _add_plate(
    work: _Work,
    request: LayoutRequest,
    own: tuple[int, ...],
    *,
    outgoing: bool,
    ends: tuple[int | None, int | None],
) -> None:
    plate = len(work.sizes)
    work.sizes.append((request.portal_widths[own[0]], spacing.PORTAL_HEIGHT))
    work.plates.append((own, outgoing))
    source, target = ends
    work.edges.append((plate if source is None else source, plate if target is None else target))
    work.carries.append(own)


class _Composer:
    """Lays blocks out, joins them to components and sets these side by side."""

    def __init__(self, work: _Work, progress: Progress | None, total: int) -> None:
        self._work = work
        self._progress = progress
        self._total = max(total, 1)
        self._done = 0
        self._told = 0.0
        self._layouts: dict[object, BlockLayout] = {}
        self._centres: list[Point] = [(0.0, 0.0)] * len(work.sizes)
        self._routes: list[tuple[Point, ...]] = [()] * len(work.edges)
        self._shelf: _Shelf | None = None
        self._first: int | None = None  # the topmost box of the largest component

    def add_component(self, blocks: list[Block]) -> None:
        """Lay out a component and find a place for it beside the others."""
        bottom = 0.0
        for block in blocks:
            bottom = self._add_block(block, bottom)
        boxes = [box for block in blocks for box in block.boxes[block.joined :]]
        edges = [index for block in blocks for index in block.edges]
        left, top, right, low = self._bounds(boxes, edges)
        if self._shelf is None:
            self._first = min(boxes, key=lambda box: self._centres[box][1])
            self._shelf = _Shelf(right - left, low - top)
            dx, dy = -left, -top
        else:
            x, y = self._shelf.place(right - left, low - top)
            dx, dy = x - left, y - top
        for box in boxes:
            cx, cy = self._centres[box]
            self._centres[box] = (cx + dx, cy + dy)
        for index in edges:
            self._routes[index] = tuple((x + dx, y + dy) for x, y in self._routes[index])

    def _add_block(self, block: Block, bottom: float) -> float:
        """Lay out a block below what there is; gives the component's new bottom."""
        drawing = self._layout_of(block)
        dx = dy = shift = 0.0
        if block.joined:
            entry = block.boxes[0]
            x, y = self._centres[entry]
            # Steer back towards the middle: the mirror image of a layout is as good.
            if (drawing.centres[-1][0] - drawing.centres[0][0]) * x > 0:
                drawing = drawing.mirrored()
            dx, dy = x - drawing.centres[0][0], y - drawing.centres[0][1]
            tops = [
                drawing.centres[i][1] + dy - self._work.sizes[box][1] / 2
                for i, box in enumerate(block.boxes)
                if i
            ]
            # What stands beside the shared box in this block must clear the block above.
            shift = max(0.0, bottom + spacing.NODE_GAP - min(tops))
        for i, box in enumerate(block.boxes):
            cx, cy = drawing.centres[i]
            if not (block.joined and i == 0):
                self._centres[box] = (cx + dx, cy + dy + shift)
                bottom = max(bottom, cy + dy + shift + self._work.sizes[box][1] / 2)
        for index, route in zip(block.edges, drawing.routes, strict=True):
            moved = [(x + dx, y + dy + shift) for x, y in route]
            if shift and block.joined and self._work.edges[index][0] == block.boxes[0]:
                moved[0] = (moved[0][0], moved[0][1] - shift)
            self._routes[index] = tuple(moved)
        self._tell(len(block.boxes) - block.joined)
        return bottom

    def _layout_of(self, block: Block) -> BlockLayout:
        local = {box: i for i, box in enumerate(block.boxes)}
        sizes = tuple(self._work.sizes[box] for box in block.boxes)
        edges = tuple(
            (local[source], local[target])
            for source, target in (self._work.edges[index] for index in block.edges)
        )
        key = (sizes, edges)
        found = self._layouts.get(key)
        if found is None:
            found = self._layouts[key] = lay_out_block(sizes, edges)
        return found

    def _tell(self, boxes: int) -> None:
        self._done += boxes
        fraction = self._done / self._total
        if self._progress is not None and fraction - self._told >= 0.02:
            self._told = fraction
            self._progress(fraction)

    def _bounds(self, boxes: list[int], edges: list[int]) -> tuple[float, float, float, float]:
        xs: list[float] = []
        ys: list[float] = []
        for box in boxes:
            (x, y), (width, height) = self._centres[box], self._work.sizes[box]
            xs += (x - width / 2, x + width / 2)
            ys += (y - height / 2, y + height / 2)
        for index in edges:
            xs += (x for x, _ in self._routes[index])
            ys += (y for _, y in self._routes[index])
        return min(xs), min(ys), max(xs), max(ys)

    def result(self, request: LayoutRequest) -> LayoutResult:
        """The drawing, with labels placed."""
        count = len(request.sizes)
        portals = tuple(
            Portal(own, self._centres[count + i], self._work.sizes[count + i], outgoing)
            for i, (own, outgoing) in enumerate(self._work.plates)
        )
        paths = [
            Path(own, route, arrow=target < count)
            for own, route, (_, target) in zip(
                self._work.carries, self._routes, self._work.edges, strict=True
            )
        ]
        every = range(len(self._work.sizes))
        size = self._bounds(list(every), list(range(len(paths))))[2:] if every else (0.0, 0.0)
        boxes = list(zip(self._centres, self._work.sizes, strict=True))
        return LayoutResult(
            tuple(self._centres[:count]),
            place_labels(request, boxes, paths),
            portals,
            size,
            (0.0, 0.0) if self._first is None else self._centres[self._first],
        )


class _Shelf:
    """Places small components in columns to the right of the first, largest one."""

    def __init__(self, width: float, height: float) -> None:
        self._limit = min(max(height, 800.0), 4000.0)
        self._x = width + spacing.COMPONENT_GAP
        self._y = 0.0
        self._column = 0.0

    def place(self, width: float, height: float) -> Point:
        """The top left corner for a component of this size."""
        if self._y and self._y + height > self._limit:
            self._x += self._column + spacing.COMPONENT_GAP
            self._y = self._column = 0.0
        place = (self._x, self._y)
        self._y += height + spacing.COMPONENT_GAP
        self._column = max(self._column, width)
        return place
