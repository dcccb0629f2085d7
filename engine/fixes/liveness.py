"""Which nodes and initializers anything still reads, graph by graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.model import Graph, Model, NodeId, ValueId


@dataclass(frozen=True)
class Dead:
    """What nobody reads.

    Attributes:
        nodes: those of which no output is read.
        weights: initializers.
    """

    nodes: frozenset[NodeId]
    weights: frozenset[ValueId]


def dead(
    model: Model,
    kept: frozenset[str] = frozenset(),
    gone: frozenset[NodeId] = frozenset(),
    renamed: Mapping[ValueId, str] | None = None,
) -> Dead:
    """What nobody reads in any graph or function.

    Args:
        model: the model.
        kept: values of the main graph that count as read.
        gone: nodes that count as taken out.
        renamed: values that their readers take from elsewhere: the name that they read instead.
    """
    work = _Liveness(gone, renamed or {})
    work.graph(model.graph, kept)
    for function in model.functions.values():
        work.graph(function.graph, frozenset())
    return Dead(frozenset(work.nodes), frozenset(work.weights))


class _Liveness:
    def __init__(self, gone: frozenset[NodeId], renamed: Mapping[ValueId, str]) -> None:
        self._gone, self._renamed = gone, renamed
        self.nodes: set[NodeId] = set()
        self.weights: set[ValueId] = set()

    def graph(self, graph: Graph, kept: frozenset[str]) -> set[str]:
        """Look through a graph; gives the names that it reads from outside.

        Recursion is as deep as subgraphs nest, which protobuf bounds.
        """
        needed = {port.name for port in graph.outputs} | kept
        stack = list(needed)
        seen: set[NodeId] = set()
        while stack:
            node = graph.producers.get(stack.pop())
            if node is None or node.id in seen or node.id in self._gone:
                continue
            seen.add(node.id)
            reads = {self._renamed.get((graph.path, n), n) for n in node.inputs if n}
            for _, inner in node.subgraphs:
                reads |= self.graph(inner, frozenset())
            stack += reads - needed
            needed |= reads
        self.nodes |= {n.id for n in graph.nodes} - seen - self._gone
        self.weights |= {(graph.path, name) for name in graph.initializers if name not in needed}
        own = {p.name for p in graph.inputs} | set(graph.initializers) | set(graph.producers)
        return needed - own
