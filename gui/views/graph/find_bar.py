"""Finding nodes by name or operator while typing."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from ....engine.ir.model import NodeId


class FindBar(QWidget):
    """A field, a count, next and previous. Enter and F3 go on, with Shift backwards; Escape closes.

    Signals:
        found: NodeId: the match to show.
        closed: the user is done.
    """

    found = Signal(object)
    closed = Signal()

    def __init__(
        self, search: Callable[[str], list[NodeId]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._search = search
        self._matches: list[NodeId] = []
        self._position = -1
        self.field = QLineEdit()
        self.field.setPlaceholderText("Find by name or operator")
        self.field.setClearButtonEnabled(True)
        self.field.setMinimumWidth(220)
        self.field.textChanged.connect(self._changed)
        self.field.installEventFilter(self)
        self.count = QLabel()
        self.count.setMinimumWidth(90)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 3, 8, 3)
        row.addWidget(self.field)
        for text, tip, step in (
            ("\N{BLACK UP-POINTING TRIANGLE}", "Previous match (Shift+Enter)", -1),
            ("\N{BLACK DOWN-POINTING TRIANGLE}", "Next match (Enter)", 1),
        ):
            button = QToolButton()
            button.setText(text)
            button.setToolTip(tip)
            button.setAutoRaise(True)
            button.clicked.connect(lambda _=False, by=step: self.go(by))
            row.addWidget(button)
        row.addWidget(self.count)
        row.addStretch(1)
        close = QToolButton()
        close.setText("\N{MULTIPLICATION SIGN}")
        close.setToolTip("Close (Escape)")
        close.setAutoRaise(True)
        close.clicked.connect(self.dismiss)
        row.addWidget(close)
        self.hide()

    def open(self) -> None:
        """Show the bar, ready to type."""
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()

    def dismiss(self) -> None:
        """Hide the bar."""
        self.hide()
        self.closed.emit()

    def go(self, step: int) -> None:
        """Show the next (1) or previous (-1) match."""
        if not self._matches:
            return
        self._position = (self._position + step) % len(self._matches)
        self._tell()
        self.found.emit(self._matches[self._position])

    def reset(self) -> None:
        """Another model is shown: search it again without going anywhere."""
        self._matches = self._search(self.field.text())
        self._position = -1
        self._tell()

    def _changed(self, text: str) -> None:
        self._matches = self._search(text)
        self._position = -1
        self._tell()
        self.go(1)

    def _tell(self) -> None:
        if not self.field.text():
            self.count.setText("")
        elif not self._matches:
            self.count.setText("No match")
        else:
            self.count.setText(f"{self._position + 1:,} of {len(self._matches):,}")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Enter, F3 and Escape in the field."""
        if watched is self.field and isinstance(event, QKeyEvent):
            if event.type() != QEvent.Type.KeyPress:
                return False
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
                self.go(-1 if back else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.dismiss()
                return True
        return False
