"""The toolbar's signs, drawn as lines in the theme's colour: no files, sharp at every scale."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPainterPath, QPen, QPixmap, QPolygonF

from .colour import qcolor
from .theme import Theme

_SIZE = 24.0  # the drawings below are made on this square
_SCALES = (1.0, 2.0)


def _open(path: QPainterPath) -> None:
    path.addPolygon(
        _polygon((3, 19), (3, 5), (9, 5), (11, 8), (19, 8), (19, 11), (7, 11), (4, 19), (18, 19))
    )
    path.lineTo(21, 11)
    path.lineTo(19, 11)


def _run(path: QPainterPath) -> None:
    path.addPolygon(_polygon((7, 4.5), (19, 12), (7, 19.5), (7, 4.5)))


def _loop(path: QPainterPath) -> None:
    box = QRectF(4.5, 4.5, 15, 15)
    path.arcMoveTo(box, 30)
    path.arcTo(box, 30, 150)
    path.arcMoveTo(box, 210)
    path.arcTo(box, 210, 150)
    path.addPolygon(_polygon((1.8, 8.8), (4.6, 12), (7.8, 9.3)))
    path.addPolygon(_polygon((22.2, 15.2), (19.4, 12), (16.2, 14.7)))


def _stop(path: QPainterPath) -> None:
    path.addRoundedRect(QRectF(6, 6, 12, 12), 1.5, 1.5)


def _find(path: QPainterPath) -> None:
    path.addEllipse(QRectF(4, 4, 11, 11))
    path.moveTo(13.5, 13.5)
    path.lineTo(20, 20)


def _fit(path: QPainterPath) -> None:
    for x, y, dx, dy in ((4, 4, 1, 1), (20, 4, -1, 1), (20, 20, -1, -1), (4, 20, 1, -1)):
        path.addPolygon(_polygon((x + 5 * dx, y), (x, y), (x, y + 5 * dy)))
    path.addRect(QRectF(9, 9, 6, 6))


def _report(path: QPainterPath) -> None:
    path.addRoundedRect(QRectF(3, 7, 18, 12.5), 2, 2)
    path.addPolygon(_polygon((8, 7), (9.5, 4.5), (14.5, 4.5), (16, 7)))
    path.addEllipse(QRectF(8.5, 9.5, 7, 7))


def _back(path: QPainterPath) -> None:
    path.addPolygon(_polygon((11, 5), (4, 12), (11, 19)))
    path.moveTo(4, 12)
    path.lineTo(20, 12)


def _forward(path: QPainterPath) -> None:
    path.addPolygon(_polygon((13, 5), (20, 12), (13, 19)))
    path.moveTo(20, 12)
    path.lineTo(4, 12)


def _next_offending(path: QPainterPath) -> None:
    path.addPolygon(_polygon((12, 3), (12, 13)))
    path.addPolygon(_polygon((7.5, 9), (12, 13.5), (16.5, 9)))
    path.addRoundedRect(QRectF(5, 16.5, 14, 5), 1.5, 1.5)


def _copies(path: QPainterPath) -> None:
    path.addPolygon(_polygon((8, 20), (8, 4)))
    path.addPolygon(_polygon((4, 8), (8, 4), (12, 8)))
    path.addPolygon(_polygon((16, 4), (16, 20)))
    path.addPolygon(_polygon((12, 16), (16, 20), (20, 16)))


def _close(path: QPainterPath) -> None:
    for a, b in (((6, 6), (18, 18)), ((18, 6), (6, 18))):
        path.moveTo(*a)
        path.lineTo(*b)


_DRAWINGS: dict[str, Callable[[QPainterPath], None]] = {
    "open": _open,
    "run": _run,
    "loop": _loop,
    "stop": _stop,
    "find": _find,
    "fit": _fit,
    "report": _report,
    "back": _back,
    "forward": _forward,
    "next_offending": _next_offending,
    "copies": _copies,
    "close": _close,
}
_SOLID = frozenset(("run", "stop"))


def icon(name: str, theme: Theme, size: int = 20) -> QIcon:
    """The sign ``name`` in the theme's text colour, and faint where its action is disabled."""
    made = QIcon()
    for mode, colour in (
        (QIcon.Mode.Normal, theme.accent if name in _SOLID else theme.text),
        (QIcon.Mode.Disabled, theme.faint),
    ):
        for scale in _SCALES:
            made.addPixmap(_pixmap(name, colour, size, scale), mode)
    return made


def _pixmap(name: str, colour: str, size: int, scale: float) -> QPixmap:
    pixmap = QPixmap(round(size * scale), round(size * scale))
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    path = QPainterPath()
    _DRAWINGS[name](path)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(size / _SIZE, size / _SIZE)
    if name in _SOLID:
        painter.fillPath(path, qcolor(colour))
    else:
        pen = QPen(qcolor(colour), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPath(path)
    painter.end()
    return pixmap


def _polygon(*points: tuple[float, float]) -> QPolygonF:
    return QPolygonF([QPointF(*p) for p in points])
