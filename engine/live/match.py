"""ORT's answer about a copy of the model, back to the user's nodes. Pure: no ORT here.

Every node of the copy has a token of its own as its name, which ORT keeps, extends (``_token_1``,
``_inlfunc_F_``) or builds the names of rewritten nodes from. What no longer has a name is told by
values, in the graph as ORT had rewritten it just before it placed it: who produces the node's
output there, what its consumers read instead, which equal node was kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..ir.model import Graph, Model, Node, NodeId, subgraph_reads
from ..providers.support import Status
from .answer import LiveNode
from .assignments import Assigned, Assignments, numbers_in
from .equals import SHAPES, Equals
from .fates import dropped, folded, fused, into, together, unknown, was_dropped
from .kinds import (
    IDLE,
    MAY_BE_IDLE,
    MOVERS,
    NEUTRAL,
    QUANTIZERS,
    TAKES_LAYOUTS,
    is_idle,
)
from .opened import opened, owner_of, put_in_place, within
from .rewritten import Rewritten
from .transposes import Transposes


def match(
    model: Model, assigned: Iterable[Assigned], before: Model | None, after: Model | None
) -> dict[NodeId, LiveNode]:
    """Where each of the user's nodes runs.

    Args:
        model: the user's model; ORT was given it with its nodes called :func:`tokens`.
        assigned: what ORT says it assigned.
        before: the graph that it placed, rewritten by its first level of optimizations; None where
            it could not be had.
        after: the graph that it runs; None where it could not be had.
    """
    return _Matcher(model, assigned, before, after).nodes()


class _Matcher:
    def __init__(
        self,
        model: Model,
        assigned: Iterable[Assigned],
        before: Model | None,
        after: Model | None,
    ) -> None:
        self._model = model
        self._assigned = Assignments(model, assigned)
        self._same = self._assigned.same
        self._tokens = self._assigned.tokens
        self._before = Rewritten(before) if before is not None else None
        self._after = Rewritten(after) if after is not None else None
        self._equals = Equals(model)
        self._captured = {n for g in model.graphs() for o in g.nodes for n in subgraph_reads(o)}
        self._found: dict[NodeId, LiveNode] = {}
        self._transposes = Transposes(self._assigned, self._before, self._after)
        # Who reads the input of a dropped node now, so that no chain is walked once per node.
        self._behind: dict[NodeId, list[tuple[Node, int]]] = {}

    def _item(self, found: Node) -> Assigned | None:
        assert self._before is not None
        return self._assigned.of(found, self._before)

    def nodes(self) -> dict[NodeId, LiveNode]:
        """The verdict on every node, in the model's order."""
        for graph in self._model.graphs():
            # Consumers first: what became of them tells much of what they read.
            for node in reversed(graph.sorted_nodes):
                self._transposes.look_behind(graph, node)
                found = self._named(graph, node) or self._by_values(graph, node)
                if node.op == "Transpose" and found.status is Status.FOLDED:
                    found = self._transposes.fate(graph, node) or found
                self._found[node.id] = found
                if self._is_passed(node):
                    readers = self._readers(graph, node)
                    self._behind[node.id] = [r for r in readers if not self._is_passed(r[0])]
        return {node_id: self._found[node_id] for node_id in self._model.nodes}

    # -- by name -----------------------------------------------------------------------------------

    def _named(self, graph: Graph, node: Node) -> LiveNode | None:
        if node.id in self._same:
            if self._is_undone(graph, node):
                return dropped(": a Cast beside it undoes it")
            return together(self._same[node.id])
        if node.op == "Constant":
            return folded("made an initializer")
        if self._model.function_of(node) is not None:
            return folded("its function is put in its place")
        if (item := self._assigned.derived.get(node.id)) is not None:
            return fused(item)
        if self._after is not None and self._tokens[node.id] in self._after.named:
            # ORT 1.27 with its built-in WebGPU, layout NHWC: it records the CPU's nodes alone.
            return unknown("there, but this ORT recorded no provider for it")
        return None

    def _is_undone(self, graph: Graph, node: Node) -> bool:
        """Whether a Cast that was placed is gone in the end, while what reads it is there still."""
        if node.op != "Cast" or self._after is None or self._tokens[node.id] in self._after.named:
            return False
        readers = [r for name in filter(None, node.outputs) for r in graph.consumers.get(name, ())]
        return bool(readers) and all(
            self._tokens[reader.id] in self._after.named
            or (reader.op == "Cast" and self._found[reader.id].status is Status.FOLDED)
            for reader in readers
        )

    # -- by values ---------------------------------------------------------------------------------

    def _by_values(self, graph: Graph, node: Node) -> LiveNode:
        rewritten = self._before
        if rewritten is None:
            return unknown("ORT does not show the graph that it placed")
        if graph.path:
            fate = opened(self._model, graph, node, self._assigned, rewritten)
            if fate is None and (owner := owner_of(self._model, graph)) is not None:
                fate = within(owner, self._found[owner.id])
            if fate is not None:
                return fate
        if self._tokens[node.id] in rewritten.named:
            return self._gone_while_placing(graph, node)
        names = [name for name in node.outputs if name]
        if any(rewritten.is_constant(name) for name in names):
            return folded()
        for name in names:
            if (producer := rewritten.producer(name)) is not None:
                if rewritten.is_opened(producer) and not self._assigned.survivor(producer):
                    return put_in_place(node, producer, self._assigned, rewritten)
                return self._replaced(node, producer)
        return self._by_consumers(graph, node, rewritten)

    def _gone_while_placing(self, graph: Graph, node: Node) -> LiveNode:
        if node.op_type in MOVERS:
            return dropped(" by the layout transformation")
        gone = unknown("gone after the layout transformation")
        if self._after is None:
            return gone
        for name in filter(None, node.outputs):
            if self._after.is_constant(name):
                return folded("folded after the layout transformation")
        for reader, at in self._readers(graph, node):
            there = self._after.named.get(self._tokens[reader.id])
            if there is None or there.op_type != reader.op_type or at >= len(there.inputs):
                continue
            producer = self._after.producer(there.inputs[at])
            item = self._item(producer) if producer is not None else None
            if item is not None and item.op_type == node.op_type:
                return into(item, "put anew by the layout transformation")
        return gone

    def _replaced(self, node: Node, producer: Node) -> LiveNode:
        """Its output now comes from ``producer``, a node of another name."""
        assert self._before is not None
        item = self._item(producer)
        are_movers = node.op_type in MOVERS and producer.op_type in MOVERS
        if item is None and producer.name and are_movers:
            return dropped(" by the layout transformation")
        while item is None and producer.op_type in MOVERS and not numbers_in(producer.name):
            # ORT has moved a Transpose behind the node.
            before = self._before.producer(producer.inputs[0])
            if before is None or before is producer:
                break
            producer, item = before, self._item(before)
        survivor = self._assigned.survivor(producer)
        if survivor is None and (twin := self._twin(node)) is not None:
            return twin
        if survivor is None and node.op_type in MOVERS:
            is_orts = not numbers_in(producer.name) and producer.op_type == "Transpose"
            if producer.op_type in QUANTIZERS or (is_orts and node.op_type != "Transpose"):
                return dropped()
        if survivor is not None:
            if is_idle(node, survivor):
                return dropped()
            if survivor.id in self._same:
                item = self._same[survivor.id][0]
        if item is None:
            how = (
                f"its output is from '{producer.label}' ({producer.op}), whose provider is unclear"
            )
            return unknown(how)
        if survivor is not None and survivor.op == node.op:
            return into(item, f"one with its equal, '{survivor.label}'")
        if survivor is not None:
            return into(item, f"fused into '{survivor.label}' ({producer.op})")
        return fused(item)

    def _by_consumers(self, graph: Graph, node: Node, rewritten: Rewritten) -> LiveNode:
        """Its output is gone: what do the readers of it read instead?"""
        readers = self._readers(graph, node)
        ends = {port.name for port in graph.outputs}
        if not readers and ends.isdisjoint(node.outputs):
            captured = not self._captured.isdisjoint(node.outputs)
            return folded() if captured else dropped(": nobody reads it")
        if self._equals.is_arithmetic(node):
            return self._twin(node) or folded()
        for reader, at in readers:
            if (fate := self._by_reader(node, reader, at, rewritten)) is not None:
                return fate
        if (twin := self._twin(node)) is not None:
            return twin
        if (fate := self._as_its_readers(node, [r for r, _ in readers], rewritten)) is not None:
            return fate
        owner = owner_of(self._model, graph)
        if owner is not None and self._tokens[owner.id] not in rewritten.named:
            return folded(f"nothing of it is left where '{owner.label}' ({owner.op}) was opened")
        return unknown("gone, and its value with it")

    def _as_its_readers(
        self, node: Node, readers: Sequence[Node], rewritten: Rewritten
    ) -> LiveNode | None:
        """By what became of the readers, none of which tells what it reads instead."""
        fates = [self._found[reader.id] for reader in readers if reader.id in self._found]
        if node.op_type in IDLE and any(f.status is not Status.FOLDED for f in fates):
            return dropped()
        for reader in readers:
            for name in filter(None, reader.outputs):
                maker = rewritten.producer(name) if reader.op_type in MOVERS else None
                if maker is not None and maker.op == node.op and (item := self._item(maker)):
                    return into(item, "put anew")
        if fates and all(f.status is Status.FOLDED for f in fates):
            if all(reader.op_type in SHAPES for reader in readers):
                return dropped(": only its shape is read")
            return dropped() if node.op_type in MOVERS else folded()
        for fate in fates:
            if fate.status is Status.FUSED:
                is_no_part = node.op_type in MOVERS and not fate.how.endswith(TAKES_LAYOUTS)
                return dropped() if is_no_part else fate
        return None

    def _is_passed(self, node: Node) -> bool:
        """Whether it is a mover that ORT dropped: its readers read what it read."""
        fate = self._found.get(node.id)  # missing in a cycle alone
        return fate is not None and was_dropped(fate) and node.op_type in MOVERS

    def _readers(self, graph: Graph, node: Node) -> list[tuple[Node, int]]:
        """Who reads the node's outputs, and at which input; through readers that ORT dropped."""
        found: list[tuple[Node, int]] = []
        passed: dict[NodeId, None] = {}
        for name in filter(None, node.outputs):
            for reader in graph.consumers.get(name, ()):
                found += [(reader, at) for at, n in enumerate(reader.inputs) if n == name]
                if self._is_passed(reader):
                    passed[reader.id] = None
        for reader_id in passed:
            found += self._behind[reader_id]
        return found

    def _by_reader(
        self, node: Node, reader: Node, at: int, rewritten: Rewritten
    ) -> LiveNode | None:
        """By what ``reader``, where it has survived, reads at input ``at``."""
        there = rewritten.named.get(self._tokens[reader.id])
        if there is None or there.op_type != reader.op_type or at >= len(there.inputs):
            return None
        value = rewritten.source(there.inputs[at])
        if not value or rewritten.is_constant(value):
            return folded() if value else None
        producer = rewritten.producer(value)
        if value in map(rewritten.source, node.inputs):
            producer = None
        survivor = self._assigned.survivor(producer) if producer is not None else None
        if survivor is not None and survivor.op == node.op and survivor.id in self._same:
            return into(self._same[survivor.id][0], f"one with its equal, '{survivor.label}'")
        if producer is not None and survivor is None:
            is_definition = (node.op, producer.op) == ("CastLike", "Cast")
            if node.op_type in MOVERS and not is_definition:
                return dropped()
            item = self._item(producer)
            return fused(item) if item is not None else None
        # It reads what came before the node.
        if node.op_type in NEUTRAL or (node.op_type in MAY_BE_IDLE and node.op_type != "Pad"):
            return dropped()
        taker = self._same.get(reader.id)
        return into(taker[0], f"fused into '{reader.label}' ({reader.op})") if taker else None

    def _twin(self, node: Node) -> LiveNode | None:
        """Of equal nodes ORT keeps one."""
        kept = [o for o in self._equals.of(node) if o.id in self._same and o.id != node.id]
        providers = {self._same[o.id][0].provider for o in kept}
        if len(providers) != 1:
            return None
        return into(self._same[kept[0].id][0], f"one with its equal, '{kept[0].label}'")
