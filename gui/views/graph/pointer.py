"""The mouse and the touchpad over the canvas: pans, zooms, and what is pointed at or clicked."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QInputDevice, QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QToolTip, QWidget

from .drawing import NOTHING, Hit
from .gaze import Gaze

_DRAG = 4.0  # pixels before a press becomes a pan
_WHEEL = 1.0015  # zoom per unit of wheel turn


class Pointer(QObject):
    """Answers what the mouse does over ``widget``.

    Args:
        widget: what it watches.
        gaze: what pans and zooms.
        hit: what is at a point of the widget.
        tip: what is to be said of it, in Qt's rich text; "" where there is nothing to say.

    Signals:
        hovered: Hit: something else is under the cursor.
        clicked: Hit: a click with the left button that was no pan.
        opened: Hit: a double click.
    """

    hovered = Signal(object)
    clicked = Signal(object)
    opened = Signal(object)

    def __init__(
        self,
        widget: QWidget,
        gaze: Gaze,
        hit: Callable[[QPointF], Hit],
        tip: Callable[[Hit], str],
    ) -> None:
        super().__init__(widget)
        self._widget = widget
        self._gaze = gaze
        self._hit = hit
        self._tip = tip
        self._under = NOTHING
        self._pressed: QPointF | None = None
        self._panning = False
        self._answers: dict[QEvent.Type, Callable[..., bool]] = {
            QEvent.Type.MouseButtonPress: self._press,
            QEvent.Type.MouseMove: self._move,
            QEvent.Type.MouseButtonRelease: self._release,
            QEvent.Type.MouseButtonDblClick: self._open,
            QEvent.Type.Leave: self._leave,
            QEvent.Type.Wheel: self._wheel,
            QEvent.Type.NativeGesture: self._pinch,
            QEvent.Type.ToolTip: self._explain,
        }
        widget.setMouseTracking(True)
        widget.installEventFilter(self)

    def forget(self) -> None:
        """Something else is shown: nothing of it is under the cursor yet."""
        self._under = NOTHING

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Take the mouse's events; others are the widget's."""
        answer = self._answers.get(event.type())
        return answer is not None and answer(event)

    def _press(self, event: QMouseEvent) -> bool:
        """Begin a click or a pan."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._gaze.settle()
            self._pressed = event.position()
            self._panning = event.button() == Qt.MouseButton.MiddleButton
        return True

    def _move(self, event: QMouseEvent) -> bool:
        """Pan, or see what is under the cursor."""
        position = event.position()
        if self._pressed is None:
            self._see(self._hit(position))
            return True
        step = position - self._pressed
        if self._panning or step.manhattanLength() >= _DRAG:
            self._panning, self._pressed = True, position
            self._widget.setCursor(Qt.CursorShape.ClosedHandCursor)
            self._gaze.pan(step.x(), step.y())
        return True

    def _release(self, event: QMouseEvent) -> bool:
        """End a pan, or a click."""
        if self._pressed is None:
            return False
        panned, self._pressed, self._panning = self._panning, None, False
        self._widget.unsetCursor()
        if not panned and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self._hit(event.position()))
        return True

    def _open(self, event: QMouseEvent) -> bool:
        if event.button() == Qt.MouseButton.LeftButton:
            self.opened.emit(self._hit(event.position()))
        return True

    def _leave(self, _: QEvent) -> bool:
        self._see(NOTHING)
        return False

    def _wheel(self, event: QWheelEvent) -> bool:
        """A wheel zooms at the cursor (with Shift it pans); a touchpad pans."""
        turn, fine = event.angleDelta(), event.pixelDelta()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        touchpad = (
            event.phase() != Qt.ScrollPhase.NoScrollPhase
            or event.device().type() == QInputDevice.DeviceType.TouchPad
        )
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._gaze.pan((turn.x() or turn.y()) / 2, 0)
        elif touchpad and not control:
            self._gaze.pan(fine.x() or turn.x() / 2, fine.y() or turn.y() / 2)
        elif turn.y():
            self._gaze.zoom(_WHEEL ** turn.y(), event.position())
        else:
            self._gaze.pan(turn.x() / 2, 0)
        event.accept()
        return True

    def _pinch(self, event: QNativeGestureEvent) -> bool:
        if event.gestureType() != Qt.NativeGestureType.ZoomNativeGesture:
            return False
        self._gaze.zoom(1 + event.value(), event.position())
        return True

    def _explain(self, event: QHelpEvent) -> bool:
        if text := self._tip(self._hit(QPointF(event.pos()))):
            QToolTip.showText(event.globalPos(), text, self._widget)
        else:
            QToolTip.hideText()
        return True

    def _see(self, hit: Hit) -> None:
        if hit == self._under:
            return
        self._under = hit
        pointing = hit.box is not None or hit.portal is not None
        self._widget.setCursor(
            Qt.CursorShape.PointingHandCursor if pointing else Qt.CursorShape.ArrowCursor
        )
        self.hovered.emit(hit)
