"""The model as the rest of Opscope sees it: frozen, free of protobuf, weights read on demand.

A value is known by its name within its graph (ONNX demands single assignment; the reader renames
the second definition and says so). A node is known by :class:`NodeId` alone: names are labels that
may be empty, repeated or broken.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np

from ..diagnostics import Diagnostic

Dim = int | str | None
Shape = tuple[Dim, ...]
GraphPath = tuple[str, ...]
ValueId = tuple[GraphPath, str]
"""A value: the graph that defines it, and its name there."""
NO_OPERATOR = "unnamed operator"
"""What a node is called whose operator's name is empty."""


@dataclass(frozen=True, slots=True, order=True)
class NodeId:
    """Identity of a node: the path of its graph, and its index there in file order.

    The main graph is ``()``. A subgraph's path is its parent's with ``"<node index>.<attribute>"``
    added, a function's body is ``("<domain>::<name>",)``. A function that the planner has inlined
    is its caller's path with ``"<node index>.<domain>::<name>"`` added.
    """

    graph: GraphPath
    index: int

    def __str__(self) -> str:
        return "/".join((*self.graph, str(self.index)))


@dataclass(frozen=True, slots=True)
class TensorType:
    """A tensor's element type and shape.

    Attributes:
        dtype: ONNX's element type in numpy's spelling: float32, float16, bfloat16, float64, int64,
            int32, int16, int8, uint64, uint32, uint16, uint8, bool, string, complex64, complex128,
            float8e4m3fn, ..., int4, uint4; "?" if unknown.
        shape: one int, symbol or None (unknown) per axis; None if not even the rank is known.
        kind: "tensor", "sequence", "optional", "sparse" or "map" (also a sequence of maps); dtype
            and shape speak of the element type where it is not "tensor".
    """

    dtype: str
    shape: Shape | None = None
    kind: str = "tensor"

    @property
    def dims(self) -> tuple[int, ...]:
        """The shape, when every dimension is a known integer; ValueError otherwise."""
        dims = self.known_dims
        if dims is None:
            raise ValueError(f"the shape {self.shape} is not fully known")
        return dims

    @property
    def known_dims(self) -> tuple[int, ...] | None:
        """The shape as integers, or None while any dimension is unknown."""
        shape = self.shape
        if shape is None or not all(isinstance(d, int) for d in shape):
            return None
        return cast("tuple[int, ...]", shape)

    def __str__(self) -> str:
        shape = (
            "?"
            if self.shape is None
            else ", ".join("?" if d is None else str(d) for d in self.shape)
        )
        return (
            f"{self.dtype}[{shape}]"
            if self.kind == "tensor"
            else f"{self.kind}({self.dtype}[{shape}])"
        )


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant tensor of the file (an initializer or a tensor attribute), not read yet.

    Attributes:
        name: its name in the file.
        dtype, shape: as in :class:`TensorType`.
        size_bytes: bytes of its values.
        location: external file as the model states it, or "" when stored inside.
        read: gives the values; raises ModelFileError where the file may not or cannot be read.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int
    location: str = ""
    read: Callable[[], np.ndarray] = field(default=lambda: np.zeros(0), compare=False, repr=False)

    @property
    def type(self) -> TensorType:
        """The tensor's type."""
        return TensorType(self.dtype, self.shape)

    def numpy(self) -> np.ndarray:
        """The values, of ``shape``; bfloat16 and smaller floats as ml_dtypes arrays."""
        return self.read()


@dataclass(frozen=True, slots=True)
class AttributeReference:
    """An attribute of a function's body that takes the value of the caller's attribute ``name``."""

    name: str


# int, float, str, bytes, Weight, Graph, TensorType, AttributeReference, or a tuple of one of them
Attribute = Any


@dataclass(frozen=True)
class Node:
    """One node as the file has it. ``""`` among inputs or outputs means absent."""

    id: NodeId
    op_type: str
    domain: str = ""
    name: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    overload: str = ""
    doc: str = ""

    @property
    def op(self) -> str:
        """``Op`` in ONNX's own domain, ``domain::Op`` elsewhere."""
        op = self.op_type or NO_OPERATOR
        return f"{self.domain}::{op}" if self.domain else op

    @property
    def label(self) -> str:
        """The name, or ``Op #index`` where there is none."""
        return self.name or f"{self.op_type or NO_OPERATOR} #{self.id.index}"

    @property
    def subgraphs(self) -> tuple[tuple[str, Graph], ...]:
        """(attribute name, graph) of each graph attribute, in order."""
        found: list[tuple[str, Graph]] = []
        for key, value in self.attributes.items():
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Graph):
                    found.append((key, item))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Port:
    """A graph's input or output: a value name and its declared type."""

    name: str
    type: TensorType | None = None


