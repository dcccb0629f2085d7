"""Painting a drawing by level of detail: coloured rectangles from afar, texts close up.

====================  ========================================================
scale                 what is painted
====================  ========================================================
below ``PLAIN``       rectangles by class, lines without smoothing, decimated
below ``DETAIL``      boxes with their pattern and operator, smooth lines
from ``DETAIL``       everything: rows, shapes on edges, badges
====================  ========================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QPolygonF

from ....engine.ir.model import NodeId
from ...copies import NO_COPIES, Copies
from ...layout.scene import BoxKind
from ...layout.text import shown_text
from ...theme import Look, Theme
from .boxes import RADIUS, Badge, BoxPainter, Fonts
from .colouring import PLAIN, Class, Colouring, Paint
from .copy_marks import CopyMarks, CopyPainter
from .drawing import Drawing, Indices
from .glyphs import BRUSHES, PENS, pattern_brush
from .looks import look_of, shade
from .viewport import Viewport

PLAIN_BELOW = 0.24
DETAIL = 0.58
_PLATE_GAPS = (13.0, 5.0)  # from afar, so that boxes are not hidden; close up
_CORNER = 7.0  # radius of a line's bends
_ARROW = (6.5, 3.8)  # length and half width


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


@dataclass(frozen=True)
class Dress:
    """What a drawing wears.

    Attributes:
        colouring: the colouring of the moment.
        badges: the findings per node.
        copies: the values that are copied between GPU and CPU; none where they are not shown.
    """

    colouring: Colouring = PLAIN
    badges: Mapping[NodeId, Badge] = field(default_factory=dict)
    copies: Copies = NO_COPIES


class GraphPainter:
    """Paints drawings in one theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._fonts = Fonts()
        self._boxes = BoxPainter(theme, self._fonts)
        self._copies = CopyPainter(theme, self._fonts)
        self._marks = CopyMarks({})
        self._marks_of: tuple[Drawing, Copies] | None = None
        self._curves: dict[int, tuple[QPainterPath, QPolygonF]] = {}
        self._curves_of: Drawing | None = None
        self._looks: dict[Class | None, Look] = {}
        self._fitting: dict[tuple[str, int, int], tuple[int, str]] = {}

    def paint(
        self,
        painter: QPainter,
        drawing: Drawing,
        view: Viewport,
        size: QSizeF,
        dress: Dress,
        emphasis: Emphasis = NO_EMPHASIS,
    ) -> None:
        """Paint what of ``drawing`` is in view; the background is the caller's."""
        if self._curves_of is not drawing:
            self._curves, self._curves_of = {}, drawing
        visible = view.visible(size)
        marks = self._copy_marks(drawing, dress.copies)
        copied = [p for p in drawing.visible_paths(visible).tolist() if p in marks.paths]
        painter.save()
        painter.setTransform(view.transform, True)
        if view.scale < PLAIN_BELOW:
            self._paint_far(painter, drawing, view.scale, visible, dress)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            self._copy_lines(painter, drawing, copied, view.scale)
            self._emphasis_lines(painter, drawing, view.scale, visible, emphasis)
            self._emphasis_rings(painter, drawing, view.scale, emphasis)
        else:
            self._paint_near(painter, drawing, view.scale, visible, dress, emphasis, copied)
        painter.restore()
        if copied:
            painter.save()
            gap = _PLATE_GAPS[view.scale >= DETAIL]
            self._copies.plates(painter, drawing, marks, copied, view, size, gap=gap)
            painter.restore()

    def _copy_marks(self, drawing: Drawing, copies: Copies) -> CopyMarks:
        """The marks, made once per drawing and set of copies."""
        known = self._marks_of
        if known is None or known[0] is not drawing or known[1] is not copies:
            self._marks = CopyMarks.of(drawing, copies)
            self._marks_of = (drawing, copies)
        return self._marks

    def _copy_lines(
        self, painter: QPainter, drawing: Drawing, copied: list[int], scale: float
    ) -> None:
        self._copies.lines(
            painter, drawing, self._marks, copied, scale, lambda i: self._curve(drawing, i)
        )

    def _look(self, kind: Class | None) -> Look:
        kind = shade(kind)
        if kind not in self._looks:
            self._looks[kind] = look_of(self.theme, kind)
        return self._looks[kind]

    # ---- far

    def _paint_far(
        self, painter: QPainter, drawing: Drawing, scale: float, visible: QRectF, dress: Dress
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        pen = QPen(QColor(self.theme.edge), 0)
        painter.setPen(pen)
        lines = drawing.segment_lines
        shown = _distinct(drawing.segments, drawing.visible_segments(visible, 1.5 / scale), scale)
        painter.drawLines([lines[i] for i in shown.tolist()])
        boxes = _distinct(drawing.boxes, drawing.visible_boxes(visible), scale)
        rects, scene, paints = drawing.box_rects, drawing.scene.boxes, dress.colouring.paints
        groups: dict[Class | None, list[QRectF]] = {}
        terminals: list[QRectF] = []
        for index in boxes.tolist():
            node = scene[index].node
            if node is None:
                terminals.append(rects[index])
                continue
            paint = paints.get(node)
            groups.setdefault(shade(paint.kind) if paint else None, []).append(rects[index])
        for kind, members in groups.items():
            look = self._look(kind)
            outline = look.ink if look.pattern in PENS else look.fill
            painter.setPen(QPen(QColor(outline), 0))
            painter.setBrush(QColor(look.fill))
            painter.drawRects(members)
            if look.pattern in BRUSHES and scale > 0.1:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(pattern_brush(look))
                painter.drawRects(members)
        painter.setPen(QPen(QColor(self.theme.accent), 0))
        painter.setBrush(QColor(self.theme.accent))
        painter.drawRects(terminals)

    # ---- near

    def _paint_near(
        self,
        painter: QPainter,
        drawing: Drawing,
        scale: float,
        visible: QRectF,
        dress: Dress,
        emphasis: Emphasis,
        copied: list[int],
    ) -> None:
        detailed = scale >= DETAIL
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        paths = drawing.visible_paths(visible).tolist()
        self._lines(painter, drawing, paths, QColor(self.theme.edge), 1.3, arrows=True)
        self._copy_lines(painter, drawing, copied, scale)
        self._emphasis_lines(painter, drawing, scale, visible, emphasis)
        plates = drawing.visible_plates(visible).tolist()
        for index in plates:
            portal = drawing.portals[index]
            name = shown_text(drawing.scene.edges[portal.edges[0]].value)
            self._boxes.portal(painter, drawing.plate_rect(index), name, portal.outgoing)
        if detailed:
            self._labels(painter, drawing, paths)
        self._emphasis_rings(painter, drawing, scale, emphasis)
        paints = dress.colouring.paints
        for index in drawing.visible_boxes(visible).tolist():
            box = drawing.scene.boxes[index]
            paint = paints.get(box.node) if box.node is not None else None
            badge = dress.badges.get(box.node) if box.node is not None else None
            look = self._look(paint.kind if paint is not None else None)
            rect = drawing.box_rects[index]
            if detailed:
                text = paint.text if paint is not None else ""
                self._boxes.paint(painter, box, rect, look, text, badge)
            else:
                self._plain_box(painter, drawing, index, look, paint, badge, scale)

    def _plain_box(
        self,
        painter: QPainter,
        drawing: Drawing,
        index: int,
        look: Look,
        paint: Paint | None,
        badge: Badge | None,
        scale: float,
    ) -> None:
        """A box from some distance: its class fills it, its title is as large as fits."""
        box, rect = drawing.scene.boxes[index], drawing.box_rects[index]
        terminal = box.kind is not BoxKind.NODE
        fill = QColor(self.theme.raised if terminal else look.fill)
        ink = QColor(self.theme.text if terminal else look.ink)
        pen = QPen(QColor(self.theme.muted) if terminal else fill.darker(120), 1.0)
        if look.pattern in PENS and not terminal:
            pen = QPen(ink, 1.6, PENS[look.pattern])
        painter.setPen(pen)
        painter.setBrush(fill)
        radius = min(rect.height() / 2, 12.0) if terminal else RADIUS
        painter.drawRoundedRect(rect, radius, radius)
        if look.pattern in BRUSHES and not terminal:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(pattern_brush(look))
            painter.drawRoundedRect(rect, radius, radius)
        size, title = self._fitting_title(box.title, rect, scale)
        if title:
            font = QFont(self._fonts.title)
            font.setPixelSize(size)
            painter.setFont(font)
            painter.setPen(QPen(ink))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, title)
        if badge is not None:
            spot = QRectF(0, 0, 16, 16)
            spot.moveCenter(rect.topRight())
            painter.setPen(QPen(QColor(self.theme.sunken), 2))
            painter.setBrush(QColor(badge.look.fill))
            painter.drawEllipse(spot)

    def _fitting_title(self, title: str, rect: QRectF, scale: float) -> tuple[int, str]:
        """The title's font size in scene pixels, 11 to 8 on the screen, shortened if it must be."""
        key = (title, int(rect.width()), int(scale * 50))
        found = self._fitting.get(key)
        if found is None:
            room = rect.width() - 8
            for on_screen in (11, 10, 9, 8):
                size = round(on_screen / scale)
                font = QFont(self._fonts.title)
                font.setPixelSize(size)
                metrics = QFontMetricsF(font)
                if metrics.horizontalAdvance(title) <= room and size + 2 <= rect.height():
                    break
            text = metrics.elidedText(title, Qt.TextElideMode.ElideRight, room)
            readable = len(text) >= min(len(title), 4) and size + 2 <= rect.height()
            found = self._fitting[key] = (size, text if readable else "")
        return found

    def _labels(self, painter: QPainter, drawing: Drawing, paths: list[int]) -> None:
        painter.setFont(self._fonts.label)
        painter.setPen(QPen(QColor(self.theme.edge_label)))
        for index in paths:
            path = drawing.paths[index]
            if path.label is not None:
                x, y = path.label
                painter.drawText(QPointF(x, y + 10), drawing.scene.edges[path.edges[0]].label)

    def _lines(
        self,
        painter: QPainter,
        drawing: Drawing,
        paths: list[int],
        colour: QColor,
        width: float,
        arrows: bool,
    ) -> None:
        pen = QPen(colour, width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        heads = []
        for index in paths:
            curve, head = self._curve(drawing, index)
            painter.drawPath(curve)
            if arrows and drawing.paths[index].arrow:
                heads.append(head)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for head in heads:
            painter.drawPolygon(head)

    def _curve(self, drawing: Drawing, index: int) -> tuple[QPainterPath, QPolygonF]:
        found = self._curves.get(index)
        if found is None:
            points = drawing.paths[index].points
            found = self._curves[index] = (_rounded(points), _arrow_head(points))
        return found

    # ---- emphasis

    def _emphasis_lines(
        self,
        painter: QPainter,
        drawing: Drawing,
        scale: float,
        visible: QRectF,
        emphasis: Emphasis,
    ) -> None:
        if emphasis is NO_EMPHASIS:
            return
        theme = self.theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        shown = set(drawing.visible_paths(visible).tolist())
        line = max(2.2, 1.6 / scale)
        for paths, colour in (
            (emphasis.traced - emphasis.incoming - emphasis.outgoing, theme.accent),
            (emphasis.incoming, theme.producer),
            (emphasis.outgoing, theme.consumer),
        ):
            self._lines(painter, drawing, sorted(paths & shown), QColor(colour), line, arrows=True)

    def _emphasis_rings(
        self, painter: QPainter, drawing: Drawing, scale: float, emphasis: Emphasis
    ) -> None:
        theme = self.theme
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


def _distinct(rects: np.ndarray, found: Indices, scale: float) -> Indices:
    """Of many tiny things on the same pixel one: what a screen can show is bounded."""
    if len(found) < 2000:
        return found
    pixels = np.round(rects[found] * scale).astype(np.int64)
    key = pixels[:, 0] * 1_000_003 + pixels[:, 1] * 4_099 + (pixels[:, 2] - pixels[:, 0]) * 31
    _, first = np.unique(key + (pixels[:, 3] - pixels[:, 1]), return_index=True)
    return found[np.sort(first)]


def _rounded(points: tuple[tuple[float, float], ...]) -> QPainterPath:
    """A polyline with rounded bends."""
    if not points:
        return QPainterPath()
    path = QPainterPath(QPointF(*points[0]))
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        enter, leave = _towards(corner, before), _towards(corner, after)
        path.lineTo(enter)
        path.quadTo(QPointF(*corner), leave)
    path.lineTo(QPointF(*points[-1]))
    return path


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> QPointF:
    dx, dy = other[0] - corner[0], other[1] - corner[1]
    length = abs(dx) + abs(dy)
    share = min(_CORNER, length / 2) / length if length else 0.0
    return QPointF(corner[0] + dx * share, corner[1] + dy * share)


def _arrow_head(points: tuple[tuple[float, float], ...]) -> QPolygonF:
    """A triangle with its tip at the end of the line."""
    if len(points) < 2:
        return QPolygonF()
    (x0, y0), (x, y) = points[-2], points[-1]
    length, half = _ARROW
    size = max(abs(x - x0) + abs(y - y0), 1e-6)
    ux, uy = (x - x0) / size, (y - y0) / size
    back = QPointF(x - ux * length, y - uy * length)
    side = QPointF(-uy * half, ux * half)
    return QPolygonF([QPointF(x, y), back + side, back - side])
