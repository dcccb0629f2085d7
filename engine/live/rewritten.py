"""A graph as ORT rewrote and saved it: found by node name and by value name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property

from ..ir.model import Model, Node, NodeId
from .equals import SHAPES

_COPIES = frozenset(("MemcpyFromHost", "MemcpyToHost"))
_COPY_OF = re.compile(r"(?:_token_\d+)+$")
_ORTS_TRANSPOSE = re.compile(r"Transpose(?:_token_\d+)*")
NHWC = "com.ms.internal.nhwc"
_CAST = "InsertedPrecisionFreeCast_"
# How ORT calls the values of a branch or function whose nodes it has put into the graph around it.
_OPENED = ("_if_then_branch", "_if_else_branch", "_inlfunc_")


def is_orts_transpose(node: Node) -> bool:
    """Whether the node is a Transpose that ORT has put in, not one of the user's."""
    return node.op_type == "Transpose" and bool(_ORTS_TRANSPOSE.fullmatch(node.name))


class Rewritten:
    """A saved graph, with the copies and casts that ORT put in seen through.

    Value names are those of all graphs together; where one is defined in several, and the
    definitions differ, it is not known.

    Attributes:
        named: its nodes by name, without what ORT adds to the name of a node that it copies.
    """

    def __init__(self, model: Model) -> None:
        self._graphs = tuple(model.graphs())
        every = [node for graph in model.graphs() for node in graph.nodes]
        self.named = {_COPY_OF.sub("", node.name): node for node in every}
        self._sources: dict[str, str] = {}
        self._producers: dict[str, Node | None] = {}
        self._constants: set[str] = set()
        self._opened: dict[str, list[Node]] = {}
        self._opened_constants: set[str] = set()
        self._makers = {name: node for node in every for name in node.outputs if name}
        self._readers: dict[str, list[tuple[Node, int]]] = {}
        for node in every:
            for at, name in enumerate(node.inputs):
                self._readers.setdefault(name, []).append((node, at))
        for graph in model.graphs():
            self._constants |= set(graph.initializers)
            self._opened_constants.update(*map(_inner_names, graph.initializers))
            for node in graph.nodes:
                copied = node.op_type in _COPIES or node.name.startswith(_CAST)
                if copied and node.inputs and node.outputs:
                    self._sources[node.outputs[0]] = node.inputs[0]
                for name in filter(None, node.outputs):
                    self._define(name, node)
                    for inner in _inner_names(name):
                        self._opened.setdefault(inner, []).append(node)
        for name, node in tuple(self._makers.items()):
            # Where the Casts around it are gone again, a float32 value stands for the float16 one.
            plain = name.removeprefix(_CAST)
            if name not in (plain, node.name) and plain not in self._sources:
                self._sources[name] = plain
                self._define(plain, node)

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

    def opened(self, name: str) -> list[Node]:
        """The nodes that compute a branch's or function's value ``name``, put where it was used."""
        return self._opened.get(name, [])

    def is_opened(self, node: Node) -> bool:
        """Whether the node comes from a branch, or from an operator's or a function's body."""
        return any(name.startswith(_OPENED) for name in (*node.outputs, *node.inputs, node.name))

    def is_opened_constant(self, name: str) -> bool:
        """Whether a branch's or function's value has become an initializer."""
        return name in self._opened_constants

    def is_constant(self, name: str) -> bool:
        """Whether the value is an initializer."""
        return self.source(name) in self._constants

    def next_transpose(self, starts: Iterable[Node]) -> Node | None:
        """The first Transpose of ORT's own that values of ``starts`` go through, if any.

        The search ends at nodes that read another layout, since what lies behind belongs to them,
        and at shapes.
        """
        found = (self._transposes.get(start.id) for start in starts)
        return next((node for node in found if node is not None), None)

    @cached_property
    def _transposes(self) -> dict[NodeId, Node | None]:
        behind: dict[NodeId, Node | None] = {}
        for graph in self._graphs:
            for node in reversed(graph.sorted_nodes):
                readers = [r for n in node.outputs for r, _ in self._readers.get(n, ())]
                ends = node.domain == NHWC or node.op in SHAPES
                if ends or any(reader.domain == NHWC for reader in readers):
                    behind[node.id] = None
                elif is_orts_transpose(node):
                    behind[node.id] = node
                else:
                    nexts = (behind.get(reader.id) for reader in readers)
                    behind[node.id] = next((n for n in nexts if n is not None), None)
        return behind

    def is_on_cpu(self, node: Node, placed: Callable[[Node], bool | None]) -> bool | None:
        """Whether a node is on the CPU, by the copies around it; None if they do not tell.

        Args:
            node: one of the graph.
            placed: whether a neighbour is on the CPU, where that is known.
        """
        for name in node.outputs:
            for reader, at in self._readers.get(name, ()):
                if reader.id.graph != node.id.graph:  # copies for a subgraph are made inside it
                    continue
                if reader.op_type in _COPIES:
                    return reader.op_type == "MemcpyFromHost"
                # Beyond input 0 a GPU's kernel may want sizes and axes in host memory.
                if at == 0 and (found := placed(reader)) is not None:
                    return found
        for name in node.inputs:
            maker = self._makers.get(name)
            if maker is None or maker.id.graph != node.id.graph:
                continue
            if maker.op_type in _COPIES:
                return maker.op_type == "MemcpyToHost"
            if maker.op_type not in SHAPES and (found := placed(maker)) is not None:
                return found
        return None

    def _define(self, name: str, node: Node) -> None:
        before = self._producers.setdefault(name, node)
        if before is not None and before is not node and before.op_type != node.op_type:
            self._producers[name] = None


def _inner_names(name: str) -> list[str]:
    """What a value may have been called within the branch or function that ORT opened."""
    if not name.startswith(_OPENED):
        return []
    return [name[at + 1 :] for at, letter in enumerate(name) if letter == "_"]
