"""Walking a model as one flat sequence: calls and known If branches are opened in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import NodeError
from ..ir.model import (
    AttributeReference,
    Function,
    Graph,
    GraphPath,
    Model,
    Node,
    NodeId,
    captured_inputs,
)
from ..ir.schema import schema
from .types import ValueId

MAX_DEPTH = 64  # nested calls and branches; a model file that goes deeper is taken for hostile


@dataclass
class Frame:
    """One graph being walked: which value each of its names stands for.

    Attributes:
        path: identity of the graph, or of this inlined call.
        source: path of the graph in the file.
        parent: the frame whose names a subgraph may capture; None for functions.
        attributes: what a function's attribute references stand for.
        absent: inputs of a function that its call leaves out.
        readers: name -> the nodes that read it, each once, also through their subgraphs.
        wanted: every name that a node or an output reads.
    """

    graph: Graph
    path: GraphPath
    source: GraphPath
    imports: Mapping[str, int]
    parent: Frame | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    names: dict[str, ValueId] = field(default_factory=dict)
    depth: int = 0
    absent: frozenset[str] = frozenset()
    readers: dict[str, list[Node]] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for node in self.graph.nodes:
            for name in captured_inputs(node):
                self.readers.setdefault(name, []).append(node)
        self.wanted = frozenset((*self.readers, *(p.name for p in self.graph.outputs)))

    def resolve(self, name: str) -> ValueId | None:
        """The value that ``name`` stands for here, or None if nothing defines it."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names[name]
            frame = frame.parent
        return None

    def is_absent(self, name: str) -> bool:
        """True if ``name`` is an input that the call of this function leaves out."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return False
            if name in frame.absent:
                return True
            frame = frame.parent
        return False

    def define(self, name: str) -> ValueId:
        """A new value of this frame."""
        value = (self.path, name)
        self.names[name] = value
        return value

    def node_id(self, node: Node) -> NodeId:
        """The node's identity in the flattened graph."""
        return NodeId(self.path, node.id.index)

    def since_version(self, node: Node) -> int:
        """Schema version of the node's operator; 1 for operators that ONNX does not know."""
        opset = self.imports.get(node.domain, 0)
        found = schema(node.domain, node.op_type, opset) if opset else None
        return found.since_version if found else 1

    def bound_attributes(self, node: Node) -> Mapping[str, Any]:
        """The node's attributes with the references of a function's body filled in."""
        if not self.attributes and not any(
            isinstance(v, AttributeReference) for v in node.attributes.values()
        ):
            return node.attributes
        return bind_attributes(node.attributes, self.attributes)


def bind_attributes(attributes: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace attribute references by ``values``, in nested graphs too; absent ones vanish."""
    bound: dict[str, Any] = {}
    for key, value in attributes.items():
        if isinstance(value, AttributeReference):
            if value.name in values:
                bound[key] = values[value.name]
        elif isinstance(value, Graph):
            nodes = tuple(
                replace(n, attributes=bind_attributes(n.attributes, values)) for n in value.nodes
            )
            bound[key] = replace(value, nodes=nodes)
        else:
            bound[key] = value
    return bound


def main_frame(model: Model) -> Frame:
    """The frame of the model's main graph; its inputs and initializers are defined."""
    graph = model.graph
    frame = Frame(graph, (), (), model.opset_imports)
    for port in graph.inputs:
        frame.define(port.name)
    for name in graph.initializers:
        frame.define(name)
    return frame


def call_frame(caller: Frame, node: Node, function: Function) -> Frame:
    """The frame of a function call; its inputs stand for the caller's values.

    Raises:
        NodeError: the calls nest deeper than any honest model (a function that calls itself), or
            the call has more inputs than the function.
    """
    name = f"{function.domain}::{function.name}"
    ports = function.graph.inputs
    if len(node.inputs) > len(ports):
        reason = f"{len(node.inputs)} inputs are given; {name} has {len(ports)}"
        raise NodeError(caller.node_id(node), node.label, node.op, reason)
    _check_depth(caller, node, f"{name} calls itself, or functions nest over {MAX_DEPTH} deep")
    attributes = {**function.attribute_defaults, **caller.bound_attributes(node)}
    frame = Frame(
        function.graph,
        (*caller.path, f"{node.id.index}.{name}"),
        function.graph.path,
        function.opset_imports or caller.imports,
        attributes=attributes,
        depth=caller.depth + 1,
    )
    for port, actual in zip(ports, node.inputs, strict=False):
        value = caller.resolve(actual) if actual else None
        if value is not None:
            frame.names[port.name] = value
        elif actual and not caller.is_absent(actual):
            reason = f"its input {actual!r} is not defined by anything"
            raise NodeError(caller.node_id(node), node.label, node.op, reason)
    frame.absent = frozenset(p.name for p in ports if p.name not in frame.names)
    for name in function.graph.initializers:
        frame.define(name)
    return frame


def branch_frame(outer: Frame, node: Node, attribute: str, graph: Graph) -> Frame:
    """The frame of a subgraph without inputs (an If's branch), which captures outer names."""
    _check_depth(outer, node, f"subgraphs nest over {MAX_DEPTH} deep")
    frame = Frame(
        graph,
        (*outer.path, f"{node.id.index}.{attribute}"),
        graph.path,
        outer.imports,
        parent=outer,
        attributes=outer.attributes,
        depth=outer.depth + 1,
    )
    for name in graph.initializers:
        frame.define(name)
    return frame


def _check_depth(frame: Frame, node: Node, reason: str) -> None:
    if frame.depth >= MAX_DEPTH:
        raise NodeError(frame.node_id(node), node.label, node.op, reason)


def source_of(model: Model, node: NodeId) -> NodeId:
    """The file's node behind a node of the flattened graph: the inverse of the frames' paths."""
    path: GraphPath = ()
    for part in node.graph:
        index = part.partition(".")[0]
        caller = model.nodes.get(NodeId(path, int(index))) if index.isdecimal() else None
        function = model.function_of(caller) if caller is not None else None
        path = function.graph.path if function is not None else (*path, part)
    return NodeId(path, node.index)
