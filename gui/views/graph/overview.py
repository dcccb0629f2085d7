"""The strip beside the canvas: the whole graph squeezed to the window's height.

Tall graphs cannot be seen whole at a readable scale; here every node still has its tick, the
worrying classes on top, and the frame shows where the canvas looks. Click or drag to go there.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ...colour import qcolor
from .canvas import GraphCanvas
from .strip import MARGIN, Strip
from .worn import Worn

_WIDTH = 62


@dataclass(frozen=True)
class _Painted:
    """A picture, and what it is of."""

    strip: Strip
    worn: Worn
    image: QImage


class Overview(QWidget):
    """A squeezed picture of the canvas's drawing; hidden while all of it is in view anyway."""

    def __init__(self, canvas: GraphCanvas, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._painted: _Painted | None = None
        self.setFixedWidth(_WIDTH)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Overview of the graph")
        canvas.changed.connect(self._moved)
        canvas.gaze.moved.connect(self._moved)
        self.hide()

    @property
    def strip(self) -> Strip:
        """What is to be painted, as the widget is now."""
        return Strip(self.size(), self.devicePixelRatioF(), self._canvas.theme)

    def take(self, strip: Strip, worn: Worn, image: QImage) -> None:
        """A picture that was painted elsewhere; it is shown while it is still the right one."""
        self._painted = _Painted(strip, worn, image)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the picture, and the frame of what is in view."""
        painter = QPainter(self)
        strip, worn = self.strip, self._canvas.worn
        if worn is None:
            painter.fillRect(self.rect(), QColor(strip.theme.window))
            return
        painter.drawImage(QPointF(0, 0), self._picture(strip, worn))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(strip.theme.accent), 1.2))
        painter.setBrush(qcolor(strip.theme.accent, 0.16))
        painter.drawRoundedRect(self._frame(strip, worn), 2, 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Go there."""
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Follow the drag."""
        if event.buttons():
            self._go(event.position())
            self._canvas.gaze.settle()

    def _moved(self) -> None:
        drawing = self._canvas.drawing
        hidden = drawing is None or not drawing.scene.boxes or self._canvas.gaze.shows_all
        if hidden == self.isVisible():
            self.setVisible(not hidden)
        self.update()

    def _picture(self, strip: Strip, worn: Worn) -> QImage:
        """The picture, made once per dress, size and theme."""
        known = self._painted
        if known is None or known.worn is not worn or known.strip != strip:
            known = self._painted = _Painted(strip, worn, strip.picture(worn))
        return known.image

    def _frame(self, strip: Strip, worn: Worn) -> QRectF:
        across, down = strip.squeeze(worn.drawing)
        seen = self._canvas.gaze.visible
        frame = QRectF(
            MARGIN + seen.left() * across,
            MARGIN + seen.top() * down,
            seen.width() * across,
            max(seen.height() * down, 4.0),
        )
        return frame.intersected(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5))

    def _go(self, position: QPointF) -> None:
        drawing = self._canvas.drawing
        if drawing is None:
            return
        across, down = self.strip.squeeze(drawing)
        x = min(max((position.x() - MARGIN) / across, 0.0), drawing.size[0])
        y = min(max((position.y() - MARGIN) / down, 0.0), drawing.size[1])
        self._canvas.gaze.centre_on(QPointF(x, y))
