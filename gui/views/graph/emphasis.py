"""What stands out on the canvas: the selected box, its neighbours, and what the cursor is over."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from ...theme import Theme
from .boxes import RADIUS
from .drawing import Drawing, Hit, Indices
from .lines import LinePainter


@dataclass(frozen=True)
class Emphasis:
    """What stands out: the selected box with its neighbours, and what the cursor is over.

    Attributes:
        selected, hovered: boxes.
        producers, consumers: neighbours of the selected box.
        incoming, outgoing: the paths that connect them.
        traced: paths under the cursor.
    """

    selected: int | None = None
    hovered: int | None = None
    producers: tuple[int, ...] = ()
    consumers: tuple[int, ...] = ()
    incoming: frozenset[int] = frozenset()
    outgoing: frozenset[int] = frozenset()
    traced: frozenset[int] = frozenset()


NO_EMPHASIS = Emphasis()


def around(drawing: Drawing, box: int) -> Emphasis:
    """How a box stands out, with its neighbours, when it is selected."""
    return Emphasis(
        selected=box,
        producers=tuple(drawing.producers(box)),
        consumers=tuple(drawing.consumers(box)),
        incoming=frozenset(drawing.paths_of(drawing.incoming(box))),
        outgoing=frozenset(drawing.paths_of(drawing.outgoing(box))),
    )


def pointed_at(emphasis: Emphasis, drawing: Drawing, hit: Hit) -> Emphasis:
    """The same with what is under the cursor standing out, too."""
    edges: tuple[int, ...] = ()
    if hit.path is not None:
        edges = drawing.paths[hit.path].edges
    elif hit.portal is not None:
        edges = drawing.portals[hit.portal].edges
    return replace(emphasis, hovered=hit.box, traced=frozenset(drawing.paths_of(edges)))


class EmphasisPainter:
    """Paints it in one theme."""

    def __init__(self, theme: Theme, lines: LinePainter) -> None:
        self._theme = theme
        self._lines = lines

    def colour_of(self, path: int, emphasis: Emphasis) -> str | None:
        """The colour of a line that stands out; None for any other."""
        if path in emphasis.incoming:
            return self._theme.producer
        if path in emphasis.outgoing:
            return self._theme.consumer
        return self._theme.accent if path in emphasis.traced else None

    def lines(
        self,
        painter: QPainter,
        drawing: Drawing,
        scale: float,
        paths: Indices,
        emphasis: Emphasis,
    ) -> None:
        """Paint those of ``paths`` that stand out."""
        if not (emphasis.incoming or emphasis.outgoing or emphasis.traced):
            return
        theme = self._theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        shown = set(paths.tolist())
        line = max(2.2, 1.6 / scale)
        for marked, colour in (
            (emphasis.traced - emphasis.incoming - emphasis.outgoing, theme.accent),
            (emphasis.incoming, theme.producer),
            (emphasis.outgoing, theme.consumer),
        ):
            self._lines.paint(painter, drawing, sorted(marked & shown), QColor(colour), line)

    def rings(self, painter: QPainter, drawing: Drawing, scale: float, emphasis: Emphasis) -> None:
        """Paint rings around the boxes that stand out."""
        theme = self._theme
        for boxes, colour in (
            (emphasis.producers, theme.producer),
            (emphasis.consumers, theme.consumer),
        ):
            for index in boxes:
                self._ring(painter, drawing.rect(index), QColor(colour), scale, 2.0)
        if emphasis.hovered is not None:
            self._ring(painter, drawing.rect(emphasis.hovered), QColor(theme.muted), scale, 1.5)
        if emphasis.selected is not None:
            rect = drawing.rect(emphasis.selected)
            glow = QColor(theme.accent)
            glow.setAlphaF(0.28)
            self._ring(painter, rect, glow, scale, 8.0)
            self._ring(painter, rect, QColor(theme.accent), scale, 2.6)

    def _ring(
        self, painter: QPainter, rect: QRectF, colour: QColor, scale: float, width: float
    ) -> None:
        """An outline just outside a box, of a width on the screen that never vanishes."""
        width = max(width, width * 0.6 / scale)
        margin = max(1.5, 1.0 / scale) + 1
        painter.setPen(QPen(colour, width))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(
            rect.adjusted(-margin, -margin, margin, margin), RADIUS + margin, RADIUS + margin
        )
