"""The ONNX reductions and ArgMax, ArgMin.

Each prepares every element, merges them over the reduced axes, and finishes the result. Floats
accumulate in f32 whatever the tensor's type, in trees where a workgroup shares a result; 32-bit
integers are exact modulo 2^32. ONNX: ReduceX 1-28, ArgMax and ArgMin 1-13. Refused: 64-bit
integers; integers for L2, LogSum and LogSumExp; more elements per result than a workgroup may walk.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import Shape, axes_of, axis_of, host_ints, merge_axes, strides_of
from .elementwise import FLOATS, GROUP, INTEGERS, VALUE
from .registry import Kernel, kernel
from .rows import SHARED_FROM, group_size
from .steps import StepBuilder, Tensor
from .tiles import MOST_TURNS, turns
from .use import OpUse

SPLIT_FROM = 8_192  # elements per result from which several workgroups do
MOST_PARTS = 1_024
ENOUGH = 65_536  # invocations that keep a large GPU busy


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction in WGSL.

    Attributes:
        prepare: accumulator of ``x`` (at ``index`` among the reduced).
        merge: accumulator of two, ``a`` and ``b``.
        finish: the result of the accumulator ``a``.
        identity: accumulator of nothing, per value type of the source.
        accumulator: its type; "" for the source's value type.
    """

    merge: str
    identity: Mapping[str, str]
    prepare: str = "x"
    finish: str = "a"
    accumulator: str = ""


