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

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class _Frame:
    """One picture that is being painted.

    Attributes:
        painter: in the scene's coordinates.
        worn: the drawing in its dress.
        scale: of the view.
        visible: the part of the scene in view.
        paths, copied: the lines in view; those of them that carry a copied value.
        emphasis: what stands out.
    """

    painter: QPainter
    worn: Worn
    scale: float
    visible: QRectF
    paths: Indices
    copied: Indices
    emphasis: Emphasis


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
        frame = _Frame(painter, worn, view.scale, visible, paths, worn.marks.among(paths), emphasis)
        painter.save()
        painter.setTransform(view.transform, True)
        if view.scale < FAR_BELOW:
            self._paint_far(frame)
        else:
            self._paint_near(frame)
        painter.restore()
        if len(frame.copied):
            painter.save()
            gap = _PLATE_GAPS[view.scale >= DETAIL]
            self._copies.plates(painter, worn, frame.copied, view, size, gap=gap)
            painter.restore()

    def _paint_far(self, frame: _Frame) -> None:
        painter, worn, scale = frame.painter, frame.worn, frame.scale
        self._far.lines(painter, worn.drawing, frame.visible, scale)
        self._far.boxes(painter, worn, frame.visible, scale)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        self._emphasis.lines(painter, worn.drawing, scale, frame.paths, frame.emphasis)
        if len(frame.copied) > _MANY_COPIES:
            self._copies.far_lines(painter, worn, frame.visible, scale)
        else:
            self._copy_lines(frame)
        self._emphasis.rings(painter, worn.drawing, scale, frame.emphasis)

    def _paint_near(self, frame: _Frame) -> None:
        painter, worn, scale = frame.painter, frame.worn, frame.scale
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        self._near.lines(painter, worn.drawing, frame.paths)
        self._emphasis.lines(painter, worn.drawing, scale, frame.paths, frame.emphasis)
        self._copy_lines(frame)
        self._near.portals(painter, worn.drawing, frame.visible)
        if scale >= DETAIL:
            self._near.labels(painter, worn.drawing, frame.paths)
        self._emphasis.rings(painter, worn.drawing, scale, frame.emphasis)
        if scale >= DETAIL:
            self._near.boxes(painter, worn, frame.visible)
        else:
            self._near.plain_boxes(painter, worn, frame.visible, scale)

    def _copy_lines(self, frame: _Frame) -> None:
        """Copied values; one that stands out keeps its colour around the dashes."""
        grounds = {
            path: colour
            for path in frame.copied.tolist()
            if (colour := self._emphasis.colour_of(path, frame.emphasis)) is not None
        }
        self._copies.lines(frame.painter, frame.worn, frame.copied, frame.scale, grounds)
