"""The legend: each class with its sign and total; a click leads to its next node."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ....engine.ir.model import NodeId
from ...theme import Theme
from .colouring import PLAIN, Colouring, LegendEntry, Mode
from .glyphs import draw_swatch
from .looks import look_of

_SWATCH = 16.0
_PAD = 8
_TITLE_GAP = 6
_SIDES, _BETWEEN = 36, 4  # pixels beside and between the widgets of a line


class LegendButton(QAbstractButton):
    """One class: swatch, name, total."""

    def __init__(self, entry: LegendEntry, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.set_entry(entry)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_entry(self, entry: LegendEntry) -> None:
        """Show another total of the same class, or another class."""
        self.entry = entry
        self.setText(f"{entry.label}  {entry.total}")
        tip = f"Go to the next of {len(entry.nodes):,}: {entry.label}"
        self.setToolTip(f"{entry.detail}\n{tip}" if entry.detail else tip)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802
        """Room for the swatch and the text."""
        metrics = self.fontMetrics()
        bold = metrics.horizontalAdvance(self.entry.total) * 1.12
        width = metrics.horizontalAdvance(self.entry.label) + bold + _SWATCH + 3 * _PAD + 4
        return QSize(int(width), max(metrics.height() + 8, int(_SWATCH) + 8))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the swatch, the label and the total in bold."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        if self.underMouse() or self.hasFocus():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.raised))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)
        look = look_of(theme, self.entry.kind)
        swatch = QRectF(_PAD, (self.height() - _SWATCH) / 2, _SWATCH, _SWATCH)
        draw_swatch(painter, look, swatch, QColor(theme.node_border))
        x = int(swatch.right()) + 6
        label = self.rect().adjusted(x, 0, 0, 0)
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(theme.text))
        painter.drawText(label, middle, self.entry.label)
        x += self.fontMetrics().horizontalAdvance(self.entry.label) + 6
        font = self.font()
        font.setBold(True)
        painter.setFont(font)
        painter.drawText(self.rect().adjusted(x, 0, 0, 0), middle, self.entry.total)


class Ramp(QWidget):
    """The scale of times from none to the slowest node's."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(96, 12)
        self.setToolTip("Node times from zero to the slowest node's, by square root")

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the ramp."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        gradient = QLinearGradient(QPointF(0, 0), QPointF(self.width(), 0))
        stops = self._theme.time_ramp
        for index, colour in enumerate(stops):
            gradient.setColorAt(index / (len(stops) - 1), QColor(colour))
        painter.setPen(QColor(self._theme.border))
        painter.setBrush(gradient)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)


