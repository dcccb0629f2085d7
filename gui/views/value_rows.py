"""A node's inputs, outputs and attributes as rows of text with links to where they lead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ...engine.ir.model import (
    Attribute,
    AttributeReference,
    Graph,
    GraphPath,
    Model,
    Node,
    NodeId,
    TensorType,
    Weight,
)
from ...engine.ir.schema import schema
from ...engine.units import mebibytes
from ..document import Document
from ..format import plain_tip, type_text
from .section import label

_LONGEST = 240  # characters of an attribute's text
_MOST_LINKS = 6

Go = Callable[[NodeId], None]
Place = TypeVar("Place")


def port_rows(document: Document, node: Node, graph: Graph, go: Go, *, inputs: bool) -> QWidget:
    """One block per input (or output): its formal name, value, type, and who is at the other end.

    ``go`` is called with the producer or consumer that the user clicks.
    """
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(6)
    names = node.inputs if inputs else node.outputs
    types = planned_types(document, node.id, inputs)
    for index, name in enumerate(names):
        formal = _formal(document.model, node, index, inputs)
        if not name:
            column.addWidget(label(f"{formal or index}: absent", "muted"))
            continue
        found = types.get(index) or document.type_of(graph, name)
        block = QVBoxLayout()
        block.setSpacing(1)
        heading = f"{formal}   {type_text(found)}" if formal else type_text(found)
        block.addWidget(label(heading, "strong"))
        ends = _ends(graph, node, name, inputs)
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addWidget(label(_value_text(graph, name, inputs), "muted"), 1)
        block.addLayout(row)
        for end in ends[:_MOST_LINKS]:
            block.addWidget(link(f"{'from' if inputs else 'to'} {end.label}", go, end.id))
        if len(ends) > _MOST_LINKS:
            block.addWidget(label(f"and {len(ends) - _MOST_LINKS} more", "muted"))
        column.addLayout(block)
    if not names:
        column.addWidget(label("none", "muted"))
    return box


def attribute_rows(node: Node, open_graph: Callable[[GraphPath], None]) -> QWidget:
    """One row per attribute, in the file's order; a subgraph is a link that opens it."""
    box = QWidget()
    column = QVBoxLayout(box)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(3)
    for name, value in node.attributes.items():
        if isinstance(value, Graph):
            column.addWidget(
                link(f"{name}: open the graph of {len(value.nodes)} nodes", open_graph, value.path)
            )
            continue
        column.addWidget(label(f"{name} = {attribute_text(value)}"))
    if not node.attributes:
        column.addWidget(label("none: the defaults apply", "muted"))
    return box


def attribute_text(value: Attribute) -> str:
    """An attribute's value on one line, cut where it is long."""
    if isinstance(value, tuple):
        text = f"[{', '.join(attribute_text(v) for v in value[:64])}]"
        text += f" ({len(value)} values)" if len(value) > 64 else ""
    elif isinstance(value, Weight):
        text = f"tensor {type_text(value.type)}, {mebibytes(value.size_bytes)}"
    elif isinstance(value, TensorType):
        text = type_text(value)
    elif isinstance(value, AttributeReference):
        text = f"the caller's {value.name}"
    elif isinstance(value, float):
        text = f"{value:.7g}"
    elif isinstance(value, Graph):
        text = f"graph of {len(value.nodes)} nodes"
    else:
        text = repr(value) if isinstance(value, (str, bytes)) else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def link(text: str, go: Callable[[Place], None], place: Place) -> QPushButton:
    """A button that looks like a link and calls ``go(place)``."""
    made = QPushButton(text)
    made.setProperty("flat_link", "true")
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    made.setToolTip(plain_tip(text))
    made.setMinimumWidth(1)
    made.clicked.connect(lambda: go(place))
    return made


def planned_types(document: Document, node: NodeId, inputs: bool) -> dict[int, TensorType]:
    """Input (or output) index -> its concrete type by the plan."""
    placements = document.placements(node)
    if not placements:
        return {}
    types = placements[0].inputs if inputs else placements[0].outputs
    return {i: t for i, t in enumerate(types) if t is not None}


def _formal(model: Model | None, node: Node, index: int, inputs: bool) -> str:
    """The parameter's name in the operator's schema, "" where there is none."""
    opset = model.opset(node) if model else None
    found = schema(node.domain, node.op_type, opset) if opset else None
    if found is None:
        return ""
    formal = found.input(index) if inputs else found.output(index)
    return formal.name if formal else ""


def _ends(graph: Graph, node: Node, name: str, inputs: bool) -> tuple[Node, ...]:
    if not inputs:
        return graph.consumers.get(name, ())
    producer = graph.producers.get(name)
    return () if producer is None or producer.id == node.id else (producer,)


def _value_text(graph: Graph, name: str, inputs: bool) -> str:
    if inputs and name in graph.initializers:
        weight = graph.initializers[name]
        where = f", in {weight.location}" if weight.location else ""
        return f"{name} (weight, {mebibytes(weight.size_bytes)}{where})"
    if inputs and any(p.name == name for p in graph.inputs):
        return f"{name} (graph input)"
    if not inputs and any(p.name == name for p in graph.outputs):
        return f"{name} (graph output)"
    return name
