"""The graph's page: canvas, breadcrumbs, legend and find bar, and what happens between them."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from ....engine.ir.model import GraphPath, Model, NodeId
from ...jobs import JobTracker
from ...layout.scene import Types
from ...selection import Selection
from ...theme import Theme
from .breadcrumb import Breadcrumb
from .camera import Camera
from .canvas import GraphCanvas
from .colouring import Colouring
from .drawing import Drawing
from .dress import UNDRESSED, Dress
from .find_bar import FindBar
from .layouts import Layouts
from .legend import Legend
from .overlay import LayoutOverlay
from .overview import Overview
from .search import matching_nodes, node_in_file
from .viewport import Viewport
from .worn import Worn

_DRESS = "dress"


class GraphPage(QWidget):
    """Shows the graphs of one model, one at a time.

    What is selected, and which graph is open, is the :class:`Selection`'s to say.

    Signals:
        laid_out: GraphPath: this graph is on show now.
        layout_failed: str: why the open graph could not be laid out.
    """

    laid_out = Signal(object)
    layout_failed = Signal(str)

    def __init__(self, theme: Theme, selection: Selection, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._selection = selection
        self._model: Model | None = None
        self._shown: GraphPath | None = None  # the graph whose drawing the canvas has
        self._views: dict[GraphPath, Viewport] = {}  # where the user was in each graph
        self._wanted: NodeId | None = None  # to bring into view once its graph is laid out
        self._jobs = JobTracker(2, "graph", self)
        self.layouts = Layouts(self._jobs, self)
        self.canvas = GraphCanvas(theme)
        self.camera = Camera(self.canvas, self._box_of)
        self.overview = Overview(self.canvas, self._jobs)
        self.breadcrumb = Breadcrumb()
        self.legend = Legend(theme)
        self.find_bar = FindBar(lambda text: matching_nodes(self._model, text))
        self.overlay = LayoutOverlay(self.canvas)
        self.menu = QMenu(self)
        self._arrange()
        self._connect()

    def _arrange(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.breadcrumb)
        column.addWidget(self.find_bar)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.canvas, 1)
        middle.addWidget(self.overview)
        column.addLayout(middle, 1)
        column.addWidget(self.legend)

    def _connect(self) -> None:
        self.canvas.selected.connect(self._box_selected)
        self.canvas.opened.connect(self._open_box)
        self.canvas.left.connect(self.leave)
        self.canvas.installEventFilter(self)
        self.breadcrumb.chosen.connect(self._selection.open_graph)
        self.legend.wanted.connect(self.show_node)
        self.find_bar.found.connect(self.show_node)
        self.find_bar.closed.connect(self.canvas.setFocus)
        self.overlay.cancelled.connect(self.cancel_layout)
        self.overlay.retried.connect(self._show_graph)
        self.layouts.ready.connect(self._present)
        self.layouts.failed.connect(self._failed)
        self._jobs.changed.connect(lambda: self.overlay.progress(*self.layouts.progress))
        self._selection.node_changed.connect(self._node_changed)
        self._selection.graph_changed.connect(self._show_graph)
        self._selection.reveal_requested.connect(self._reveal)
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
        shortcut.activated.connect(self.find_bar.open)

    # ---- what is shown

    def set_theme(self, theme: Theme) -> None:
        """Show everything in another theme."""
        self.canvas.set_theme(theme)
        self.legend.set_theme(theme)

    def set_model(self, model: Model | None, types: Types | None = None) -> None:
        """Show a model's main graph, or nothing; its layout begins at once.

        Args:
            model: the model as read.
            types: types of its values, for the shapes on edges.
        """
        self._put(None, None)
        if model is not self._model:
            self._views.clear()
            self._wanted = None
            self.wear(UNDRESSED)
        self._model = model
        self.layouts.set_model(model, types or {})
        self.find_bar.reset()
        self._show_graph()

    def set_types(self, types: Types) -> None:
        """Better types are known, such as a plan's concrete ones: lay out again, in place."""
        self.layouts.set_model(self._model, types)
        self._show_graph()

    @property
    def drawing(self) -> Drawing | None:
        """The drawing on show; None while it is being laid out."""
        return self.canvas.drawing

    # ---- what it wears

    @property
    def colouring(self) -> Colouring:
        """The colouring on show."""
        return self.canvas.dress.colouring

    def wear(self, dress: Dress) -> None:
        """Show the graphs in another dress; one that is still being made is not wanted any more."""
        self._jobs.cancel(_DRESS)
        self._wear(dress, None)

    def wear_soon(self, make: Callable[[], Dress]) -> None:
        """Show the graphs in the dress that ``make`` gives; it is called on a worker thread."""
        drawing = self.drawing
        self._jobs.start(_DRESS, lambda _: _fit(make(), drawing), lambda found: self._wear(*found))

    def _wear(self, dress: Dress, worn: Worn | None) -> None:
        self.legend.set_colouring(dress.colouring)
        self.canvas.wear(dress, worn)

    # ---- going places

    def show_node(self, node: NodeId) -> None:
        """Open the node's graph, select the node and bring it into view."""
        self._selection.reveal(node_in_file(node))

    def leave(self) -> None:
        """Go to the graph around the one on show, selecting the node that holds it."""
        path = self._selection.graph
        if not path:
            return
        number = path[-1].partition(".")[0]
        if len(path) > 1 or number.isdigit():
            self._selection.open_graph(path[:-1], NodeId(path[:-1], int(number)))
        elif self._selection.can_go_back:
            self._selection.back()
        else:
            self._selection.open_graph(())

    def _open_box(self, index: int) -> None:
        """Open what is behind a box; where there are several graphs, ask which."""
        drawing = self.drawing
        opens = drawing.scene.boxes[index].opens if drawing is not None else ()
        if len(opens) == 1:
            self._selection.open_graph(opens[0].path)
        elif drawing is not None and opens:
            self.menu.clear()
            for opening in opens:
                action = self.menu.addAction(f"Open {opening.label.replace('&', '&&')}")
                action.triggered.connect(
                    lambda _=False, path=opening.path: self._selection.open_graph(path)
                )
            corner = self.canvas.gaze.viewport.to_screen(drawing.rect(index)).bottomLeft()
            self.menu.popup(self.canvas.mapToGlobal(corner).toPoint())

    def _box_selected(self, index: int | None) -> None:
        drawing = self.drawing
        if drawing is None:
            return
        node = drawing.scene.boxes[index].node if index is not None else None
        self._selection.select(node)
        self.canvas.select_box(index)  # a terminal is no node, but has neighbours

    def _node_changed(self, node: NodeId | None) -> None:
        index = self._box_of(node)
        self.canvas.select_box(index)
        if index is not None:
            self.canvas.show_box(index, always=False)

    def _reveal(self, node: NodeId) -> None:
        index = self._box_of(node)
        if index is None:
            self._wanted = node
            return
        self._wanted = None
        self.canvas.select_box(index)
        self.canvas.show_box(index)

    def _box_of(self, node: NodeId | None) -> int | None:
        drawing = self.drawing
        if drawing is None or node is None or self._shown != node.graph:
            return None
        return drawing.scene.box_of.get(node)

    # ---- which graph is on show

    def _show_graph(self, _: object = None) -> None:
        """Show the graph that the selection has open, laying it out unless that was done."""
        path = self._selection.graph
        self._keep_view()
        self.breadcrumb.show_path(self._model, path)
        self.layouts.cancel()
        graph = self.layouts.graph(path)
        if graph is None:
            self._put(None, None)
            self.overlay.finish()
            return
        if (drawing := self.layouts.current(path)) is not None:
            self._present(path, drawing)
            return
        if path != self._shown:  # the types on it may be older, but it is the graph that is wanted
            self._put(path, self.layouts.known(path))
        self.overlay.wait(len(graph.nodes))
        self.layouts.make(path)

    def _present(self, path: GraphPath, drawing: Drawing) -> None:
        """Show a drawing that is up to date; the user may have moved about in an older one."""
        self.overlay.finish()
        self._keep_view()
        self._put(path, drawing)
        if self._wanted is not None and self._wanted.graph == path:
            self._reveal(self._wanted)
            self.canvas.gaze.settle()
        self.laid_out.emit(path)

    def _put(self, path: GraphPath | None, drawing: Drawing | None) -> None:
        """Put a drawing on the canvas, where the user left it."""
        self._shown = path if drawing is not None else None
        self.canvas.set_drawing(drawing, self._views.get(path) if path is not None else None)
        self.canvas.select_box(self._box_of(self._selection.node))

    def _keep_view(self) -> None:
        """Remember where the user was in the graph that is being left."""
        if self._shown is None:
            return
        if self.canvas.gaze.as_opened:
            self._views.pop(self._shown, None)
        else:
            self._views[self._shown] = self.canvas.gaze.viewport

    def _failed(self, error: Exception) -> None:
        text = f"The graph could not be laid out: {error}"
        self.overlay.tell(text)
        self.layout_failed.emit(text)

    def cancel_layout(self) -> None:
        """Stop laying out."""
        self.layouts.cancel()
        self.overlay.tell("The layout was cancelled.")

    # ---- work in the background

    @property
    def is_laying_out(self) -> bool:
        """Whether a layout is under way."""
        return self.layouts.is_busy

    @property
    def is_busy(self) -> bool:
        """Whether anything is under way: what is on show is not the last word."""
        return bool(self._jobs.running)

    def wait_until_laid_out(self, timeout_s: float = 60.0) -> bool:
        """Process events until the open graph is on show; for pictures without a window.

        Returns:
            False if there is no graph, it failed or was cancelled, or the time is over.
        """
        end = time.monotonic() + timeout_s
        while self.is_laying_out and time.monotonic() < end:
            QCoreApplication.processEvents()
            time.sleep(0.005)
        return self.layouts.current(self._selection.graph) is not None

    def shutdown(self) -> None:
        """End what runs in the background, and its threads; call it before the page goes."""
        self._jobs.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Keep the card in the middle of the canvas."""
        if watched is self.canvas and event.type() == QEvent.Type.Resize:
            self.overlay.place()
        return False


def _fit(dress: Dress, drawing: Drawing | None) -> tuple[Dress, Worn | None]:
    """On a worker thread: the dress, and how it is worn by the drawing on show."""
    return dress, Worn(drawing, dress) if drawing is not None else None
