"""Chains of GPU nodes that the host breaks: which host nodes, and how many GPU nodes wait for them.

The definition, exactly:

- A value makes a *trip* where it leaves GPU memory, is worked on by the host, and a result of that
  goes back to GPU memory.
- The *stage* of a node is the largest number of trips on a way that ends at it. A GPU node of stage
  2 waits for the host twice in a run.
- A *region* is a set of GPU nodes of one stage that values connect without a trip. No GPU node of a
  region waits for the host once another of it has run.
- An *island* is a set of host nodes of one stage that values connect. A GPU node whose kernel wants
  a value in host memory that the GPU has made is one by itself.
- An island *splits* the GPU nodes of the regions of its own stage that it reads from those of the
  regions of the next stage that it feeds. It does so *alone* where no other island lifts these to
  their stage: with its work on the GPU they would be one region.

A call of a local function counts as one step, of as many GPU nodes as its body has; the body is
looked at by itself. All of it takes time in proportion to the nodes and the values they read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ..ir.model import GraphPath, Model, NodeId
from .borders import Crossing, Flow, callees_first


@dataclass(frozen=True, slots=True)
class Split:
    """An island of host work between GPU nodes.

    Attributes:
        nodes: the host nodes in the model's order; the one GPU node where its kernel wants a value
            in host memory that the GPU has made.
        in_kernel: it is that GPU node.
        before: GPU nodes in the regions that it reads from.
        after: GPU nodes in the regions that wait for it.
        alone: on the GPU, its work would make one region of them.
        copies: values that it has copied, down and up.
        copied_bytes: of those of known size.
        unknown: copies whose size is not known.
    """

    nodes: tuple[NodeId, ...]
    in_kernel: bool
    before: int
    after: int
    alone: bool
    copies: int
    copied_bytes: int
    unknown: int


def splits(model: Model, flow: Flow, crossings: Iterable[Crossing] = ()) -> tuple[Split, ...]:
    """Every island that splits GPU nodes, those that part the most first.

    Args:
        model: the model.
        flow: of one target (``borders.model_flow``).
        crossings: its copies, for the bytes.
    """
    found = _Chains(model, flow).splits(tuple(crossings))
    return tuple(sorted(found, key=lambda s: -min(s.before, s.after)))


@dataclass(frozen=True, slots=True)
class _Edge:
    """A value on its way: ``down`` where it leaves GPU memory, ``up`` where it goes there."""

    source: NodeId
    target: NodeId
    down: bool
    up: bool


class _Sets:
    """Nodes that belong together (union-find with halving of paths)."""

    def __init__(self, nodes: Iterable[NodeId]) -> None:
        self._parent = {node: node for node in nodes}

    def find(self, node: NodeId) -> NodeId:
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def join(self, a: NodeId, b: NodeId) -> None:
        self._parent[self.find(a)] = self.find(b)


class _Chains:
    def __init__(self, model: Model, flow: Flow) -> None:
        order = {node: place for place, node in enumerate(model.nodes)}
        self._order = order
        self._sizes = _gpu_sizes(model, flow)
        self._edges = tuple(_edges(flow))
        self._waits: dict[NodeId, int] = {}  # the stage of each node
        self._trip: set[NodeId] = set()  # host nodes that hold something of the GPU's
        self._walk()

    def on_gpu(self, node: NodeId) -> bool:
        return self._sizes.get(node, 0) > 0

    def lifts(self, edge: _Edge) -> bool:
        """True where the edge ends a trip: its target waits once more than its source."""
        if not self.on_gpu(edge.target):
            return False
        if self.on_gpu(edge.source):
            return edge.down or (edge.up and edge.source in self._trip)
        return edge.source in self._trip

    def _walk(self) -> None:
        """Stages, in an order in which each node follows those that it reads from."""
        outgoing: dict[NodeId, list[_Edge]] = {}
        missing = dict.fromkeys(self._order, 0)
        for edge in self._edges:
            outgoing.setdefault(edge.source, []).append(edge)
            missing[edge.target] += 1
        ready = deque(node for node, count in missing.items() if not count)
        self._waits = dict.fromkeys(self._order, 0)
        while ready:  # the nodes of a cycle are never ready; the reader reports them
            node = ready.popleft()
            for edge in outgoing.get(node, ()):
                if not self.on_gpu(edge.target) and (edge.down or node in self._trip):
                    self._trip.add(edge.target)
                stage = self._waits[node] + self.lifts(edge)
                self._waits[edge.target] = max(self._waits[edge.target], stage)
                missing[edge.target] -= 1
                if not missing[edge.target]:
                    ready.append(edge.target)

    def splits(self, crossings: tuple[Crossing, ...]) -> Iterator[Split]:
        regions, islands = self._connected()
        before: dict[NodeId, set[NodeId]] = {}  # island -> the regions that it reads from
        after: dict[NodeId, set[NodeId]] = {}
        feeders: dict[NodeId, set[NodeId]] = {}  # region -> the islands that lift it
        for edge in self._edges:
            source, target = edge.source, edge.target
            waits = self._waits[target] - self._waits[source]
            if self.on_gpu(source) and not self.on_gpu(target):
                if edge.down and waits == 0:
                    before.setdefault(islands.find(target), set()).add(regions.find(source))
            elif self.lifts(edge) and waits == 1:
                if self.on_gpu(source):  # the target's kernel wants the value in host memory
                    island = target
                    before.setdefault(island, set()).add(regions.find(source))
                else:
                    island = islands.find(source)
                region = regions.find(target)
                after.setdefault(island, set()).add(region)
                feeders.setdefault(region, set()).add(island)
        sizes = self._region_sizes(regions)
        members: dict[NodeId, list[NodeId]] = {}
        for node in self._order:
            if not self.on_gpu(node):
                members.setdefault(islands.find(node), []).append(node)
        copied = _copies_of(crossings)
        for island, fed in after.items():
            read = before.get(island, set())
            if not read:
                continue
            in_kernel = self.on_gpu(island)
            nodes = (island,) if in_kernel else tuple(members[island])
            found = {id(c): c for node in nodes for c in copied.get(node, ())}.values()
            yield Split(
                nodes,
                in_kernel,
                sum(sizes[region] for region in read),
                sum(sizes[region] for region in fed),
                all(feeders[region] == {island} for region in fed),
                len(found),
                sum(c.size_bytes or 0 for c in found),
                sum(c.size_bytes is None for c in found),
            )

    def _connected(self) -> tuple[_Sets, _Sets]:
        regions, islands = _Sets(self._order), _Sets(self._order)
        for edge in self._edges:
            if self._waits[edge.source] != self._waits[edge.target]:
                continue
            if self.on_gpu(edge.source) and self.on_gpu(edge.target):
                regions.join(edge.source, edge.target)  # of one stage, so there is no trip
            elif not self.on_gpu(edge.source) and not self.on_gpu(edge.target):
                islands.join(edge.source, edge.target)
        return regions, islands

    def _region_sizes(self, regions: _Sets) -> Mapping[NodeId, int]:
        sizes: dict[NodeId, int] = {}
        for node, size in self._sizes.items():
            if size:
                root = regions.find(node)
                sizes[root] = sizes.get(root, 0) + size
        return sizes


def _edges(flow: Flow) -> Iterator[_Edge]:
    """One edge per value and reader."""
    for (value, read_on_gpu), readers in flow.readers.items():
        source = flow.producer.get(value)
        if source is None:  # an argument of a function's body
            continue
        made_on_gpu = True in flow.made[value]
        for target in dict.fromkeys(readers):
            if target != source:
                down, up = made_on_gpu and not read_on_gpu, read_on_gpu and not made_on_gpu
                yield _Edge(source, target, down, up)


def _gpu_sizes(model: Model, flow: Flow) -> Mapping[NodeId, int]:
    """GPU nodes that each node stands for: 1 or 0, of a call those of its body."""
    bodies: dict[GraphPath, int] = {}
    sizes: dict[NodeId, int] = {}
    heads = {function.graph.path[0] for function in model.functions.values()}
    within: dict[str, list[NodeId]] = {}
    for node in model.nodes:
        if node.graph and node.graph[0] in heads:
            within.setdefault(node.graph[0], []).append(node)

    def size(node_id: NodeId) -> int:
        node = model.nodes[node_id]
        function = model.function_of(node)
        if function is not None:
            return bodies.get(function.graph.path, 0)
        return int(flow.side(node) is True)

    for function in callees_first(model):
        nodes = within.get(function.graph.path[0], [])
        sizes.update((node, size(node)) for node in nodes)
        bodies[function.graph.path] = sum(sizes[node] for node in nodes)
    sizes.update((node, size(node)) for node in model.nodes if node not in sizes)
    return sizes


def _copies_of(crossings: tuple[Crossing, ...]) -> Mapping[NodeId, list[Crossing]]:
    """Node -> the copies that it causes: of what it reads down, of what it makes up."""
    found: dict[NodeId, list[Crossing]] = {}
    for crossing in crossings:
        for node in (crossing.producer,) if crossing.to_gpu else crossing.readers:
            found.setdefault(node, []).append(crossing)
    return found
