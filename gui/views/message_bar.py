"""A bar across the top of the window for one error or notice: it never stops the user."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from ..icons import icon
from ..theme import Theme


class MessageBar(QWidget):
    """Hidden until there is something to say; Escape or the cross dismisses it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._action = QPushButton()
        self._action.hide()
        self._call: Callable[[], None] | None = None
        self._action.clicked.connect(self._act)
        self._close = QPushButton()
        self._close.setFlat(True)
        self._close.setToolTip("Dismiss (Escape)")
        self._close.setAccessibleName("Dismiss")
        self._close.clicked.connect(self.hide)
        # Only while there is something to dismiss: else Escape is for the graph and the find bar.
        self._escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 6, 6)
        row.addWidget(self._text, 1)
        row.addWidget(self._action)
        row.addWidget(self._close)
        self.hide()

    @property
    def text(self) -> str:
        """What the bar says, "" while it is hidden."""
        return self._text.text() if not self.isHidden() else ""

    def set_theme(self, theme: Theme) -> None:
        """Redraw the cross."""
        self._close.setIcon(icon("close", theme, 14))

    def show_message(
        self, text: str, action: str = "", call: Callable[[], None] | None = None
    ) -> None:
        """Show one line, with a button for what helps where there is such a thing."""
        self._text.setText(text)
        self._call = call
        self._action.setText(action)
        self._action.setVisible(bool(action and call))
        self.show()

    def _act(self) -> None:
        self.hide()
        if self._call is not None:
            self._call()
