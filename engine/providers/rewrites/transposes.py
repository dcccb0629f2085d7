"""Transposes: ORT moves them through other nodes until they cancel (level 1, and after layouts).

Also the layout transformation: a provider that computes convolutions channels-last gets a Transpose
before and after each, which are then moved in the same way. What becomes of the user's own
Transposes follows from ORT's estimate of costs, which is repeated here.

Sources: onnx_transpose_optimization.cc and ort_transpose_optimization.cc in
onnxruntime/core/optimizer/transpose_optimization, layout_transformation.cc beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...ir.model import NodeId, TensorType
from .graph import ONNX, Work
from .left import Left

STEP = "Transposes moved"
DETAIL = "ORT moves it through its neighbours, where it cancels or becomes part of another"
MAX_OPSET, MIN_OPSET = 28, 7
UNKNOWN_RANK = 5  # what ORT takes a value of unknown rank for

Perm = tuple[int, ...]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ELEMENTWISE = _names(
    "Cast Exp Identity LeakyRelu Log Reciprocal Relu Sigmoid Sqrt Tanh Abs Not Ceil Floor Neg "
    "Erf HardSigmoid Round IsInf IsNaN Selu Shrink Sign Softplus Softsign ThresholdedRelu "
    "Celu HardSwish Sin Cos Tan Sinh Cosh Asin Acos Atan Asinh Acosh Atanh Elu Gelu"
)
_BROADCAST = _names(
    "Add Max Min Mul Sub Div And Or Xor Mod PRelu BitShift Equal Greater Less GreaterOrEqual "
    "LessOrEqual Mean Sum Pow Where"
)
_REDUCTIONS = _names(
    "ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
    "ReduceSumSquare ReduceL1 ReduceL2"
)
_FIRST = _names(
    "Clip CastLike Split Pad ArgMin ArgMax Squeeze Unsqueeze Slice Tile Softmax Hardmax "
    "LogSoftmax QuantizeLinear DequantizeLinear"
)
_NO_OUTPUT = frozenset(("Transpose", "Shape", "Reshape"))
# They have a handler, which does something for the CPU provider's integer kernels alone.
_IDLE = frozenset(("MaxPool", "Resize"))
_HANDLED = _ELEMENTWISE | _BROADCAST | _REDUCTIONS | _FIRST | _NO_OUTPUT | _IDLE | {"Concat"}

CHANNELS_LAST = _names(
    "BatchNormalization Conv ConvTranspose AveragePool MaxPool GlobalAveragePool "
    "GlobalMaxPool DepthToSpace"
)
"""What ORT WebGPU computes channels-last; InstanceNormalization, GridSample, Resize stay."""


def apply(work: Work) -> None:
    """Move the Transposes of the graph."""
    if work.has("Transpose"):
        _Mover(work).run()


def wrap(work: Work, nodes: Iterable[Left]) -> None:
    """Put ``nodes``, which a provider computes channels-last, between Transposes and move those."""
    mover = _Mover(work, after_layout=True)
    for left in nodes:
        current = work.get(left.id)
        rank = work.rank(current.input(0)) if current is not None else None
        if current is None or rank is None or rank < 3:
            continue
        last: Perm = (0, *range(2, rank), 1)
        current = mover.transpose_input(current, 0, last)
        use = replace(current.use, domain="com.ms.internal.nhwc")
        current = work.set_inputs(current, current.inputs, use)
        mover.transpose_output(current, 0, _inverse(last))
    mover.run()


def _inverse(perm: Perm) -> Perm:
    found = [0] * len(perm)
    for index, axis in enumerate(perm):
        found[axis] = index
    return tuple(found)


def _compose(first: Perm, second: Perm) -> Perm:
    """Of two Transposes in a row, the one that does the same."""
    return tuple(first[axis] for axis in second)


def _permuted(kind: TensorType, perm: Perm) -> TensorType:
    if kind.shape is None or len(kind.shape) != len(perm):
        return kind
    return replace(kind, shape=tuple(kind.shape[axis] for axis in perm))


def _axes(axes: Sequence[int], rank: int) -> tuple[int, ...] | None:
    found = tuple(a + rank if a < 0 else a for a in axes)
    valid = all(0 <= a < rank for a in found) and len(set(found)) == len(found)
    return found if valid else None


class _Mover:
    """One run of ORT's transpose optimizer."""

    def __init__(self, work: Work, after_layout: bool = False) -> None:
        self._work = work
        self._after_layout = after_layout
        self._leading: set[str] = set()
        self._made = 0

    def run(self) -> None:
        """Visit the nodes in order; push a Transpose through each where that gains something."""
        nodes = list(self._work)
        for left in reversed(nodes):
            if left.op == "Transpose":
                self._leading.add(left.input(0))
                continue
            through = self._handled(left) and left.op not in _NO_OUTPUT
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

    def perm(self, left: Left | None) -> Perm | None:
        """The permutation of a Transpose, where it is known; None for anything else."""
        if left is None or left.op != "Transpose":
            return None
        given, rank = left.attr("perm"), self._work.rank(left.input(0))
        if given is not None:
            perm = tuple(int(a) for a in given)
            valid = sorted(perm) == list(range(len(perm))) and rank in (None, len(perm))
            return perm if valid else None
        return None if rank is None else tuple(reversed(range(rank)))

    # What ORT thinks that it costs.

    def _gains(self, left: Left, perm: Perm) -> bool:
        """Whether ORT pushes: those of a layout through all but Concat, others where that pays."""
        if left.op == "Transpose":
            return True
        last = (0, *range(2, len(perm)), 1)
        if self._after_layout and left.op != "Concat" and perm in (last, _inverse(last)):
            return True
        return self._cost(left, perm) < 0

    @staticmethod
    def _handled(left: Left) -> bool:
        return left.op in _HANDLED and left.use.domain in ONNX

    def _movable(self, left: Left) -> list[int]:
        """The inputs through which a Transpose can be pushed."""
        if left.op in _BROADCAST:
            return [i for i, n in enumerate(left.inputs) if self._work.rank(n) != 0]
        if left.op in _ELEMENTWISE or left.op == "Concat":
            return list(range(len(left.inputs)))
        return [0]

    def _rank(self, name: str) -> int:
        shape = self._work.type(name).shape
        return UNKNOWN_RANK if shape is None else sum(d != 1 for d in shape)

    def _cost(self, left: Left, perm: Perm) -> int:
        cost = sum(self._input_cost(left.inputs[i], perm) for i in self._movable(left))
        if cost < 0 and left.op not in _NO_OUTPUT and self._leading.isdisjoint(left.outputs):
            cost += max((self._rank(n) for n in left.outputs if n), default=0)
        return cost

    def _input_cost(self, name: str, perm: Perm) -> int:
        if self._work.is_constant(name):
            return 0
        maker = self._work.maker(name)
        if maker is not None and maker.op == "DequantizeLinear":
            if self._work.is_constant(maker.input(0)):
                return 0
            maker = self._work.maker(maker.input(0))
        found = self.perm(maker)
        if maker is not None and found is not None:
            return -self._rank(name) if found == perm and self._removable(maker) else 0
        return self._rank(name)

    def _removable(self, transpose: Left) -> bool:
        """Whether its readers are all nodes that it can likely be pushed through."""
        output = transpose.outputs[0]
        readers = self._work.readers(output)
        if self._work.is_end(output) or any(output in r.reads for r in readers):
            return False
        return all(self._handled(reader) for reader in readers)

    # Edits of the graph.

    def _new(self, near: Left, source: str, output: str, perm: Perm) -> Left:
        work = self._work
        kind = work.type(source)
        work.set_type(output, _permuted(kind, perm))
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
            if found == _inverse(perm):
                left = self._with(left, index, maker.input(0))
                self._remove_if_idle(maker)
                return left
            output = self._name(name)
            made = self._new(left, maker.input(0), output, _compose(found, perm))
            work.moved[made.id] = work.moved.get(maker.id, frozenset())
            left = self._with(left, index, output)
            self._remove_if_idle(maker)
            return left
        for reader in work.readers(name):
            if reader.key != left.key and self.perm(reader) == perm:
                return self._with(left, index, reader.outputs[0])
        output = self._name(name)
        self._new(left, name, output, perm)
        return self._with(left, index, output)

    def _turned(self, name: str, perm: Perm) -> tuple[str]:
        """A constant in the other order."""
        turned = self._name(name)
        self._work.add_constant(turned, _permuted(self._work.type(name), perm))
        return (turned,)

    def _with(self, left: Left, index: int, name: str) -> Left:
        inputs = list(left.inputs)
        inputs[index] = name
        return self._work.set_inputs(left, inputs)

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
        work.set_type(inner, _permuted(work.type(name), _inverse(perm)))
        outputs = list(left.outputs)
        outputs[index] = inner
        left = work.set_outputs(left, outputs)
        made = work.make(left, "Transpose", (inner,), (name,), {"perm": perm})
        work.moved[made.id] = origins
        return left

    # Pushing.

    def _push(self, transpose: Left, left: Left, perm: Perm) -> bool:
        if left.op in _IDLE:
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
        inverse = _inverse(perm)
        if left.op in _BROADCAST and not self._level(left, len(perm)):
            return False
        left = self._work.get(left.id) or left
        origins: frozenset[NodeId] = frozenset()
        for index in self._movable(left):
            maker = self._work.maker(left.inputs[index])
            if maker is not None and self.perm(maker) == perm:
                origins |= self._work.moved.get(maker.id, frozenset((maker.id,)))
            left = self.transpose_input(left, index, inverse)
        for index in range(len(left.outputs)):
            left = self.transpose_output(left, index, after, origins)
        return True

    def _two(self, transpose: Left, left: Left, perm: Perm, mine: Perm) -> bool:
        """Two in a row: they cancel, or the second does the work of both."""
        work, source, output = self._work, transpose.input(0), left.outputs[0]
        if mine == _inverse(perm):
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
            perm = _compose(perm, mine)
            work.make(left, "Transpose", (source,), (output,), {"perm": perm})
        else:
            use = replace(
                left.use, attributes={**left.use.attributes, "perm": _compose(perm, mine)}
            )
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
        left = self.transpose_input(left, 0, _inverse(perm))
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

    def _output_perm(self, left: Left, perm: Perm) -> Perm | None:
        """The permutation after the node; None where ORT does not push through it.

        Axes that are attributes or inputs of the node are renumbered by ORT: nothing here reads
        them again but for another push, which sees them renumbered too.
        """
        rank = len(perm)
        if left.op in ("Split", "Concat", "ArgMin", "ArgMax", "Softmax", "Hardmax", "LogSoftmax"):
            return self._along_axis(left, perm)
        if left.op in _REDUCTIONS:
            return self._reduced(left, perm)
        if left.op in ("Squeeze", "Unsqueeze"):
            axes = self._given_axes(left, 13)
            if axes is None:
                return None
            if left.op == "Squeeze":
                valid = _axes(axes, rank)
                return None if valid is None else self._renumbered(left, perm, valid, squeezed=True)
            valid = _axes(axes, rank + len(axes))
            if valid is None:
                return None
            rest = iter([a for a in range(rank + len(valid)) if a not in valid])
            places = list(rest)
            found = [0] * (rank + len(valid))
            for axis in valid:
                found[axis] = axis
            for index, place in enumerate(places):
                found[place] = places[perm[index]]
            return tuple(found)
        if left.op == "Slice":
            axes = self._slice_axes(left)
            valid = None if axes is None else _axes(axes, rank)
            return None if valid is None else self._renumbered(left, perm, valid)
        return perm

    def _along_axis(self, left: Left, perm: Perm) -> Perm | None:
        defaults = {"Split": 0, "ArgMin": 0, "ArgMax": 0}
        old = left.op in ("Softmax", "Hardmax", "LogSoftmax") and left.use.opset < 13
        axis = left.attr("axis", defaults.get(left.op, 1 if old else -1))
        if left.op == "Concat" and "axis" not in left.use.attributes:
            return None
        valid = _axes((axis,), len(perm))
        if valid is None:
            return None
        if old:
            same_side = all((i < valid[0]) == (p < valid[0]) for i, p in enumerate(perm))
            return perm if same_side else None
        moved = perm[valid[0]]
        use = replace(left.use, attributes={**left.use.attributes, "axis": moved})
        self._work.set_inputs(left, left.inputs, use)
        if left.op in ("ArgMin", "ArgMax") and not left.attr("keepdims", 1):
            return _squeezed(perm, (moved,))
        return perm

    def _reduced(self, left: Left, perm: Perm) -> Perm | None:
        keep = bool(left.attr("keepdims", 1))
        as_input = left.use.opset >= (13 if left.op == "ReduceSum" else 18)
        axes: Sequence[int] | None
        if as_input and left.input(1):
            given = self._work.constant(left.input(1))
            if given is None:
                return None
            axes = [int(a) for a in given.reshape(-1)]
        else:
            axes = None if as_input else left.attr("axes")
        if not axes:
            return perm if keep or (as_input and left.attr("noop_with_empty_axes", 0)) else ()
        valid = _axes(axes, len(perm))
        return None if valid is None else self._renumbered(left, perm, valid, squeezed=not keep)

    def _renumbered(
        self, left: Left, perm: Perm, axes: Sequence[int], squeezed: bool = False
    ) -> Perm:
        """Give the node its axes before the Transpose; the permutation that stays after it."""
        moved = tuple(perm[a] for a in axes)
        if left.op != "Slice":
            moved = tuple(sorted(moved))
        position = 3 if left.op == "Slice" else 1
        if left.input(position) or (left.op == "Slice" and left.use.opset >= 10):
            name = self._name(left.outputs[0])
            self._work.add_constant(name, TensorType("int64", (len(moved),)), moved)
            inputs = [*left.inputs, *("",) * (position + 1 - len(left.inputs))]
            inputs[position] = name
            self._work.set_inputs(left, inputs)
        else:
            use = replace(left.use, attributes={**left.use.attributes, "axes": moved})
            self._work.set_inputs(left, left.inputs, use)
        return _squeezed(perm, moved) if squeezed else perm

    def _given_axes(self, left: Left, as_input_from: int) -> Sequence[int] | None:
        if left.use.opset < as_input_from:
            axes: Sequence[int] | None = left.attr("axes")
            return axes
        given = self._work.constant(left.input(1)) if left.input(1) else None
        return None if given is None else [int(a) for a in given.reshape(-1)]

    def _slice_axes(self, left: Left) -> Sequence[int] | None:
        if left.use.opset < 10:
            axes: Sequence[int] | None = left.attr("axes")
            return axes or range(len(left.attr("starts", ())))
        if left.input(3):
            given = self._work.constant(left.input(3))
            return None if given is None else [int(a) for a in given.reshape(-1)]
        dims = self._work.dims(left.input(1))
        return None if dims is None or len(dims) != 1 else range(dims[0])


def _squeezed(perm: Perm, axes: Sequence[int]) -> Perm:
    """``perm`` without the axes ``axes`` of what it permutes."""
    kept = [p for p in perm if p not in axes]
    order = sorted(kept)
    return tuple(order.index(p) for p in kept)
