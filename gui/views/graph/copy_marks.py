"""Copies between GPU and CPU on the canvas: broken lines in the other side's colour, with bytes.

Lines are painted in the scene, plates with the bytes on the screen, so that they can be read at
every zoom. A value that several nodes read is copied once and has one plate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from ....engine.ir.model import NodeId
from ...copies import Copies, Copy
from ...layout.scene import Box, BoxKind
from ...theme import Theme
from .boxes import Fonts
from .drawing import Drawing, Indices
from .lines import LinePainter
from .viewport import Viewport

_ARROW = "\N{RIGHTWARDS ARROW}"
_PLATE_HEIGHT = 17.0
_PLATE_PAD = 6.0
_GAP = 4.0  # between plates
_AROUND = 1.2  # pixels that the ground is wider than the dashes
_MOST = 150  # plates that are tried for room; the largest copies come first
_SHORTEST = 1.5  # pixels of a line that is worth a plate


@dataclass(frozen=True)
class CopyMarks:
    """Which paths of a drawing carry a copied value."""

    paths: dict[int, Copy]

    @cached_property
    def ways(self) -> tuple[Indices, Indices]:
        """The marked paths that lead to the CPU, and those that lead to the GPU."""
        found: tuple[list[int], list[int]] = ([], [])
        for path, copy in self.paths.items():
            found[copy.to_gpu].append(path)
        return np.array(found[0], dtype=np.intp), np.array(found[1], dtype=np.intp)

    @classmethod
    def of(cls, drawing: Drawing, copies: Copies) -> CopyMarks:
        """The marks of ``copies`` on ``drawing``."""
        if not copies.all:
            return cls({})
        scene = drawing.scene
        owner = _owner(scene.path)
        marked: dict[int, Copy] = {}
        for index, edge in enumerate(scene.edges):
            for copy in copies.by_value.get(edge.value, ()):
                if _arrives(copy, scene.boxes[edge.target], owner):
                    marked.update((path, copy) for path in drawing.paths_of([index]))
        return cls(marked)


def _arrives(copy: Copy, box: Box, owner: NodeId | None) -> bool:
    """True if the edge into ``box`` takes the value to a reader on the other side."""
    if box.node is not None:
        return copy.reaches(box.node)
    return box.kind is BoxKind.OUTPUT and owner is not None and owner in copy.readers


def _owner(path: tuple[str, ...]) -> NodeId | None:
    """The node whose subgraph is at ``path``."""
    number = path[-1].partition(".")[0] if path else ""
    return NodeId(path[:-1], int(number)) if number.isdigit() else None


class CopyPainter:
    """Paints the copies of one theme."""

    def __init__(self, theme: Theme, fonts: Fonts) -> None:
        self._theme = theme
        self._font = fonts.badge
        self._metrics = QFontMetricsF(fonts.badge)

    def lines(
        self,
        painter: QPainter,
        drawing: Drawing,
        marks: CopyMarks,
        visible: Iterable[int],
        scale: float,
        lines: LinePainter,
        grounds: Mapping[int, str],
    ) -> None:
        """Paint the broken lines, in the scene's coordinates.

        Args:
            painter: of the scene.
            drawing: what is drawn.
            marks: its paths that are copied.
            visible: its paths in view.
            scale: of the view.
            lines: has the curves.
            grounds: path -> the colour around its dashes, where that is not the canvas's.
        """
        width = max(2.4, 1.7 / scale)
        for index in visible:
            copy = marks.paths.get(index)
            if copy is None:
                continue
            pen = QPen(self._colour(copy), width, Qt.PenStyle.CustomDashLine)
            pen.setDashPattern([2.6, 1.3])
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            around = grounds.get(index)
            ground = QPen(QColor(around or self._theme.sunken), width + _AROUND / min(scale, 1.0))
            if around is not None:
                ground.setWidthF(width + 3 * _AROUND / min(scale, 1.0))
            path, head = lines.curve(drawing, index)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            plain = QPen(QColor(self._theme.sunken), width)  # between the dashes
            for stroke in (ground, plain, pen):
                painter.setPen(stroke)
                painter.drawPath(path)
            if drawing.paths[index].arrow:
                painter.setPen(QPen(pen.color(), width * 0.8))
                painter.setBrush(pen.color())
                painter.drawPolygon(head)

    def far_lines(
        self,
        painter: QPainter,
        drawing: Drawing,
        marks: CopyMarks,
        segments: Indices,
        scale: float,
    ) -> None:
        """Paint many copies from afar, where no dash could be told: two calls for all of them.

        Args:
            painter: of the scene.
            drawing: what is drawn.
            marks: its paths that are copied.
            segments: its stretches in view.
            scale: of the view.
        """
        owners = drawing.segment_path[segments]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for paths, colour in zip(
            marks.ways, (self._theme.copy_to_cpu, self._theme.copy_to_gpu), strict=True
        ):
            painter.setPen(QPen(QColor(colour), 1.7 / scale))
            chosen = segments[np.isin(owners, paths)].tolist()
            painter.drawLines([drawing.segment_lines[i] for i in chosen])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def plates(
        self,
        painter: QPainter,
        drawing: Drawing,
        marks: CopyMarks,
        visible: Iterable[int],
        view: Viewport,
        size: QSizeF,
        *,
        gap: float,
    ) -> None:
        """Paint the plates, in the screen's coordinates, as many as have room.

        Args:
            painter: of the screen.
            drawing: what is drawn.
            marks: its paths that are copied.
            visible: its paths in view.
            view: where the screen looks.
            size: of the screen.
            gap: pixels between an upright line and its plate, on the side where no shape stands.
        """
        screen = QRectF(QPointF(), size)
        taken: list[QRectF] = []
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setFont(self._font)
        for copy, index in self._largest_first(marks, visible):
            spot = _longest_stretch(drawing, index, view, screen)
            if spot is None:
                continue
            text = f"{copy.size_text} {_ARROW} {'GPU' if copy.to_gpu else 'CPU'}"
            width = self._metrics.horizontalAdvance(text) + 2 * _PLATE_PAD
            plate = QRectF(0, 0, width, _PLATE_HEIGHT)
            middle, upright = spot
            plate.moveCenter(middle)
            if upright:
                plate.moveRight(middle.x() - gap)
            if not screen.contains(plate) or any(plate.intersects(t) for t in taken):
                continue
            taken.append(plate.adjusted(-_GAP, -_GAP, _GAP, _GAP))
            self._plate(painter, plate, text, copy)

    def _plate(self, painter: QPainter, plate: QRectF, text: str, copy: Copy) -> None:
        painter.setPen(QPen(self._colour(copy), 1.3))
        painter.setBrush(QColor(self._theme.node_body))
        painter.drawRoundedRect(plate, _PLATE_HEIGHT / 2, _PLATE_HEIGHT / 2)
        painter.setPen(QPen(QColor(self._theme.text)))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)

    def _largest_first(
        self, marks: CopyMarks, visible: Iterable[int]
    ) -> Iterator[tuple[Copy, int]]:
        """Each copy with the first of its paths in view."""
        first: dict[int, tuple[Copy, int]] = {}
        for index in visible:
            if (copy := marks.paths.get(index)) is not None:
                first.setdefault(id(copy), (copy, index))
        ordered = sorted(first.values(), key=lambda item: -(item[0].size_bytes or 0))
        return iter(ordered[:_MOST])

    def _colour(self, copy: Copy) -> QColor:
        return QColor(self._theme.copy_to_gpu if copy.to_gpu else self._theme.copy_to_cpu)


def _longest_stretch(
    drawing: Drawing, index: int, view: Viewport, screen: QRectF
) -> tuple[QPointF, bool] | None:
    """The middle of a path's longest straight stretch on the screen, and whether it is upright."""
    best: tuple[float, QPointF, bool] | None = None
    points = [view.transform.map(QPointF(*p)) for p in drawing.paths[index].points]
    for a, b in itertools.pairwise(points):
        left, right = sorted((a.x(), b.x()))
        top, bottom = sorted((a.y(), b.y()))
        if right < screen.left() or left > screen.right():
            continue
        if bottom < screen.top() or top > screen.bottom():
            continue
        left, right = max(left, screen.left()), min(right, screen.right())
        top, bottom = max(top, screen.top()), min(bottom, screen.bottom())
        length = max(right - left, bottom - top)
        if best is None or length > best[0]:
            middle = QPointF((left + right) / 2, (top + bottom) / 2)
            best = (length, middle, bottom - top >= right - left)
    return best[1:] if best is not None and best[0] >= _SHORTEST else None
