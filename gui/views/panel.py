"""The ground that panels stand on, their small buttons, and what they say while they are empty."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from .section import label


class Panel(QWidget):
    """A dock's content: a column without margins, on the theme's surface."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)


def empty_label(text: str = "") -> QLabel:
    """A sentence at the top left in place of a panel's content."""
    made = label(text, "muted")
    made.setContentsMargins(12, 10, 12, 10)
    made.setAlignment(Qt.AlignmentFlag.AlignTop)
    made.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
    return made


def chip(text: str, tip: str, do: Callable[[], object]) -> QToolButton:
    """A small round button that calls ``do``."""
    made = QToolButton()
    made.setObjectName("chip")
    made.setText(text)
    made.setToolTip(tip)
    made.clicked.connect(lambda: do())
    return made
