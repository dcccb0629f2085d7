"""A titled part of a panel that can be folded away."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget


class Section(QWidget):
    """A heading with an arrow, and a body below it."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = QToolButton()
        self._heading.setText(title)
        self._heading.setCheckable(True)
        self._heading.setChecked(True)
        self._heading.setAutoRaise(True)
        self._heading.setObjectName("fold")
        self._heading.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._heading.setArrowType(Qt.ArrowType.DownArrow)
        self._heading.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._heading.toggled.connect(self._fold)
        self.body = QWidget()
        self._column = QVBoxLayout(self.body)
        self._column.setContentsMargins(6, 2, 4, 8)
        self._column.setSpacing(5)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self._heading)
        column.addWidget(self.body)

    @property
    def is_open(self) -> bool:
        """Whether the body is shown."""
        return self._heading.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Show or fold away the body."""
        self._heading.setChecked(is_open)

    def set_title(self, title: str) -> None:
        """Change the heading."""
        self._heading.setText(title)

    def add(self, widget: QWidget) -> None:
        """Put ``widget`` at the end of the body."""
        self._column.addWidget(widget)

    def add_layout(self, layout: QLayout) -> None:
        """Put ``layout`` at the end of the body."""
        self._column.addLayout(layout)

    def clear(self) -> None:
        """Empty the body."""
        clear_layout(self._column)

    def _fold(self, is_open: bool) -> None:
        arrow = Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow
        self._heading.setArrowType(arrow)
        self.body.setVisible(is_open)


def clear_layout(layout: QLayout) -> None:
    """Remove everything from ``layout`` and delete it."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
        elif (inner := item.layout()) is not None:
            clear_layout(inner)
            inner.deleteLater()


def label(text: str, tone: str = "", *, selectable: bool = True) -> QLabel:
    """Wrapped plain text in one of the style sheet's tones; file contents are never markup."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(True)
    made.setMinimumWidth(1)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if tone:
        made.setProperty("tone", tone)
    return made