class Legend(QWidget):
    """The strip below the canvas; times need two lines, one for whose they are and the scale.

    Signals:
        wanted: NodeId: the user asks for the next node of a class.
    """

    wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._colouring = PLAIN
        self._last: dict[str, int] = {}
        self._title = QLabel()
        self._summary = QLabel()
        self._ramp = Ramp(theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 3, 10, 3)
        column.setSpacing(0)
        self._head, self._row, self._more = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        self._classes = QHBoxLayout()  # in the row, those that fit
        for line in (self._head, self._row, self._more):
            line.setSpacing(2)
            column.addLayout(line)
        self._classes.setSpacing(2)
        self._more.setContentsMargins(_TITLE_GAP, 0, 0, 0)
        self._buttons: list[LegendButton] = []
        # A legend never widens the window: classes that do not fit go to another line.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAutoFillBackground(True)  # it grows over what the canvas has painted
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Show the same classes in another theme."""
        self._theme = theme
        if self._colouring.mode is not Mode.NONE:
            self._rebuild()

    def set_colouring(self, colouring: Colouring) -> None:
        """Show another colouring's classes; hidden for none."""
        before, self._colouring = self._colouring, colouring
        if colouring.mode is Mode.NONE:
            self.hide()
        elif not self.isHidden() and _kinds(before) == _kinds(colouring):
            for button, entry in zip(self.buttons(), colouring.legend, strict=True):
                button.set_entry(entry)
            self._title.setText(colouring.title)
            self._summary.setText(colouring.summary)
            self._make_room()
        else:
            self._rebuild()

    def _rebuild(self) -> None:
        colouring = self._colouring
        self._last.clear()
        self._row.removeItem(self._classes)
        for line in (self._head, self._row, self._more, self._classes):
            while (item := line.takeAt(0)) is not None:
                if (old := item.widget()) is not None:
                    old.hide()
                    old.deleteLater()
        self._title = self._text(colouring.title, self._theme.muted)
        self._summary = self._text(colouring.summary, self._theme.text)
        self._ramp = Ramp(self._theme)
        head = self._head if colouring.mode is Mode.TIME else self._row
        head.addWidget(self._title)
        head.addSpacing(_TITLE_GAP)
        if colouring.mode is Mode.TIME:
            head.addWidget(self._ramp)
        self._row.addLayout(self._classes)
        self._buttons = [LegendButton(entry, self._theme) for entry in colouring.legend]
        for button in self._buttons:
            button.clicked.connect(lambda _=False, b=button: self._next(b.entry))
            self._classes.addWidget(button)
        for line in dict.fromkeys((head, self._row, self._more)):
            line.addStretch(1)
        head.addWidget(self._summary)
        self.show()
        self._make_room()

    def buttons(self) -> list[LegendButton]:
        """The classes on show."""
        return list(self._buttons)

    def _widgets(self, line: QHBoxLayout) -> list[QWidget]:
        found: list[QWidget] = []
        for item in (line.itemAt(i) for i in range(line.count())):
            if item is self._classes:
                found += self._widgets(self._classes)
            elif item is not None and (widget := item.widget()) is not None:
                found.append(widget)
        return found

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Show as many classes as fit, the first ones first."""
        self._make_room()

    def _make_room(self) -> None:
        """Classes go on in another line, or with times, of which the first say most, are hidden.

        Before that goes what says least: summary, scale or title.
        """
        if self._colouring.mode is not Mode.TIME:
            self._break_line()
        for line in (self._head, self._row, self._more):
            self._make_room_in(self._widgets(line))

    def _break_line(self) -> None:
        """Move the classes that do not fit into the second line, and back."""
        room, count = self.width() - _SIDES, 0
        for button in self._buttons:
            room -= button.sizeHint().width() + _BETWEEN
            if room < 0:
                break
            count += 1
        if self._more.count() - 1 == len(self._buttons) - count:  # beside what stretches
            return
        for button in self._buttons:
            self._classes.removeWidget(button)
            self._more.removeWidget(button)
        for button in self._buttons[:count]:
            self._classes.addWidget(button)
        for place, button in enumerate(self._buttons[count:]):
            self._more.insertWidget(place, button)

    def _make_room_in(self, widgets: list[QWidget]) -> None:
        hideable: list[QWidget] = [self._summary, *reversed(self.buttons())]
        # Whose times these are is always told.
        hideable.insert(1, self._ramp if self._colouring.mode is Mode.TIME else self._title)
        hideable = [widget for widget in hideable if widget in widgets]
        sizes = (max(w.sizeHint().width(), w.minimumWidth()) for w in widgets)
        room = self.width() - _SIDES - sum(size + _BETWEEN for size in sizes)
        hidden = set()
        for widget in hideable:
            if room >= 0:
                break
            hidden.add(widget)
            room += widget.sizeHint().width() + _BETWEEN
        for widget in widgets:  # told even to a new one: Qt shows later what nobody has hidden
            widget.setVisible(widget not in hidden)

    def _text(self, text: str, colour: str) -> QLabel:
        label = QLabel(text)
        label.setStyleSheet(f"color: {colour}")
        return label

    def _next(self, entry: LegendEntry) -> None:
        """Go through the class's nodes in turn."""
        if not entry.nodes:
            return
        position = (self._last.get(entry.label, -1) + 1) % len(entry.nodes)
        self._last[entry.label] = position
        node: NodeId = entry.nodes[position]
        self.wanted.emit(node)


def _kinds(colouring: Colouring) -> tuple[Mode, list[str]]:
    return colouring.mode, [entry.label for entry in colouring.legend]
