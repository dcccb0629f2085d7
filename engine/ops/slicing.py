"""Slice and Split: parts of a tensor, each one strided copy.

ONNX: Slice 1-13 (negative steps from 10 on), Split 2-18. Refused: Split 1 (its inputs differ).
"""

from __future__ import annotations

from ..ir.model import TensorType
from .broadcast import axes_of, axis_of, host_ints, strides_of
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder
from .strided import copy_strided
from .use import OpUse


@kernel("Slice", since=(1, 10, 11, 13))
class Slice(Kernel):
    """Start, end and step along some axes, clamped to them."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("starts", "ends", "axes"))
    host_inputs = (1, 2, 3, 4)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The number of elements taken along each axis."""
        return (TensorType(use.input(0).dtype, tuple(len(r) for r in self._ranges(use))),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A copy with the step in the stride; none where everything is taken."""
        dims, ranges = use.dims(0), self._ranges(use)
        if all(r == range(d) for r, d in zip(ranges, dims, strict=True)):
            steps.alias(0, steps.input(0))
            return
        own = strides_of(dims)
        shape = tuple(len(r) for r in ranges)
        strides = tuple(s * r.step for s, r in zip(own, ranges, strict=True))
        base = sum(s * r.start for s, r in zip(own, ranges, strict=True) if len(r))
        copy_strided(steps, steps.input(0), steps.output(), shape, strides, source_base=base)

    @staticmethod
    def _ranges(use: OpUse) -> tuple[range, ...]:
        """The indices taken along each axis."""
        dims = use.dims(0)
        if use.since_version == 1:
            starts, ends = tuple(use.attr("starts")), tuple(use.attr("ends"))
            axes = tuple(use.attr("axes", range(len(starts))))
            steps = (1,) * len(starts)
        else:
            starts, ends = host_ints(use, 1), host_ints(use, 2)
            axes = host_ints(use, 3) if use.has(3) else tuple(range(len(starts)))
            steps = host_ints(use, 4) if use.has(4) else (1,) * len(starts)
        if not len(starts) == len(ends) == len(axes) == len(steps):
            raise use.error(
                f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes, {len(steps)} steps"
            )
        axes_of(use, axes, len(dims))
        ranges = [range(d) for d in dims]
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            if step == 0:
                raise use.error(f"the step along axis {axis} is 0")
            axis = axis_of(use, axis, len(dims))
            # Python's slice, but one that begins before the front begins at it, backwards too.
            ranges[axis] = range(dims[axis])[max(start, -dims[axis]) : end : step]
        return tuple(ranges)


@kernel("Split", since=(2, 11, 13, 18))
class Split(Kernel):
    """Consecutive parts along one axis."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("axis", "split", "num_outputs"))
    host_inputs = (1,)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's shape with each part's extent."""
        dims, axis = use.dims(0), self._axis(use)
        dtype = use.input(0).dtype
        return tuple(
            TensorType(dtype, (*dims[:axis], part, *dims[axis + 1 :])) for part in self._parts(use)
        )

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One copy for each part that is wanted."""
        dims, axis = use.dims(0), self._axis(use)
        strides, first = strides_of(dims), 0
        for index, part in enumerate(self._parts(use)):
            shape = (*dims[:axis], part, *dims[axis + 1 :])
            if use.wants(index):
                base = first * strides[axis]
                source, target = steps.input(0), steps.output(index)
                copy_strided(steps, source, target, shape, strides, source_base=base)
            first += part

    @staticmethod
    def _axis(use: OpUse) -> int:
        return axis_of(use, int(use.attr("axis", 0)), len(use.dims(0)))

    @classmethod
    def _parts(cls, use: OpUse) -> tuple[int, ...]:
        """Extent of each part; equal ones, the last one smaller, where none are given."""
        extent = use.dims(0)[cls._axis(use)]
        given = host_ints(use, 1) if use.has(1) else tuple(use.attr("split", ()))
        if given:
            if sum(given) != extent or any(p < 0 for p in given):
                raise use.error(f"the parts {given} do not add up to the extent {extent}")
            return given
        count = int(use.attr("num_outputs", 0)) or len(use.outputs)
        size = -(-extent // count)
        if use.since_version < 18 and extent % count:
            raise use.error(f"the extent {extent} does not split into {count} equal parts")
        return tuple(max(0, min(size, extent - size * i)) for i in range(count))
