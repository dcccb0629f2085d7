"""The card over the canvas while a graph is laid out, or when it could not be."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

_PATIENCE_MS = 350  # layouts quicker than this show no card


class LayoutOverlay(QFrame):
    """Tells that a graph is being laid out; appears only when that takes a moment.

    Signals:
        cancelled: the user does not want to wait.
        retried: the user asks for it again.
    """

    cancelled = Signal()
    retried = Signal()

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self._canvas = canvas
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self._text = QLabel()
        self._text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._text.setWordWrap(True)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(6)
        self._button = QPushButton()
        self._button.clicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(10)
        column.addWidget(self._text)
        column.addWidget(self._bar)
        column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignCenter)
        self._waiting = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PATIENCE_MS)
        self._timer.timeout.connect(self._appear)
        self.setFixedWidth(300)
        self.hide()

    def wait(self, boxes: int) -> None:
        """A graph of about ``boxes`` nodes is being laid out."""
        self._waiting = True
        self._text.setText(f"Laying out {boxes:,} nodes\N{HORIZONTAL ELLIPSIS}")
        self._bar.setRange(0, 0)
        self._bar.show()
        self._button.setText("Cancel")
        self.hide()
        self._timer.start()

    def progress(self, done: int, total: int) -> None:
        """The layout has come this far."""
        if total:
            self._bar.setRange(0, total)
            self._bar.setValue(done)

    def tell(self, text: str) -> None:
        """The graph is not shown, for this reason; the user may try again."""
        self._waiting = False
        self._timer.stop()
        self._text.setText(text)
        self._bar.hide()
        self._button.setText("Lay out again")
        self._appear()

    def finish(self) -> None:
        """The graph is there."""
        self._waiting = False
        self._timer.stop()
        self.hide()

    def place(self) -> None:
        """Stand in the middle of the canvas."""
        self.adjustSize()
        room = self._canvas.rect()
        self.move((room.width() - self.width()) // 2, (room.height() - self.height()) // 3)

    def _appear(self) -> None:
        self.place()
        self.show()
        self.raise_()

    def _clicked(self) -> None:
        if self._waiting:
            self.cancelled.emit()
        else:
            self.retried.emit()
