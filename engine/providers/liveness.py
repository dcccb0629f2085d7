"""GPU memory that a placed model needs at least: weights, and the values that live at one time.

A value lives from the node that makes it until the last that reads it, in the order in which nodes
run (as the file has them, sorted where that order is wrong). What is read on the GPU and made
elsewhere has a copy there from its first GPU reader to its last. A node that only changes the shape
keeps its input's memory. Where ONNX Runtime computes in place, or fuses nodes, it needs less; what
its allocator keeps for later, rounds up or uses as scratch memory comes on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.model import Graph, GraphPath, Model, Node, NodeId, TensorType
from .borders import value_bytes
from .flow import PASSED_ON, Flow, Value, callees_first
from .support import Status, Support
from .uses import Types

VIEWS = frozenset(("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"))
"""Operators whose output is in their input's memory, with another shape."""


@dataclass(frozen=True, slots=True)
class GpuMemory:
    """Bytes on the GPU.

    Attributes:
        weights: of constants that GPU nodes read.
        values: of other tensors, where most live at one time.
        peak: the node at which that is; None where there is no such tensor.
        unknown: GPU values whose size is not known; they count as nothing.
    """

    weights: int = 0
    values: int = 0
    peak: NodeId | None = None
    unknown: int = 0

    @property
    def total(self) -> int:
        """Weights and values."""
        return self.weights + self.values


def gpu_memory(
    model: Model, flow: Flow, types: Types, verdicts: Mapping[NodeId, Support]
) -> GpuMemory:
    """What ``model`` needs on the GPU of the target that ``flow`` and ``verdicts`` are of."""
    walk = _Walk(model, flow, types, verdicts)
    for function in callees_first(model):
        walk.needs[function.graph.path] = walk.inner(function.graph)
    values, peak = walk.inner(model.graph)
    return GpuMemory(walk.weights(), values, peak, len(walk.unknown))


class _Walk:
    def __init__(
        self, model: Model, flow: Flow, types: Types, verdicts: Mapping[NodeId, Support]
    ) -> None:
        self._model = model
        self._flow = flow
        self._types = types
        self._verdicts = verdicts
        self._graphs = {graph.path: graph for graph in model.graphs()}
        self._bodies = {function.graph.path for function in model.functions.values()}
        self.unknown: set[Value] = set()
        self.needs: dict[GraphPath, tuple[int, NodeId | None]] = {}
        # Value -> the nodes of its own graph that read it on the GPU, and those that read it at
        # all; a subgraph's reader counts as the node that the subgraph belongs to.
        self._gpu_reads: dict[Value, list[NodeId]] = {}
        self._reads: dict[Value, list[NodeId]] = {}
        for (value, on_gpu), readers in flow.readers.items():
            owners = [_owner(reader, value[0]) for reader in readers]
            self._reads.setdefault(value, []).extend(owners)
            if on_gpu:
                self._gpu_reads.setdefault(value, []).extend(owners)

    def weights(self) -> int:
        """Bytes of the constants that GPU nodes read, each once."""
        found: dict[Value, int] = {}
        for graph in self._model.graphs():
            for node in graph.nodes:
                if self._flow.side(node) is not True:
                    continue
                for name in node.inputs:
                    value = self._constant(graph, name)
                    if value is not None and value not in found:
                        found[value] = self._size(value)
        return sum(found.values())

    def inner(self, graph: Graph) -> tuple[int, NodeId | None]:
        """The most bytes that live at one time within ``graph``, and at which node."""
        order = {node.id: place for place, node in enumerate(graph.sorted_nodes)}
        changes = [0] * (len(order) + 2)
        for value, (first, last) in self._spans(graph, order).items():
            size = self._size(value)
            changes[first] += size
            changes[last + 1] -= size
        most, at, now = 0, None, 0
        for node, place in order.items():
            now += changes[place]
            within, where = self._within(self._model.nodes[node])
            if now + within > most:
                most, at = now + within, where or node
        return most, at

    def _within(self, node: Node) -> tuple[int, NodeId | None]:
        """What a call or a node with subgraphs needs inside while it runs."""
        function = self._model.function_of(node)
        if function is not None:
            return self.needs.get(function.graph.path, (0, None))
        found = [self.inner(graph) for _, graph in node.subgraphs]
        return max(found, key=lambda f: f[0], default=(0, None))

    def _spans(self, graph: Graph, order: Mapping[NodeId, int]) -> dict[Value, tuple[int, int]]:
        """First and last place of each value of ``graph`` that is in GPU memory."""
        end = len(order) - 1
        ends = {port.name for port in graph.outputs}
        spans: dict[Value, tuple[int, int]] = {}
        names = [port.name for port in graph.inputs] if not graph.path else []
        for name in (*names, *(n for node in graph.sorted_nodes for n in node.outputs if n)):
            value = (graph.path, name)
            made_on_gpu = True in self._flow.made.get(value, ())
            on_gpu = self._gpu_reads.get(value, [])
            if not made_on_gpu and not on_gpu:
                continue
            readers = self._reads.get(value, []) if made_on_gpu else on_gpu
            places = [order[reader] for reader in readers if reader in order]
            if made_on_gpu:
                maker = self._flow.producer[value]
                places.append(order.get(maker, 0))
                if name in ends:
                    places.append(end)
            if not made_on_gpu and name in names:
                places.append(0)  # an input is copied before the run
            if places:
                spans[value] = (min(places), max(places))
        return self._without_views(graph, spans)

    def _without_views(
        self, graph: Graph, spans: dict[Value, tuple[int, int]]
    ) -> dict[Value, tuple[int, int]]:
        """A view's memory is its source's, which lives as long as either."""
        for node in reversed(graph.sorted_nodes):
            verdict = self._verdicts.get(node.id)
            if node.op not in VIEWS or verdict is None or verdict.status is not Status.GPU:
                continue
            value = (graph.path, node.outputs[0]) if node.outputs else (graph.path, "")
            source = (graph.path, node.inputs[0]) if node.inputs else (graph.path, "")
            if value in spans and source in spans:
                first, last = spans[source]
                spans[source] = (first, max(last, spans.pop(value)[1]))
        return spans

    def _size(self, value: Value) -> int:
        size = value_bytes(self._types.get(value) or self._stored(value))
        if size is None:
            self.unknown.add(value)
        return size or 0

    def _stored(self, value: Value) -> TensorType | None:
        weight = self._graphs[value[0]].initializers.get(value[1])
        return None if weight is None else weight.type

    def _constant(self, graph: Graph, name: str) -> Value | None:
        """Where a constant that ``name`` stands for in ``graph`` is defined; None if it is none.

        The result of a node that is folded is a constant, too.
        """
        path = graph.path
        while name:
            where = self._graphs[path]
            producer = where.producers.get(name)
            if producer is not None:
                return (path, name) if self._is_folded(producer) else None
            if name in where.initializers:
                return (path, name)
            if not path or path in self._bodies or any(p.name == name for p in where.inputs):
                return None
            path = path[:-1]
        return None

    def _is_folded(self, node: Node) -> bool:
        verdict = self._verdicts.get(node.id)
        if verdict is None or verdict.status is not Status.FOLDED or node.subgraphs:
            return False
        return self._model.function_of(node) is None and verdict.data.get("step") not in PASSED_ON


def _owner(reader: NodeId, path: GraphPath) -> NodeId:
    """The node of the graph ``path`` that ``reader`` is, or is within."""
    if len(reader.graph) <= len(path):
        return reader
    return NodeId(path, int(reader.graph[len(path)].partition(".")[0]))
