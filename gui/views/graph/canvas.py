"""The canvas: one widget that paints what is in view and answers mouse and keyboard.

It knows boxes of one drawing, not models: what a click or key means beyond that goes out as a
signal, and :class:`~opscope.gui.views.graph.page.GraphPage` acts on it.
"""

from __future__ import annotations

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QPointF,
    QRectF,
    QSizeF,
    Qt,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QInputDevice,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from ...theme import Theme
from .drawing import NOTHING, Drawing, Hit
from .emphasis import NO_EMPHASIS, Emphasis
from .painter import Dress, GraphPainter
from .tooltip import tooltip_text
from .viewport import MARGIN, READABLE, Viewport, fitted, opening

_DRAG = 4.0  # pixels before a press becomes a pan
_REACH = 5.0  # pixels within which a line is hit
_WHEEL = 1.0015  # zoom per unit of wheel turn
_ANIMATION_MS = 170
_KEY_PAN = 60.0


class GraphCanvas(QWidget):
    """Shows one :class:`Drawing`.

    Signals:
        selected: int or None: the user chose a box, or nothing.
        opened: int: the user opens what is behind a box.
        left: the user goes back outwards.
        moved: the viewport changed.
        changed: the drawing, its colours or the theme changed.
    """

    selected = Signal(object)
    opened = Signal(int)
    left = Signal()
    moved = Signal()
    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        self.setAccessibleName("Graph")
        self._painter = GraphPainter(theme)
        self._drawing: Drawing | None = None
        self._dress = Dress()
        self._view = Viewport()
        self._as_opened = True  # the view is still the one the graph was opened with
        self._emphasis = NO_EMPHASIS
        self._hover = NOTHING
        self._pressed: QPointF | None = None
        self._panning = False
        self._animation = QVariantAnimation(self)
        self._animation.setDuration(_ANIMATION_MS)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.valueChanged.connect(self._animate)
        self._journey = (self._view, self._view)

    # ---- what is shown

    @property
    def drawing(self) -> Drawing | None:
        """The drawing on show."""
        return self._drawing

    @property
    def viewport(self) -> Viewport:
        """Where the canvas looks."""
        return self._view

    @property
    def as_opened(self) -> bool:
        """Whether the view is still the one that the graph was opened with."""
        return self._as_opened

    @property
    def dress(self) -> Dress:
        """The colouring and badges on show."""
        return self._dress

    @property
    def emphasis(self) -> Emphasis:
        """What stands out."""
        return self._emphasis

    @property
    def theme(self) -> Theme:
        """The theme it paints in."""
        return self._painter.theme

    def set_theme(self, theme: Theme) -> None:
        """Paint in another theme."""
        self._painter = GraphPainter(theme)
        self.changed.emit()
        self.update()

    def set_drawing(self, drawing: Drawing | None, view: Viewport | None = None) -> None:
        """Show a drawing, from ``view`` or as a graph is opened."""
        self._animation.stop()
        self._drawing = drawing
        self._emphasis, self._hover = NO_EMPHASIS, NOTHING
        self._as_opened = view is None
        self._set_view(view or self._opening_view())
        self.changed.emit()

    def set_dress(self, dress: Dress) -> None:
        """Show another colouring or other badges."""
        self._dress = dress
        self.changed.emit()
        self.update()

    def select_box(self, box: int | None) -> None:
        """Mark a box and its neighbours; no signal."""
        self._emphasis = NO_EMPHASIS if box is None else self.emphasis_of(box)
        self.update()

    def emphasis_of(self, box: int) -> Emphasis:
        """How a box stands out with its neighbours when it is selected."""
        drawing = self._drawing
        if drawing is None:
            return NO_EMPHASIS
        return Emphasis(
            selected=box,
            producers=tuple(drawing.producers(box)),
            consumers=tuple(drawing.consumers(box)),
            incoming=frozenset(drawing.paths_of(drawing.incoming(box))),
            outgoing=frozenset(drawing.paths_of(drawing.outgoing(box))),
        )

    # ---- where it looks

    def show_box(self, box: int, *, always: bool = True) -> None:
        """Bring a box into view: into the middle, or not at all if it is well in sight already."""
        if self._drawing is None:
            return
        rect = self._drawing.rect(box)
        inside = QRectF(self.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        if not always and inside.contains(self._view.to_screen(rect)) and self._view.scale > 0.3:
            return
        scale = max(self._view.scale, 0.75)
        self.travel(self._view.centred(rect.center(), self._size(), scale))

    def fit(self) -> None:
        """Show the whole graph."""
        if self._drawing is not None:
            self.travel(fitted(self._bounds(), self._size()))

    def fit_width(self) -> None:
        """Show the graph as it is opened: readable, from the top."""
        self.travel(self._opening_view())
        self._as_opened = True

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom around a screen point (the middle by default)."""
        at = QPointF(self.rect().center()) if at is None else at
        self._animation.stop()
        self._as_opened = False
        self._set_view(self._view.zoomed(factor, at, self._smallest()))

    def actual_size(self) -> None:
        """Scale 1."""
        self.zoom(1 / self._view.scale)

    def travel(self, view: Viewport) -> None:
        """Go to another view, gliding where a user looks on."""
        self._animation.stop()
        self._as_opened = False
        if not self.isVisible():
            self._set_view(view)
            return
        self._journey = (self._view, view)
        self._animation.start()

    def settle(self) -> None:
        """End a glide at once."""
        if self._animation.state() == QVariantAnimation.State.Running:
            self._animation.stop()
            self._set_view(self._journey[1])

    def visible_boxes(self) -> list[int]:
        """The boxes in view."""
        if self._drawing is None:
            return []
        found = self._drawing.visible_boxes(self._view.visible(self._size()))
        return [int(index) for index in found]

    @property
    def shows_all(self) -> bool:
        """Whether the whole graph would be in view at a readable scale."""
        return fitted(self._bounds(), self._size()).scale >= READABLE

    def render_view(
        self,
        painter: QPainter,
        view: Viewport,
        size: QSizeF,
        emphasis: Emphasis | None = None,
        drawing: Drawing | None = None,
    ) -> None:
        """Paint any view of the drawing with any painter: for pictures in reports.

        Args:
            painter: of the picture.
            view: where it looks.
            size: of the picture.
            emphasis: what stands out; by default what does on the canvas.
            drawing: painted in the drawing's place: the same boxes with other texts.
        """
        painter.fillRect(QRectF(QPointF(), size), QColor(self.theme.sunken))
        drawing = drawing or self._drawing
        if drawing is not None:
            emphasis = self._emphasis if emphasis is None else emphasis
            self._painter.paint(painter, drawing, view, size, self._dress, emphasis)

    def _set_view(self, view: Viewport) -> None:
        self._view = view
        self.update()
        self.moved.emit()

    def _animate(self, amount: float) -> None:
        self._set_view(self._journey[0].between(self._journey[1], amount))

    def _size(self) -> QSizeF:
        return QSizeF(self.size())

    def _bounds(self) -> QRectF:
        width, height = self._drawing.size if self._drawing is not None else (1.0, 1.0)
        return QRectF(0, 0, width, height)

    def _smallest(self) -> float:
        """Zooming out ends where the whole graph is in view with room around."""
        return min(fitted(self._bounds(), self._size()).scale * 0.6, 0.5)

    def _opening_view(self) -> Viewport:
        if self._drawing is None:
            return Viewport()
        return opening(self._bounds(), QPointF(*self._drawing.start), self._size())

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint what is in view."""
        painter = QPainter(self)
        self.render_view(painter, self._view, self._size())
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the opening view fitted, any other in its place."""
        if self._as_opened:
            self._set_view(self._opening_view())
        else:
            old = event.oldSize()
            if old.isValid():
                dx = (self.width() - old.width()) / 2
                self._set_view(self._view.moved(dx, 0))

    # ---- mouse

    def _hit(self, position: QPointF) -> Hit:
        if self._drawing is None:
            return NOTHING
        point = self._view.to_scene(position)
        return self._drawing.hit(point.x(), point.y(), _REACH / self._view.scale)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Begin a click or a pan."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self.settle()
            self._pressed = event.position()
            self._panning = event.button() == Qt.MouseButton.MiddleButton

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Pan, or see what is under the cursor."""
        position = event.position()
        if self._pressed is None:
            self._set_hover(self._hit(position))
            return
        step = position - self._pressed
        if not self._panning and step.manhattanLength() < _DRAG:
            return
        self._panning, self._pressed = True, position
        self.setCursor(Qt.CursorShape.ClosedHandCursor)
        self._pan(step.x(), step.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Select what was clicked; a portal leads to its other end."""
        if self._pressed is None:
            return
        panned, self._pressed, self._panning = self._panning, None, False
        self.unsetCursor()
        if panned or event.button() != Qt.MouseButton.LeftButton:
            return
        hit = self._hit(event.position())
        if hit.portal is not None:
            self.jump(hit.portal)
        else:
            self.selected.emit(hit.box)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Open what is behind a box."""
        hit = self._hit(event.position())
        if event.button() == Qt.MouseButton.LeftButton and hit.box is not None:
            self.opened.emit(hit.box)

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        """Nothing is under the cursor any more."""
        self._set_hover(NOTHING)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """A wheel zooms at the cursor (with Shift it pans); a touchpad pans."""
        turn, fine = event.angleDelta(), event.pixelDelta()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        touchpad = (
            event.phase() != Qt.ScrollPhase.NoScrollPhase
            or event.device().type() == QInputDevice.DeviceType.TouchPad
        )
        if shift:
            along = turn.x() or turn.y()
            self._pan(along / 2, 0)
        elif touchpad and not control:
            self._pan(fine.x() or turn.x() / 2, fine.y() or turn.y() / 2)
        elif turn.y():
            self.zoom(_WHEEL ** turn.y(), event.position())
        else:
            self._pan(turn.x() / 2, 0)
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Pinching, and tooltips; the rest is Qt's."""
        if isinstance(event, QNativeGestureEvent):
            if event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
                self.zoom(1 + event.value(), event.position())
                return True
        elif isinstance(event, QHelpEvent):
            self._tooltip(event)
            return True
        return super().event(event)

    def _pan(self, dx: float, dy: float) -> None:
        self._animation.stop()
        self._as_opened = False
        self._set_view(self._view.moved(dx, dy))

    def _set_hover(self, hit: Hit) -> None:
        if hit == self._hover or self._drawing is None:
            return
        self._hover = hit
        drawing = self._drawing
        if hit.path is not None:
            traced = drawing.paths_of(drawing.paths[hit.path].edges)
        elif hit.portal is not None:
            traced = drawing.paths_of(drawing.portals[hit.portal].edges)
        else:
            traced = []
        self._emphasis = Emphasis(
            self._emphasis.selected,
            hit.box,
            self._emphasis.producers,
            self._emphasis.consumers,
            self._emphasis.incoming,
            self._emphasis.outgoing,
            frozenset(traced),
        )
        pointing = hit.box is not None or hit.portal is not None
        self.setCursor(
            Qt.CursorShape.PointingHandCursor if pointing else Qt.CursorShape.ArrowCursor
        )
        self.update()

    def _tooltip(self, event: QHelpEvent) -> None:
        text = ""
        if self._drawing is not None:
            text = tooltip_text(self._drawing, self._hit(QPointF(event.pos())), self._dress)
        if text:
            QToolTip.showText(event.globalPos(), text, self)
        else:
            QToolTip.hideText()

    # ---- moving along the graph

    def jump(self, portal: int) -> None:
        """Go to the other end of a portal and select what is there."""
        drawing = self._drawing
        if drawing is None:
            return
        plate = drawing.portals[portal]
        edges = [drawing.scene.edges[edge] for edge in plate.edges]
        box = edges[0].target if plate.outgoing else edges[0].source
        self.selected.emit(box)
        self.show_box(box)

    def step(self, key: Qt.Key) -> None:
        """Select the next box: up to a producer, down to a consumer, or sideways."""
        drawing, box = self._drawing, self._emphasis.selected
        if drawing is None or not drawing.scene.boxes:
            return
        following: int | None
        if box is None:
            seen = self.visible_boxes()
            following = seen[0] if seen else 0
        elif key == Qt.Key.Key_Up:
            following = next(iter(drawing.producers(box)), None)
        elif key == Qt.Key.Key_Down:
            following = next(iter(drawing.consumers(box)), None)
        else:
            following = drawing.neighbour(box, 1 if key == Qt.Key.Key_Right else -1)
        if following is not None:
            self.selected.emit(following)
            self.show_box(following, always=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Move along the graph, zoom, open and leave."""
        key, alt = Qt.Key(event.key()), event.modifiers() & Qt.KeyboardModifier.AltModifier
        box = self._emphasis.selected
        arrows = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right)
        if key == Qt.Key.Key_Backspace or (alt and key == Qt.Key.Key_Left):
            self.left.emit()
        elif key in arrows and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            across = (key == Qt.Key.Key_Left) - (key == Qt.Key.Key_Right)
            self._pan(_KEY_PAN * across, _KEY_PAN * ((key == arrows[0]) - (key == arrows[1])))
        elif key in arrows and not alt:
            self.step(key)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and box is not None:
            self.opened.emit(box)
        elif key == Qt.Key.Key_F and not event.modifiers():
            self.fit()
        elif key == Qt.Key.Key_Home:
            self.fit_width()
        elif key == Qt.Key.Key_1:
            self.actual_size()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(1.25)
        elif key == Qt.Key.Key_Minus:
            self.zoom(0.8)
        elif key == Qt.Key.Key_Escape:
            self.selected.emit(None)
        else:
            super().keyPressEvent(event)
