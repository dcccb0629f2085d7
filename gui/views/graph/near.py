"""Painting a drawing near enough for operators to be read: lines, name plates, labels, boxes."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from ...layout.text import shown_text
from ...theme import Theme
from .boxes import BoxPainter
from .drawing import Drawing, Indices
from .fonts import Fonts
from .lines import LinePainter
from .looks import Looks
from .plain_boxes import PlainBoxPainter
from .worn import Worn

_LINE = 1.3
_BASELINE = 10.0  # from the top of a label


class NearPainter:
    """Paints in one theme."""

    def __init__(self, theme: Theme, looks: Looks, fonts: Fonts, lines: LinePainter) -> None:
        self._theme = theme
        self._looks = looks
        self._fonts = fonts
        self._lines = lines
        self._detailed = BoxPainter(theme, fonts)
        self._plain = PlainBoxPainter(theme, fonts)

    def lines(self, painter: QPainter, drawing: Drawing, paths: Indices) -> None:
        """Paint these lines, with rounded bends and heads."""
        self._lines.paint(painter, drawing, paths.tolist(), QColor(self._theme.edge), _LINE)

    def portals(self, painter: QPainter, drawing: Drawing, visible: QRectF) -> None:
        """Paint the name plates in view."""
        for index in drawing.visible_plates(visible).tolist():
            portal = drawing.portals[index]
            name = shown_text(drawing.scene.edges[portal.edges[0]].value)
            self._detailed.portal(painter, drawing.plate_rect(index), name, portal.outgoing)

    def labels(self, painter: QPainter, drawing: Drawing, paths: Indices) -> None:
        """Paint the shapes that stand beside these lines."""
        painter.setFont(self._fonts.label)
        painter.setPen(QPen(QColor(self._theme.edge_label)))
        for path in (drawing.paths[index] for index in paths.tolist()):
            if path.label is not None:
                x, y = path.label
                text = drawing.scene.edges[path.edges[0]].label
                painter.drawText(QPointF(x, y + _BASELINE), text)

    def boxes(self, painter: QPainter, worn: Worn, visible: QRectF) -> None:
        """Paint the boxes in view with all that they say."""
        for index in worn.drawing.visible_boxes(visible).tolist():
            paint = worn.paint(index)
            look = self._looks.of(paint.kind if paint is not None else None)
            text = paint.text if paint is not None else ""
            box, rect = worn.drawing.scene.boxes[index], worn.drawing.box_rects[index]
            self._detailed.paint(painter, box, rect, look, text, worn.badge(index))

    def plain_boxes(self, painter: QPainter, worn: Worn, visible: QRectF, scale: float) -> None:
        """Paint the boxes in view with their titles alone."""
        for index in worn.drawing.visible_boxes(visible).tolist():
            paint = worn.paint(index)
            look = self._looks.of(paint.kind if paint is not None else None)
            box, rect = worn.drawing.scene.boxes[index], worn.drawing.box_rects[index]
            self._plain.paint(painter, box, rect, look, worn.badge(index), scale)
