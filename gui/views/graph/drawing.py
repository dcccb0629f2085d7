"""A laid-out graph as numpy arrays: what is visible in a rectangle, what lies under the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QRectF

from ...layout.scene import LaidOut, Scene, Types
from ...layout.types import Path, Portal

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Hit:
    """What is at a point: at most one of the three is not None."""

    box: int | None = None
    portal: int | None = None
    path: int | None = None


NOTHING = Hit()


class Drawing:
    """The geometry of one graph's page, in scene coordinates (pixels at scale 1).

    Attributes:
        scene: boxes and edges.
        types: what the labels of edges were made from.
        paths, portals: lines and name plates.
        boxes: (box, 4) float64: left, top, right, bottom.
        plates: (portal, 4) likewise.
        segments: (segment, 4) float64: left, top, right, bottom of each straight stretch.
        segment_path: (segment,) the path that each stretch belongs to.
        path_bounds: (path, 4) of each path, its label included.
        size: width and height of everything.
        start: where reading begins.
    """

    def __init__(self, laid_out: LaidOut, types: Types | None = None) -> None:
        layout = laid_out.layout
        self.types = types
        self.scene: Scene = laid_out.scene
        self.paths: tuple[Path, ...] = layout.paths
        self.portals: tuple[Portal, ...] = layout.portals
        self.size = layout.size
        self.start = layout.start
        self.boxes = _rectangles(layout.centres, [box.size for box in self.scene.boxes])
        self.plates = _rectangles([p.centre for p in self.portals], [p.size for p in self.portals])
        counts = [max(len(path.points) - 1, 0) for path in self.paths]
        starts = [pair for path in self.paths for pair in path.points[:-1]]
        ends = [pair for path in self.paths for pair in path.points[1:]]
        lines = np.hstack([_points(starts), _points(ends)])
        self.lines = lines
        self.segments = np.hstack(
            [np.minimum(lines[:, :2], lines[:, 2:]), np.maximum(lines[:, :2], lines[:, 2:])]
        )
        self.segment_path: Indices = np.repeat(np.arange(len(self.paths)), counts)
        self.path_bounds = self._bounds_of_paths()
        self._edge_paths: list[list[int]] = [[] for _ in self.scene.edges]
        for index, path in enumerate(self.paths):
            for carried in path.edges:
                self._edge_paths[carried].append(index)
        self._incoming: list[list[int]] = [[] for _ in self.scene.boxes]
        self._outgoing: list[list[int]] = [[] for _ in self.scene.boxes]
        for index, edge in enumerate(self.scene.edges):
            self._incoming[edge.target].append(index)
            self._outgoing[edge.source].append(index)

    @cached_property
    def box_rects(self) -> list[QRectF]:
        """Qt's rectangle of each box, made once: far views draw thousands."""
        return [QRectF(x0, y0, x1 - x0, y1 - y0) for x0, y0, x1, y1 in self.boxes.tolist()]

    @cached_property
    def segment_lines(self) -> list[QLineF]:
        """Qt's line of each segment."""
        return [QLineF(*line) for line in self.lines.tolist()]

    def prepare(self) -> None:
        """Make Qt's rectangles and lines now, off the GUI thread, instead of when first painted."""
        _ = self.box_rects, self.segment_lines

    def visible_boxes(self, view: QRectF) -> Indices:
        """Indices of the boxes that touch ``view``."""
        return _touching(self.boxes, view)

    def visible_plates(self, view: QRectF) -> Indices:
        """Indices of the portals whose plate touches ``view``."""
        return _touching(self.plates, view)

    def visible_paths(self, view: QRectF) -> Indices:
        """Indices of the paths that may touch ``view``."""
        return _touching(self.path_bounds, view)

    def visible_segments(self, view: QRectF, shortest: float = 0.0) -> Indices:
        """Indices of the stretches in ``view`` of at least ``shortest``."""
        found = _touching(self.segments, view)
        if shortest:
            extent = self.segments[found, 2:] - self.segments[found, :2]
            found = found[extent.max(axis=1, initial=0.0) >= shortest]
        return found

    def hit(self, x: float, y: float, reach: float) -> Hit:
        """What lies at a point; lines are hit within ``reach``."""
        if len(found := _containing(self.boxes, x, y, 0.0)):
            return Hit(box=int(found[0]))
        if len(found := _containing(self.plates, x, y, 0.0)):
            return Hit(portal=int(found[0]))
        if len(found := _containing(self.segments, x, y, reach)):
            return Hit(path=int(self.segment_path[found[0]]))
        return NOTHING

    def incoming(self, box: int) -> Sequence[int]:
        """Edges that end at ``box``."""
        return self._incoming[box]

    def outgoing(self, box: int) -> Sequence[int]:
        """Edges that start at ``box``."""
        return self._outgoing[box]

    def segments_of(self, paths: Indices) -> Indices:
        """Indices of the stretches of ``paths``."""
        wanted = np.zeros(len(self.paths), dtype=bool)
        wanted[paths] = True
        return np.flatnonzero(wanted[self.segment_path])

    def paths_of(self, edges: Iterable[int]) -> list[int]:
        """The paths that draw ``edges``, each once."""
        return list(dict.fromkeys(path for edge in edges for path in self._edge_paths[edge]))

    def producers(self, box: int) -> list[int]:
        """The boxes whose values ``box`` reads, each once, in input order."""
        return list(dict.fromkeys(self.scene.edges[e].source for e in self._incoming[box]))

    def consumers(self, box: int) -> list[int]:
        """The boxes that read the values of ``box``, each once, from left to right."""
        found = dict.fromkeys(self.scene.edges[e].target for e in self._outgoing[box])
        return sorted(found, key=lambda other: float(self.boxes[other, 0]))

    def neighbour(self, box: int, step: int) -> int | None:
        """The nearest box to the right (``step`` 1) or left (-1) at about the same height."""
        left, top, right, bottom = self.boxes[box]
        beside = (self.boxes[:, 1] < bottom) & (self.boxes[:, 3] > top)
        distance = step * (self.boxes[:, 0] + self.boxes[:, 2] - left - right)
        candidates = np.flatnonzero(beside & (distance > 0))
        if not len(candidates):
            return None
        return int(candidates[np.argmin(distance[candidates])])

    def rect(self, box: int) -> QRectF:
        """The rectangle of one box."""
        return self.box_rects[box]

    def plate_rect(self, portal: int) -> QRectF:
        """The rectangle of one portal's plate."""
        x0, y0, x1, y1 = self.plates[portal].tolist()
        return QRectF(x0, y0, x1 - x0, y1 - y0)

    def _bounds_of_paths(self) -> Floats:
        bounds = np.full((len(self.paths), 4), np.inf)
        bounds[:, 2:] = -np.inf
        np.minimum.at(bounds[:, 0], self.segment_path, self.segments[:, 0])
        np.minimum.at(bounds[:, 1], self.segment_path, self.segments[:, 1])
        np.maximum.at(bounds[:, 2], self.segment_path, self.segments[:, 2])
        np.maximum.at(bounds[:, 3], self.segment_path, self.segments[:, 3])
        for index, path in enumerate(self.paths):
            if path.label is not None:
                x, y = path.label
                bounds[index, 0] = min(bounds[index, 0], x)
                bounds[index, 2] = max(bounds[index, 2], x + 160)
                bounds[index, 3] = max(bounds[index, 3], y + 16)
        return bounds


def _points(pairs: Sequence[tuple[float, float]]) -> Floats:
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def _rectangles(
    centres: Sequence[tuple[float, float]], sizes: Sequence[tuple[float, float]]
) -> Floats:
    middle, half = _points(centres), _points(sizes) / 2
    return np.hstack([middle - half, middle + half])


def _touching(rects: Floats, view: QRectF) -> Indices:
    return np.flatnonzero(
        (rects[:, 0] <= view.right())
        & (rects[:, 2] >= view.left())
        & (rects[:, 1] <= view.bottom())
        & (rects[:, 3] >= view.top())
    )


def _containing(rects: Floats, x: float, y: float, reach: float) -> Indices:
    return np.flatnonzero(
        (rects[:, 0] - reach <= x)
        & (rects[:, 2] + reach >= x)
        & (rects[:, 1] - reach <= y)
        & (rects[:, 3] + reach >= y)
    )
