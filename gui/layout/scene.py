"""What is drawn of one graph: boxes with their texts and sizes, edges with their labels.

Weights and constants are folded into the nodes that read them, as rows. A subgraph's page shows the
outer values that it captures as terminals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ...engine.ir.model import GraphPath, NodeId, TensorType
from .types import LayoutResult

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
