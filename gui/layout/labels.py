"""Room for the labels of edges: beside a vertical stretch, clear of boxes, lines and each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from . import spacing
from .types import LayoutRequest, Path, Point

_CELL = 96.0
_FAR = 420.0  # a line longer than this shows its label at both ends' reach

Rect = tuple[float, float, float, float]  # left, top, right, bottom


class _Grid:
    """Rectangles found by place."""

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], list[Rect]] = {}

    def add(self, rect: Rect) -> None:
        for cell in _cells(rect):
            self._cells.setdefault(cell, []).append(rect)

    def is_free(self, rect: Rect) -> bool:
        """Whether nothing touches ``rect``."""
        left, top, right, bottom = rect
        return not any(
            x0 < right and x1 > left and y0 < bottom and y1 > top
            for cell in _cells(rect)
            for x0, y0, x1, y1 in self._cells.get(cell, ())
        )


def _cells(rect: Rect) -> Iterator[tuple[int, int]]:
    left, top, right, bottom = (int(v // _CELL) for v in rect)
    for column in range(left, right + 1):
        for row in range(top, bottom + 1):
            yield column, row


def place_labels(
    request: LayoutRequest, boxes: list[tuple[Point, Point]], paths: list[Path]
) -> tuple[Path, ...]:
    """The paths with a place for each label that found one.

    A value is labelled once where its line leaves the source; a far consumer has it again.

    Args:
        request: widths of the labels, and which edges carry the same value.
        boxes: (centre, size) of everything that labels must not cover.
        paths: the lines; those of one source share their trunk.
    """
    grid = _Grid()
    for (x, y), (width, height) in boxes:
        grid.add((x - width / 2, y - height / 2, x + width / 2, y + height / 2))
    for path in paths:
        for (x0, y0), (x1, y1) in pairwise(path.points):
            grid.add((min(x0, x1) - 1, min(y0, y1) - 1, max(x0, x1) + 1, max(y0, y1) + 1))
    labelled: set[int] = set()
    placed: list[Path] = []
    for path in paths:
        edge = path.edges[0]
        width, value = request.label_widths[edge], request.shared[edge]
        again = value in labelled
        if width and path.points and (not again or _length(path.points) > _FAR):
            for rect in _candidates(path.points, width, from_end=again):
                if grid.is_free(rect):
                    grid.add(rect)
                    labelled.add(value)
                    path = replace(path, label=rect[:2])
                    break
        placed.append(path)
    return tuple(placed)


def _length(points: tuple[Point, ...]) -> float:
    return sum(abs(x1 - x0) + abs(y1 - y0) for (x0, y0), (x1, y1) in pairwise(points))


def _candidates(points: tuple[Point, ...], width: float, from_end: bool) -> Iterator[Rect]:
    """Places for a label: beside each vertical stretch, from the source's end or the target's."""
    pairs = list(pairwise(points))
    for (x, y0), (x1, y1) in reversed(pairs) if from_end else pairs:
        room = abs(y1 - y0)
        if abs(x1 - x) > 0.5 or room < spacing.LABEL_HEIGHT + 3:
            continue
        top = min(y0, y1) + (room - spacing.LABEL_HEIGHT) / 2
        tops = [top]
        if room > 60:
            tops = [min(y0, y1) + 8, top, max(y0, y1) - 12 - spacing.LABEL_HEIGHT]
        for y in reversed(tops) if from_end else tops:
            for left in (x + spacing.LABEL_GAP, x - spacing.LABEL_GAP - width):
                yield (left, y, left + width, y + spacing.LABEL_HEIGHT)
