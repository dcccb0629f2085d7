"""The graph's page: canvas, breadcrumbs, legend, find bar, and the layouts behind them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QObject,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from ....engine.diagnostics import Diagnostic, worst
from ....engine.ir.model import Graph, GraphPath, Model, NodeId
from ...copies import NO_COPIES, Copies
from ...jobs import Job, JobTracker
from ...layout.process import lay_out_in_child
from ...layout.scene import LaidOut, Types, build_scene, graph_index, layout_request
from ...selection import Selection
from ...theme import Theme
from .boxes import Badge
from .breadcrumb import Breadcrumb
from .camera import Camera
from .canvas import GraphCanvas
from .colouring import PLAIN, Colouring, Mode
from .drawing import Drawing
from .find_bar import FindBar
from .legend import Legend
from .overlay import LayoutOverlay
from .overview import Overview
from .painter import Dress
from .viewport import Viewport

_SUBJECT = "layout"


@dataclass(frozen=True)
class _Page:
    drawing: Drawing
    view: Viewport | None


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
        self._theme = theme
        self._selection = selection
        self._model: Model | None = None
        self._graphs: Mapping[GraphPath, Graph] = {}
        self._types: Types = {}
        self._pages: dict[GraphPath, _Page] = {}
        self._shown: GraphPath | None = None  # the graph whose drawing the canvas has
        self._colouring = PLAIN
        self._findings: Mapping[NodeId, Sequence[Diagnostic]] = {}
        self._copies = NO_COPIES
        self._wanted: NodeId | None = None  # to bring into view once its graph is laid out
        self._jobs = JobTracker(1, "layout", self)
        self.canvas = GraphCanvas(theme)
        self.camera = Camera(self.canvas, self._box_of)
        self.overview = Overview(self.canvas)
        self.breadcrumb = Breadcrumb()
        self.legend = Legend(theme)
        self.find_bar = FindBar(self.find_nodes)
        self.overlay = LayoutOverlay(self.canvas)
        self.menu = QMenu(self)
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
        self._connect()

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
        self._jobs.changed.connect(self._progress)
        self._selection.node_changed.connect(self._node_changed)
        self._selection.graph_changed.connect(self._show_graph)
        self._selection.reveal_requested.connect(self._reveal)
        shortcut = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
        shortcut.activated.connect(self.find_bar.open)

    # ---- what is shown

    def set_theme(self, theme: Theme) -> None:
        """Show everything in another theme."""
        self._theme = theme
        self.canvas.set_theme(theme)
        self.legend.set_theme(theme)
        self._dress()

    def set_model(self, model: Model | None, types: Types | None = None) -> None:
        """Show a model's main graph, or nothing; its layout begins at once.

        Args:
            model: the model as read.
            types: types of its values, for the shapes on edges.
        """
        if model is not self._model:
            self._pages.clear()
            self._graphs = graph_index(model) if model is not None else {}
            self._colouring, self._findings, self._wanted = PLAIN, {}, None
            self._copies = NO_COPIES
            self.legend.set_colouring(PLAIN)
        self._model, self._types = model, types or {}
        self._shown = None
        self.canvas.set_drawing(None)
        self.find_bar.reset()
        self._show_graph()

    def set_types(self, types: Types) -> None:
        """Better types are known, such as a plan's concrete ones: lay out again, in place."""
        self._keep_view()
        self._types = types
        self._shown = None
        self._show_graph()

    def set_colouring(self, colouring: Colouring) -> None:
        """Colour the graph; one colouring at a time."""
        self._colouring = colouring
        self.legend.set_colouring(colouring)
        self._dress()

    def wear(
        self,
        colouring: Colouring,
        copies: Copies,
        by_node: Mapping[NodeId, Sequence[Diagnostic]],
    ) -> None:
        """Colouring, copies and badges at once: the graph is painted anew only once."""
        self._colouring, self._copies, self._findings = colouring, copies, by_node
        self.legend.set_colouring(colouring)
        self._dress()

    def set_copies(self, copies: Copies) -> None:
        """Mark the values that are copied between GPU and CPU."""
        self._copies = copies
        self._dress()

    def set_diagnostics(self, by_node: Mapping[NodeId, Sequence[Diagnostic]]) -> None:
        """Hang badges on the nodes that something is to be said about."""
        self._findings = by_node
        self._dress()

    @property
    def drawing(self) -> Drawing | None:
        """The drawing on show; None while it is being laid out."""
        return self.canvas.drawing

    @property
    def colouring(self) -> Colouring:
        """The colouring on show."""
        return self._colouring

    def _dress(self) -> None:
        badges: dict[NodeId, Badge] = {}
        if self._colouring.mode is not Mode.RISK:  # that one tells the same by itself
            for node, found in self._findings.items():
                severity = worst(found)
                if severity is not None:
                    badges[node] = Badge(severity, self._theme.severity[severity], len(found))
        self.canvas.set_dress(Dress(self._colouring, badges, self._copies))

    # ---- going places

    def show_node(self, node: NodeId) -> None:
        """Open the node's graph, select the node and bring it into view."""
        self._selection.reveal(self.node_in_file(node))

    def node_in_file(self, node: NodeId) -> NodeId:
        """The node of the file that ``node``, perhaps of an inlined function, was made from."""
        for position in range(len(node.graph) - 1, -1, -1):
            _, _, called = node.graph[position].partition(".")
            if "::" in called:  # "<index>.<domain>::<name>": the body of an inlined call
                return NodeId((called, *node.graph[position + 1 :]), node.index)
        return node

    def find_nodes(self, text: str) -> list[NodeId]:
        """Nodes of every graph whose name or operator contains ``text``, in the model's order.

        Where ``text`` is an operator, its nodes come before those that have it in their names.
        """
        wanted = text.strip().casefold()
        if self._model is None or not wanted:
            return []
        found = [
            node
            for node in self._model.nodes.values()
            if wanted in node.name.casefold() or wanted in node.op.casefold()
        ]
        found.sort(key=lambda node: node.op.casefold() != wanted)
        return [node.id for node in found]

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
        drawing = self.canvas.drawing
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
            corner = self.canvas.viewport.to_screen(drawing.rect(index)).bottomLeft()
            self.menu.popup(self.canvas.mapToGlobal(corner).toPoint())

    def _box_selected(self, index: int | None) -> None:
        drawing = self.canvas.drawing
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
        drawing = self.canvas.drawing
        if drawing is None or node is None or self._shown != node.graph:
            return None
        return drawing.scene.box_of.get(node)

    # ---- layouts

    def _show_graph(self, _: object = None) -> None:
        """Show the graph that the selection has open, laying it out unless that was done."""
        path = self._selection.graph
        self._keep_view()
        self.breadcrumb.show_path(self._model, path)
        self._jobs.cancel(_SUBJECT)
        model, types = self._model, self._types
        if model is None or path not in self._graphs:
            self._shown = None
            self.canvas.set_drawing(None)
            self.overlay.finish()
            return
        page = self._pages.get(path)
        if page is not None and self._is_current(page):
            self._present(path, page)
            return
        if path != self._shown and page is None:
            self.canvas.set_drawing(None)
        self._shown = None
        self.overlay.wait(len(self._graphs[path].nodes))
        self._jobs.start(
            _SUBJECT,
            lambda job: _lay_out(job, model, path, types),
            lambda drawing: self._laid_out(path, drawing),
            self._failed,
            title="Laying out the graph",
        )

    def _is_current(self, page: _Page) -> bool:
        return page.drawing.types is self._types

    def _laid_out(self, path: GraphPath, drawing: Drawing) -> None:
        known = self._pages.get(path)
        page = _Page(drawing, known.view if known is not None else None)
        self._pages[path] = page
        self._present(path, page)

    def _present(self, path: GraphPath, page: _Page) -> None:
        self.overlay.finish()
        self._shown = path
        self.canvas.set_drawing(page.drawing, page.view)
        self.canvas.select_box(self._box_of(self._selection.node))
        if self._wanted is not None and self._wanted.graph == path:
            self._reveal(self._wanted)
            self.canvas.settle()
        self.laid_out.emit(path)

    def _keep_view(self) -> None:
        """Remember where the user was in the graph that is being left."""
        if self._shown is not None and (drawing := self.canvas.drawing) is not None:
            view = None if self.canvas.as_opened else self.canvas.viewport
            self._pages[self._shown] = _Page(drawing, view)

    def _failed(self, error: Exception) -> None:
        text = f"The graph could not be laid out: {error}"
        self.overlay.tell(text)
        self.layout_failed.emit(text)

    def cancel_layout(self) -> None:
        """Stop laying out; the child process is ended."""
        self._jobs.cancel(_SUBJECT)
        self.overlay.tell("The layout was cancelled.")

    def _progress(self) -> None:
        for job in self._jobs.running:
            self.overlay.progress(job.done, job.total)

    @property
    def is_laying_out(self) -> bool:
        """Whether a layout is under way."""
        return self._jobs.is_running(_SUBJECT)

    def wait_until_laid_out(self, timeout_s: float = 60.0) -> bool:
        """Process events until the open graph is on show; for pictures without a window.

        Returns:
            False if there is no graph, it failed or was cancelled, or the time is over.
        """
        end = time.monotonic() + timeout_s
        while self.is_laying_out and time.monotonic() < end:
            QCoreApplication.processEvents()
            time.sleep(0.005)
        return self._shown is not None

    def shutdown(self) -> None:
        """End the layout that runs and its thread; call it before the page goes."""
        self._jobs.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Keep the card in the middle of the canvas."""
        if watched is self.canvas and event.type() == QEvent.Type.Resize:
            self.overlay.place()
        return False


def _lay_out(job: Job, model: Model, path: GraphPath, types: Types) -> Drawing:
    """On a worker thread: scene, layout in a child process, arrays."""
    scene = build_scene(model, path, types)
    job.check()
    request = layout_request(scene)
    layout = lay_out_in_child(request, job.check, lambda f: job.report(round(f * 1000), 1000))
    drawing = Drawing(LaidOut(scene, layout), types)
    drawing.prepare()
    return drawing
