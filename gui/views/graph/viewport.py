"""Where the canvas looks: a scale and an offset, and the arithmetic of moving them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QTransform

LARGEST = 4.0
MARGIN = 28.0  # pixels kept free around what is fitted
READABLE = 0.8  # a graph is opened at this scale at least


@dataclass(frozen=True, slots=True)
class Viewport:
    """A view of the scene: ``screen = scene * scale + offset``.

    Attributes:
        scale: screen pixels per scene pixel.
        dx, dy: the screen position of the scene's origin.
    """

    scale: float = 1.0
    dx: float = 0.0
    dy: float = 0.0

    @property
    def transform(self) -> QTransform:
        """Scene to screen, for a painter."""
        return QTransform(self.scale, 0, 0, self.scale, self.dx, self.dy)

    def to_scene(self, point: QPointF) -> QPointF:
        """The scene point under a screen point."""
        return QPointF((point.x() - self.dx) / self.scale, (point.y() - self.dy) / self.scale)

    def to_screen(self, rect: QRectF) -> QRectF:
        """Where a scene rectangle is on the screen."""
        return self.transform.mapRect(rect)

    def visible(self, size: QSizeF) -> QRectF:
        """The part of the scene that a screen of ``size`` shows."""
        corner = self.to_scene(QPointF(0, 0))
        return QRectF(corner, size / self.scale)

    def moved(self, dx: float, dy: float) -> Viewport:
        """Panned by screen pixels."""
        return replace(self, dx=self.dx + dx, dy=self.dy + dy)

    def zoomed(self, factor: float, at: QPointF, smallest: float) -> Viewport:
        """Zoomed with the scene point under ``at`` staying there."""
        scale = min(max(self.scale * factor, smallest), LARGEST)
        fixed = self.to_scene(at)
        return Viewport(scale, at.x() - fixed.x() * scale, at.y() - fixed.y() * scale)

    def centred(self, point: QPointF, size: QSizeF, scale: float | None = None) -> Viewport:
        """With ``point`` in the middle of the screen."""
        scale = self.scale if scale is None else scale
        return Viewport(
            scale, size.width() / 2 - point.x() * scale, size.height() / 2 - point.y() * scale
        )

    def between(self, other: Viewport, amount: float) -> Viewport:
        """Part of the way to ``other``; scales go by equal factors."""
        if amount >= 1:
            return other
        return Viewport(
            self.scale * (other.scale / self.scale) ** amount,
            self.dx + (other.dx - self.dx) * amount,
            self.dy + (other.dy - self.dy) * amount,
        )


def fitted(bounds: QRectF, size: QSizeF, largest: float = 1.0) -> Viewport:
    """All of ``bounds`` in the middle of the screen."""
    scale = min(
        max(size.width() - 2 * MARGIN, 1) / max(bounds.width(), 1),
        max(size.height() - 2 * MARGIN, 1) / max(bounds.height(), 1),
        largest,
    )
    return Viewport().centred(bounds.center(), size, scale)


def opening(bounds: QRectF, start: QPointF, size: QSizeF) -> Viewport:
    """How a graph is first shown: readable, its top at the top, ``start`` in sight."""
    whole = fitted(bounds, size)
    if whole.scale >= READABLE:
        return whole
    width = max(size.width() - 2 * MARGIN, 1)
    scale = min(max(width / max(bounds.width(), 1), READABLE), 1.0)
    middle = bounds.center().x()
    if bounds.width() * scale > width:
        reach = width / scale / 2
        middle = min(max(start.x(), bounds.left() + reach), bounds.right() - reach)
    return Viewport(scale, size.width() / 2 - middle * scale, MARGIN - bounds.top() * scale)
