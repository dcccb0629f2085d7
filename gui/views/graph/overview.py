"""The strip beside the canvas: the whole graph squeezed to the window's height.

Tall graphs cannot be seen whole at a readable scale; here every node still has its tick, the
worrying classes on top, and the frame shows where the canvas looks. Click or drag to go there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ...colour import qcolor
from ...jobs import JobTracker
from .canvas import GraphCanvas
from .strip import MARGIN, Strip
from .worn import Worn

_WIDTH = 62
_SUBJECT = "overview"


@dataclass(frozen=True)
class _Sketch:
    """What is to be painted, as widget and canvas are now."""

    strip: Strip
    worn: Worn


class Overview(QWidget):
    """A squeezed picture of the canvas's drawing; hidden while all of it is in view anyway.

    The picture is painted on one of the threads of ``jobs``, when it is first to be seen; until it
    is there an older one of the same drawing stands in.
    """

    def __init__(
        self, canvas: GraphCanvas, jobs: JobTracker, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._jobs = jobs
        self._picture = QImage()
        self._painted: _Sketch | None = None  # what the picture shows
        self._asked: _Sketch | None = None  # what the next one will show
        self.setFixedWidth(_WIDTH)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Overview of the graph")
        canvas.changed.connect(self._moved)
        canvas.gaze.moved.connect(self._moved)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the picture, and the frame of what is in view."""
        painter = QPainter(self)
        theme, worn = self._canvas.theme, self._canvas.worn
        painter.fillRect(self.rect(), QColor(theme.window))
        if worn is None:
            return
        self._ask(_Sketch(self._strip(), worn))
        if self._painted is not None and self._painted.worn.drawing is worn.drawing:
            painter.drawImage(self.rect(), self._picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.accent), 1.2))
        painter.setBrush(qcolor(theme.accent, 0.16))
        painter.drawRoundedRect(self._frame(worn), 2, 2)

    def _strip(self) -> Strip:
        return Strip(self.size(), self.devicePixelRatioF(), self._canvas.theme)

    def _ask(self, sketch: _Sketch) -> None:
        """Have a picture made, unless it is there or on its way."""
        if sketch in (self._painted, self._asked):
            return
        self._asked = sketch
        self._jobs.start(
            _SUBJECT,
            lambda _: sketch.strip.picture(sketch.worn),
            partial(self._take, sketch),
        )

    def _take(self, sketch: _Sketch, picture: QImage) -> None:
        self._picture, self._painted, self._asked = picture, sketch, None
        self.update()

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

    def _frame(self, worn: Worn) -> QRectF:
        across, down = self._strip().squeeze(worn.drawing)
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
        across, down = self._strip().squeeze(drawing)
        x = min(max((position.x() - MARGIN) / across, 0.0), drawing.size[0])
        y = min(max((position.y() - MARGIN) / down, 0.0), drawing.size[1])
        self._canvas.gaze.centre_on(QPointF(x, y))
