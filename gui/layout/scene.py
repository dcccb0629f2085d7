"""What is drawn of one graph: boxes with their texts and sizes, edges with their labels.

Weights and constants are folded into the nodes that read them, as rows. A subgraph's page shows the
outer values that it captures as terminals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...engine.ir.model import (
    Graph,
    GraphPath,
    Model,
    Node,
    NodeId,
    TensorType,
    Weight,
    captured_inputs,
)
from ...engine.ir.schema import schema
from .text import (
    LABEL_PX,
    ROW_PX,
    TITLE_PX,
    constant_text,
    label_text,
    shown_text,
    text_width,
    type_text,
)
from .types import LayoutRequest, LayoutResult

HEADER_HEIGHT = 24.0
ROW_HEIGHT = 15.0
_MOST_ROWS = 6
_WIDTHS = (84.0, 204.0)
_WIDTH_STEP = 12.0  # few different widths: more blocks are identical and laid out once
_PADDING = 20.0
_CORNER = 34.0  # room in the header for a sign or a percentage
_INSIDE = 84.0  # and, where there is a graph inside, for a second sign and ``999 off GPU``

Types = Mapping[tuple[GraphPath, str], TensorType]


class BoxKind(StrEnum):
    """What a box stands for."""

    NODE = "node"
    INPUT = "input"
    OUTPUT = "output"
    CAPTURED = "captured"  # an outer value that a subgraph reads


@dataclass(frozen=True, slots=True)
class Row:
    """A line in a box: a weight or constant with the name of the input that takes it.

    Attributes:
        key: the input's name in the operator's schema.
        text: the value where it is small, its type otherwise.
        kind: its type alone, for pictures that must not tell values.
    """

    key: str
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Opening:
    """A graph behind a node: a subgraph (by its attribute) or a function's body."""

    label: str
    path: GraphPath


@dataclass(frozen=True, slots=True)
class Box:
    """A node or a terminal of the graph.

    Attributes:
        node: the node, None for a terminal.
        value: the terminal's value name, "" for a node.
        title: operator, or the terminal's name.
        name: the node's own name, or the terminal's type.
        rows: weights and constants; what does not fit is counted in ``more``.
        opens: graphs behind it.
        size: width and height in pixels at scale 1.
    """

    kind: BoxKind
    node: NodeId | None
    value: str
    title: str
    name: str
    rows: tuple[Row, ...]
    more: int
    opens: tuple[Opening, ...]
    size: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Edge:
    """A value on its way from one box to another (indices into the scene's boxes)."""

    source: int
    target: int
    value: str
    label: str


