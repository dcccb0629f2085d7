"""A convolution with concrete shapes: its work and its strides, before any kernel is chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .window import Axis


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution with concrete shapes, always with three spatial axes.

    Attributes:
        group_inputs, group_outputs: channels per group of the input and of the output.
        axes: depth, height, width.
        transposed: ConvTranspose, whose weight is (C, M / groups, ...) instead of (M, C / groups).
    """

    batch: int
    groups: int
    group_inputs: int
    group_outputs: int
    axes: tuple[Axis, Axis, Axis]
    transposed: bool = False

    @property
    def outputs(self) -> int:
        """Number of output elements."""
        channels = self.groups * self.group_outputs
        return self.batch * channels * math.prod(a.output for a in self.axes)

    @property
    def taps(self) -> int:
        """Taps that the busiest output position has, all axes together."""
        return math.prod(self.axis_taps(a) for a in self.axes)

    def axis_taps(self, axis: Axis) -> int:
        """Taps that the busiest output position has along ``axis``."""
        if self.transposed:
            return -(-axis.kernel // (axis.stride // math.gcd(axis.stride, axis.dilation)))
        return axis.kernel

    @property
    def multiply_adds(self) -> int:
        """The arithmetic of the definition, padding included."""
        if self.transposed:
            inputs = self.batch * self.groups * math.prod(a.input for a in self.axes)
            kernel = math.prod(a.kernel for a in self.axes)
            return inputs * self.group_inputs * self.group_outputs * kernel
        return self.outputs * self.group_inputs * self.taps

    @property
    def weight_strides(self) -> tuple[int, int, int]:
        """Elements from one group, output channel and input channel to the next in the weight."""
        kernel = math.prod(a.kernel for a in self.axes)
        group = self.group_inputs * self.group_outputs * kernel
        if self.transposed:
            return group, kernel, self.group_outputs * kernel
        return group, self.group_inputs * kernel, kernel


def axis_params(axis: Axis) -> tuple[int, ...]:
    """The eight integers of lib/window.wgsl for ``axis``."""
    common = math.gcd(axis.stride, axis.dilation)
    step = axis.stride // common
    inverse = pow(axis.dilation // common, -1, step) if step > 1 else 0
    return (
        *(axis.input, axis.output, axis.kernel, axis.begin),
        *(axis.stride, axis.dilation, common, inverse),
    )
