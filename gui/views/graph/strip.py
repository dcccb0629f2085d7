"""The picture of a whole graph squeezed into a strip; it can be painted on any thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from ....engine.diagnostics import Severity
from ....engine.providers.support import Status
from ...difference import Difference
from ...theme import Theme
from ...verdict import Home
from .colouring import Class
from .drawing import Drawing, Floats
from .looks import look_of
from .worn import Worn

MARGIN = 7.0
_MARKS = 5.0  # width of the column of findings
_LEAST = (2.5, 1.2)  # width and height of the smallest box
_MARK_HEIGHT = 2.5
_MILDEST_FIRST = (Severity.INFO, Severity.WARNING, Severity.ERROR)
_ORDER: tuple[Class, ...] = (  # painted later, seen better
    Difference.SAME,
    Status.FOLDED,
    Status.FUSED,
    Home.CPU,
    Status.GPU,
    Severity.INFO,
    Status.UNKNOWN,
    Severity.WARNING,
    Status.HOST,
    Status.FAILS,
    Status.UNSUPPORTED,
    Severity.ERROR,
    Difference.OTHERWISE,
    Difference.ONLY_SECOND,
    Difference.ONLY_FIRST,
)
_PLACES = np.array([1, 1 << 16, 1 << 32, 1 << 48])  # half pixels of the strip take 15 bits


@dataclass(frozen=True)
class Strip:
    """A strip to paint.

    Attributes:
        size: in device-independent pixels.
        ratio: device pixels per pixel.
        theme: its colours.
    """

    size: QSize
    ratio: float
    theme: Theme

    def squeeze(self, drawing: Drawing) -> tuple[float, float]:
        """Strip pixels per scene pixel, across and down."""
        width, height = drawing.size
        across = (self.size.width() - 2 * MARGIN - _MARKS) / max(width, 1.0)
        down = (self.size.height() - 2 * MARGIN) / max(height, 1.0)
        return min(across, max(down, across * 0.25)), min(down, 3 * across)

    def picture(self, worn: Worn) -> QImage:
        """The drawing in its dress, the worrying classes on top, findings at the right."""
        image = QImage(self.size * self.ratio, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(self.ratio)
        image.fill(QColor(self.theme.window))
        painter = QPainter(image)
        painter.setPen(Qt.PenStyle.NoPen)
        scaled = worn.drawing.boxes * np.tile(self.squeeze(worn.drawing), 2) + MARGIN
        self._boxes(painter, worn, scaled)
        self._findings(painter, worn, scaled)
        painter.end()
        return image

    def _boxes(self, painter: QPainter, worn: Worn, scaled: Floats) -> None:
        everything = np.arange(len(scaled))
        painter.setBrush(QColor(look_of(self.theme, None).fill))
        painter.drawRects(_ticks(scaled[worn.terminals(everything)]))
        groups = dict(worn.by_kind(everything))
        for kind in sorted(groups, key=_prominence):
            painter.setBrush(QColor(look_of(self.theme, kind).fill))
            painter.drawRects(_ticks(scaled[groups[kind]]))

    def _findings(self, painter: QPainter, worn: Worn, scaled: Floats) -> None:
        left = self.size.width() - _MARKS
        for severity in _MILDEST_FIRST:
            if (boxes := worn.badged.get(severity)) is None:
                continue
            painter.setBrush(QColor(self.theme.severity[severity].fill))
            middles = np.unique(scaled[boxes, 1::2].mean(axis=1).round())
            marks = [QRectF(left, y - 1.0, _MARKS - 1, _MARK_HEIGHT) for y in middles.tolist()]
            painter.drawRects(marks)


def _prominence(kind: Class | None) -> float:
    if kind is None:
        return -1.0
    return kind if isinstance(kind, float) else float(_ORDER.index(kind))


def _ticks(rects: Floats) -> list[QRectF]:
    """Rectangles of at least a visible size; of many on one pixel only one."""
    sizes = np.maximum(rects[:, 2:] - rects[:, :2], _LEAST)
    halves = np.round(np.hstack([rects[:, :2], sizes]) * 2).astype(np.int64)
    keys = halves @ _PLACES  # one number a tick: rows are slow to tell apart
    _, first = np.unique(keys, return_index=True)
    return [QRectF(*tick) for tick in (halves[first] / 2).tolist()]
