"""Painting a drawing by level of detail: coloured rectangles from afar, texts close up.

====================  ========================================================
scale                 what is painted
====================  ========================================================
below ``FAR_BELOW``   rectangles by class, lines without smoothing, decimated
below ``DETAIL``      boxes with their pattern and operator, smooth lines
from ``DETAIL``       everything: rows, shapes on edges, badges
====================  ========================================================

What stands out and what is copied is painted at every level.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QPainter

from ...theme import Theme
from .copy_painter import CopyPainter
from .drawing import Indices
from .emphasis import NO_EMPHASIS, Emphasis, EmphasisPainter
from .far import FarPainter
from .fonts import Fonts
from .lines import LinePainter
from .looks import Looks
from .near import NearPainter
from .viewport import Viewport
from .worn import Worn

FAR_BELOW = 0.24
DETAIL = 0.68
_MANY_COPIES = 100  # from afar: more are painted as plain lines
_PLATE_GAPS = (13.0, 5.0)  # from afar, so that boxes are not hidden; close up


class GraphPainter:
    """Paints drawings in one theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        fonts, lines, looks = Fonts(), LinePainter(), Looks(theme)
        self._far = FarPainter(theme, looks)
        self._near = NearPainter(theme, looks, fonts, lines)
        self._copies = CopyPainter(theme, fonts, lines)
        self._emphasis = EmphasisPainter(theme, lines)

    def paint(
        self,
        painter: QPainter,
        worn: Worn,
        view: Viewport,
        size: QSizeF,
        emphasis: Emphasis = NO_EMPHASIS,
    ) -> None:
        """Paint what of a drawing is in view, in its dress; the background is the caller's."""
        visible = view.visible(size)
        paths = worn.drawing.visible_paths(visible)
        copied = worn.marks.among(paths)
        painter.save()
        painter.setTransform(view.transform, True)
        if view.scale < FAR_BELOW:
            self._paint_far(painter, worn, view.scale, visible, paths, copied, emphasis)
        else:
            self._paint_near(painter, worn, view.scale, visible, paths, copied, emphasis)
        painter.restore()
        if len(copied):
            painter.save()
            gap = _PLATE_GAPS[view.scale >= DETAIL]
            self._copies.plates(painter, worn, copied, view, size, gap=gap)
            painter.restore()

    def _paint_far(
        self,
        painter: QPainter,
        worn: Worn,
        scale: float,
        visible: QRectF,
        paths: Indices,
        copied: Indices,
        emphasis: Emphasis,
    ) -> None:
        drawing = worn.drawing
        self._far.lines(painter, drawing, visible, scale)
        self._far.boxes(painter, worn, visible, scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        self._emphasis.lines(painter, drawing, scale, paths, emphasis)
        if len(copied) > _MANY_COPIES:
            self._copies.far_lines(painter, worn, visible, scale)
        else:
            self._copy_lines(painter, worn, copied, scale, emphasis)
        self._emphasis.rings(painter, drawing, scale, emphasis)

    def _paint_near(
        self,
        painter: QPainter,
        worn: Worn,
        scale: float,
        visible: QRectF,
        paths: Indices,
        copied: Indices,
        emphasis: Emphasis,
    ) -> None:
        drawing, detailed = worn.drawing, scale >= DETAIL
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        self._near.lines(painter, drawing, paths)
        self._emphasis.lines(painter, drawing, scale, paths, emphasis)
        self._copy_lines(painter, worn, copied, scale, emphasis)
        self._near.portals(painter, drawing, visible)
        if detailed:
            self._near.labels(painter, drawing, paths)
        self._emphasis.rings(painter, drawing, scale, emphasis)
        if detailed:
            self._near.boxes(painter, worn, visible)
        else:
            self._near.plain_boxes(painter, worn, visible, scale)

    def _copy_lines(
        self, painter: QPainter, worn: Worn, copied: Indices, scale: float, emphasis: Emphasis
    ) -> None:
        """Copied values; one that stands out keeps its colour around the dashes."""
        grounds = {
            path: colour
            for path in copied.tolist()
            if (colour := self._emphasis.colour_of(path, emphasis)) is not None
        }
        self._copies.lines(painter, worn, copied, scale, grounds)
