"""CumSum, CumProd, TopK, Trilu, OneHot: operators that look at positions along an axis.

CumSum and CumProd go through each line in order, in f32 or exact 32-bit integers. TopK places every
element by counting those before it, equal ones in order of index. ONNX: CumSum 11-14, CumProd 26,
TopK 1-24, Trilu 14, OneHot 9-28. Refused: computing with 64-bit integers; lines longer than
MOST_ALONG (CumSum) or MOST_RANKED (TopK).
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import axis_of, host_ints, split_at
from .elementwise import FLOATS, INTEGERS, VALUE
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder
from .tiles import MOST_TURNS
from .use import OpUse

MOST_ALONG = MOST_TURNS - 1
MOST_RANKED = 1 << 15


def _too_long(use: OpUse, axis: int, most: int) -> Support:
    """A refusal where the axis is known to be longer than ``most``."""
    dims = use.known_dims(0)
    if dims and -len(dims) <= axis < len(dims) and dims[axis] > most:
        detail = f"{use.op} over {dims[axis]:,} elements; the kernel goes to {most:,}"
        return refused(Reason.SHAPE, detail, extent=dims[axis], most=most)
    return SUPPORTED


class _Cumulative(Kernel):
    """Each element merged with those before it along an axis.

    Attributes:
        merge: WGSL of total (so far) and x.
        start: the total of nothing.
    """

    types = {"T": FLOATS | {"int32", "uint32"}}
    attributes = frozenset(("exclusive", "reverse"))
    host_inputs = (1,)
    merge: ClassVar[str]
    start: ClassVar[str]

    def check(self, use: OpUse) -> Support:
        """Lines that one invocation can go through."""
        axis = use.value(1) if use.has(1) else None
        if axis is None:
            return SUPPORTED
        return _too_long(use, int(axis.reshape(-1)[0]), MOST_ALONG)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        return (TensorType(use.input(0).dtype, use.dims(0)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch: an invocation for each line."""
        source, target = steps.input(0), steps.output()
        (axis,) = host_ints(use, 1)
        outer, extent, inner = split_at(use.dims(0), axis_of(use, axis, len(use.dims(0))))
        lines = outer * inner if extent else 0
        steps.dispatch(
            "cumulative",
            reads=[source],
            writes=[target],
            groups=steps.grid(lines),
            params=(lines, extent, inner, int(bool(use.attr("reverse", 0)))),
            variables={
                "element": source.element,
                "value": VALUE[source.element],
                "merge": self.merge,
                "start": self.start,
                "stored": "total" if use.attr("exclusive", 0) else "after",
            },
            variant=f"{self.op_type}, {source.element}",
        )


@kernel("CumSum", since=(11, 14))
class CumSum(_Cumulative):
    """Running sums."""

    merge = "total + x"
    start = "Value(0)"


@kernel("CumProd", since=(26,))
class CumProd(_Cumulative):
    """Running products."""

    merge = "total * x"
    start = "Value(1)"


