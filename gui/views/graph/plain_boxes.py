"""Painting one box from some distance: its class fills it, its title is as large as fits."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ...layout.scene import Box, BoxKind
from ...look import Look
from ...theme import Theme
from .boxes import RADIUS, TERMINAL_RADIUS
from .dress import Badge
from .fonts import Fonts
from .glyphs import BRUSHES, PENS, pattern_brush

_PAD = 4.0  # beside the title
_BADGE = 16.0


class PlainBoxPainter:
    """Paints in one theme."""

    def __init__(self, theme: Theme, fonts: Fonts) -> None:
        self._theme = theme
        self._fonts = fonts

    def paint(
        self,
        painter: QPainter,
        box: Box,
        rect: QRectF,
        look: Look,
        badge: Badge | None,
        scale: float,
    ) -> None:
        """Paint ``box`` into ``rect``, in the scene's coordinates at ``scale``."""
        if box.kind is BoxKind.NODE:
            ink = QColor(look.ink)
            self._node(painter, rect, look, ink)
        else:
            ink = QColor(self._theme.text)
            self._terminal(painter, rect)
        self._title(painter, box.title, rect, ink, scale)
        if badge is not None:
            self._badge(painter, rect, badge)

    def _node(self, painter: QPainter, rect: QRectF, look: Look, ink: QColor) -> None:
        fill = QColor(look.fill)
        dashes = PENS.get(look.pattern)
        pen = QPen(fill.darker(120), 1.0) if dashes is None else QPen(ink, 1.6, dashes)
        painter.setPen(pen)
        painter.setBrush(fill)
        painter.drawRoundedRect(rect, RADIUS, RADIUS)
        if look.pattern in BRUSHES:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(pattern_brush(look))
            painter.drawRoundedRect(rect, RADIUS, RADIUS)

    def _terminal(self, painter: QPainter, rect: QRectF) -> None:
        painter.setPen(QPen(QColor(self._theme.muted), 1.0))
        painter.setBrush(QColor(self._theme.raised))
        radius = min(rect.height() / 2, TERMINAL_RADIUS)
        painter.drawRoundedRect(rect, radius, radius)

    def _title(
        self, painter: QPainter, title: str, rect: QRectF, ink: QColor, scale: float
    ) -> None:
        size, shown = self._fonts.fitted(title, rect.width() - 2 * _PAD, rect.height(), scale)
        if shown:
            painter.setFont(self._fonts.sized(size))
            painter.setPen(QPen(ink))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, shown)

    def _badge(self, painter: QPainter, rect: QRectF, badge: Badge) -> None:
        spot = QRectF(0, 0, _BADGE, _BADGE)
        spot.moveCenter(rect.topRight())
        painter.setPen(QPen(QColor(self._theme.sunken), 2))
        painter.setBrush(QColor(self._theme.severity[badge.severity].fill))
        painter.drawEllipse(spot)
