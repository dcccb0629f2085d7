"""Painting a drawing from afar: rectangles by class and plain lines, a few calls for thousands."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ...theme import Theme
from .drawing import Drawing, Floats, Indices
from .glyphs import BRUSHES, PENS, pattern_brush
from .looks import Looks
from .worn import Worn

_PATTERNS = 0.1  # below this scale a pattern's lines are as dense as a filling
_SHORTEST = 1.5  # pixels of a line that is worth painting
_MANY = 2000  # things in view; of more, those on the same pixels are painted once


class FarPainter:
    """Paints in one theme."""

    def __init__(self, theme: Theme, looks: Looks) -> None:
        self._theme = theme
        self._looks = looks

    def lines(self, painter: QPainter, drawing: Drawing, visible: QRectF, scale: float) -> None:
        """Paint the lines in view, without smoothing."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(QPen(QColor(self._theme.edge), 0))
        shown = far_segments(drawing, visible, scale, _SHORTEST)
        lines = drawing.segment_lines
        painter.drawLines([lines[i] for i in shown.tolist()])

    def boxes(self, painter: QPainter, worn: Worn, visible: QRectF, scale: float) -> None:
        """Paint the boxes in view, each class in one colour."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        drawing = worn.drawing
        shown = _distinct(drawing.boxes, drawing.visible_boxes(visible), scale)
        rects = drawing.box_rects
        for kind, boxes in worn.by_kind(shown):
            look = self._looks.of(kind)
            outline = look.ink if look.pattern in PENS else look.fill
            members = [rects[i] for i in boxes.tolist()]
            _fill(painter, members, outline, look.fill)
            if look.pattern in BRUSHES and scale > _PATTERNS:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(pattern_brush(look))
                painter.drawRects(members)
        terminals = [rects[i] for i in worn.terminals(shown).tolist()]
        _fill(painter, terminals, self._theme.accent, self._theme.accent)


def _fill(painter: QPainter, rects: list[QRectF], outline: str, fill: str) -> None:
    painter.setPen(QPen(QColor(outline), 0))
    painter.setBrush(QColor(fill))
    painter.drawRects(rects)


def far_segments(drawing: Drawing, visible: QRectF, scale: float, shortest: float = 1.0) -> Indices:
    """The stretches of lines in view that a screen can show apart, ``shortest`` pixels long."""
    found = drawing.visible_segments(visible, shortest / scale)
    return _distinct(drawing.segments, found, scale)


def _distinct(rects: Floats, found: Indices, scale: float) -> Indices:
    """Of many tiny things on the same pixel one: what a screen can show is bounded."""
    if len(found) < _MANY:
        return found
    pixels = np.round(rects[found] * scale).astype(np.int64)
    key = pixels[:, 0] * 1_000_003 + pixels[:, 1] * 4_099 + (pixels[:, 2] - pixels[:, 0]) * 31
    _, first = np.unique(key + (pixels[:, 3] - pixels[:, 1]), return_index=True)
    return found[np.sort(first)]
