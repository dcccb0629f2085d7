"""A small histogram: bars with the two ends of the range below."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ..colour import qcolor
from ..format import number_text
from ..theme import Theme

_BARS_HEIGHT = 56


class Histogram(QWidget):
    """Counts of values, evenly spaced from ``minimum`` to ``maximum``."""

    def __init__(self, counts: np.ndarray, minimum: float, maximum: float, theme: Theme) -> None:
        super().__init__()
        self._counts = np.asarray(counts, np.float64)
        self._ends = (number_text(minimum), number_text(maximum))
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"Histogram from {self._ends[0]} to {self._ends[1]}")
        busiest = int(self._counts.max(initial=0))
        self.setToolTip(f"{len(self._counts)} bins, {busiest:,} values in the fullest")

    def sizeHint(self) -> QSize:  # noqa: N802
        """The bars and one line of text."""
        return QSize(160, _BARS_HEIGHT + self.fontMetrics().height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Draw the bars; a bin that is not empty is at least a pixel high."""
        painter = QPainter(self)
        theme, width = self._theme, self.width()
        painter.fillRect(0, 0, width, _BARS_HEIGHT, qcolor(theme.sunken))
        step = width / max(len(self._counts), 1)
        tallest = self._counts.max(initial=1.0) or 1.0
        for i, count in enumerate(self._counts):
            if count:
                height = max(1.0, (_BARS_HEIGHT - 4) * count / tallest)
                bar = QRectF(i * step, _BARS_HEIGHT - height, max(step - 1, 1.0), height)
                painter.fillRect(bar, qcolor(theme.series[0]))
        painter.setPen(qcolor(theme.border))
        painter.drawLine(0, _BARS_HEIGHT, width, _BARS_HEIGHT)
        painter.setPen(qcolor(theme.muted))
        below = QRectF(0, _BARS_HEIGHT + 2, width, self.fontMetrics().height())
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, self._ends[0])
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, self._ends[1])
        painter.end()
