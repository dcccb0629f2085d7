"""The signs that stand beside colours, drawn by the painter so that no font can lack them."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF

from ...look import Glyph, Look, Pattern

BRUSHES = {
    Pattern.HATCHED: Qt.BrushStyle.BDiagPattern,
    Pattern.CROSSED: Qt.BrushStyle.DiagCrossPattern,
}
PENS = {Pattern.DASHED: Qt.PenStyle.DashLine, Pattern.DOTTED: Qt.PenStyle.DotLine}


def draw_glyph(painter: QPainter, glyph: Glyph, rect: QRectF, ink: QColor) -> None:
    """Draw ``glyph`` into ``rect`` (a square) in one colour."""
    if glyph is Glyph.NONE:
        return
    painter.save()
    size = rect.width()
    centre = rect.center()
    inner = rect.adjusted(size * 0.12, size * 0.12, -size * 0.12, -size * 0.12)
    stroke = QPen(ink, size * 0.16)
    stroke.setCapStyle(Qt.PenCapStyle.RoundCap)
    stroke.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(stroke)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    match glyph:
        case Glyph.DISC:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawEllipse(inner)
        case Glyph.RING:
            painter.drawEllipse(inner)
        case Glyph.HALF:
            painter.drawEllipse(inner)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawPie(inner, 90 * 16, 180 * 16)
        case Glyph.CROSS:
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())
        case Glyph.LINK:
            radius = size * 0.2
            painter.drawEllipse(centre - QPointF(size * 0.18, 0), radius, radius)
            painter.drawEllipse(centre + QPointF(size * 0.18, 0), radius, radius)
        case Glyph.BOLT:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawPolygon(_bolt(rect))
        case Glyph.QUESTION:
            painter.drawPath(_question(rect))
            painter.drawPoint(QPointF(centre.x(), rect.top() + size * 0.86))
        case Glyph.OCTAGON:
            painter.drawPolygon(_octagon(inner))
            gap = size * 0.16
            painter.drawLine(centre - QPointF(gap, gap), centre + QPointF(gap, gap))
            painter.drawLine(centre + QPointF(gap, -gap), centre + QPointF(-gap, gap))
        case Glyph.TRIANGLE:
            stroke.setWidthF(size * 0.13)
            painter.setPen(stroke)
            painter.drawPolygon(
                QPolygonF(
                    [
                        QPointF(centre.x(), inner.top()),
                        QPointF(inner.right(), inner.bottom()),
                        QPointF(inner.left(), inner.bottom()),
                    ]
                )
            )
            painter.drawLine(
                QPointF(centre.x(), rect.top() + size * 0.42),
                QPointF(centre.x(), rect.top() + size * 0.58),
            )
            painter.drawPoint(QPointF(centre.x(), rect.top() + size * 0.74))
        case Glyph.LEFT | Glyph.RIGHT:
            _half(painter, inner, ink, right=glyph is Glyph.RIGHT)
        case Glyph.EQUAL | Glyph.UNEQUAL:
            for y in (-0.16, 0.16):
                middle = centre + QPointF(0, size * y)
                painter.drawLine(middle - QPointF(size * 0.3, 0), middle + QPointF(size * 0.3, 0))
            if glyph is Glyph.UNEQUAL:
                slope = QPointF(size * 0.2, -size * 0.36)
                painter.drawLine(centre - slope, centre + slope)
        case Glyph.SWAP:
            _arrows(painter, inner)
        case Glyph.INFO:
            painter.drawPoint(QPointF(centre.x(), rect.top() + size * 0.2))
            painter.drawLine(
                QPointF(centre.x(), rect.top() + size * 0.45),
                QPointF(centre.x(), rect.top() + size * 0.85),
            )
    painter.restore()


def draw_swatch(painter: QPainter, look: Look, rect: QRectF, outline: QColor) -> None:
    """Draw a class's filling, pattern and glyph into a small rounded box, as legends show it."""
    painter.save()
    pen = QPen(QColor(look.ink) if look.pattern in PENS else outline, 1.2)
    pen.setStyle(PENS.get(look.pattern, Qt.PenStyle.SolidLine))
    painter.setPen(pen)
    painter.setBrush(QColor(look.fill))
    painter.drawRoundedRect(rect, 3.5, 3.5)
    if look.pattern in BRUSHES:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(pattern_brush(look))
        painter.drawRoundedRect(rect, 3.5, 3.5)
    side = min(rect.width(), rect.height()) - 4
    spot = QRectF(0, 0, side, side)
    spot.moveCenter(rect.center())
    draw_glyph(painter, look.glyph, spot, QColor(look.ink))
    painter.restore()


def pattern_brush(look: Look) -> QBrush:
    """The lines that are drawn over a class's filling."""
    ink = QColor(look.ink)
    ink.setAlphaF(0.30)
    return QBrush(ink, BRUSHES[look.pattern])


def _half(painter: QPainter, inner: QRectF, ink: QColor, *, right: bool) -> None:
    """Two bars, of which the left or the right one is filled."""
    width = inner.width() * 0.4
    bars = [
        QRectF(inner.left(), inner.top(), width, inner.height()),
        QRectF(inner.right() - width, inner.top(), width, inner.height()),
    ]
    painter.setPen(QPen(ink, inner.width() * 0.13))
    for place, bar in enumerate(bars):
        painter.setBrush(ink if (place == 1) is right else Qt.BrushStyle.NoBrush)
        painter.drawRect(bar)


def _arrows(painter: QPainter, inner: QRectF) -> None:
    """An arrow up and an arrow down."""
    wing = inner.width() * 0.22
    for x, tip, tail in ((0.24, inner.top(), inner.bottom()), (0.76, inner.bottom(), inner.top())):
        end = QPointF(inner.left() + inner.width() * x, tip)
        back = wing if tail > tip else -wing
        painter.drawLine(QPointF(end.x(), tail), end)
        painter.drawPolyline([end + QPointF(-wing, back), end, end + QPointF(wing, back)])


def _octagon(rect: QRectF) -> QPolygonF:
    radius = rect.width() / 2
    return QPolygonF(
        [
            rect.center()
            + QPointF(
                radius * math.cos(math.pi * (i + 0.5) / 4),
                radius * math.sin(math.pi * (i + 0.5) / 4),
            )
            for i in range(8)
        ]
    )


def _bolt(rect: QRectF) -> QPolygonF:
    corners = ((0.58, 0.02), (0.18, 0.58), (0.46, 0.58), (0.38, 0.98), (0.82, 0.40), (0.54, 0.40))
    return QPolygonF(
        [
            QPointF(rect.left() + x * rect.width(), rect.top() + y * rect.height())
            for x, y in corners
        ]
    )


def _question(rect: QRectF) -> QPainterPath:
    size = rect.width()
    path = QPainterPath(QPointF(rect.left() + size * 0.30, rect.top() + size * 0.30))
    path.cubicTo(
        rect.topLeft() + QPointF(size * 0.30, 0),
        rect.topLeft() + QPointF(size * 0.74, 0),
        rect.topLeft() + QPointF(size * 0.70, size * 0.32),
    )
    path.quadTo(
        rect.topLeft() + QPointF(size * 0.66, size * 0.44),
        rect.topLeft() + QPointF(size * 0.50, size * 0.62),
    )
    return path
