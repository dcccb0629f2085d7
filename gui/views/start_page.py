"""What the window shows before a file is open: samples, recent files, how to open another."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from ..format import plain_tip
from ..samples import Sample
from .section import clear_layout, label

_WIDTH = 820
_PURPOSE = (
    "Open an ONNX model: see where each node would run, run it on the GPU here and watch every "
    "kernel's time, and find what would fall back or lose precision."
)


class StartPage(QScrollArea):
    """Samples and recent files as cards.

    Signals:
        open_requested: the user wants to choose a file.
        file_chosen: a path to open.
    """

    open_requested = Signal()
    file_chosen = Signal(str)

    def __init__(self, samples: Sequence[Sample], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        page = QWidget()
        page.setObjectName("page")
        outer = QHBoxLayout(page)
        middle = QWidget()
        middle.setMaximumWidth(_WIDTH)
        outer.addStretch(1)
        outer.addWidget(middle, 1000)
        outer.addStretch(1)
        column = QVBoxLayout(middle)
        column.setContentsMargins(24, 32, 24, 24)
        column.setSpacing(10)
        column.addWidget(label("Opscope", "hero", selectable=False))
        column.addWidget(label(_PURPOSE, "muted", selectable=False))
        column.addSpacing(8)
        column.addWidget(self._make_drop())
        column.addSpacing(8)
        column.addWidget(label("Samples", "heading", selectable=False))
        grid = QGridLayout()
        grid.setSpacing(10)
        for number, sample in enumerate(samples):
            card = Card(sample.title, sample.line, str(sample.path))
            card.chosen.connect(self.file_chosen)
            grid.addWidget(card, number // 2, number % 2)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        column.addLayout(grid)
        column.addSpacing(8)
        self._recent_title = label("Recent files", "heading", selectable=False)
        column.addWidget(self._recent_title)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(6)
        column.addLayout(self._recent)
        column.addStretch(1)
        self.setWidget(page)

    def set_recent(self, paths: Sequence[str]) -> None:
        """Show the recent files, the newest first."""
        clear_layout(self._recent)
        self._recent_title.setVisible(bool(paths))
        for path in paths:
            card = Card(Path(path).name, str(Path(path).parent), path)
            card.chosen.connect(self.file_chosen)
            self._recent.addWidget(card)

    def _make_drop(self) -> QFrame:
        drop = QFrame()
        drop.setObjectName("drop")
        row = QHBoxLayout(drop)
        row.setContentsMargins(20, 18, 20, 18)
        row.addWidget(
            label("Drop a model or a report anywhere in this window, or", selectable=False), 1
        )
        button = QPushButton("Open a model ...")
        button.setProperty("primary", "true")
        button.setToolTip("Open a model (Ctrl+O)")
        button.clicked.connect(self.open_requested)
        row.addWidget(button)
        return drop


class Card(QFrame):
    """A title and a line that open a file when clicked, or with Enter.

    Signals:
        chosen: the file's path.
    """

    chosen = Signal(str)

    def __init__(self, title: str, line: str, path: str) -> None:
        super().__init__()
        self._path = path
        self.setObjectName("card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"{title}: {line}")
        self.setToolTip(plain_tip(path))
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(3)
        column.addWidget(label(title, "strong", selectable=False))
        column.addWidget(label(line, "muted", selectable=False))
        column.addStretch(1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """A click opens the file."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(
            event.position().toPoint()
        ):
            self.chosen.emit(self._path)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Enter and Space open the file."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.chosen.emit(self._path)
        else:
            super().keyPressEvent(event)
