"""A label on one line that shortens what it has no room for, and then tells the whole by a tip."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from ..format import plain_tip


class ShortLabel(QLabel):
    """Takes whatever width it is given."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    @property
    def whole_text(self) -> str:
        """The text, however much of it there is room for."""
        return self._whole

    def show_text(self, text: str) -> None:
        """Show another text."""
        self._whole = text
        self.setAccessibleName(text)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Show as much as there is room for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        elide = Qt.TextElideMode.ElideRight
        room = self.contentsRect().width()
        self.setText(self.fontMetrics().elidedText(self._whole, elide, room))
        self.setToolTip(plain_tip(self._whole) if self.text() != self._whole else "")
