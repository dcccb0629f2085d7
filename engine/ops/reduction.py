"""Reductions on the device: what they merge, which axes go, in how many dispatches.

Each prepares every element, merges them over the reduced axes, and finishes the result. Floats
accumulate in f32 whatever the tensor's type, in trees where a workgroup shares a result; 32-bit
integers are exact modulo 2^32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import Shape, merge_axes, strides_of
from .elementwise import VALUE
from .rows import GROUP, SHARED_FROM, group_size
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
PRODUCT = Reduction("a * b", _ONE)
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
    steps.dispatch(
        "reduce_group" if shared else "reduce_serial",
        reads=[source],
        writes=[target],
        groups=steps.grid(layout.count, 1) if shared else steps.grid(layout.count),
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
            **({"group_size": group_size(layout.length)} if shared else {}),
        },
        variant=f"{name}, {source.element}",
    )
