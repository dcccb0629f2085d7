"""Transposes that ONNX Runtime puts before inputs and after outputs."""

from __future__ import annotations

from ...ir.model import NodeId
from .graph import Work
from .left import Left
from .permutations import Perm, compose, inverse, permuted
from .transpose_costs import Costs

STEP = "Transposes moved"
DETAIL = "ORT moves it through its neighbours, where it cancels or becomes part of another"


class Edits(Costs):
    """Edits of the graph by ORT's transpose optimizer."""

    def __init__(self, work: Work, after_layout: bool = False) -> None:
        super().__init__(work, after_layout)
        self._made = 0

    def transpose_input(self, left: Left, index: int, perm: Perm) -> Left:
        """Put a Transpose before an input, or whatever has the same effect."""
        work, name = self._work, left.inputs[index]
        if work.is_constant(name):
            return (
                left
                if work.rank(name) in (0, None)
                else self._with(left, index, *self._turned(name, perm))
            )
        maker = work.maker(name)
        found = self.perm(maker)
        if maker is not None and found is not None and len(found) == len(perm):
            if found == inverse(perm):
                left = self._with(left, index, maker.input(0))
                self._remove_if_idle(maker)
                return left
            output = self._name(name)
            made = self._new(left, maker.input(0), output, compose(found, perm))
            work.moved[made.id] = self._origins(maker)
            left = self._with(left, index, output)
            self._remove_if_idle(maker)
            return left
        for reader in work.readers(name):
            if reader.key != left.key and self.perm(reader) == perm:
                return self._with(left, index, reader.outputs[0])
        output = self._name(name)
        self._new(left, name, output, perm)
        return self._with(left, index, output)

    def transpose_output(
        self,
        left: Left,
        index: int,
        perm: Perm,
        origins: frozenset[NodeId] = frozenset(),
    ) -> Left:
        """Put a Transpose, which stands for ``origins``, after an output."""
        work, name = self._work, left.outputs[index]
        if not name or perm == tuple(range(len(perm))):
            return left
        inner = self._name(name)
        work.set_type(inner, permuted(work.type(name), inverse(perm)))
        outputs = list(left.outputs)
        outputs[index] = inner
        left = work.set_outputs(left, outputs)
        made = work.make(left, "Transpose", (inner,), (name,), {"perm": perm})
        work.moved[made.id] = origins
        return left

    def _origins(self, transpose: Left | None) -> frozenset[NodeId]:
        """The user's Transposes that ``transpose`` stands for: itself if it is one."""
        if transpose is None:
            return frozenset()
        return self._work.moved.get(transpose.id, frozenset((transpose.id,)))

    def _new(self, near: Left, source: str, output: str, perm: Perm) -> Left:
        work = self._work
        kind = work.type(source)
        work.set_type(output, permuted(kind, perm))
        return work.make(near, "Transpose", (source,), (output,), {"perm": perm})

    def _name(self, base: str) -> str:
        self._made += 1
        return f"{base}\0{self._made}"

    def _remove_if_idle(self, transpose: Left) -> None:
        output = transpose.outputs[0]
        if self._work.is_end(output) or self._work.readers(output):
            return
        if self._work.get(transpose.id) is not None:
            self._work.discard(transpose, DETAIL, STEP)

    def _turned(self, name: str, perm: Perm) -> tuple[str]:
        """A constant in the other order."""
        turned = self._name(name)
        self._work.add_constant(turned, permuted(self._work.type(name), perm))
        return (turned,)

    def _with(self, left: Left, index: int, name: str) -> Left:
        inputs = list(left.inputs)
        inputs[index] = name
        return self._work.set_inputs(left, inputs)
