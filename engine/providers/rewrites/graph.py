"""One graph of the user's as ONNX Runtime rewrites it: what is left, and where the rest went.

The rules of this package edit it the way ORT's optimizers edit their graph. Nothing is computed but
small constants; a node that ORT makes anew (a Gemm of a MatMul and an Add) stands under the id of
the user's node whose output it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...ir.model import Graph, GraphPath, Node, NodeId, subgraph_reads
from ...ir.schema import schema
from ...ops.use import OpUse
from ..support import Reason, Status, Support
from .edges import Edges
from .left import Left, left_of
from .values import Value

ONNX = ("", "ai.onnx")
MADE = "made by ORT"
"""The graph path of the nodes that ORT adds: none of the user's."""


class Work(Edges):
    """The graph while it is rewritten.

    Attributes:
        verdicts: of the user's nodes that are gone.
        into: gone node -> the node that does its work now.
        changed: whether a rule did anything since this was last set to False.
        opened: paths of the branches whose nodes are here now.
        forgotten: paths of the branches that are left out.
        moved: node of ORT's own making -> the user's Transposes that it stands for.
    """

    def __init__(
        self,
        graph: Graph,
        uses: Mapping[NodeId, OpUse],
        outer: Mapping[str, Value] | None = None,
        skip: Callable[[Node], bool] = lambda _: False,
    ) -> None:
        super().__init__(graph, outer)
        self.graph = graph
        self.verdicts: dict[NodeId, Support] = {}
        self.into: dict[NodeId, NodeId] = {}
        self.opened: list[GraphPath] = []
        self.forgotten: list[GraphPath] = []
        self.moved: dict[NodeId, frozenset[NodeId]] = {}
        self.uses = uses
        self._made = 0
        for node in graph.sorted_nodes:
            key = self._keys[node.id]
            if skip(node):
                # A call: what it reads and makes has other readers and no maker here.
                for name in node.inputs:
                    self._readers.setdefault(name, {})[key] = None
                continue
            use = uses[node.id]
            self.learn(node.inputs, use.inputs)
            self.learn(node.outputs, use.outputs)
            self._put(left_of(key, node, use, node.inputs, node.outputs, subgraph_reads(node)))
        self._stale.clear()  # what is known of the values is known already

    def fold(self, left: Left, detail: str, step: str) -> None:
        """Its outputs become initializers."""
        for index, name in enumerate(left.outputs):
            if name:
                self.set_constant(name, self._computed(left, index))
        self._take(left)
        self.gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))

    def drop(self, left: Left, passed: str, detail: str, step: str, rename: bool = False) -> None:
        """Who reads its output reads ``passed`` instead.

        Where the output is an end of the graph (or with ``rename``) what makes ``passed`` makes
        the output instead.
        """
        output = (self.used_outputs(left) or [left.outputs[0]])[0]
        self._take(left)
        if rename or self.is_end(output):
            self._rename_made(passed, output)
        else:
            self.redirect(output, passed)
        self.gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))

    def merge(
        self, gone: Left, kept: Left, passed: Mapping[str, str], detail: str, step: str
    ) -> None:
        """``kept`` does the work of ``gone``; the readers of gone's outputs read ``passed``."""
        self._take(gone)
        for output, instead in passed.items():
            self.redirect(output, instead)
        self._fused(gone, kept.id, detail, step)

    def absorb(
        self,
        gone: Sequence[Left],
        kept: Left,
        use: OpUse,
        inputs: Sequence[str],
        detail: str,
        step: str,
    ) -> Left:
        """``kept`` becomes ``use`` with ``inputs`` and does the work of ``gone`` too."""
        for left in gone:
            self._take(left)
            self._fused(left, kept.id, detail, step)
        self._take(kept)
        parts = (*kept.parts, *(p for left in gone for p in (left.id, *left.parts)))
        # What ORT makes anew has a name of its own.
        kinds = tuple(self.type(n) if n else None for n in inputs)
        use = replace(use, inputs=kinds, name="")
        made = kept.but(use=use, inputs=tuple(inputs), parts=parts)
        self._put(made)
        self.changed = True
        return made

    def retarget(self, gone: Left, kept: Left, detail: str, step: str) -> None:
        """``kept``, before ``gone``, gives gone's output now, and does its work."""
        self._take(gone)
        self._take(kept)
        outputs = (gone.outputs[0], *kept.outputs[1:])
        self._put(kept.but(outputs=outputs, parts=(*kept.parts, gone.id)))
        self._fused(gone, kept.id, detail, step)

    def set_inputs(self, left: Left, inputs: Sequence[str], use: OpUse | None = None) -> Left:
        """``left`` with other inputs."""
        self._take(left)
        made = left.but(inputs=tuple(inputs), use=use or left.use)
        self._put(made)
        self.changed = True
        return made

    def set_outputs(self, left: Left, outputs: Sequence[str]) -> Left:
        """``left`` with its outputs under other names."""
        self._take(left)
        made = left.but(outputs=tuple(outputs))
        self._put(made)
        self.changed = True
        return made

    def make(
        self,
        near: Left,
        op_type: str,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        attributes: Mapping[str, Any],
    ) -> Left:
        """A node of ORT's own making, of the opset of ``near``."""
        self._made += 1
        node_id = NodeId((MADE,), self._made)
        found = schema("", op_type, near.use.opset) if near.use.opset else None
        use = OpUse(
            op_type,
            "",
            found.since_version if found else 0,
            tuple(self.type(n) for n in inputs),
            tuple(self.type(n) for n in outputs),
            attributes,
            opset=near.use.opset,
        )
        key = self._keys[node_id] = len(self._keys)
        left = Left(
            key, Node(node_id, op_type, inputs=inputs, outputs=outputs), use, inputs, outputs
        )
        self._put(left)
        self.changed = True
        return left

    def discard(self, left: Left, detail: str, step: str) -> None:
        """A node that is gone for good."""
        self._take(left)
        self.gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))

    def prune(self, name: str, detail: str, step: str) -> None:
        """Take out what made ``name``, and what made that, as far as nobody else reads it."""
        stack = [name]
        while stack:
            left = self.maker(stack.pop())
            if left is None or self.used_outputs(left):
                continue
            self._take(left)
            self.gone(left.id, Support(Status.FOLDED, Reason.NONE, detail, {"step": step}))
            stack += [n for n in left.inputs if n]

    def add(
        self,
        node: Node,
        use: OpUse,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        reads: tuple[str, ...],
    ) -> None:
        """A node of the user's from another graph."""
        key = self._keys[node.id] = len(self._keys)
        self._put(left_of(key, node, use, inputs, outputs, reads))

    def gone(self, node_id: NodeId, verdict: Support) -> None:
        """Note the verdict on a node that is no longer there."""
        self.verdicts[node_id] = verdict
        self.changed = True

    def _fused(self, left: Left, into: NodeId, detail: str, step: str) -> None:
        data = {"step": step, "into": str(into)}
        self.into[left.id] = into
        self.gone(left.id, Support(Status.FUSED, Reason.NONE, detail, data))