@dataclass(frozen=True)
class Scene:
    """One graph, ready to be laid out.

    Attributes:
        path: which graph.
        box_of: node -> its box; a folded constant has the box of its first consumer.
    """

    path: GraphPath
    boxes: tuple[Box, ...] = ()
    edges: tuple[Edge, ...] = ()
    box_of: Mapping[NodeId, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LaidOut:
    """A scene and its geometry."""

    scene: Scene
    layout: LayoutResult


def graph_index(model: Model) -> dict[GraphPath, Graph]:
    """Every graph of the model by its path."""
    return {graph.path: graph for graph in model.graphs()}


def layout_request(scene: Scene) -> LayoutRequest:
    """The scene as plain numbers for the layout."""
    shared: dict[tuple[int, str], int] = {}
    return LayoutRequest(
        sizes=tuple(box.size for box in scene.boxes),
        edges=tuple((e.source, e.target) for e in scene.edges),
        label_widths=tuple(
            text_width(e.label, LABEL_PX) + 4 if e.label else 0.0 for e in scene.edges
        ),
        portal_widths=tuple(
            _stepped(min(text_width(shown_text(e.value), LABEL_PX) + 34, 168)) for e in scene.edges
        ),
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
        self._model = model
        self._graphs = graph_index(model)
        self._graph = self._graphs[path]
        self._types = types
        self._scope = self._enclosing(path)
        self._declared = {
            **{port.name: port.type for port in self._graph.inputs},
            **{port.name: port.type for port in self._graph.outputs},
            **self._graph.values,
        }
        self._constants = self._visible_constants()
        self._visible = {name for path in self._scope for name in _defined(self._graphs[path])}
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
            if _is_constant(node) and not outputs & set(node.outputs) and read & set(node.outputs)
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
        return tuple(n for n in captured_inputs(node) if n in direct or n in self._visible)

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

    def _enclosing(self, path: GraphPath) -> list[GraphPath]:
        """The graphs whose values this one sees: itself, then outwards to the function's body."""
        bodies = {function.graph.path for function in self._model.functions.values()}
        scope = [path]
        while path and path not in bodies:
            path = path[:-1]
            scope.append(path)
        return [path for path in scope if path in self._graphs]

    def _visible_constants(self) -> dict[str, object]:
        """Weights and Constant nodes' values that this graph sees, its own hiding outer ones."""
        found: dict[str, object] = {}
        for path in self._scope:
            graph = self._graphs[path]
            own: dict[str, object] = dict(graph.initializers)
            for node in graph.nodes:
                if _is_constant(node) and len(node.outputs) == 1:
                    own[node.outputs[0]] = next(iter(node.attributes.values()), None)
            hidden = {p.name for p in graph.inputs} | set(graph.producers)
            found = {**{k: v for k, v in own.items() if k not in found}, **found}
            for name in hidden - own.keys():
                found.setdefault(name, None)
        return {name: value for name, value in found.items() if value is not None}

    def _type(self, name: str) -> TensorType | None:
        for path in self._scope:
            if (known := self._types.get((path, name))) is not None:
                return known
        return self._declared.get(name)

    def _add(self, box: Box) -> int:
        self._boxes.append(box)
        return len(self._boxes) - 1

    def _terminal(self, kind: BoxKind, name: str) -> int:
        found = self._type(name)
        kept = self._constants.get(name)
        if found is None and isinstance(kept, Weight):
            found = kept.type
        text = type_text(found) if found is not None else ""
        title = shown_text(name) or "(unnamed)"
        width = max(text_width(title, TITLE_PX), text_width(text, ROW_PX)) + _PADDING + 8
        height = HEADER_HEIGHT + (ROW_HEIGHT if text else 0)
        size = (_stepped(min(max(width, 60), _WIDTHS[1])), height)
        return self._add(Box(kind, None, name, title, text, (), 0, (), size))

    def _connect(self, name: str, target: int, output: bool = False) -> None:
        """Add the edge that brings ``name`` to a box, unless a constant's row tells it."""
        if name not in self._makers:
            if name in self._constants and not output:
                return
            self._makers[name] = self._terminal(BoxKind.CAPTURED, name)
        label = label_text(self._type(name))
        self._edges.append(Edge(self._makers[name], target, name, label))

    def _node_box(self, node: Node) -> Box:
        rows = [
            _row(self._input_name(node, index), self._constants[name])
            for index, name in enumerate(node.inputs)
            if name in self._constants
        ]
        more = max(0, len(rows) - _MOST_ROWS)
        rows = rows[:_MOST_ROWS]
        opens = [Opening(shown_text(key), graph.path) for key, graph in node.subgraphs]
        if (function := self._model.function_of(node)) is not None:
            opens.append(Opening(shown_text(function.name), function.graph.path))
        title, name = shown_text(node.op_type), shown_text(node.name)
        widths = [
            text_width(title, TITLE_PX) * 1.06 + _CORNER + (_INSIDE if opens else 0),
            text_width(name, ROW_PX),
            *(text_width(f"{row.key}  {row.text}", ROW_PX) + 4 for row in rows),
        ]
        width = _stepped(min(max(*widths, _WIDTHS[0] - _PADDING) + _PADDING, _WIDTHS[1]))
        lines = bool(name) + len(rows) + bool(more)
        height = HEADER_HEIGHT + (lines * ROW_HEIGHT + 5 if lines else 0)
        return Box(
            BoxKind.NODE,
            node.id,
            "",
            title,
            name,
            tuple(rows),
            more,
            tuple(opens),
            (width, height),
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


def _defined(graph: Graph) -> set[str]:
    return {*graph.producers, *graph.initializers, *(port.name for port in graph.inputs)}


def _present(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def _is_constant(node: Node) -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")


def _stepped(width: float) -> float:
    return _WIDTH_STEP * -(-width // _WIDTH_STEP)
