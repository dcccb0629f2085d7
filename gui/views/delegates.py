"""How cells are drawn: a share as a bar behind its text, a verdict with its sign."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from ...engine.diagnostics import Severity
from ...engine.providers.support import Status
from ..colour import qcolor
from ..difference import Difference
from ..look import Look
from ..models.table import Role
from ..theme import Theme
from ..verdict import Home
from .graph.glyphs import draw_swatch

SIGN_SIZE = 15
_SEVERITIES = frozenset(Severity)
_STATUSES = frozenset(Status)
_DIFFERENCES = frozenset(Difference)
Index = QModelIndex | QPersistentModelIndex


def look_of(theme: Theme, value: object) -> Look | None:
    """The look of a verdict, severity or difference in ``theme``; None for anything else.

    Item models hand both out as plain text: Qt keeps no subclass of ``str``.
    """
    if not isinstance(value, str):
        return None
    if value in _SEVERITIES:
        return theme.severity[Severity(value)]
    if value in _DIFFERENCES:
        return theme.difference[Difference(value)]
    if value == Home.CPU:
        return theme.home
    return theme.status[Status(value)] if value in _STATUSES else None


class BarDelegate(QStyledItemDelegate):
    """Draws :attr:`Role.BAR` as a bar from the left, with the cell's text over it."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self.theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell's ground, the bar, the text."""
        share = index.data(Role.BAR)
        text = str(index.data() or "")
        self.initStyleOption(option, index)
        option.text = ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        area = QRectF(option.rect).adjusted(4, 3, -4, -3)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(share, float) and share > 0:
            bar = QRectF(area)
            bar.setWidth(max(2.0, area.width() * min(share, 1.0)))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(qcolor(self.theme.series[1], 0.38))
            painter.drawRoundedRect(bar, 2, 2)
        painter.setPen(qcolor(self.theme.text))
        painter.drawText(
            area.adjusted(4, 0, -4, 0),
            Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            text,
        )
        painter.restore()


class LookDelegate(QStyledItemDelegate):
    """Draws the sign of :attr:`Role.LOOK` before the cell's text."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self.theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the cell with its text moved right, then the sign."""
        look = look_of(self.theme, index.data(Role.LOOK))
        if look is None:
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        text, option.text = option.text, ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        area = QRectF(option.rect)
        top = area.center().y() - SIGN_SIZE / 2 + 0.5
        sign = QRectF(area.left() + 6, top, SIGN_SIZE, SIGN_SIZE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_swatch(painter, look, sign, qcolor(look.fill))
        painter.restore()
        painter.setPen(qcolor(self.theme.text))
        room = area.adjusted(SIGN_SIZE + 12, 0, -4, 0)
        shown = option.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
