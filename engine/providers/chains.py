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
from dataclasses import dataclass, field

from ..ir.model import GraphPath, Model, NodeId
from .borders import Crossing
from .flow import Flow, callees_first


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


# A value on its way from node to node, as their places in the model, and whether it leaves GPU
# memory there.
_Edge = tuple[int, int, bool]


class _Sets:
    """Nodes that belong together (union-find with halving of paths)."""

    def __init__(self, count: int) -> None:
        self._parent = list(range(count))

    def find(self, node: int) -> int:
        parent = self._parent
        while parent[node] != node:
            parent[node] = node = parent[parent[node]]
        return node

    def join(self, a: int, b: int) -> None:
        self._parent[self.find(a)] = self.find(b)


@dataclass(frozen=True)
class _Around:
    """The neighbours of islands, each by the number that stands for it.

    Attributes:
        before: island -> the regions that it reads from.
        after: island -> the regions that it lifts.
        feeders: region -> the islands that lift it.
    """

    before: dict[int, set[int]] = field(default_factory=dict)
    after: dict[int, set[int]] = field(default_factory=dict)
    feeders: dict[int, set[int]] = field(default_factory=dict)


class _Chains:
    """Stages, regions and islands. Nodes go by their place in the model, which is quick."""

    def __init__(self, model: Model, flow: Flow) -> None:
        self._nodes = tuple(model.nodes)
        places = {node: place for place, node in enumerate(self._nodes)}
        by_node = _gpu_sizes(model, flow)
        self._sizes = [by_node[node] for node in self._nodes]  # 0 on the host
        self._edges = tuple(_edges(flow, places))
        self._waits = [0] * len(self._nodes)  # the stage of each node
        self._trip = [False] * len(self._nodes)  # host nodes that hold something of the GPU's
        self._walk()

    def lifts(self, edge: _Edge) -> bool:
        """True where the edge ends a trip: its target waits once more than its source."""
        source, target, down = edge
        if not self._sizes[target]:
            return False
        return down if self._sizes[source] else self._trip[source]

    def _walk(self) -> None:
        """Stages, in an order in which each node follows those that it reads from."""
        outgoing: list[list[_Edge]] = [[] for _ in self._nodes]
        missing = [0] * len(self._nodes)
        for edge in self._edges:
            outgoing[edge[0]].append(edge)
            missing[edge[1]] += 1
        ready = deque(place for place, count in enumerate(missing) if not count)
        while ready:  # the nodes of a cycle are never ready; the reader reports them
            source = ready.popleft()
            for edge in outgoing[source]:
                _, target, down = edge
                if not self._sizes[target] and (down or self._trip[source]):
                    self._trip[target] = True
                stage = self._waits[source] + self.lifts(edge)
                self._waits[target] = max(self._waits[target], stage)
                missing[target] -= 1
                if not missing[target]:
                    ready.append(target)

    def splits(self, crossings: tuple[Crossing, ...]) -> Iterator[Split]:
        regions, islands = self._connected()
        around = self._around(regions, islands)
        sizes = self._region_sizes(regions)
        members: dict[int, list[NodeId]] = {}
        for place, node in enumerate(self._nodes):
            if not self._sizes[place]:
                members.setdefault(islands.find(place), []).append(node)
        copied = _copies_of(crossings)
        for island, fed in around.after.items():
            read = around.before.get(island)
            if not read:
                continue
            in_kernel = self._sizes[island] > 0
            nodes = (self._nodes[island],) if in_kernel else tuple(members[island])
            found = {id(c): c for node in nodes for c in copied.get(node, ())}.values()
            yield Split(
                nodes,
                in_kernel,
                sum(sizes[region] for region in read),
                sum(sizes[region] for region in fed),
                all(around.feeders[region] == {island} for region in fed),
                len(found),
                sum(c.size_bytes or 0 for c in found),
                sum(c.size_bytes is None for c in found),
            )

    def _around(self, regions: _Sets, islands: _Sets) -> _Around:
        """Which regions each island reads from and lifts."""
        found = _Around()
        for edge in self._edges:
            source, target, down = edge
            waits = self._waits[target] - self._waits[source]
            if self._sizes[source] and not self._sizes[target]:
                if down and waits == 0:
                    found.before.setdefault(islands.find(target), set()).add(regions.find(source))
            elif waits == 1 and self.lifts(edge):
                island = target if self._sizes[source] else islands.find(source)
                if self._sizes[source]:  # the target's kernel wants the value in host memory
                    found.before.setdefault(island, set()).add(regions.find(source))
                region = regions.find(target)
                found.after.setdefault(island, set()).add(region)
                found.feeders.setdefault(region, set()).add(island)
        return found

    def _connected(self) -> tuple[_Sets, _Sets]:
        regions, islands = _Sets(len(self._nodes)), _Sets(len(self._nodes))
        for source, target, _ in self._edges:
            if self._waits[source] != self._waits[target]:
                continue
            if self._sizes[source] and self._sizes[target]:
                regions.join(source, target)  # of one stage, so there is no trip
            elif not self._sizes[source] and not self._sizes[target]:
                islands.join(source, target)
        return regions, islands

    def _region_sizes(self, regions: _Sets) -> Mapping[int, int]:
        sizes: dict[int, int] = {}
        for place, size in enumerate(self._sizes):
            if size:
                root = regions.find(place)
                sizes[root] = sizes.get(root, 0) + size
        return sizes


def _edges(flow: Flow, places: Mapping[NodeId, int]) -> Iterator[_Edge]:
    """One edge per value and reader."""
    for (value, read_on_gpu), readers in flow.readers.items():
        producer = flow.producer.get(value)
        if producer is None:  # an argument of a function's body
            continue
        down = True in flow.made[value] and not read_on_gpu
        for reader in dict.fromkeys(readers):
            if reader != producer:
                yield places[producer], places[reader], down


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