_ZERO = {"f32": "0.0", "i32": "0", "u32": "0u"}
_ONE = {"f32": "1.0", "i32": "1", "u32": "1u"}
SUM = Reduction("a + b", _ZERO)
MEAN = replace(SUM, finish="divide_by(a, params.divisor)")
LARGEST = Reduction("maximum(a, b)", {"f32": "-infinity()", "i32": "-2147483647 - 1", "u32": "0u"})
SMALLEST = Reduction(
    "minimum(a, b)", {"f32": "infinity()", "i32": "2147483647", "u32": "0xffffffffu"}
)
LOG_SUM_EXP = Reduction(
    "merge_exponentials(a, b)",
    {"f32": "vec2<f32>(-infinity(), 0.0)"},
    prepare="vec2<f32>(x, 1.0)",
    finish="finish_exponentials(a)",
    accumulator="vec2<f32>",
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which axes of a dense tensor are kept and which are reduced, merged; (extent, stride) each.

    Attributes:
        kept: the axes of the result, in order.
        reduced: the axes that go.
    """

    kept: tuple[tuple[int, int], ...]
    reduced: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, shape: Shape, axes: Shape) -> Layout:
        """The layout of ``shape`` without ``axes``."""
        strides = strides_of(shape)

        def merged(chosen: list[int]) -> tuple[tuple[int, int], ...]:
            dims, (steps,) = merge_axes([shape[a] for a in chosen], [strides[a] for a in chosen])
            return tuple(zip(dims, steps, strict=True)) or ((1, 0),)

        kept = [a for a in range(len(shape)) if a not in axes]
        return cls(merged(kept), merged(list(axes)))

    @property
    def count(self) -> int:
        """Number of results."""
        return math.prod(extent for extent, _ in self.kept)

    @property
    def length(self) -> int:
        """Elements per result."""
        return math.prod(extent for extent, _ in self.reduced)

    @property
    def inner(self) -> bool:
        """True if the elements of a result are neighbours in memory."""
        return self.reduced[-1][1] == 1

    def turns(self, invocations: int) -> int:
        """Loop turns of each of ``invocations`` that share a result."""
        walk = turns(-(-self.length // invocations), len(self.reduced) - 1)
        return walk + len(self.kept) + invocations.bit_length()

    @property
    def shared(self) -> bool:
        """True if a workgroup is to share a result, not one invocation to compute it."""
        few = self.count < ENOUGH // self.length if self.length else False
        long = self.turns(1) > MOST_TURNS
        return self.length >= SHARED_FROM and (self.inner or few or long)

    def split(self) -> tuple[Layout, Layout] | None:
        """The same reduction in two stages, or None where one will do or no divisor is found.

        Where each result's elements are neighbours, several workgroups share a long one. Else
        results are neighbours: the first stage makes more of them, in an order that keeps that.
        """
        extent, stride = self.reduced[0]
        if self.inner:
            most = min(MOST_PARTS, self.length // GROUP)
            needed = self.length >= SPLIT_FROM and self.count <= GROUP
        else:
            most = min(MOST_PARTS, self.length // SHARED_FROM, ENOUGH // max(1, self.count))
            needed = self.length >= GROUP
        if not needed:
            return None
        parts = max((p for p in range(1, most + 1) if extent % p == 0), default=1)
        if parts < 4:
            return None
        part = (parts, stride * (extent // parts))
        rest = ((extent // parts, stride), *self.reduced[1:])
        if self.inner:
            return Layout((*self.kept, part), rest), Layout(((self.count, parts),), ((parts, 1),))
        return Layout((part, *self.kept), rest), Layout(((self.count, 1),), ((parts, self.count),))


def _stages(layout: Layout, reduction: Reduction) -> tuple[Layout, ...]:
    return (None if reduction.accumulator else layout.split()) or (layout,)


def reduction_support(use: OpUse, layout: Layout, reduction: Reduction) -> Support:
    """Whether :func:`reduce_axes` can: past the limit of turns results would be cut off."""
    needed = max(stage.turns(GROUP) for stage in _stages(layout, reduction))
    if needed <= MOST_TURNS:
        return SUPPORTED
    detail = (
        f"{use.op} over {layout.length:,} elements, which do not divide: {needed:,} loop turns for "
        f"one invocation, which may have {MOST_TURNS:,}"
    )
    return refused(Reason.SHAPE, detail, length=layout.length, turns=needed)


def reduce_axes(
    steps: StepBuilder,
    source: Tensor,
    target: Tensor,
    layout: Layout,
    reduction: Reduction,
    name: str,
) -> None:
    """Reduce ``source`` into ``target``: one dispatch, or two where results are few and long."""
    first, *others = _stages(layout, reduction)
    if not others:
        _dispatch(steps, source, target, layout, reduction, layout.length, name)
        return
    (second,) = others
    dtype = "float32" if VALUE[source.element] == "f32" else source.dtype
    parts = steps.scratch((first.count,), dtype)
    _dispatch(steps, source, parts, first, replace(reduction, finish="a"), 1, f"{name}, parts")
    rest = replace(reduction, prepare="x")
    _dispatch(steps, parts, target, second, rest, layout.length, name)


def _dispatch(
    steps: StepBuilder,
    source: Tensor,
    target: Tensor,
    layout: Layout,
    reduction: Reduction,
    divisor: int,
    name: str,
) -> None:
    value = VALUE[source.element]
    shared = layout.shared
    group = group_size(layout.length) if shared else GROUP
    steps.dispatch(
        "reduce_group" if shared else "reduce_serial",
        reads=[source],
        writes=[target],
        groups=steps.grid(layout.count, 1 if shared else group),
        params=(
            layout.count,
            layout.length,
            divisor,
            0,
            *(w for pair in (*layout.kept, *layout.reduced) for w in (*pair, 0, 0)),
        ),
        variables={
            "value": value,
            "result": VALUE[target.element],
            "source": source.element,
            "target": target.element,
            "accumulator": reduction.accumulator or "Value",
            "identity": reduction.identity[value],
            "prepare": reduction.prepare,
            "merge": reduction.merge,
            "finish": reduction.finish,
            "nan_test": "is_nan(x)" if value == "f32" else "false",
            "larger": "max_or_nan(x, y)" if value == "f32" else "max(x, y)",
            "smaller": "min_or_nan(x, y)" if value == "f32" else "min(x, y)",
            "quotient": "divide(x, f32(n))" if value == "f32" else "x / Value(n)",
            "kept_rank": len(layout.kept),
            "reduced_rank": len(layout.reduced),
            "group_size": group,
        },
        variant=f"{name}, {source.element}",
    )


def _empty_result(reduction: Reduction, dtype: str) -> float | bool | int:
    """What ONNX gives for a reduction over no elements at all."""
    if reduction in (LARGEST, SMALLEST):
        if dtype == "bool":
            return reduction is SMALLEST
        if dtype in INTEGERS:
            info = np.iinfo(dtype)
            return int(info.min if reduction is LARGEST else info.max)
        return -math.inf if reduction is LARGEST else math.inf
    if reduction.merge == "a * b":
        return 1
    if reduction is MEAN:
        return math.nan
    return -math.inf if "natural_log" in reduction.finish or reduction is LOG_SUM_EXP else 0


class Reduce(Kernel):
    """A reduction over some axes, given by attribute or by input 1."""

    attributes = frozenset(("axes", "keepdims", "noop_with_empty_axes"))
    host_inputs = (1,)
    reduction: ClassVar[Reduction]

    def check(self, use: OpUse) -> Support:
        """Not too many elements per result."""
        dims = use.known_dims(0)
        if dims is None or (use.has(1) and use.value(1) is None):
            return SUPPORTED
        return reduction_support(use, Layout.of(dims, self._axes(use)), self.reduction)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's shape with the reduced axes 1 or gone."""
        dims, axes, keep = use.dims(0), self._axes(use), use.attr("keepdims", 1)
        shape = tuple(1 if a in axes else d for a, d in enumerate(dims) if keep or a not in axes)
        return (TensorType(use.input(0).dtype, shape),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One or two dispatches; a constant where nothing is reduced to something."""
        (result,), axes = self.shapes(use), self._axes(use)
        layout = Layout.of(use.dims(0), axes)
        if 0 in use.dims(0):
            value = _empty_result(self.reduction, result.dtype)
            steps.alias(0, steps.constant(np.full(result.dims, value, result.dtype), result.dtype))
            return
        source, target = steps.input(0), steps.output()
        reduce_axes(steps, source, target, layout, self.reduction, self.op_type)

    @staticmethod
    def _axes(use: OpUse) -> Shape:
        rank = len(use.dims(0))
        given = host_ints(use, 1) if use.has(1) else tuple(use.attr("axes", ()))
        if not given and not use.attr("noop_with_empty_axes", 0):
            return tuple(range(rank))
        return axes_of(use, given, rank)


_SINCE = (1, 11, 13, 18)
_WORDS = FLOATS | {"int32", "uint32"}
_SMALL = _WORDS | {"int8", "uint8", "bool"}


def _define(
    op_type: str, reduction: Reduction, types: frozenset[str], since: tuple[int, ...] = _SINCE
) -> None:
    members = {
        "__doc__": f"Merges {reduction.prepare} by {reduction.merge}, then {reduction.finish}.",
        "reduction": reduction,
        "types": {"T": types},
    }
    kernel(op_type, since=since)(type(op_type, (Reduce,), members))


_define("ReduceSum", SUM, _WORDS, (1, 11, 13))
_define("ReduceMean", MEAN, _WORDS)
_define("ReduceMax", LARGEST, _SMALL, (1, 11, 12, 13, 18, 20))
_define("ReduceMin", SMALLEST, _SMALL, (1, 11, 12, 13, 18, 20))
_define("ReduceProd", Reduction("a * b", _ONE), _WORDS)
_define("ReduceL1", replace(SUM, prepare="abs(x)"), _WORDS)
_define("ReduceL2", replace(SUM, prepare="x * x", finish="square_root(a)"), FLOATS)
_define("ReduceSumSquare", replace(SUM, prepare="x * x"), _WORDS)
_define("ReduceLogSum", replace(SUM, finish="natural_log(a)"), FLOATS, (*_SINCE, 28))
_define("ReduceLogSumExp", LOG_SUM_EXP, FLOATS, (*_SINCE, 28))


class ArgReduce(Kernel):
    """Where along one axis the extreme is, as int64; NaN is more extreme than any number."""

    types = {"T": FLOATS | INTEGERS}
    attributes = frozenset(("axis", "keepdims", "select_last_index"))
    largest: ClassVar[str]

    def check(self, use: OpUse) -> Support:
        """Not too many elements to choose from."""
        dims = use.known_dims(0)
        if not dims:
            return SUPPORTED
        return reduction_support(use, Layout.of(dims, (self._axis(use),)), self._reduction(use))

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's shape with the axis 1 or gone."""
        dims, axis = use.dims(0), self._axis(use)
        if dims and dims[axis] == 0:
            raise use.error(f"axis {axis} of {dims} has no elements to choose from")
        kept = (1,) if use.attr("keepdims", 1) and dims else ()
        return (TensorType("int64", (*dims[:axis], *kept, *dims[axis + 1 :])),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        axis = self._axis(use)
        axes = (axis,) if use.dims(0) else ()
        layout, reduction = Layout.of(use.dims(0), axes), self._reduction(use)
        reduce_axes(steps, steps.input(0), steps.output(), layout, reduction, self.op_type)

    def _reduction(self, use: OpUse) -> Reduction:
        last = "true" if use.attr("select_last_index", 0) else "false"
        none = "Candidate(Value(0), NO_INDEX)"
        return Reduction(
            f"better(a, b, {self.largest}, {last})",
            {"f32": none, "i32": none, "u32": none},
            prepare="Candidate(x, index)",
            finish="vec2<u32>(a.index, 0u)",
            accumulator="Candidate",
        )

    @staticmethod
    def _axis(use: OpUse) -> int:
        rank = len(use.dims(0))
        return axis_of(use, int(use.attr("axis", 0)), max(rank, 1))


@kernel("ArgMax", since=(1, 11, 12, 13))
class ArgMax(ArgReduce):
    """Index of the largest."""

    largest = "true"


@kernel("ArgMin", since=(1, 11, 12, 13))
class ArgMin(ArgReduce):
    """Index of the smallest."""

    largest = "false"
