"""What the user looks at: one selected node and one open graph, shared by every view.

Canvas, tables, charts and panels hold the same :class:`Selection`; each changes it and listens to
it, none speaks to another.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from ..engine.ir.model import GraphPath, NodeId

_Place = tuple[GraphPath, NodeId | None]
_HISTORY = 200


class Selection(QObject):
    """The selected node and the graph that the canvas shows, with a history to go back through.

    Signals:
        node_changed: NodeId or None: another node is selected (or none).
        graph_changed: GraphPath: another graph is open.
        reveal_requested: NodeId: bring this node into view; it is selected and its graph open.
        history_changed: whether going back and forward is possible may have changed.
    """

    node_changed = Signal(object)
    graph_changed = Signal(object)
    reveal_requested = Signal(object)
    history_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._node: NodeId | None = None
        self._graph: GraphPath = ()
        self._past: list[_Place] = []
        self._future: list[_Place] = []

    @property
    def node(self) -> NodeId | None:
        """The selected node, or None."""
        return self._node

    @property
    def graph(self) -> GraphPath:
        """The path of the graph that is open."""
        return self._graph

    @property
    def can_go_back(self) -> bool:
        """Whether :meth:`back` leads anywhere."""
        return bool(self._past)

    @property
    def can_go_forward(self) -> bool:
        """Whether :meth:`forward` leads anywhere."""
        return bool(self._future)

    def select(self, node: NodeId | None) -> None:
        """Select ``node`` where the user is; the view is not moved and no graph is opened."""
        self._go((self._graph, node), remember=False)

    def open_graph(self, path: GraphPath, node: NodeId | None = None) -> None:
        """Show another graph (subgraph, function body or an outer one), selecting ``node``."""
        if path != self._graph:
            self._go((path, node), remember=True)
            if node is not None:
                self.reveal_requested.emit(node)

    def reveal(self, node: NodeId) -> None:
        """Select ``node``, open its graph and bring it into view."""
        self._go((node.graph, node), remember=(node.graph, node) != (self._graph, self._node))
        self.reveal_requested.emit(node)

    def back(self) -> None:
        """Return to the place before the last jump."""
        self._travel(self._past, self._future)

    def forward(self) -> None:
        """Undo :meth:`back`."""
        self._travel(self._future, self._past)

    def reset(self) -> None:
        """Forget everything: another model is shown."""
        self._past.clear()
        self._future.clear()
        self._go(((), None), remember=False)
        self.history_changed.emit()

    def _travel(self, origin: list[_Place], other: list[_Place]) -> None:
        if not origin:
            return
        place = origin.pop()
        other.append((self._graph, self._node))
        self._go(place, remember=False)
        self.history_changed.emit()
        if place[1] is not None:
            self.reveal_requested.emit(place[1])

    def _go(self, place: _Place, remember: bool) -> None:
        before = (self._graph, self._node)
        if remember:
            self._past = [*self._past[1 - _HISTORY :], before]
            self._future.clear()
            self.history_changed.emit()
        self._graph, self._node = place
        if place[0] != before[0]:
            self.graph_changed.emit(place[0])
        if place[1] != before[1]:
            self.node_changed.emit(place[1])
