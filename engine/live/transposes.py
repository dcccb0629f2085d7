"""The user's Transposes that ORT moved behind their readers, or made one with its own."""

from __future__ import annotations

from ..ir.model import Graph, Node, NodeId
from .answer import LiveNode
from .assignments import Assigned, Assignments
from .equals import SHAPES
from .fates import run_by
from .rewritten import Rewritten, is_orts_transpose


class Transposes:
    """Which Transposes of ORT's own lie behind which of the user's nodes."""

    def __init__(
        self, assigned: Assignments, before: Rewritten | None, after: Rewritten | None
    ) -> None:
        self._assigned = assigned
        self._before = before
        self._after = after
        self._behind: dict[NodeId, Node | None] = {}  # so that no chain is walked once per node

    def look_behind(self, graph: Graph, node: Node) -> None:
        """Note what lies behind ``node``; to be called of its readers first."""
        self._behind[node.id] = self._next(graph, node) if self._after is not None else None

    def fate(self, graph: Graph, node: Node) -> LiveNode | None:
        """What became of a Transpose that is no more under its own name; None if none took over."""
        if (item := self._one_with(graph, node)) is not None:
            return run_by(item, "one with a Transpose of ORT's own")
        if (item := self._item(self._behind[node.id])) is not None:
            return run_by(item, "moved behind its readers")
        return None

    def _next(self, graph: Graph, node: Node) -> Node | None:
        """The first Transpose of ORT's own behind ``node``, in the graph that it runs."""
        assert self._after is not None
        for reader in _readers(graph, node):
            if reader.op in SHAPES:
                continue  # no Transpose moves along numbers
            there = self._after.named.get(self._assigned.tokens[reader.id])
            found = self._behind.get(reader.id)
            if there is not None:
                found = self._after.next_transpose([there])
            if found is not None:
                return found
        return None

    def _one_with(self, graph: Graph, node: Node) -> Assigned | None:
        """ORT's own Transpose that has the input of ``node``, and its readers."""
        if self._after is None:
            return None
        source = self._after.source
        for reader in _readers(graph, node):
            there = self._after.named.get(self._assigned.tokens[reader.id])
            for value in there.inputs if there is not None else ():
                maker = self._after.producer(value)
                if maker is None or not is_orts_transpose(maker):
                    continue
                item = self._item(maker)
                if item is not None and source(maker.inputs[0]) == source(node.inputs[0]):
                    return item
        return None

    def _item(self, found: Node | None) -> Assigned | None:
        if found is None or self._before is None:
            return None
        return self._assigned.of(found, self._before)


def _readers(graph: Graph, node: Node) -> list[Node]:
    return [r for name in filter(None, node.outputs) for r in graph.consumers.get(name, ())]