@dataclass(frozen=True)
class Graph:
    """A graph, subgraph or function body; nodes in file order (perhaps unsorted).

    Attributes:
        inputs: without those that are only initializers listed again (ONNX lets a caller override
            such a default; Opscope does not offer that).
        initializers: constant values by name.
        values: declared types of intermediate values (the file's value_info).
    """

    path: GraphPath
    name: str = ""
    nodes: tuple[Node, ...] = ()
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    initializers: Mapping[str, Weight] = field(default_factory=dict)
    values: Mapping[str, TensorType] = field(default_factory=dict)

    @cached_property
    def producers(self) -> Mapping[str, Node]:
        """Value name -> the node that produces it."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    @cached_property
    def consumers(self) -> Mapping[str, tuple[Node, ...]]:
        """Value name -> the nodes of this graph that read it, each once, in order."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.inputs):
                if name:
                    found.setdefault(name, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    @cached_property
    def sorted_nodes(self) -> tuple[Node, ...]:
        """The nodes in an order in which each follows its producers, stable and not recursive.

        A node's needs include the outer values that its subgraphs capture. Nodes of a cycle (no
        valid model has one) come last in file order; the reader reports them.
        """
        producers = self.producers
        waiting: dict[NodeId, int] = {}
        followers: dict[NodeId, list[Node]] = {}
        for node in self.nodes:
            needs = {producers[n].id for n in captured_inputs(node) if n in producers} - {node.id}
            waiting[node.id] = len(needs)
            for need in needs:
                followers.setdefault(need, []).append(node)
        ready = [n.id.index for n in self.nodes if waiting[n.id] == 0]
        heapq.heapify(ready)
        by_index = {n.id.index: n for n in self.nodes}
        order: list[Node] = []
        while ready:
            node = by_index[heapq.heappop(ready)]
            order.append(node)
            for follower in followers.get(node.id, ()):
                waiting[follower.id] -= 1
                if waiting[follower.id] == 0:
                    heapq.heappush(ready, follower.id.index)
        done = {n.id for n in order}
        return (*order, *(n for n in self.nodes if n.id not in done))


def captured_inputs(node: Node) -> tuple[str, ...]:
    """The values that ``node`` reads: its inputs and what its subgraphs take from outside."""
    return tuple(dict.fromkeys((*(n for n in node.inputs if n), *subgraph_reads(node))))


def subgraph_reads(node: Node) -> tuple[str, ...]:
    """The outer values that the subgraphs of ``node`` read; its inputs may be among them."""
    names: list[str] = []
    inside: frozenset[str] = frozenset()
    stack = [(g, inside) for _, g in node.subgraphs]
    while stack:
        graph, outer = stack.pop()
        own = outer.union((p.name for p in graph.inputs), graph.initializers, graph.producers)
        for inner in graph.nodes:
            names += [n for n in inner.inputs if n and n not in own]
            stack += [(g, own) for _, g in inner.subgraphs]
        names += [p.name for p in graph.outputs if p.name not in own]
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True)
class Function:
    """A model-local function: its interface, and its body as a graph."""

    domain: str
    name: str
    graph: Graph
    overload: str = ""
    attributes: tuple[str, ...] = ()
    attribute_defaults: Mapping[str, Attribute] = field(default_factory=dict)
    opset_imports: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    """A model file that was read: graphs, functions, and what is to be said about the file.

    Attributes:
        path: the file as the user named it ("" for bytes).
        sha256: of the file's bytes (external data left out), hex.
        opset_imports: domain -> version; ONNX's own domain is "".
        functions: (domain, name, overload) -> function.
    """

    path: str
    sha256: str
    file_bytes: int
    graph: Graph
    ir_version: int = 0
    opset_imports: Mapping[str, int] = field(default_factory=dict)
    producer: str = ""
    functions: Mapping[tuple[str, str, str], Function] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    doc: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    def graphs(self) -> Iterator[Graph]:
        """Every graph: the main one, its subgraphs, the functions' bodies and their subgraphs."""
        stack = [f.graph for f in reversed(tuple(self.functions.values()))] + [self.graph]
        while stack:
            graph = stack.pop()
            yield graph
            for node in reversed(graph.nodes):
                stack += [g for _, g in reversed(node.subgraphs)]

    @cached_property
    def nodes(self) -> Mapping[NodeId, Node]:
        """Every node of every graph by identity."""
        return {node.id: node for graph in self.graphs() for node in graph.nodes}

    def opset(self, node: Node) -> int | None:
        """The opset version that governs ``node``: its function's import, or the model's."""
        imports = self.opset_imports
        head = node.id.graph[0] if node.id.graph else ""
        for function in self.functions.values():
            if function.graph.path[0] == head:
                imports = function.opset_imports or imports
        return imports.get(node.domain)

    def function_of(self, node: Node) -> Function | None:
        """The model-local function that ``node`` calls, if it calls one."""
        return self.functions.get((node.domain, node.op_type, node.overload))
