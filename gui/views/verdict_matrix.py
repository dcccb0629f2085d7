"""One node, every target: where it runs there, which step decided, and why.

A row per target, one line high; the chosen target's row has its reason in full below it, and a
click chooses another one. Where the installed ONNX Runtime was asked, its answer stands beside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractButton,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ...engine.diagnostics import Severity
from ...engine.ir.model import NodeId
from ..colour import mix
from ..format import plain_tip
from ..look import Look
from ..theme import Theme
from .graph.glyphs import draw_swatch
from .matrix_layout import GAP, LEFT, SIGN, Columns, MatrixGroup, MatrixRow, Needs
from .section import clear_layout, label
from .value_rows import link

_HEIGHT = 22
_BAR = 3.0


class RowButton(QAbstractButton):
    """One target's row."""

    def __init__(self, row: MatrixRow, theme: Theme, needs: Needs, *, chosen: bool) -> None:
        super().__init__()
        self.setCheckable(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.show_row(row, theme, needs, chosen=chosen)

    def show_row(self, row: MatrixRow, theme: Theme, needs: Needs, *, chosen: bool) -> None:
        """Show what the target says of another node."""
        self._row, self._theme, self._chosen, self._needs = row, theme, chosen, needs
        parts = [f"{row.target.label}: {row.word}", row.step]
        if row.live:
            parts.append(f"live {row.live}")
        self.setAccessibleName(", ".join(p for p in parts if p))
        tip = [f"{row.target.label}: {row.word}", row.reason, row.live_text]
        self.setToolTip(plain_tip("\n".join(t for t in tip if t)))
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """One line."""
        return QSize(240, _HEIGHT)

    def enterEvent(self, event: object) -> None:  # noqa: N802
        """Show that it can be clicked."""
        self.update()

    def leaveEvent(self, event: object) -> None:  # noqa: N802
        """Show so no more."""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the name, the verdict, the live answer and the step."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        row, theme = self._row, self._theme
        area = QRectF(self.rect())
        if self._chosen:
            ground = mix(theme.surface, theme.accent, 0.22 if not theme.dark else 0.16)
            painter.fillRect(area, QColor(ground))
            painter.fillRect(QRectF(0, 0, _BAR, area.height()), QColor(theme.accent))
        elif self.underMouse() or self.hasFocus():
            painter.fillRect(area, QColor(theme.raised))
        at = Columns.of(area.width(), self._needs)
        ink = theme.text if row.look is not None else theme.muted
        middle = Qt.TextElideMode.ElideMiddle  # the version, at the end, tells most
        self._text(painter, row.target.label, LEFT, at.verdict - LEFT - GAP, ink, middle)
        self._verdict(painter, at.verdict, at.word, row.look, row.word)
        if at.live is not None and row.live:
            if row.differs:
                frame = QRectF(at.live - 4, 2.5, at.live - at.verdict - 2, area.height() - 5)
                painter.setPen(QPen(QColor(theme.severity[Severity.ERROR].fill), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(frame, 4, 4)
            self._verdict(painter, at.live, at.word, row.live_look, row.live)
        if at.step is not None:
            self._text(painter, row.step, at.step, at.room, theme.muted)

    def _verdict(
        self, painter: QPainter, x: float, width: float, look: Look | None, word: str
    ) -> None:
        if look is not None:
            box = QRectF(x, (self.height() - SIGN) / 2, SIGN, SIGN)
            draw_swatch(painter, look, box, QColor(look.fill))
        ink = self._theme.text if look is not None else self._theme.muted
        self._text(painter, word, x + SIGN + 6, width, ink)

    def _text(
        self,
        painter: QPainter,
        text: str,
        x: float,
        width: float,
        ink: str,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        if width < 12 or not text:
            return
        painter.setPen(QColor(ink))
        short = self.fontMetrics().elidedText(text, elide, math.ceil(width))
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(x, 0, width + 2, self.height()), middle, short)


class Heading(QWidget):
    """The columns' titles, above the first row."""

    def __init__(self, theme: Theme, needs: Needs) -> None:
        super().__init__()
        self._theme, self._needs = theme, needs
        self.setFixedHeight(20)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the titles and a line."""
        painter = QPainter(self)
        painter.setPen(QColor(self._theme.muted))
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.9)
        painter.setFont(font)
        at = Columns.of(self.width(), self._needs)
        titles = [(LEFT, "Target"), (at.verdict, "Predicted" if self._needs.live else "Runs on")]
        if at.live is not None:
            titles.append((at.live, "Live"))
        if at.step is not None:
            fits = QFontMetricsF(font).horizontalAdvance("Decided by") <= at.room
            titles.append((at.step, "Decided by" if fits else "Step"))
        for left, title in titles:
            painter.drawText(
                QRectF(left, 0, self.width() - left, self.height()),
                Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
                title,
            )
        painter.setPen(QColor(self._theme.border))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)


class VerdictMatrix(QWidget):
    """The matrix of one node.

    Signals:
        chosen: str: the id of the target whose row was clicked.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, reveal: Callable[[NodeId], None]) -> None:
        super().__init__()
        self._theme = theme
        self._reveal = reveal
        self._groups: tuple[MatrixGroup, ...] = ()
        self._chosen = ""
        self._folded: set[str] = set()  # titles of groups
        self._buttons: dict[str, RowButton] = {}  # of the targets shown, by their ids
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def set_theme(self, theme: Theme) -> None:
        """Redraw in the theme's colours."""
        self._theme = theme
        self._fill()

    def show_groups(self, groups: Sequence[MatrixGroup], chosen: str) -> None:
        """Show these rows; nothing is rebuilt where nothing is new."""
        if (tuple(groups), chosen) != (self._groups, self._chosen):
            self._groups, self._chosen = tuple(groups), chosen
            self._fill()

    @property
    def rows(self) -> tuple[MatrixRow, ...]:
        """Every row shown, from top to bottom."""
        return tuple(row for group in self._groups for row in group.rows)

    def _fill(self) -> None:
        """Fill the column anew; targets keep their buttons: to make them takes most of the time."""
        before, self._buttons = self._buttons, {}
        for button in before.values():
            self._column.removeWidget(button)
        clear_layout(self._column)
        needs = Needs.of(self.rows, QFontMetricsF(self.font()))
        if self.rows:
            self._column.addWidget(Heading(self._theme, needs))
        for group in self._groups:
            if group.title:
                self._column.addWidget(self._fold(group))
            for row in group.rows:
                if group.title not in self._folded or row.target.id == self._chosen:
                    self._add(row, needs, before.pop(row.target.id, None))
        for button in before.values():
            button.hide()
            button.deleteLater()
        self._order_stops()

    def _order_stops(self) -> None:
        """Let Tab go from top to bottom, though some rows are older than what is above them."""
        column = [self._column.itemAt(i).widget() for i in range(self._column.count())]
        within = (w for widget in column for w in (widget, *widget.findChildren(QPushButton)))
        stops = [w for w in within if w.focusPolicy() & Qt.FocusPolicy.TabFocus]
        for one, after in pairwise(stops):
            QWidget.setTabOrder(one, after)

    def _fold(self, group: MatrixGroup) -> QToolButton:
        """The heading of a group, which folds it away."""
        button = QToolButton()
        button.setObjectName("fold")
        button.setText(f"{group.title} ({len(group.rows)})")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        folded = group.title in self._folded
        button.setArrowType(Qt.ArrowType.RightArrow if folded else Qt.ArrowType.DownArrow)
        button.clicked.connect(lambda: self._toggle(group.title))
        return button

    def _toggle(self, title: str) -> None:
        self._folded ^= {title}
        self._fill()

    def _add(self, row: MatrixRow, needs: Needs, button: RowButton | None) -> None:
        """Put a row at the end, with its target's button from before where there is one."""
        chosen = row.target.id == self._chosen
        if button is None:
            button = RowButton(row, self._theme, needs, chosen=chosen)
            button.clicked.connect(lambda: self.chosen.emit(row.target.id))
        else:
            button.show_row(row, self._theme, needs, chosen=chosen)
        self._buttons[row.target.id] = button
        self._column.addWidget(button)
        if not chosen:
            return
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(int(LEFT), 4, 4, 7)
        column.setSpacing(3)
        for text in (row.reason, row.live_text):
            if text:
                column.addWidget(label(text))
        if row.goes_into is not None:
            node, name = row.goes_into
            column.addWidget(link(f"computed in the kernel of {name}", self._reveal, node))
        if column.count():
            self._column.addWidget(inside)
        else:
            inside.deleteLater()
