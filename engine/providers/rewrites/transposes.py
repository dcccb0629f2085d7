"""Transposes: ORT moves them through other nodes until they cancel (level 1, and after layouts).

Also the layout transformation: a provider that computes convolutions channels-last gets a Transpose
before and after each, which are then moved in the same way. What becomes of the user's own
Transposes follows from ORT's estimate of costs, which is repeated here.

Sources: onnx_transpose_optimization.cc and ort_transpose_optimization.cc in
onnxruntime/core/optimizer/transpose_optimization, layout_transformation.cc beside them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...ir.model import NodeId, TensorType
from . import quantizers
from .graph import Work
from .left import Left
from .permutations import Perm, compose, inverse
from .transpose_axes import Axes
from .transpose_costs import BROADCAST, IDLE, NO_OUTPUT, names
from .transpose_edits import DETAIL, STEP

MAX_OPSET, MIN_OPSET = 28, 7

CHANNELS_LAST = names(
    "BatchNormalization Conv ConvTranspose AveragePool MaxPool GlobalAveragePool "
    "GlobalMaxPool DepthToSpace"
)
"""What ORT WebGPU computes channels-last; InstanceNormalization, GridSample, Resize stay."""


def apply(work: Work) -> None:
    """Move the Transposes of the graph."""
    if work.has("Transpose"):
        Mover(work).run()
    quantizers.empty(work)


def wrap(work: Work, nodes: Iterable[Left]) -> None:
    """Put ``nodes``, which a provider computes channels-last, between Transposes and move those."""
    mover = Mover(work, after_layout=True)
    for left in nodes:
        current = work.get(left.id)
        rank = work.rank(current.input(0)) if current is not None else None
        if current is None or rank is None or rank < 3:
            continue
        last: Perm = (0, *range(2, rank), 1)
        current = mover.transpose_input(current, 0, last)
        use = replace(current.use, domain="com.ms.internal.nhwc")
        current = work.set_inputs(current, current.inputs, use)
        mover.transpose_output(current, 0, inverse(last))
    mover.run()
    quantizers.empty(work)


class Mover(Axes):
    """One run of ORT's transpose optimizer."""

    def run(self) -> None:
        """Visit the nodes in order; push a Transpose through each where that gains something."""
        nodes = list(self._work)
        for left in reversed(nodes):
            if left.op == "Transpose":
                self._leading.add(left.input(0))
                continue
            through = self._handled(left) and left.op not in NO_OUTPUT
            if through and not self._leading.isdisjoint(left.outputs):
                self._leading.update(left.inputs[i] for i in self._movable(left))
        for left in nodes:
            if (current := self._work.get(left.id)) is not None:
                self._visit(current)

    def _visit(self, left: Left) -> None:
        opset = left.use.opset
        if not self._handled(left) or (opset and not MIN_OPSET <= opset <= MAX_OPSET):
            return
        for index, name in enumerate(left.inputs):
            maker = self._work.maker(name) if name else None
            perm = self.perm(maker)
            if maker is None or perm is None or index not in self._movable(left):
                continue
            if not self._gains(left, perm):
                continue
            if self._push(maker, left, perm):
                return

    def _push(self, transpose: Left, left: Left, perm: Perm) -> bool:
        if left.op in IDLE:
            return False
        if left.op == "Transpose":
            mine = self.perm(left)
            return (
                mine is not None
                and len(mine) == len(perm)
                and self._two(transpose, left, perm, mine)
            )
        if left.op == "Reshape":
            mine = self._as_transpose(transpose, left)
            return mine is not None and self._two(transpose, left, perm, mine)
        if left.op == "Shape":
            return self._shape(left, perm)
        after = self._output_perm(left, perm)
        if after is None:
            return False
        back = inverse(perm)
        if left.op in BROADCAST and not self._level(left, len(perm)):
            return False
        left = self._work.get(left.id) or left
        movable = self._movable(left)
        makers = (self._work.maker(left.inputs[index]) for index in movable)
        origins = frozenset[NodeId]().union(
            *(self._origins(maker) for maker in makers if self.perm(maker) == perm)
        )
        for index in movable:
            left = self.transpose_input(left, index, back)
        for index in range(len(left.outputs)):
            left = self.transpose_output(left, index, after, origins)
        return True

    def _two(self, transpose: Left, left: Left, perm: Perm, mine: Perm) -> bool:
        """Two in a row: they cancel, or the second does the work of both."""
        work, source, output = self._work, transpose.input(0), left.outputs[0]
        if mine == inverse(perm):
            maker = work.maker(source)
            readers = work.readers(output)
            if work.is_end(output) or any(output in r.reads for r in readers):
                if maker is None or work.is_end(source):
                    # ORT puts an Identity there.
                    work.discard(left, DETAIL, STEP)
                    work.make(transpose, "Identity", (source,), (output,), {})
                else:
                    work.drop(left, source, DETAIL, STEP, rename=True)
            else:
                work.drop(left, source, DETAIL, STEP)
        elif left.op == "Reshape":
            work.discard(left, DETAIL, STEP)
            perm = compose(perm, mine)
            made = work.make(left, "Transpose", (source,), (output,), {"perm": perm})
            work.moved[made.id] = self._origins(transpose)
        else:
            use = replace(left.use, attributes={**left.use.attributes, "perm": compose(perm, mine)})
            work.set_inputs(left, (source,), use)
        self._remove_if_idle(transpose)
        return True

    def _as_transpose(self, transpose: Left, left: Left) -> Perm | None:
        """The permutation that a Reshape amounts to, if it only moves axes of length 1."""
        before = self._work.dims(transpose.outputs[0])
        wanted = self._work.constant(left.input(1))
        if before is None or wanted is None or self._work.type(transpose.input(0)).shape is None:
            return None
        after = self._work.dims(left.outputs[0])
        if after is None or len(after) != len(before) or wanted.size != len(before):
            return None
        remaining: list[int] = list(before)
        perm = []
        for target in after:
            at = 0
            while remaining[at] != target:
                if remaining[at] not in (-1, 1) and target != 1:
                    return None
                at += 1
                if at == len(remaining):
                    return None
            perm.append(at)
            remaining[at] = -1
        return tuple(perm)

    def _shape(self, left: Left, perm: Perm) -> bool:
        """The shape before the Transpose, and a Gather to order it."""
        work, output = self._work, left.outputs[0]
        start, end = left.attr("start", 0), left.attr("end")
        order = perm[start:end]
        left = self.transpose_input(left, 0, inverse(perm))
        inner, axes = self._name(output), self._name(output)
        work.set_type(inner, TensorType("int64", (len(perm),)))
        work.add_constant(axes, TensorType("int64", (len(order),)))
        use = replace(left.use, attributes={})
        left = work.set_inputs(left, left.inputs, use)
        work.set_outputs(left, (inner,))
        work.make(left, "Gather", (inner, axes), (output,), {"axis": 0})
        return True

    def _level(self, left: Left, rank: int) -> bool:
        """Give every input the same rank by an Unsqueeze."""
        movable = self._movable(left)
        ranks = [self._work.rank(left.inputs[i]) for i in movable]
        if any(r is None or r > rank for r in ranks):
            return False
        for index, own in zip(movable, ranks, strict=True):
            name = left.inputs[index]
            if own is None or own == rank:
                continue
            kind = self._work.type(name)
            wide = replace(kind, shape=(*(1,) * (rank - own), *(kind.shape or ())))
            output = self._name(name)
            if self._work.is_constant(name):
                self._work.add_constant(output, wide)
            else:
                self._work.set_type(output, wide)
                axes = self._name(name)
                self._work.add_constant(axes, TensorType("int64", (rank - own,)))
                self._work.make(left, "Unsqueeze", (name, axes), (output,), {})
            left = self._with(left, index, output)
        return True
