"""Concat: any number of inputs, one copy each into its part of the output. ONNX 4-13.

Refused: Concat 1 (its axis has another default).
"""

from __future__ import annotations

from ..ir.model import TensorType
from .broadcast import axis_of, strides_of
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder
from .strided import copy_strided
from .use import OpUse


@kernel("Concat", since=(4, 11, 13))
class Concat(Kernel):
    """The inputs one after another along ``axis``."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("axis",))

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The common shape with the sum of the extents along the axis."""
        first = use.dims(0)
        axis = axis_of(use, int(use.attr("axis")), len(first))
        total = 0
        for index in range(len(use.inputs)):
            dims = use.dims(index)
            if len(dims) != len(first) or any(
                a != b for k, (a, b) in enumerate(zip(dims, first, strict=False)) if k != axis
            ):
                raise use.error(
                    f"input {index} has the shape {dims}, input 0 has {first}: "
                    f"they may differ along axis {axis} only"
                )
            total += dims[axis]
        return (TensorType(use.input(0).dtype, (*first[:axis], total, *first[axis + 1 :])),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One copy for each input that has elements."""
        (result,) = self.shapes(use)
        axis = axis_of(use, int(use.attr("axis")), len(result.dims))
        strides, first = strides_of(result.dims), 0
        filled = [i for i in range(len(use.inputs)) if 0 not in use.dims(i)]
        if len(filled) == 1:
            steps.alias(0, steps.input(filled[0]))
            return
        for index in filled:
            dims = use.dims(index)
            copy_strided(
                steps,
                steps.input(index),
                steps.output(),
                dims,
                strides_of(dims),
                strides,
                target_base=first * strides[axis],
            )
            first += dims[axis]
