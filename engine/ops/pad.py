"""Pad: constant, reflect, edge, wrap. ONNX 2-25; negative pads crop. Refused: Pad 1."""

from __future__ import annotations

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
        for axis, (before, after) in enumerate(self._pads(use)):
            extent = dims[axis] + before + after
            if extent < 0:
                raise use.error(f"pads {before} and {after} leave {extent} of axis {axis}")
            if not dims[axis] and extent and use.attr("mode", "constant") != "constant":
                raise use.error(f"axis {axis} has no elements to pad with")
            shape.append(extent)
        return (TensorType(use.input(0).dtype, tuple(shape)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch; none where nothing is added."""
        (result,), dims, pads = self.shapes(use), use.dims(0), self._pads(use)
        if not any(p for pair in pads for p in pair):
            steps.alias(0, steps.input(0))
            return
        if 0 in dims:
            value = self._fill(use, steps)
            copy_strided(steps, value, steps.output(), result.dims, (0,) * len(dims))
            return
        # (result's extent, extent, before) of each axis; neighbours that are not padded merge.
        axes: list[tuple[int, int, int]] = []
        for extent, (before, after) in zip(dims, pads, strict=True):
            axis = (extent + before + after, extent, before)
            if axes and not before and not after and axes[-1][0] == axes[-1][1] and not axes[-1][2]:
                axis = (axes[-1][0] * extent, axes[-1][1] * extent, 0)
                axes.pop()
            axes.append(axis)
        self._dispatch(use, steps, axes)

    def _dispatch(self, use: OpUse, steps: StepBuilder, axes: list[tuple[int, int, int]]) -> None:
        source, fill, target = steps.input(0), self._fill(use, steps), steps.output()
        wide, element = WIDE[source.element]
        if axes[-1][2] or axes[-1][0] != axes[-1][1] or axes[-1][1] % wide:
            wide, element = 1, source.element
        axes[-1] = (axes[-1][0] // wide, axes[-1][1] // wide, axes[-1][2])
        strides = strides_of([extent for _, extent, _ in axes])
        pair = "fill[0], fill[0]" if wide == 2 else "fill[0]"
        count = target.size // wide
        mode = use.attr("mode", "constant")
        words = (
            w
            for (padded, extent, before), stride in zip(axes, strides, strict=True)
            for w in (padded, extent, before, stride)
        )
        steps.dispatch(
            "pad",
            reads=[source, fill],
            writes=[target],
            groups=steps.grid(count),
            params=(count, 0, 0, 0, *words),
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
