"""Pictures of the graph on show, for reports and for commands: they work off screen."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QPainter

from ....engine.ir.model import NodeId
from .canvas import GraphCanvas
from .drawing import Drawing
from .emphasis import NO_EMPHASIS, Emphasis
from .viewport import Viewport, fitted


class Camera:
    """Takes pictures of what a canvas shows.

    Args:
        canvas: has the drawing and its dress.
        box_of: the box of a node on show; None for any other.
    """

    def __init__(self, canvas: GraphCanvas, box_of: Callable[[NodeId | None], int | None]) -> None:
        self._canvas = canvas
        self._box_of = box_of

    def visible_nodes(self) -> list[NodeId]:
        """The nodes in view, in the drawing's order."""
        drawing = self._canvas.drawing
        if drawing is None:
            return []
        boxes = (drawing.scene.boxes[index].node for index in self._canvas.visible_boxes())
        return [node for node in boxes if node is not None]

    def snapshot(
        self,
        size: QSize,
        node: NodeId | None = None,
        scale: float | None = None,
        pixel_ratio: float = 1.0,
        drawing: Drawing | None = None,
    ) -> QImage:
        """A picture of the graph on show; works off screen.

        Args:
            size: of the picture, in device-independent pixels.
            node: in the middle and marked; without it the whole graph, or what the canvas shows
                (and marks) if ``scale`` is given.
            scale: pixels per scene pixel; by default 1 around a node, fitted otherwise.
            pixel_ratio: device pixels per pixel.
            drawing: painted in place of the one on show: the same boxes with other texts.
        """
        image = QImage(size * pixel_ratio, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(pixel_ratio)
        extent = QSizeF(size)
        view, emphasis = self._snapshot_view(extent, node, scale)
        painter = QPainter(image)
        self._canvas.render_view(painter, view, extent, emphasis, drawing)
        painter.end()
        return image

    def snapshot_nodes(
        self, size: QSize, node: NodeId | None = None, scale: float | None = None
    ) -> list[NodeId]:
        """The nodes that :meth:`snapshot` of the same arguments shows, in the drawing's order."""
        drawing = self._canvas.drawing
        if drawing is None:
            return []
        view, _ = self._snapshot_view(QSizeF(size), node, scale)
        seen = drawing.visible_boxes(view.visible(QSizeF(size))).tolist()
        boxes = (drawing.scene.boxes[index].node for index in seen)
        return [found for found in boxes if found is not None]

    def _snapshot_view(
        self, extent: QSizeF, node: NodeId | None, scale: float | None
    ) -> tuple[Viewport, Emphasis]:
        drawing = self._canvas.drawing
        if drawing is None:
            return Viewport(), NO_EMPHASIS
        index = self._box_of(node)
        if index is not None:
            view = Viewport().centred(drawing.rect(index).center(), extent, scale or 1.0)
            return view, self._canvas.emphasis_of(index)
        if scale is not None:
            middle = self._canvas.gaze.viewport.to_scene(QPointF(self._canvas.rect().center()))
            return Viewport().centred(middle, extent, scale), self._canvas.emphasis
        return fitted(QRectF(0, 0, *drawing.size), extent), NO_EMPHASIS
