"""The strip beside the canvas: the whole graph squeezed to the window's height.

Tall graphs cannot be seen whole at a readable scale; here every node still has its tick, the
worrying classes on top, and the frame shows where the canvas looks. Click or drag to go there.
"""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from ....engine.diagnostics import Severity
from ....engine.providers.support import Status
from ...difference import Difference
from ...verdict import Home
from .canvas import GraphCanvas
from .colouring import Class, Paint
from .drawing import Drawing, Floats
from .looks import look_of, shade

_WIDTH = 62
_MARGIN = 7.0
_MARKS = 5.0  # width of the column of findings
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
_MILDEST_FIRST = (Severity.INFO, Severity.WARNING, Severity.ERROR)


class Overview(QWidget):
    """A squeezed picture of the canvas's drawing; hidden while all of it is in view anyway."""

    def __init__(self, canvas: GraphCanvas, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self._picture: QPixmap | None = None
        self.setFixedWidth(_WIDTH)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Overview of the graph")
        canvas.changed.connect(self._renew)
        canvas.moved.connect(self._moved)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint the picture (made once per colouring) and the frame of what is in view."""
        if self._picture is None:
            self._picture = self._make_picture()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture)
        theme = self._canvas.theme
        frame = self._frame()
        shadow = QColor(theme.accent)
        shadow.setAlphaF(0.16)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.accent), 1.2))
        painter.setBrush(shadow)
        painter.drawRoundedRect(frame, 2, 2)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Go there."""
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Follow the drag."""
        if event.buttons():
            self._go(event.position())
            self._canvas.settle()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Squeeze to the new height."""
        self._picture = None

    def _renew(self) -> None:
        self._picture = None
        self._moved()

    def _moved(self) -> None:
        drawing = self._canvas.drawing
        hidden = drawing is None or not drawing.scene.boxes or self._canvas.shows_all
        if hidden == self.isVisible():
            self.setVisible(not hidden)
        self.update()

    def _squeeze(self, drawing: Drawing) -> tuple[float, float]:
        """Strip pixels per scene pixel, across and down."""
        width, height = drawing.size
        across = (_WIDTH - 2 * _MARGIN - _MARKS) / max(width, 1.0)
        down = (self.height() - 2 * _MARGIN) / max(height, 1.0)
        return min(across, max(down, across * 0.25)), min(down, 3 * across)

    def _frame(self) -> QRectF:
        drawing = self._canvas.drawing
        if drawing is None:
            return QRectF()
        across, down = self._squeeze(drawing)
        seen = self._canvas.viewport.visible(QSizeF(self._canvas.size()))
        frame = QRectF(
            _MARGIN + seen.left() * across,
            _MARGIN + seen.top() * down,
            seen.width() * across,
            max(seen.height() * down, 4.0),
        )
        return frame.intersected(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5))

    def _go(self, position: QPointF) -> None:
        drawing = self._canvas.drawing
        if drawing is None:
            return
        across, down = self._squeeze(drawing)
        x = min(max((position.x() - _MARGIN) / across, 0.0), drawing.size[0])
        y = min(max((position.y() - _MARGIN) / down, 0.0), drawing.size[1])
        size = QSizeF(self._canvas.size())
        self._canvas.travel(self._canvas.viewport.centred(QPointF(x, y), size))

    def _make_picture(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        theme = self._canvas.theme
        picture.fill(QColor(theme.window))
        drawing = self._canvas.drawing
        if drawing is None:
            return picture
        painter = QPainter(picture)
        painter.setPen(Qt.PenStyle.NoPen)
        across, down = self._squeeze(drawing)
        scaled = drawing.boxes * np.array([across, down, across, down]) + _MARGIN
        for kind, boxes in self._classes(drawing):
            painter.setBrush(QColor(look_of(theme, kind).fill))
            painter.drawRects(_ticks(scaled[boxes]))
        right = self.width() - _MARKS
        for severity, boxes in self._findings(drawing):
            painter.setBrush(QColor(theme.severity[severity].fill))
            middles = sorted({round(y) for y in scaled[boxes, 1::2].mean(axis=1).tolist()})
            painter.drawRects([QRectF(right, y - 1.0, _MARKS - 1, 2.5) for y in middles])
        painter.end()
        return picture

    def _classes(self, drawing: Drawing) -> list[tuple[Class | None, list[int]]]:
        """Boxes by class, those to be seen above others last."""
        paints = self._canvas.dress.colouring.paints
        alike: dict[int, list[int]] = {}  # by paint: a class has one
        of: dict[int, Paint | None] = {}
        for index, box in enumerate(drawing.scene.boxes):
            paint = paints.get(box.node) if box.node is not None else None
            alike.setdefault(id(paint), []).append(index)
            of[id(paint)] = paint
        groups: dict[Class | None, list[int]] = {}
        for key, boxes in alike.items():
            paint = of[key]
            kind = shade(paint.kind) if paint is not None else None
            groups.setdefault(kind, []).extend(boxes)
        return sorted(groups.items(), key=lambda item: _prominence(item[0]))

    def _findings(self, drawing: Drawing) -> list[tuple[Severity, list[int]]]:
        groups: dict[Severity, list[int]] = {s: [] for s in _MILDEST_FIRST}
        for node, badge in self._canvas.dress.badges.items():
            box = drawing.scene.box_of.get(node) if node.graph == drawing.scene.path else None
            if box is not None:
                groups[badge.severity].append(box)
        return [(severity, boxes) for severity, boxes in groups.items() if boxes]


_PLACES = np.array([1, 1 << 16, 1 << 32, 1 << 48])  # half pixels of the strip take 15 bits


def _prominence(kind: Class | None) -> float:
    if kind is None:
        return -1.0
    return kind if isinstance(kind, float) else float(_ORDER.index(kind))


def _ticks(rects: Floats) -> list[QRectF]:
    """Rectangles of at least a visible size; of many on one pixel only one."""
    sizes = np.maximum(rects[:, 2:] - rects[:, :2], [2.5, 1.2])
    halves = np.round(np.hstack([rects[:, :2], sizes]) * 2).astype(np.int64)
    keys = halves @ _PLACES  # one number a tick: rows are slow to tell apart
    _, first = np.unique(keys, return_index=True)
    return [QRectF(*tick) for tick in (halves[first] / 2).tolist()]