@kernel("TopK", since=(1, 10, 11, 24))
class TopK(Kernel):
    """The k largest (or smallest) along an axis in order, and where they were."""

    types = {"T": FLOATS | INTEGERS}
    attributes = frozenset(("axis", "k", "largest", "sorted"))
    host_inputs = (1,)

    def check(self, use: OpUse) -> Support:
        """Lines short enough to count every pair."""
        return _too_long(use, int(use.attr("axis", -1)), MOST_RANKED)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Values and int64 indices, k along the axis."""
        dims, axis, k = use.dims(0), self._axis(use), self._k(use)
        if not 0 <= k <= dims[axis]:
            raise use.error(f"k is {k}, axis {axis} of {dims} has {dims[axis]} elements")
        shape = (*dims[:axis], k, *dims[axis + 1 :])
        return TensorType(use.input(0).dtype, shape), TensorType("int64", shape)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch: each element counts those that come before it."""
        source, values, indices = steps.input(0), steps.output(0), steps.output(1)
        _, extent, inner = split_at(use.dims(0), self._axis(use))
        value = VALUE[source.element]
        before = "x > y" if use.attr("largest", 1) else "x < y"
        if value == "f32":
            # NaN is larger than any number.
            before = f"({before} && !is_nan(y)) || (is_nan(x) && !is_nan(y))"
            if not use.attr("largest", 1):
                before = "(x < y && !is_nan(x)) || (!is_nan(x) && is_nan(y))"
        # Each element looks at a whole line: few enough of them for one dispatch.
        piece = max(1, steps.work_limit() // max(1, extent))
        for first in range(0, source.size if values.size else 0, piece):
            count = min(piece, source.size - first)
            steps.dispatch(
                "top_k",
                reads=[source],
                writes=[values, indices],
                groups=steps.grid(count),
                params=(count, extent, inner, self._k(use), first, 0, 0, 0),
                variables={
                    "element": source.element,
                    "value": value,
                    "before": before,
                },
                variant=source.element,
            )

    @staticmethod
    def _axis(use: OpUse) -> int:
        return axis_of(use, int(use.attr("axis", -1)), len(use.dims(0)))

    @staticmethod
    def _k(use: OpUse) -> int:
        return host_ints(use, 1)[0] if use.has(1) else int(use.attr("k"))


@kernel("Trilu", since=(14,))
class Trilu(Kernel):
    """The upper or lower triangle of each matrix; zero elsewhere."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("upper",))
    host_inputs = (1,)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        if len(use.dims(0)) < 2:
            raise use.error(f"the input {use.dims(0)} is no matrix")
        return (TensorType(use.input(0).dtype, use.dims(0)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        source, target = steps.input(0), steps.output()
        *_, rows, columns = use.dims(0)
        k = host_ints(use, 1)[0] if use.has(1) else 0
        k = max(-rows, min(k, columns))
        upper = use.attr("upper", 1)
        steps.dispatch(
            "triangle",
            reads=[source],
            writes=[target],
            groups=steps.grid(target.size),
            params=(target.size, rows, columns, k),
            variables={
                "element": source.element,
                "keeps": "column >= row + params.k" if upper else "column <= row + params.k",
            },
            variant=f"{'upper' if upper else 'lower'}, {source.element}",
        )


# WGSL type of a stored index -> the nearest i32, so that none comes around to another place.
_INDEX_LOADS = {"vec2<u32>": "saturated_int32(i)", "u32": "i32(min(i, 0x7fffffffu))"}


@kernel("OneHot", since=(9, 11, 28))
class OneHot(Kernel):
    """A new axis that holds the second value at the index, the first elsewhere."""

    types = {"T1": FLOATS | INTEGERS | {"int64"}, "T3": TYPES.movable}
    attributes = frozenset(("axis",))
    host_inputs = (1,)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The indices' shape with the depth as a new axis."""
        dims, axis = use.dims(0), self._axis(use)
        shape = (*dims[:axis], self._depth(use), *dims[axis:])
        return (TensorType(use.input(2).dtype, shape),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        indices, values, target = steps.input(0), steps.input(2), steps.output()
        _, depth, inner = split_at(target.shape, self._axis(use))
        load = _INDEX_LOADS.get(indices.element, "i32(i)")
        steps.dispatch(
            "one_hot",
            reads=[indices, values],
            writes=[target],
            groups=steps.grid(target.size),
            params=(target.size, depth, inner, 0),
            variables={
                "element": target.element,
                "index": indices.element,
                "index_load": load,
            },
            variant=target.element,
        )

    @staticmethod
    def _axis(use: OpUse) -> int:
        return axis_of(use, int(use.attr("axis", -1)), len(use.dims(0)) + 1)

    @staticmethod
    def _depth(use: OpUse) -> int:
        (depth,) = host_ints(use, 1)
        if depth < 0:
            raise use.error(f"the depth is {depth}")
        return depth
