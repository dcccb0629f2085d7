"""One node, every target: where it runs there, which step decided, and why.

A row per target, one line high; the chosen target's row has its reason in full below it, and a
click chooses another one. Where the installed ONNX Runtime was asked, its answer stands beside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from ...engine.diagnostics import Severity
from ...engine.ir.model import NodeId
from ..services import Target
from ..theme import Look, Theme, mix
from .graph.glyphs import draw_swatch
from .section import clear_layout, label
from .value_rows import link

_HEIGHT = 25
_SIGN = 15.0
_BAR = 3.0
_LEFT = 9.0
_LEAST = 64.0  # pixels for the step; with fewer it is left to the tooltip


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns begin, in pixels.

    Attributes:
        verdict, live, step: of each column; live is None where nobody was asked.
        word: the width of a verdict's word.
    """

    verdict: float
    live: float | None
    step: float
    word: float

    @classmethod
    def of(cls, width: float, *, live: bool) -> Columns:
        """The columns of a row of ``width``."""
        verdict = width * (0.42 if live else 0.45)
        word = 52.0 if live else 74.0
        used = _SIGN + 6 + word + (4 if live else 0)
        return cls(verdict, verdict + used if live else None, verdict + used * (1 + live), word)


@dataclass(frozen=True)
class MatrixRow:
    """What the matrix says of one target.

    Attributes:
        look: of the verdict; None where it was not judged.
        word: the verdict in a word.
        step: the step that decided, or the kind of reason.
        reason: the same in a sentence.
        live: the installed runtime's answer in a word, "" where it was not asked.
        live_look: its look.
        differs: whether that is not what was predicted.
        live_text: the answer in a sentence.
        goes_into: the node whose kernel computes this one, with its label.
    """

    target: Target
    look: Look | None
    word: str
    step: str = ""
    reason: str = ""
    live: str = ""
    live_look: Look | None = None
    differs: bool = False
    live_text: str = ""
    goes_into: tuple[NodeId, str] | None = None


@dataclass(frozen=True)
class MatrixGroup:
    """Rows under one heading, which may be empty."""

    title: str
    rows: tuple[MatrixRow, ...] = field(default_factory=tuple)


class RowButton(QAbstractButton):
    """One target's row."""

    def __init__(self, row: MatrixRow, theme: Theme, *, chosen: bool, live: bool) -> None:
        super().__init__()
        self._row, self._theme, self._chosen, self._live = row, theme, chosen, live
        self.setCheckable(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        parts = [f"{row.target.label}: {row.word}", row.step]
        if row.live:
            parts.append(f"live {row.live}")
        self.setAccessibleName(", ".join(p for p in parts if p))
        tip = [f"{row.target.label}: {row.word}", row.reason, row.live_text]
        self.setToolTip("\n".join(t for t in tip if t))

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
        at = Columns.of(area.width(), live=self._live)
        ink = theme.text if row.look is not None else theme.muted
        self._text(painter, row.target.label, _LEFT, at.verdict - _LEFT - 6, ink)
        self._verdict(painter, at.verdict, at.word, row.look, row.word)
        if at.live is not None and row.live:
            if row.differs:
                frame = QRectF(at.live - 4, 2.5, at.step - at.live - 2, area.height() - 5)
                painter.setPen(QPen(QColor(theme.severity[Severity.ERROR].fill), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(frame, 4, 4)
            self._verdict(painter, at.live, at.word, row.live_look, row.live)
        room = area.width() - at.step - 4
        if room >= _LEAST:
            self._text(painter, row.step, at.step, room, theme.muted)

    def _verdict(
        self, painter: QPainter, x: float, width: float, look: Look | None, word: str
    ) -> None:
        if look is not None:
            box = QRectF(x, (self.height() - _SIGN) / 2, _SIGN, _SIGN)
            draw_swatch(painter, look, box, QColor(look.fill))
        ink = self._theme.text if look is not None else self._theme.muted
        self._text(painter, word, x + _SIGN + 6, width, ink)

    def _text(self, painter: QPainter, text: str, x: float, width: float, ink: str) -> None:
        if width < 12 or not text:
            return
        painter.setPen(QColor(ink))
        short = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(width))
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(x, 0, width + 2, self.height()), middle, short)


class Heading(QWidget):
    """The columns' titles, above the first row."""

    def __init__(self, theme: Theme, *, live: bool) -> None:
        super().__init__()
        self._theme, self._live = theme, live
        self.setFixedHeight(20)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the titles and a line."""
        painter = QPainter(self)
        painter.setPen(QColor(self._theme.muted))
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.9)
        painter.setFont(font)
        at = Columns.of(self.width(), live=self._live)
        titles = [(_LEFT, "Target"), (at.verdict, "Predicted" if self._live else "Runs on")]
        if at.live is not None:
            titles.append((at.live, "Live"))
        if self.width() - at.step - 4 >= _LEAST:
            titles.append((at.step, "Decided by"))
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
        clear_layout(self._column)
        live = any(row.live for row in self.rows)
        if self.rows:
            self._column.addWidget(Heading(self._theme, live=live))
        for group in self._groups:
            if group.title:
                title = label(group.title, "muted", selectable=False)
                title.setContentsMargins(int(_LEFT), 7, 0, 2)
                self._column.addWidget(title)
            for row in group.rows:
                self._add(row, live)

    def _add(self, row: MatrixRow, live: bool) -> None:
        chosen = row.target.id == self._chosen
        button = RowButton(row, self._theme, chosen=chosen, live=live)
        button.clicked.connect(lambda: self.chosen.emit(row.target.id))
        self._column.addWidget(button)
        if not chosen:
            return
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(int(_LEFT), 4, 4, 7)
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
