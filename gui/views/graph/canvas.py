"""The canvas: one widget that paints what is in view and answers mouse and keyboard.

It knows boxes of one drawing, not models: what a click or key means beyond that goes out as a
signal, and :class:`~opscope.gui.views.graph.page.GraphPage` acts on it.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from ...theme import Theme
from .drawing import NOTHING, Drawing, Hit
from .dress import UNDRESSED, Dress
from .emphasis import NO_EMPHASIS, Emphasis, around, pointed_at
from .gaze import Gaze
from .painter import GraphPainter
from .pointer import Pointer
from .tooltip import tooltip_text
from .viewport import Viewport
from .worn import Worn

_REACH = 5.0  # pixels within which a line is hit
_KEY_PAN = 60.0
_ARROWS = {  # across, down
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
}


class GraphCanvas(QWidget):
    """Shows one :class:`Drawing` in its dress; where it looks is its ``gaze``'s to say.

    Signals:
        selected: int or None: the user chose a box, or nothing.
        opened: int: the user opens what is behind a box.
        left: the user goes back outwards.
        changed: the drawing, its dress or the theme changed.
    """

    selected = Signal(object)
    opened = Signal(int)
    left = Signal()
    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(160, 120)
        self.setAccessibleName("Graph")
        self._painter = GraphPainter(theme)
        self._dress = UNDRESSED
        self._worn: Worn | None = None
        self._emphasis = NO_EMPHASIS
        self.gaze = Gaze(self)
        self.gaze.moved.connect(self.update)
        self._pointer = Pointer(self, self.gaze, self._hit, self._tip)
        self._pointer.hovered.connect(self._hovered)
        self._pointer.clicked.connect(self._clicked)
        self._pointer.opened.connect(self._open)
        self._keys = {
            Qt.Key.Key_Backspace: self.left.emit,
            Qt.Key.Key_Home: self.gaze.fit_width,
            Qt.Key.Key_1: self.gaze.actual_size,
            Qt.Key.Key_Plus: lambda: self.gaze.zoom(1.25),
            Qt.Key.Key_Equal: lambda: self.gaze.zoom(1.25),
            Qt.Key.Key_Minus: lambda: self.gaze.zoom(0.8),
            Qt.Key.Key_Escape: lambda: self.selected.emit(None),
        }

    # ---- what is shown

    @property
    def drawing(self) -> Drawing | None:
        """The drawing on show."""
        return self._worn.drawing if self._worn is not None else None

    @property
    def worn(self) -> Worn | None:
        """The drawing on show, in its dress."""
        return self._worn

    @property
    def dress(self) -> Dress:
        """What the drawing wears, or will wear."""
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
        self._show_change()

    def set_drawing(self, drawing: Drawing | None, view: Viewport | None = None) -> None:
        """Show a drawing, from ``view`` or as a graph is opened."""
        self._worn = Worn(drawing, self._dress) if drawing is not None else None
        self._emphasis = NO_EMPHASIS
        self._pointer.forget()
        self.gaze.turn_to(drawing, view)
        self._show_change()

    def wear(self, dress: Dress, worn: Worn | None = None) -> None:
        """Show the drawing in another dress.

        Args:
            dress: of this and the next drawings.
            worn: the dress on the drawing, where that was prepared elsewhere.
        """
        self._dress = dress
        if (drawing := self.drawing) is not None:
            prepared = worn is not None and worn.drawing is drawing
            self._worn = worn if prepared else Worn(drawing, dress)
        self._show_change()

    def select_box(self, box: int | None) -> None:
        """Mark a box and its neighbours; no signal."""
        self._emphasis = NO_EMPHASIS if box is None else self.emphasis_of(box)
        self.update()

    def emphasis_of(self, box: int) -> Emphasis:
        """How a box stands out with its neighbours when it is selected."""
        return around(self._worn.drawing, box) if self._worn is not None else NO_EMPHASIS

    def show_box(self, box: int, *, always: bool = True) -> None:
        """Bring a box into view: into the middle, or not at all if it is well in sight already."""
        if self._worn is not None:
            self.gaze.show(self._worn.drawing.rect(box), always=always)

    def visible_boxes(self) -> list[int]:
        """The boxes in view."""
        if self._worn is None:
            return []
        return self._worn.drawing.visible_boxes(self.gaze.visible).tolist()

    def _show_change(self) -> None:
        self.changed.emit()
        self.update()

    # ---- painting

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
        worn = self._worn if drawing is None else Worn(drawing, self._dress)
        if worn is not None:
            emphasis = self._emphasis if emphasis is None else emphasis
            self._painter.paint(painter, worn, view, size, emphasis)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Paint what is in view."""
        painter = QPainter(self)
        self.render_view(painter, self.gaze.viewport, QSizeF(self.size()))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the opening view fitted, any other in its place."""
        self.gaze.resized(event.oldSize())

    # ---- mouse

    def _hit(self, position: QPointF) -> Hit:
        if self._worn is None:
            return NOTHING
        view = self.gaze.viewport
        point = view.to_scene(position)
        return self._worn.drawing.hit(point.x(), point.y(), _REACH / view.scale)

    def _tip(self, hit: Hit) -> str:
        return tooltip_text(self._worn, hit) if self._worn is not None else ""

    def _hovered(self, hit: Hit) -> None:
        if self._worn is not None:
            self._emphasis = pointed_at(self._emphasis, self._worn.drawing, hit)
            self.update()

    def _clicked(self, hit: Hit) -> None:
        """Select what was clicked; a portal leads to its other end."""
        if hit.portal is not None:
            self.jump(hit.portal)
        else:
            self.selected.emit(hit.box)

    def _open(self, hit: Hit) -> None:
        if hit.box is not None:
            self.opened.emit(hit.box)

    # ---- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Move along the graph, zoom, open and leave."""
        if not self._arrow_pressed(event) and not self._key_pressed(event):
            super().keyPressEvent(event)

    def _arrow_pressed(self, event: QKeyEvent) -> bool:
        """Arrows select along the graph, with Shift they pan; Alt and left goes back outwards."""
        key = Qt.Key(event.key())
        if key not in _ARROWS:
            return False
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            across, down = _ARROWS[key]
            self.gaze.pan(-_KEY_PAN * across, -_KEY_PAN * down)
        elif not event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.step(key)
        elif key == Qt.Key.Key_Left:
            self.left.emit()
        else:
            return False
        return True

    def _key_pressed(self, event: QKeyEvent) -> bool:
        key, box = Qt.Key(event.key()), self._emphasis.selected
        if key in self._keys:
            self._keys[key]()
        elif key == Qt.Key.Key_F and not event.modifiers():
            self.gaze.fit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and box is not None:
            self.opened.emit(box)
        else:
            return False
        return True

    # ---- moving along the graph

    def jump(self, portal: int) -> None:
        """Go to the other end of a portal and select what is there."""
        if self._worn is None:
            return
        drawing = self._worn.drawing
        plate = drawing.portals[portal]
        edge = drawing.scene.edges[plate.edges[0]]
        box = edge.target if plate.outgoing else edge.source
        self.selected.emit(box)
        self.show_box(box)

    def step(self, key: Qt.Key) -> None:
        """Select the next box: up to a producer, down to a consumer, or sideways."""
        following = self._following(key)
        if following is not None:
            self.selected.emit(following)
            self.show_box(following, always=False)

    def _following(self, key: Qt.Key) -> int | None:
        drawing, box = self.drawing, self._emphasis.selected
        if drawing is None or not drawing.scene.boxes:
            return None
        if box is None:
            return next(iter(self.visible_boxes()), 0)
        across, down = _ARROWS[key]
        if across:
            return drawing.neighbour(box, across)
        return next(iter(drawing.consumers(box) if down > 0 else drawing.producers(box)), None)
