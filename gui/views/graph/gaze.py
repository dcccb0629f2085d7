"""Where the canvas looks, and how it gets from one view to another: at once, or in a glide."""

from __future__ import annotations

from PySide6.QtCore import (
    QEasingCurve,
    QObject,
    QPointF,
    QRectF,
    QSize,
    QSizeF,
    QVariantAnimation,
    Signal,
)
from PySide6.QtWidgets import QWidget

from .drawing import Drawing
from .viewport import MARGIN, READABLE, Viewport, fitted, opening

_GLIDE_MS = 170
_WELL_SEEN = 0.3  # a box in view at this scale needs not be brought closer
_CLOSE = 0.75  # what is brought into view is so at this scale at least


class Gaze(QObject):
    """The view that a widget has of a drawing.

    Signals:
        moved: the viewport is another.
    """

    moved = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._bounds = QRectF(0, 0, 1, 1)
        self._start: QPointF | None = None  # where reading begins; None without a drawing
        self._view = Viewport()
        self._as_opened = True
        self._glide = QVariantAnimation(self)
        self._glide.setDuration(_GLIDE_MS)
        self._glide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._glide.setStartValue(0.0)
        self._glide.setEndValue(1.0)
        self._glide.valueChanged.connect(self._advance)
        self._journey = (self._view, self._view)

    @property
    def viewport(self) -> Viewport:
        """The view of this moment."""
        return self._view

    @property
    def as_opened(self) -> bool:
        """Whether it is still the view that the drawing was opened with."""
        return self._as_opened

    @property
    def visible(self) -> QRectF:
        """The part of the scene in view."""
        return self._view.visible(self._size())

    @property
    def shows_all(self) -> bool:
        """Whether the whole drawing would be in view at a readable scale."""
        return fitted(self._bounds, self._size()).scale >= READABLE

    def turn_to(self, drawing: Drawing | None, view: Viewport | None) -> None:
        """Look at another drawing, from ``view`` or as a drawing is opened."""
        self._glide.stop()
        self._bounds = QRectF(0, 0, *drawing.size) if drawing is not None else QRectF(0, 0, 1, 1)
        self._start = QPointF(*drawing.start) if drawing is not None else None
        self._as_opened = view is None
        self._set(view or self._opening())

    def travel(self, view: Viewport) -> None:
        """Go to another view, gliding where a user looks on."""
        self._glide.stop()
        self._as_opened = False
        if not self._widget.isVisible():
            self._set(view)
            return
        self._journey = (self._view, view)
        self._glide.start()

    def settle(self) -> None:
        """End a glide at once."""
        if self._glide.state() == QVariantAnimation.State.Running:
            self._glide.stop()
            self._set(self._journey[1])

    def pan(self, dx: float, dy: float) -> None:
        """Move by pixels of the screen."""
        self._jump(self._view.moved(dx, dy))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Zoom around a point of the screen (the middle by default)."""
        at = QPointF(self._widget.rect().center()) if at is None else at
        # Zooming out ends where the whole drawing is in view with room around.
        smallest = min(fitted(self._bounds, self._size()).scale * 0.6, 0.5)
        self._jump(self._view.zoomed(factor, at, smallest))

    def actual_size(self) -> None:
        """Scale 1."""
        self.zoom(1 / self._view.scale)

    def fit(self) -> None:
        """Show the whole drawing."""
        if self._start is not None:
            self.travel(fitted(self._bounds, self._size()))

    def fit_width(self) -> None:
        """Show the drawing as it is opened: readable, from the top."""
        self.travel(self._opening())
        self._as_opened = True

    def centre_on(self, point: QPointF) -> None:
        """Bring a point of the scene into the middle."""
        self.travel(self._view.centred(point, self._size()))

    def show(self, rect: QRectF, *, always: bool) -> None:
        """Bring a part of the scene into the middle, or not if it is well in sight already."""
        inside = QRectF(self._widget.rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        in_sight = inside.contains(self._view.to_screen(rect)) and self._view.scale > _WELL_SEEN
        if always or not in_sight:
            scale = max(self._view.scale, _CLOSE)
            self.travel(self._view.centred(rect.center(), self._size(), scale))

    def resized(self, before: QSize) -> None:
        """The widget has another size: an opening view stays fitted, any other in its place."""
        if self._as_opened:
            self._set(self._opening())
        elif before.isValid():
            self._set(self._view.moved((self._widget.width() - before.width()) / 2, 0))

    def _jump(self, view: Viewport) -> None:
        self._glide.stop()
        self._as_opened = False
        self._set(view)

    def _advance(self, amount: float) -> None:
        self._set(self._journey[0].between(self._journey[1], amount))

    def _set(self, view: Viewport) -> None:
        self._view = view
        self.moved.emit()

    def _size(self) -> QSizeF:
        return QSizeF(self._widget.size())

    def _opening(self) -> Viewport:
        if self._start is None:
            return Viewport()
        return opening(self._bounds, self._start, self._size())
