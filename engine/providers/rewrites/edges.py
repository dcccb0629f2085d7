"""Who makes and who reads each value, and the order in which ONNX Runtime visits the nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...ir.infer import infer_node
from ...ir.model import Graph, NodeId
from .left import Left
from .values import Value, Values, says_more


class Edges(Values):
    """The nodes that are left, and the edges between them.

    Attributes:
        inputs: the graph's inputs.
        ends: the graph's outputs.
    """

    def __init__(self, graph: Graph, outer: Mapping[str, Value] | None) -> None:
        super().__init__(graph, outer)
        self.inputs = frozenset(p.name for p in graph.inputs)
        self.ends = frozenset(p.name for p in graph.outputs)
        self._left: dict[int, Left] = {}
        self._makers: dict[str, int] = {}
        self._readers: dict[str, dict[int, None]] = {}
        self._count: Counter[str] = Counter()  # of each operator
        self._stale: set[int] = set()  # nodes of whose inputs more may be known than was used
        self._order: list[int] | None = None  # until an edge changes
        # ORT numbers nodes as the file has them, then as it adds them.
        self._keys = {node.id: key for key, node in enumerate(graph.nodes)}

    def __iter__(self) -> Iterator[Left]:
        """What is left, each after what it reads, in ORT's order.

        Which of equal nodes is kept depends on it: from the last node without readers back through
        what each reads, the newest first. Source: ``ReverseDFSFrom`` in
        onnxruntime/core/graph/graph.cc, called by ``GraphViewer``.
        """
        if self._order is None:
            self._order = self._sorted()
        for key in self._order:
            if (left := self._left.get(key)) is not None:
                yield left

    def _sorted(self) -> list[int]:
        leaves = (k for k, left in self._left.items() if not self._is_read(left))
        stack = [(key, False) for key in sorted(leaves)]
        seen: set[int] = set()
        found: list[int] = []
        while stack:
            key, leaving = stack.pop()
            if leaving:
                found.append(key)
            elif key not in seen:
                seen.add(key)
                stack.append((key, True))
                left = self._left[key]
                makers = {self._makers[n] for n in (*left.inputs, *left.reads) if n in self._makers}
                stack += [(maker, False) for maker in sorted(makers - seen)]
        # Nodes in a circle have no last one: no valid model has any.
        return found + [key for key in self._left if key not in seen]

    def _is_read(self, left: Left) -> bool:
        return any(i in self._left for n in left.outputs for i in self._readers.get(n, ()))

    def get(self, node_id: NodeId) -> Left | None:
        """The node, if it is still there."""
        return self._left.get(self._keys.get(node_id, -1))

    def has(self, *operators: str) -> bool:
        """Whether any node of these operators is left."""
        return any(self._count[op] for op in operators)

    def of(self, *operators: str) -> Iterator[Left]:
        """What is left of these operators."""
        wanted = frozenset(operators)
        if not self.has(*operators):
            return iter(())
        return (left for left in self if left.op in wanted)

    def maker(self, name: str) -> Left | None:
        """The node whose output ``name`` is."""
        key = self._makers.get(name)
        return None if key is None else self._left.get(key)

    def readers(self, name: str) -> list[Left]:
        """The nodes that read ``name``, their subgraphs included."""
        found = (self._left.get(i) for i in self._readers.get(name, ()))
        return [left for left in found if left is not None]

    def is_end(self, name: str) -> bool:
        """Whether ``name`` is an output of the graph."""
        return name in self.ends

    def only_reader(self, left: Left, output: int = 0) -> Left | None:
        """The one node that reads the one output of ``left``; None if there are more, or ends."""
        name = left.outputs[output]
        edges = [r for r in self._readers.get(name, ())]
        if self.is_end(name) or len(edges) != 1:
            return None
        reader = self._left.get(edges[0])
        if reader is None or reader.inputs.count(name) != 1 or name in reader.reads:
            return None
        return reader

    def used_outputs(self, left: Left) -> list[str]:
        """The outputs of ``left`` that anything reads."""
        return [o for o in left.outputs if o and (self._readers.get(o) or self.is_end(o))]

    def can_remove(self, left: Left) -> bool:
        """ORT's CanRemoveNode: one output in use, no end of the graph, one input to pass on."""
        used = self.used_outputs(left)
        if len(used) > 1 or any(self.is_end(o) for o in left.outputs if o):
            return False
        made = [n for n in left.inputs if n and self._makers.get(n) in self._left]
        present = [n for n in left.inputs if n]
        return len(made) == 1 or (not made and len(left.inputs) == 1 and bool(present))

    def set_constant(self, name: str, value: Value) -> None:
        """``name`` is an initializer from now on."""
        super().set_constant(name, value)
        self._stale.update(self._readers.get(name, ()))

    def infer(self, left: Left) -> None:
        """Ask ONNX's inference again for the outputs whose shape is not known yet."""
        if left.key not in self._stale:
            return
        self._stale.discard(left.key)
        if left.node.subgraphs or all(self.dims(n) is not None for n in left.outputs if n):
            return
        kinds = tuple(self.type(n) if n else None for n in left.inputs)
        if any(k is not None and k.dtype == "?" for k in kinds):
            return
        values = {}
        for index, name in enumerate(left.inputs):
            array = self.constant(name) if name else None
            if array is not None:
                values[index] = array
        use = replace(left.use, inputs=kinds)
        for name, found in zip(left.outputs, infer_node(use, values), strict=False):
            if name and found is not None and says_more(found, self.type(name)):
                self._types[name] = found
                self._stale.update(self._readers.get(name, ()))
                self.changed = True

    def _put(self, left: Left) -> None:
        self._order = None
        self._left[left.key] = left
        self._count[left.op] += 1
        self._stale.add(left.key)
        for name in left.outputs:
            if name:
                self._makers[name] = left.key
        for name in (*left.inputs, *left.reads):
            if name:
                self._readers.setdefault(name, {})[left.key] = None

    def _take(self, left: Left) -> None:
        self._order = None
        known = self._left.pop(left.key, None)
        if known is not None:
            left = known
            self._count[left.op] -= 1
        for name in left.outputs:
            if self._makers.get(name) == left.key:
                del self._makers[name]
        for name in (*left.inputs, *left.reads):
            self._readers.get(name, {}).pop(left.key, None)

    def redirect(self, old: str, new: str) -> None:
        """Who reads ``old`` reads ``new`` instead."""
        for reader in self.readers(old):
            self._take(reader)
            inputs = tuple(new if n == old else n for n in reader.inputs)
            reads = tuple(new if n == old else n for n in reader.reads)
            self._put(reader.but(inputs=inputs, reads=reads))

    def _rename_made(self, old: str, new: str) -> None:
        maker = self.maker(old)
        if maker is None:
            return
        self._take(maker)
        self._put(maker.but(outputs=tuple(new if n == old else n for n in maker.outputs)))
        self.redirect(old, new)
