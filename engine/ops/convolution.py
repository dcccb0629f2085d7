"""Conv (ONNX 1, 11, 22), and what it shares with ConvTranspose.

    y[n, m, o] = bias[m] + sum over c, k of x[n, c, o * stride - begin + k * dilation] * w[m, c, k]

over the input channels c of m's group, taps outside of the input being zero. All attributes, one
to three spatial axes, f32 and f16 (summed in f32). Declined: other ranks, ``pads`` together with
``auto_pad``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ..ir.model import TensorType
from ..providers.support import Support
from .index_policy import INDEX_POLICY
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder, Tensor
from .use import OpUse
from .window import Axis, check_window, conv_axes, kernel_extents, three_axes


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
        return math.prod(
            -(-a.kernel // (a.stride // math.gcd(a.stride, a.dilation)))
            if self.transposed
            else a.kernel
            for a in self.axes
        )

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


def spans(items: int, work_per_item: int, limit: int) -> Iterator[tuple[int, int]]:
    """(first, count) pieces of ``items``, each of at most ``limit`` work, but one item at least."""
    piece = max(1, limit // max(1, work_per_item))
    for first in range(0, items, piece):
        yield first, min(piece, items - first)


def build_convolution(conv: Convolution, use: OpUse, steps: StepBuilder) -> None:
    """The dispatches of ``conv``: inputs x, w and perhaps a bias, output 0."""
    bias = bias_tensor(conv, use, steps)
    _build_direct(conv, bias, steps)


def bias_tensor(conv: Convolution, use: OpUse, steps: StepBuilder) -> Tensor:
    """The bias, or zeros where the node has none."""
    if use.has(2):
        return steps.input(2)
    return steps.constant(np.zeros(conv.groups * conv.group_outputs, use.input(0).dtype))


def _build_direct(conv: Convolution, bias: Tensor, steps: StepBuilder) -> None:
    x, w, y = _readable(steps.input(0), steps), _readable(steps.input(1), steps), steps.output()
    activation = steps.activation
    variables = {
        "element": y.element,
        "index": INDEX_POLICY.index_type,
        "taps": "transposed_taps" if conv.transposed else "window_taps",
        "activation": activation.name,
    }
    geometry = [value for axis in conv.axes for value in axis_params(axis)]
    work = conv.group_inputs * conv.taps
    for first, count in spans(conv.outputs, work, steps.work_limit()):
        steps.dispatch(
            "conv_direct",
            reads=(x, w, bias),
            writes=(y,),
            groups=steps.grid(count),
            params=(
                first,
                count,
                conv.group_inputs,
                conv.group_outputs,
                conv.groups,
                *conv.weight_strides,
                float(activation.alpha),
                float(activation.beta),
                0,
                0,
                *geometry,
            ),
            variables=variables,
            variant="transposed" if conv.transposed else "",
        )


def _readable(tensor: Tensor, steps: StepBuilder) -> Tensor:
    """``tensor``, or a zero in place of an empty one, which no tap reads and nothing can bind."""
    return tensor if tensor.size else steps.constant(np.zeros(1), tensor.dtype)


def axis_params(axis: Axis) -> tuple[int, ...]:
    """The eight integers of lib/window.wgsl for ``axis``."""
    common = math.gcd(axis.stride, axis.dilation)
    step = axis.stride // common
    inverse = pow(axis.dilation // common, -1, step) if step > 1 else 0
    return (
        *(axis.input, axis.output, axis.kernel, axis.begin),
        *(axis.stride, axis.dilation, common, inverse),
    )


def check_bias(use: OpUse, channels: int) -> None:
    """NodeError unless the bias, if there is one, has one value per output channel."""
    if use.has(2) and use.dims(2) != (channels,):
        raise use.error(f"the bias has shape {list(use.dims(2))}; {channels} values are needed")


@kernel("Conv", since=(1, 11, 22))
class Conv(Kernel):
    """Convolution of one to three spatial axes."""

    types = MappingProxyType({"T": TYPES.floats})
    attributes = frozenset(("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"))
    fuses_activation = True

    def check(self, use: OpUse) -> Support:
        """Ranks of three to five, one kind of padding."""
        return check_window(use)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(N, M, spatial...)."""
        conv = self._convolution(use)
        rank = len(use.dims(0)) - 2
        spatial = tuple(a.output for a in conv.axes[3 - rank :])
        channels = conv.groups * conv.group_outputs
        return (TensorType(use.input(0).dtype, (conv.batch, channels, *spatial)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One direct or tiled dispatch, in pieces where it would take too long."""
        build_convolution(self._convolution(use), use, steps)

    def cost(self, use: OpUse) -> Cost:
        """Two operations per tap, channel and output element."""
        return Cost(2 * self._convolution(use).multiply_adds, super().cost(use).bytes)

    def _convolution(self, use: OpUse) -> Convolution:
        x, w, groups = use.dims(0), use.dims(1), use.attr("group", 1)
        if len(w) != len(x) or len(x) < 3:
            raise use.error(f"the input is {list(x)} and the weight {list(w)}: ranks do not fit")
        if groups < 1 or w[0] % groups or w[1] * groups != x[1]:
            raise use.error(
                f"the input has {x[1]} channels; weight {list(w)} and group {groups} need "
                f"{w[1] * groups} and outputs in {groups} equal groups"
            )
        check_bias(use, w[0])
        axes = conv_axes(use, x[2:], kernel_extents(use, w))
        return Convolution(x[0], groups, w[1], w[0] // groups, three_axes(axes))
