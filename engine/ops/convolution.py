"""Conv (ONNX 1, 11, 22), and what it shares with ConvTranspose.

    y[n, m, o] = bias[m] + sum over c, k of x[n, c, o * stride - begin + k * dilation] * w[m, c, k]

over the input channels c of m's group, taps outside of the input being zero. All attributes, one
to three spatial axes, f32 and f16 (summed in f32). Declined: other ranks, ``pads`` together with
``auto_pad``.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ..ir.model import TensorType
from ..providers.support import Support
from .conv_geometry import Convolution, axis_params
from .conv_tiled import build_tiled, choose_tiling
from .index_policy import INDEX_POLICY
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder, Tensor
from .tiles import spans
from .use import OpUse
from .window import check_window, conv_axes, kernel_extents, three_axes


def build_convolution(conv: Convolution, use: OpUse, steps: StepBuilder) -> None:
    """The dispatches of ``conv``: inputs x, w and perhaps a bias, output 0."""
    bias = _bias(conv, use, steps)
    tiling = choose_tiling(conv, steps)
    if tiling is None:
        _build_direct(conv, bias, steps)
    else:
        build_tiled(tiling, use, bias, steps)


def _bias(conv: Convolution, use: OpUse, steps: StepBuilder) -> Tensor:
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


def check_bias(use: OpUse, channels: int) -> None:
    """NodeError unless the bias, if there is one, has one value per output channel."""
    if use.has(2) and use.dims(2) != (channels,):
        raise use.error(f"the bias has shape {list(use.dims(2))}; {channels} values are needed")


class Convolving(Kernel):
    """What Conv and ConvTranspose share: one to three spatial axes, f32 and f16."""

    types = MappingProxyType({"T": TYPES.floats})
    attributes = frozenset(("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"))
    fuses_activation = True

    def convolution(self, use: OpUse) -> Convolution:
        """The geometry of this use; NodeError where shapes and attributes contradict each other."""
        raise NotImplementedError

    def check(self, use: OpUse) -> Support:
        """Ranks of three to five, one kind of padding."""
        return check_window(use)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(N, M, spatial...)."""
        conv = self.convolution(use)
        rank = len(use.dims(0)) - 2
        spatial = tuple(a.output for a in conv.axes[3 - rank :])
        channels = conv.groups * conv.group_outputs
        return (TensorType(use.input(0).dtype, (conv.batch, channels, *spatial)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One direct or tiled dispatch, in pieces where it would take too long."""
        build_convolution(self.convolution(use), use, steps)

    def cost(self, use: OpUse) -> Cost:
        """Two operations per multiply-add of the definition."""
        return Cost(2 * self.convolution(use).multiply_adds, super().cost(use).bytes)


@kernel("Conv", since=(1, 11, 22))
class Conv(Convolving):
    """Convolution of one to three spatial axes."""

    def convolution(self, use: OpUse) -> Convolution:
        """The weight is (M, C / groups, kernel...)."""
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
