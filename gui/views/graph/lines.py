"""Lines of a drawing: polylines with rounded bends and arrowheads, made once per drawing."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from .drawing import Drawing

_CORNER = 7.0  # radius of a line's bends
_ARROW = (6.5, 3.8)  # length and half width


class LinePainter:
    """Paints paths of one drawing at a time, and remembers their curves."""

    def __init__(self) -> None:
        self._curves: dict[int, tuple[QPainterPath, QPolygonF]] = {}
        self._curves_of: Drawing | None = None

    def paint(
        self,
        painter: QPainter,
        drawing: Drawing,
        paths: Iterable[int],
        colour: QColor,
        width: float,
    ) -> None:
        """Paint ``paths`` in one colour, with the heads of those that have one."""
        pen = QPen(colour, width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        heads = []
        for index in paths:
            curve, head = self.curve(drawing, index)
            painter.drawPath(curve)
            if drawing.paths[index].arrow:
                heads.append(head)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for head in heads:
            painter.drawPolygon(head)

    def curve(self, drawing: Drawing, index: int) -> tuple[QPainterPath, QPolygonF]:
        """A path's line and its head."""
        if self._curves_of is not drawing:
            self._curves, self._curves_of = {}, drawing
        found = self._curves.get(index)
        if found is None:
            points = drawing.paths[index].points
            found = self._curves[index] = (_rounded(points), _arrow_head(points))
        return found


def _rounded(points: tuple[tuple[float, float], ...]) -> QPainterPath:
    """A polyline with rounded bends."""
    if not points:
        return QPainterPath()
    path = QPainterPath(QPointF(*points[0]))
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        enter, leave = _towards(corner, before), _towards(corner, after)
        path.lineTo(enter)
        path.quadTo(QPointF(*corner), leave)
    path.lineTo(QPointF(*points[-1]))
    return path


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> QPointF:
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    share = min(_CORNER, length / 2) / length if length else 0.0
    return QPointF(corner[0] + dx * share, corner[1] + dy * share)


def _arrow_head(points: tuple[tuple[float, float], ...]) -> QPolygonF:
    """A triangle with its tip at the end of the line."""
    if len(points) < 2:
        return QPolygonF()
    (x0, y0), (x, y) = points[-2], points[-1]
    length, half = _ARROW
    size = max(abs(x - x0) + abs(y - y0), 1e-6)
    ux, uy = (x - x0) / size, (y - y0) / size
    back = QPointF(x - ux * length, y - uy * length)
    side = QPointF(-uy * half, ux * half)
    return QPolygonF([QPointF(x, y), back + side, back - side])
