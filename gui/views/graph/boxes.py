"""Painting one box close up: header, name, rows of weights, badge. World coordinates throughout."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from ...layout.scene import Box, BoxKind
from ...layout.sizes import HEADER_HEIGHT, ROW_HEIGHT
from ...look import Glyph, Look, Pattern
from ...theme import Theme
from .dress import Badge
from .fonts import Fonts
from .glyphs import BRUSHES, PENS, draw_glyph, pattern_brush

RADIUS = 5.0
TERMINAL_RADIUS = 12.0
_PAD = 9.0
_GLYPH = 10.0
_GAP = 4.0  # between the things in a header
_LEAST_TITLE = 44.0  # pixels of a title that a text beside it leaves
_BADGE = 15.0
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class BoxPainter:
    """Paints boxes and portals at reading distance."""

    def __init__(self, theme: Theme, fonts: Fonts) -> None:
        self._theme = theme
        self._fonts = fonts
        self._outline = QPen(QColor(theme.node_border), 1.0)
        self._text = QPen(QColor(theme.text))
        self._muted = QPen(QColor(theme.muted))
        self._body = QColor(theme.node_body)

    def paint(
        self, painter: QPainter, box: Box, rect: QRectF, look: Look, text: str, badge: Badge | None
    ) -> None:
        """Paint ``box`` into ``rect``; ``text`` is the colouring's, for the header's right end."""
        if box.kind is BoxKind.NODE:
            self._node(painter, box, rect, look, text)
        else:
            self._terminal(painter, box, rect)
        if badge is not None:
            self._badge(painter, rect, badge)

    def _node(self, painter: QPainter, box: Box, rect: QRectF, look: Look, text: str) -> None:
        pen = QPen(QColor(look.fill).darker(125), 1.0)
        if look.pattern in PENS:
            pen = QPen(QColor(look.ink), 1.3, PENS[look.pattern])
        elif look.pattern is Pattern.PLAIN:
            pen = self._outline
        header = QRectF(rect.x(), rect.y(), rect.width(), HEADER_HEIGHT)
        only_header = rect.height() <= HEADER_HEIGHT
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(look.fill))
        painter.drawRoundedRect(rect, RADIUS, RADIUS)
        if look.pattern in BRUSHES:
            painter.setBrush(pattern_brush(look))
            painter.drawRoundedRect(rect, RADIUS, RADIUS)
        if not only_header:
            painter.setBrush(self._body)
            painter.drawPath(_lower_part(rect.adjusted(0, HEADER_HEIGHT, 0, 0)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        painter.drawRoundedRect(rect, RADIUS, RADIUS)
        self._header(painter, box, header, look, text)
        if not only_header:
            self._rows(painter, box, rect)

    def _header(self, painter: QPainter, box: Box, header: QRectF, look: Look, text: str) -> None:
        """From right to left: the class's sign, the colouring's text, what opens, the title."""
        ink = QColor(look.ink)
        left, right = header.left() + _PAD, header.right() - _PAD
        if look.glyph is not Glyph.NONE:
            spot = _spot(header, right)
            draw_glyph(painter, look.glyph, spot, ink)
            right = spot.left() - _GAP
        painter.setPen(QPen(ink))
        width = self._fonts.width(self._fonts.label, text) + _GAP if text else 0.0
        if text and right - width - left >= self._needed(box):
            painter.setFont(self._fonts.label)
            room = QRectF(left, header.top(), right - left, header.height())
            painter.drawText(room, _RIGHT, text)
            right -= width
        if box.opens:
            spot = _spot(header, right)
            self._opening(painter, spot, ink)
            right = spot.left() - _GAP
        painter.setFont(self._fonts.title)
        painter.setPen(QPen(ink))
        title = self._fonts.elided(
            self._fonts.title, box.title, right - left, Qt.TextElideMode.ElideRight
        )
        painter.drawText(
            QRectF(left, header.top(), right - left + 2, header.height()), _LEFT, title
        )

    def _needed(self, box: Box) -> float:
        """The room that title and sign have before any text: an operator is told first."""
        title = min(self._fonts.width(self._fonts.title, box.title), _LEAST_TITLE)
        return title + (_GLYPH + _GAP if box.opens else 0.0)

    def _opening(self, painter: QPainter, spot: QRectF, ink: QColor) -> None:
        """Two nested frames: there is a graph inside."""
        painter.setPen(QPen(ink, 1.3))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(spot.adjusted(0.5, 0.5, -2.5, -2.5), 1.5, 1.5)
        painter.drawPolyline(
            [
                spot.topRight() + QPointF(0, 3.5),
                spot.bottomRight(),
                spot.bottomLeft() + QPointF(3.5, 0),
            ]
        )

    def _rows(self, painter: QPainter, box: Box, rect: QRectF) -> None:
        left, width = rect.left() + _PAD, rect.width() - 2 * _PAD
        y = rect.top() + HEADER_HEIGHT + 2
        fonts = self._fonts
        if box.name:
            painter.setFont(fonts.row)
            painter.setPen(self._muted)
            name = fonts.elided(fonts.row, box.name, width, Qt.TextElideMode.ElideLeft)
            painter.drawText(QRectF(left, y, width + 2, ROW_HEIGHT), _LEFT, name)
            y += ROW_HEIGHT
        for row in box.rows:
            painter.setFont(fonts.key)
            painter.setPen(self._text)
            room = max(width * 0.6, width - 8 - fonts.width(fonts.row, row.text))
            key = fonts.elided(fonts.key, row.key, room, Qt.TextElideMode.ElideRight)
            painter.drawText(QRectF(left, y, width + 2, ROW_HEIGHT), _LEFT, key)
            used = fonts.width(fonts.key, key) + 6
            painter.setFont(fonts.row)
            painter.setPen(self._muted)
            text = fonts.elided(fonts.row, row.text, width - used, Qt.TextElideMode.ElideRight)
            painter.drawText(QRectF(left + used, y, width - used + 2, ROW_HEIGHT), _LEFT, text)
            y += ROW_HEIGHT
        if box.more:
            painter.setFont(fonts.row)
            painter.setPen(self._muted)
            painter.drawText(QRectF(left, y, width, ROW_HEIGHT), _LEFT, f"{box.more} more")

    def _terminal(self, painter: QPainter, box: Box, rect: QRectF) -> None:
        theme = self._theme
        dashed = box.kind is BoxKind.CAPTURED
        painter.setPen(
            QPen(
                QColor(theme.muted), 1.2, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
            )
        )
        painter.setBrush(QColor(theme.raised))
        radius = min(rect.height() / 2, TERMINAL_RADIUS)
        painter.drawRoundedRect(rect, radius, radius)
        width = rect.width() - 16
        fonts = self._fonts
        painter.setFont(fonts.title)
        painter.setPen(self._text)
        centred = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter
        title = fonts.elided(fonts.title, box.title, width, Qt.TextElideMode.ElideLeft)
        top = 3 if box.name else 0
        painter.drawText(
            QRectF(rect.left() + 4, rect.top() + top, rect.width() - 8, HEADER_HEIGHT - top),
            centred,
            title,
        )
        if box.name:
            painter.setFont(fonts.row)
            painter.setPen(self._muted)
            text = fonts.elided(fonts.row, box.name, width, Qt.TextElideMode.ElideRight)
            painter.drawText(
                QRectF(
                    rect.left() + 4, rect.bottom() - ROW_HEIGHT - 3, rect.width() - 8, ROW_HEIGHT
                ),
                centred,
                text,
            )

    def _badge(self, painter: QPainter, rect: QRectF, badge: Badge) -> None:
        """A pill over the top right corner: the severity's sign, and the count from two on."""
        count = str(badge.count) if badge.count > 1 else ""
        extra = self._fonts.width(self._fonts.badge, count) + 3 if count else 0.0
        pill = QRectF(0, 0, _BADGE + extra, _BADGE)
        pill.moveCenter(QPointF(rect.right() - extra / 2, rect.top() - 4))
        look = self._theme.severity[badge.severity]
        painter.setPen(QPen(QColor(self._theme.sunken), 1.6))
        painter.setBrush(QColor(look.fill))
        painter.drawRoundedRect(pill, _BADGE / 2, _BADGE / 2)
        sign = QRectF(pill.left() + 2.5, pill.top() + 2.5, _BADGE - 5, _BADGE - 5)
        draw_glyph(painter, look.glyph, sign, QColor(look.ink))
        if count:
            painter.setFont(self._fonts.badge)
            painter.setPen(QPen(QColor(look.ink)))
            painter.drawText(
                QRectF(sign.right() + 1, pill.top(), extra + 2, pill.height()),
                _LEFT,
                count,
            )

    def portal(self, painter: QPainter, rect: QRectF, name: str, outgoing: bool) -> None:
        """Paint a portal's plate: the value's name, and an arrow towards the other end."""
        theme = self._theme
        painter.setPen(QPen(QColor(theme.accent), 1.0))
        painter.setBrush(QColor(theme.node_body))
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        arrow = QRectF(rect.left() + 5, rect.top() + 4, rect.height() - 8, rect.height() - 8)
        painter.setPen(QPen(QColor(theme.accent), 1.5))
        x, sign = arrow.center().x(), 1 if outgoing else -1
        y = arrow.center().y()
        painter.drawLine(QPointF(x, y - 4), QPointF(x, y + 4))
        tip = QPointF(x, y + 4 * sign)
        painter.drawPolyline([tip + QPointF(-3, -3 * sign), tip, tip + QPointF(3, -3 * sign)])
        painter.setFont(self._fonts.label)
        painter.setPen(self._muted)
        width = rect.right() - arrow.right() - 10
        text = self._fonts.elided(self._fonts.label, name, width, Qt.TextElideMode.ElideLeft)
        painter.drawText(
            QRectF(arrow.right() + 3, rect.top(), width + 2, rect.height()),
            _LEFT,
            text,
        )


def _spot(header: QRectF, right: float) -> QRectF:
    """The place of a sign that ends at ``right``."""
    spot = QRectF(0, 0, _GLYPH, _GLYPH)
    spot.moveCenter(QPointF(right - _GLYPH / 2, header.center().y()))
    return spot


def _lower_part(rect: QRectF) -> QPainterPath:
    """A rectangle with its two lower corners rounded."""
    path = QPainterPath(rect.topLeft())
    path.lineTo(rect.topRight())
    path.lineTo(rect.right(), rect.bottom() - RADIUS)
    path.quadTo(rect.bottomRight(), QPointF(rect.right() - RADIUS, rect.bottom()))
    path.lineTo(rect.left() + RADIUS, rect.bottom())
    path.quadTo(rect.bottomLeft(), QPointF(rect.left(), rect.bottom() - RADIUS))
    path.closeSubpath()
    return path
