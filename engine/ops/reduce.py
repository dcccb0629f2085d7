"""The ONNX reductions and ArgMax, ArgMin, by the machinery of :mod:`reduction`.

ONNX: ReduceX 1-28, ArgMax and ArgMin 1-13. Refused: 64-bit integers; integers for L2, LogSum and
LogSumExp; more elements per result than a workgroup may walk.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Support
from .broadcast import Shape, axes_of, axis_of, host_ints
from .elementwise import FLOATS, INTEGERS
from .reduction import (
    LARGEST,
    LOG_SUM_EXP,
    MEAN,
    PRODUCT,
    SMALLEST,
    SUM,
    Layout,
    Reduction,
    reduce_axes,
    reduction_support,
)
from .registry import Kernel, kernel
from .steps import StepBuilder
from .use import OpUse


def _empty_result(reduction: Reduction, dtype: str) -> float | bool | int:
    """What ONNX gives for a reduction over no elements at all."""
    if reduction in (LARGEST, SMALLEST):
        if dtype == "bool":
            return reduction is SMALLEST
        if dtype in INTEGERS:
            info = np.iinfo(dtype)
            return int(info.min if reduction is LARGEST else info.max)
        return -math.inf if reduction is LARGEST else math.inf
    if reduction is PRODUCT:
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
_define("ReduceProd", PRODUCT, _WORDS)
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
