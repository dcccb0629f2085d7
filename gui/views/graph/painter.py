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
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from ....engine.ir.model import NodeId
from ...copies import NO_COPIES, Copies
from ...layout.scene import BoxKind
from ...layout.text import shown_text
from ...look import Look
from ...theme import Theme
from .boxes import RADIUS, Badge, BoxPainter, Fonts
from .colouring import PLAIN, Class, Colouring, Paint
from .copy_marks import CopyMarks, CopyPainter
from .drawing import Drawing, Indices
from .emphasis import NO_EMPHASIS, Emphasis, EmphasisPainter
from .glyphs import BRUSHES, PENS, pattern_brush
from .lines import LinePainter
from .looks import look_of, shade
from .viewport import Viewport

PLAIN_BELOW = 0.24
DETAIL = 0.58
_MANY_COPIES = 100  # from afar: more are painted as plain lines
_PLATE_GAPS = (13.0, 5.0)  # from afar, so that boxes are not hidden; close up


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
        self._lines = LinePainter()
        self._emphasis = EmphasisPainter(theme, self._lines)
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
        visible = view.visible(size)
        marks = self._copy_marks(drawing, dress.copies)
        copied = [p for p in drawing.visible_paths(visible).tolist() if p in marks.paths]
        painter.save()
        painter.setTransform(view.transform, True)
        if view.scale < PLAIN_BELOW:
            self._paint_far(painter, drawing, view.scale, visible, dress)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
            self._emphasis.lines(painter, drawing, view.scale, visible, emphasis)
            if len(copied) > _MANY_COPIES:
                stretches = _distinct(
                    drawing.segments, drawing.visible_segments(visible, 1 / view.scale), view.scale
                )
                self._copies.far_lines(painter, drawing, marks, stretches, view.scale)
            else:
                self._copy_lines(painter, drawing, copied, view.scale, emphasis)
            self._emphasis.rings(painter, drawing, view.scale, emphasis)
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
        self,
        painter: QPainter,
        drawing: Drawing,
        copied: list[int],
        scale: float,
        emphasis: Emphasis,
    ) -> None:
        """Copied values; one that stands out keeps its colour around the dashes."""
        grounds = {
            path: colour
            for path in copied
            if (colour := self._emphasis.colour_of(path, emphasis)) is not None
        }
        self._copies.lines(painter, drawing, self._marks, copied, scale, self._lines, grounds)

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
        self._lines.paint(painter, drawing, paths, QColor(self.theme.edge), 1.3)
        self._emphasis.lines(painter, drawing, scale, visible, emphasis)
        self._copy_lines(painter, drawing, copied, scale, emphasis)
        plates = drawing.visible_plates(visible).tolist()
        for index in plates:
            portal = drawing.portals[index]
            name = shown_text(drawing.scene.edges[portal.edges[0]].value)
            self._boxes.portal(painter, drawing.plate_rect(index), name, portal.outgoing)
        if detailed:
            self._labels(painter, drawing, paths)
        self._emphasis.rings(painter, drawing, scale, emphasis)
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


def _distinct(rects: np.ndarray, found: Indices, scale: float) -> Indices:
    """Of many tiny things on the same pixel one: what a screen can show is bounded."""
    if len(found) < 2000:
        return found
    pixels = np.round(rects[found] * scale).astype(np.int64)
    key = pixels[:, 0] * 1_000_003 + pixels[:, 1] * 4_099 + (pixels[:, 2] - pixels[:, 0]) * 31
    _, first = np.unique(key + (pixels[:, 3] - pixels[:, 1]), return_index=True)
    return found[np.sort(first)]
