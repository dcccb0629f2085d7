"""A graph as ORT rewrote and saved it: found by node name and by value name."""

from __future__ import annotations

import re

from ..ir.model import Model, Node

_COPIES = frozenset(("MemcpyFromHost", "MemcpyToHost"))
_CAST = "InsertedPrecisionFreeCast_"
# How ORT calls the values of a branch or function whose nodes it has put into the graph around it.
_INLINED = re.compile(r"^(?:_if_(?:then|else)_branch(?:_token_\d+)?_|_inlfunc_.+?_(?:token_\d+_)?)")


class Rewritten:
    """A saved graph, with the copies and casts that ORT put in seen through.

    Value names are those of all graphs together; where one is defined in several, and the
    definitions differ, it is not known.

    Attributes:
        named: its nodes by name.
    """

    def __init__(self, model: Model) -> None:
        self.named = {node.name: node for graph in model.graphs() for node in graph.nodes}
        self._sources: dict[str, str] = {}
        self._producers: dict[str, Node | None] = {}
        self._constants: set[str] = set()
        for graph in model.graphs():
            self._constants |= set(graph.initializers)
            for node in graph.nodes:
                copied = node.op_type in _COPIES or node.name.startswith(_CAST)
                if copied and node.inputs and node.outputs:
                    self._sources[node.outputs[0]] = node.inputs[0]
                for name in filter(None, node.outputs):
                    self._define(name, node)
                    if (inner := _INLINED.sub("", name)) != name:
                        self._define(inner, node)

    def source(self, name: str) -> str:
        """The value that ``name`` is a copy of, or itself."""
        seen = set()
        while name in self._sources and name not in seen:
            seen.add(name)
            name = self._sources[name]
        return name

    def producer(self, name: str) -> Node | None:
        """The node that computes the value, copies and casts seen through; None if unknown."""
        node = self._producers.get(self.source(name))
        if node is not None and node.name.startswith(_CAST):
            return None
        return node

    def is_constant(self, name: str) -> bool:
        """Whether the value is an initializer."""
        return self.source(name) in self._constants

    def _define(self, name: str, node: Node) -> None:
        before = self._producers.setdefault(name, node)
        if before is not None and before is not node and before.op_type != node.op_type:
            self._producers[name] = None
