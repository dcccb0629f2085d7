"""Painting copies between GPU and CPU: broken lines in the other side's colour, with bytes.

Lines are painted in the scene, plates with the bytes on the screen, so that they can be read at
every zoom. A value that several nodes read is copied once and has one plate.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ...copies import Copy
from ...theme import Theme
from .drawing import Drawing, Floats, Indices
from .far import far_segments
from .fonts import Fonts
from .lines import LinePainter
from .viewport import Viewport
from .worn import Worn

_ARROW = "\N{RIGHTWARDS ARROW}"
_DASHES = (2.6, 1.3)  # line widths
_PLATE_HEIGHT = 17.0
_PLATE_PAD = 6.0
_GAP = 4.0  # between plates
_AROUND = 1.2  # pixels that the ground is wider than the dashes
_MOST = 150  # plates that are tried for room; the largest copies come first
_SHORTEST = 1.5  # pixels of a line that is worth a plate


class CopyPainter:
    """Paints the copies of one theme."""

    def __init__(self, theme: Theme, fonts: Fonts, lines: LinePainter) -> None:
        self._theme = theme
        self._fonts = fonts
        self._lines = lines

    def lines(
        self,
        painter: QPainter,
        worn: Worn,
        paths: Indices,
        scale: float,
        grounds: Mapping[int, str],
    ) -> None:
        """Paint the broken lines, in the scene's coordinates.

        Args:
            painter: of the scene.
            worn: what is drawn, with its copies.
            paths: marked ones, in view.
            scale: of the view.
            grounds: path -> the colour around its dashes, where that is not the canvas's.
        """
        width = max(2.4, 1.7 / scale)
        between = QPen(QColor(self._theme.sunken), width)
        for index in paths.tolist():
            pen = QPen(self._colour(worn.marks.paths[index]), width, Qt.PenStyle.CustomDashLine)
            pen.setDashPattern(_DASHES)
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            curve, head = self._lines.curve(worn.drawing, index)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for stroke in (self._ground(grounds.get(index), width, scale), between, pen):
                painter.setPen(stroke)
                painter.drawPath(curve)
            if worn.drawing.paths[index].arrow:
                painter.setPen(QPen(pen.color(), width * 0.8))
                painter.setBrush(pen.color())
                painter.drawPolygon(head)

    def _ground(self, around: str | None, width: float, scale: float) -> QPen:
        """What keeps the dashes apart from other lines, or the colour of a line that stands out."""
        margin = _AROUND / min(scale, 1.0)
        if around is None:
            return QPen(QColor(self._theme.sunken), width + margin)
        return QPen(QColor(around), width + 3 * margin)

    def far_lines(self, painter: QPainter, worn: Worn, visible: QRectF, scale: float) -> None:
        """Paint many copies from afar, where no dash could be told: two calls for all of them."""
        drawing, colours = worn.drawing, (self._theme.copy_to_cpu, self._theme.copy_to_gpu)
        stretches = far_segments(drawing, visible, scale)
        ways = worn.marks.split(drawing.segment_path[stretches])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        for places, colour in zip(ways, colours, strict=True):
            painter.setPen(QPen(QColor(colour), 1.7 / scale))
            painter.drawLines([drawing.segment_lines[i] for i in stretches[places].tolist()])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)

    def plates(
        self,
        painter: QPainter,
        worn: Worn,
        paths: Indices,
        view: Viewport,
        size: QSizeF,
        *,
        gap: float,
    ) -> None:
        """Paint the plates, in the screen's coordinates, as many as have room.

        Args:
            painter: of the screen.
            worn: what is drawn, with its copies.
            paths: marked ones, in view.
            view: where the screen looks.
            size: of the screen.
            gap: pixels between a line and its plate, on the side where no shape stands; a plate is
                on its line only where that runs across and is longer.
        """
        screen = QRectF(QPointF(), size)
        stretches = _longest_stretches(worn.drawing, paths, view, screen)
        taken: list[QRectF] = []
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setFont(self._fonts.badge)
        for copy, index in _largest_first(worn, paths):
            if (stretch := stretches.get(index)) is None:
                continue
            text = f"{copy.size_text} {_ARROW} {'GPU' if copy.to_gpu else 'CPU'}"
            plate = self._place(text, stretch, gap)
            if screen.contains(plate) and not any(plate.intersects(other) for other in taken):
                taken.append(plate.adjusted(-_GAP, -_GAP, _GAP, _GAP))
                self._plate(painter, plate, text, self._colour(copy))

    def _place(self, text: str, stretch: QRectF, gap: float) -> QRectF:
        width = self._fonts.width(self._fonts.badge, text) + 2 * _PLATE_PAD
        plate = QRectF(0, 0, width, _PLATE_HEIGHT)
        plate.moveCenter(stretch.center())
        if stretch.height() >= stretch.width() or stretch.width() < width:
            plate.moveRight(stretch.center().x() - gap)
        return plate

    def _plate(self, painter: QPainter, plate: QRectF, text: str, colour: QColor) -> None:
        painter.setPen(QPen(colour, 1.3))
        painter.setBrush(QColor(self._theme.node_body))
        painter.drawRoundedRect(plate, _PLATE_HEIGHT / 2, _PLATE_HEIGHT / 2)
        painter.setPen(QPen(QColor(self._theme.text)))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)

    def _colour(self, copy: Copy) -> QColor:
        return QColor(self._theme.copy_to_gpu if copy.to_gpu else self._theme.copy_to_cpu)


def _largest_first(worn: Worn, paths: Indices) -> list[tuple[Copy, int]]:
    """Each copy with the first of its paths in view."""
    first: dict[int, tuple[Copy, int]] = {}
    for index in paths.tolist():
        copy = worn.marks.paths[index]
        first.setdefault(id(copy), (copy, index))
    return sorted(first.values(), key=lambda item: -(item[0].size_bytes or 0))[:_MOST]


def _longest_stretches(
    drawing: Drawing, paths: Indices, view: Viewport, screen: QRectF
) -> dict[int, QRectF]:
    """Path -> its longest straight stretch on the screen, where that is worth a plate."""
    segments = drawing.segments_of(paths)
    shown = _on_screen(drawing.segments[segments], view, screen)
    length = (shown[:, 2:] - shown[:, :2]).max(axis=1, initial=0.0)
    in_view = (shown[:, :2] <= shown[:, 2:]).all(axis=1) & (length >= _SHORTEST)
    shown, length, owners = shown[in_view], length[in_view], drawing.segment_path[segments[in_view]]
    order = np.argsort(length, kind="stable")  # the longest of a path comes last, and stays
    return {
        owner: QRectF(x0, y0, x1 - x0, y1 - y0)
        for owner, (x0, y0, x1, y1) in zip(
            owners[order].tolist(), shown[order].tolist(), strict=True
        )
    }


def _on_screen(rects: Floats, view: Viewport, screen: QRectF) -> Floats:
    """Rectangles of the scene in pixels, cut off at the screen's edges."""
    moved = rects * view.scale + np.array([view.dx, view.dy, view.dx, view.dy])
    moved[:, 0] = np.maximum(moved[:, 0], screen.left())
    moved[:, 1] = np.maximum(moved[:, 1], screen.top())
    moved[:, 2] = np.minimum(moved[:, 2], screen.right())
    moved[:, 3] = np.minimum(moved[:, 3], screen.bottom())
    return moved
