"""Pad: constant, reflect, edge, wrap. ONNX 2-25; negative pads crop. Refused: Pad 1."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import axes_of, axis_of, host_ints, strides_of
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder, Tensor
from .strided import WIDE, copy_strided
from .use import OpUse

# mode -> WGSL: the coordinate c in an axis of extent n (both i32), once it is outside or inside
_MODES = {
    "constant": "c",
    "edge": "clamp(c, 0, n - 1)",
    "reflect": "reflect(c, n)",
    "wrap": "floor_remainder(c, n)",
}


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis of the walk.

    Attributes:
        padded: extent of the target.
        extent: elements of the source that are kept.
        before: how many are added in front of them.
        stride: of the source.
    """

    padded: int
    extent: int
    before: int
    stride: int

    def is_whole(self, stride: int) -> bool:
        """True if nothing is added to what is kept, and the axis has that ``stride``."""
        return (self.padded, self.before, self.stride) == (self.extent, 0, stride)


def _kept(extent: int, pads: tuple[int, int]) -> int:
    """Elements that negative pads leave of an axis, below 0 where they take more than there are."""
    return extent + min(pads[0], 0) + min(pads[1], 0)


@kernel("Pad", since=(2, 11, 13, 18, 19, 21, 23, 24, 25))
class Pad(Kernel):
    """The data with elements added (or taken off) at both ends of some axes."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("mode", "pads", "value"))
    host_inputs = (1, 3)

    def check(self, use: OpUse) -> Support:
        """Only the modes that ONNX names."""
        mode = use.attr("mode", "constant")
        if mode not in _MODES:
            return refused(Reason.ATTRIBUTE, f"{use.op} has the mode {mode!r}", mode=mode)
        return SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Each extent with what is added before and after."""
        dims, shape = use.dims(0), []
        for axis, pads in enumerate(self._pads(use)):
            extent = dims[axis] + sum(pads)
            if extent < 0:
                raise use.error(f"pads {pads[0]} and {pads[1]} leave {extent} of axis {axis}")
            constant = use.attr("mode", "constant") == "constant"
            if extent and _kept(dims[axis], pads) <= 0 and not constant:
                raise use.error(f"axis {axis} has no elements to pad with")
            shape.append(extent)
        return (TensorType(use.input(0).dtype, tuple(shape)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch; none where nothing is added."""
        (result,), dims, pads = self.shapes(use), use.dims(0), self._pads(use)
        if not any(p for pair in pads for p in pair):
            steps.alias(0, steps.input(0))
            return
        if any(_kept(extent, pair) <= 0 for extent, pair in zip(dims, pads, strict=True)):
            value = self._fill(use, steps)
            copy_strided(steps, value, steps.output(), result.dims, (0,) * len(dims))
            return
        # What negative pads take off is never read: the source begins after it, and ends before.
        base = 0
        axes: list[_Axis] = []
        for extent, pair, stride in zip(dims, pads, strides_of(dims), strict=True):
            base += max(0, -pair[0]) * stride
            axis = _Axis(extent + sum(pair), _kept(extent, pair), max(0, pair[0]), stride)
            if axes and pair == (0, 0) and axes[-1].is_whole(stride * extent):
                whole = axes.pop().extent * extent
                axis = _Axis(whole, whole, 0, stride)
            axes.append(axis)
        self._dispatch(use, steps, axes, base)

    def _dispatch(self, use: OpUse, steps: StepBuilder, axes: list[_Axis], base: int) -> None:
        source, fill, target = steps.input(0), self._fill(use, steps), steps.output()
        wide, element = WIDE[source.element]
        *outer, inner = axes
        offsets = (base, inner.extent, *(axis.stride for axis in outer))
        if not inner.is_whole(1) or any(offset % wide for offset in offsets):
            wide, element = 1, source.element
        words = [w for axis in outer for w in (*astuple(axis)[:3], axis.stride // wide)]
        words += [inner.padded // wide, inner.extent // wide, inner.before, 1]
        pair = "fill[0], fill[0]" if wide == 2 else "fill[0]"
        count = target.size // wide
        mode = use.attr("mode", "constant")
        steps.dispatch(
            "pad",
            reads=[source, fill],
            writes=[target],
            groups=steps.grid(count),
            params=(count, base // wide, 0, 0, *words),
            variables={
                "element": element,
                "fill_element": source.element,
                "fill": f"{element}({pair})",
                "coordinate": _MODES[mode],
                "rank": len(axes),
            },
            variant=f"{mode}, rank {len(axes)}, {element}",
        )

    @staticmethod
    def _fill(use: OpUse, steps: StepBuilder) -> Tensor:
        """The value that is added, on the device."""
        if use.has(2):
            return steps.input(2)
        dtype = use.input(0).dtype
        return steps.constant(np.array([use.attr("value", 0.0)]).astype(dtype), dtype)

    @staticmethod
    def _pads(use: OpUse) -> tuple[tuple[int, int], ...]:
        """(before, after) of every axis."""
        rank = len(use.dims(0))
        pads = host_ints(use, 1) if use.has(1) else tuple(use.attr("pads", ()))
        axes = host_ints(use, 3) if use.has(3) else tuple(range(rank))
        if len(pads) != 2 * len(axes):
            raise use.error(f"{len(pads)} pads for {len(axes)} axes")
        axes_of(use, axes, rank)
        found = [(0, 0)] * rank
        for k, axis in enumerate(axes):
            found[axis_of(use, axis, rank)] = (pads[k], pads[len(axes) + k])
        return tuple(found)
