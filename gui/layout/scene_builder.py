"""From a graph of the model to its scene, and from the scene to what the layout needs to know."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.ir.model import Graph, GraphPath, Model, Node, NodeId, Weight, captured_inputs
from ...engine.ir.schema import schema
from .scene import Box, BoxKind, Edge, Opening, Row, Scene, Types
from .sizes import label_width, node_size, plate_width, terminal_size
from .text import constant_text, label_text, shown_text, type_text
from .types import LayoutRequest
from .visible_values import VisibleValues, is_constant

_MOST_ROWS = 6


def graph_index(model: Model) -> dict[GraphPath, Graph]:
    """Every graph of the model by its path."""
    return {graph.path: graph for graph in model.graphs()}


def layout_request(scene: Scene) -> LayoutRequest:
    """The scene as plain numbers for the layout."""
    shared: dict[tuple[int, str], int] = {}
    return LayoutRequest(
        sizes=tuple(box.size for box in scene.boxes),
        edges=tuple((e.source, e.target) for e in scene.edges),
        label_widths=tuple(label_width(e.label) for e in scene.edges),
        portal_widths=tuple(plate_width(shown_text(e.value)) for e in scene.edges),
        shared=tuple(shared.setdefault((e.source, e.value), len(shared)) for e in scene.edges),
    )


def build_scene(model: Model, path: GraphPath = (), types: Types | None = None) -> Scene:
    """The scene of the graph at ``path``.

    Args:
        model: the model as read.
        path: which of its graphs; KeyError if it has no such graph.
        types: types of values, concrete ones where a plan exists; the file's declared types fill
            the gaps.
    """
    return _Builder(model, path, types or {}).build()


class _Builder:
    def __init__(self, model: Model, path: GraphPath, types: Types) -> None:
        graphs = graph_index(model)
        self._model = model
        self._graph = graphs[path]
        self._values = VisibleValues(model, graphs, path, types)
        self._opsets: dict[str, int] = {}
        self._boxes: list[Box] = []
        self._edges: list[Edge] = []
        self._box_of: dict[NodeId, int] = {}
        self._makers: dict[str, int] = {}

    def build(self) -> Scene:
        graph = self._graph
        for port in graph.inputs:
            self._makers[port.name] = self._terminal(BoxKind.INPUT, port.name)
        outputs = {port.name for port in graph.outputs}
        reads = {node.id: self._reads(node) for node in graph.nodes}
        read = {name for names in reads.values() for name in names}
        folded = [
            node
            for node in graph.nodes
            if is_constant(node) and not outputs & set(node.outputs) and read & set(node.outputs)
        ]
        hidden = {node.id for node in folded}
        for node in graph.nodes:
            if node.id not in hidden:
                self._box_of[node.id] = self._add(self._node_box(node))
                for name in _present(node.outputs):
                    self._makers[name] = self._box_of[node.id]
        for node in graph.nodes:
            if node.id not in hidden:
                for name in reads[node.id]:
                    self._connect(name, self._box_of[node.id])
        for port in graph.outputs:
            self._connect(port.name, self._terminal(BoxKind.OUTPUT, port.name), output=True)
        self._fold(folded, reads)
        return Scene(graph.path, tuple(self._boxes), tuple(self._edges), self._box_of)

    def _reads(self, node: Node) -> tuple[str, ...]:
        """The node's inputs, and what its subgraphs capture of what can be seen here."""
        direct = _present(node.inputs)
        if not node.subgraphs:
            return direct
        return tuple(n for n in captured_inputs(node) if n in direct or n in self._values.names)

    def _fold(self, folded: list[Node], reads: Mapping[NodeId, tuple[str, ...]]) -> None:
        """A folded constant is found where it is first read."""
        readers: dict[str, NodeId] = {}
        for node, names in reads.items():
            for name in names:
                readers.setdefault(name, node)
        for constant in folded:
            reader = next(readers[name] for name in constant.outputs if name in readers)
            if reader in self._box_of:
                self._box_of[constant.id] = self._box_of[reader]

    def _add(self, box: Box) -> int:
        self._boxes.append(box)
        return len(self._boxes) - 1

    def _terminal(self, kind: BoxKind, name: str) -> int:
        found = self._values.type(name)
        kept = self._values.constants.get(name)
        if found is None and isinstance(kept, Weight):
            found = kept.type
        text = type_text(found) if found is not None else ""
        title = shown_text(name) or "(unnamed)"
        size = terminal_size(title, text)
        return self._add(Box(kind, None, name, title, text, (), 0, (), size))

    def _connect(self, name: str, target: int, output: bool = False) -> None:
        """Add the edge that brings ``name`` to a box, unless a constant's row tells it."""
        if name not in self._makers:
            if name in self._values.constants and not output:
                return
            self._makers[name] = self._terminal(BoxKind.CAPTURED, name)
        label = label_text(self._values.type(name))
        self._edges.append(Edge(self._makers[name], target, name, label))

    def _node_box(self, node: Node) -> Box:
        rows = [
            _row(self._input_name(node, index), self._values.constants[name])
            for index, name in enumerate(node.inputs)
            if name in self._values.constants
        ]
        more = max(0, len(rows) - _MOST_ROWS)
        rows = rows[:_MOST_ROWS]
        opens = [Opening(shown_text(key), graph.path) for key, graph in node.subgraphs]
        if (function := self._model.function_of(node)) is not None:
            opens.append(Opening(shown_text(function.name), function.graph.path))
        title, name = shown_text(node.op_type), shown_text(node.name)
        return Box(
            BoxKind.NODE,
            node.id,
            "",
            title,
            name,
            tuple(rows),
            more,
            tuple(opens),
            node_size(title, name, rows, more=bool(more), opens=bool(opens)),
        )

    def _input_name(self, node: Node, index: int) -> str:
        domain = node.domain
        if domain not in self._opsets:
            self._opsets[domain] = self._model.opset(node) or 0
        found = schema(domain, node.op_type, self._opsets[domain]) if self._opsets[domain] else None
        formal = found.input(index) if found else None
        if formal is None:
            return f"#{index}"
        return f"{formal.name}[{index}]" if formal.variadic else formal.name


def _row(key: str, value: object) -> Row:
    kind = type_text(value.type) if isinstance(value, Weight) else "constant"
    return Row(key, constant_text(value), kind)


def _present(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))
