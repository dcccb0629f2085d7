"""ConvTranspose (ONNX 1, 11, 22).

    y[n, m, o] = bias[m] + sum over c, k of x[n, c, i] * w[c, m, k]

over the input channels c of m's group and all i, k with o + begin = i * stride + k * dilation.
Along an axis, output positions with the same remainder modulo the stride (a phase) read the same
taps, each (stride / gcd(stride, dilation))-th one; only those are computed. Indices are
integers of :mod:`index_policy`, whatever the tensor's type.

All attributes, one to three spatial axes, f32 and f16 (summed in f32). Where the ONNX text of
version 1 contradicts itself about odd padding, versions 11 and 22 are followed. Declined: other
ranks, ``pads`` together with ``auto_pad``.
"""

from __future__ import annotations

from types import MappingProxyType

from ..ir.model import TensorType
from ..providers.support import Support
from .conv_geometry import Convolution
from .convolution import build_convolution, check_bias
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder
from .use import OpUse
from .window import check_window, kernel_extents, three_axes, transpose_axes


@kernel("ConvTranspose", since=(1, 11, 22))
class ConvTranspose(Kernel):
    """Transposed convolution of one to three spatial axes, by phases."""

    types = MappingProxyType({"T": TYPES.floats})
    attributes = frozenset(
        (
            *("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"),
            *("output_padding", "output_shape"),
        )
    )
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
        """One direct or tiled dispatch for all phases, in pieces where it would take too long."""
        build_convolution(self._convolution(use), use, steps)

    def cost(self, use: OpUse) -> Cost:
        """Two operations per input element, tap and output channel of its group."""
        return Cost(2 * self._convolution(use).multiply_adds, super().cost(use).bytes)

    def _convolution(self, use: OpUse) -> Convolution:
        x, w, groups = use.dims(0), use.dims(1), use.attr("group", 1)
        if len(w) != len(x) or len(x) < 3:
            raise use.error(f"the input is {list(x)} and the weight {list(w)}: ranks do not fit")
        if w[0] != x[1] or groups < 1 or x[1] % groups:
            raise use.error(
                f"the input has {x[1]} channels; weight {list(w)} and group {groups} need "
                f"{w[0]}, in {groups} equal groups"
            )
        check_bias(use, w[1] * groups)
        axes = transpose_axes(use, x[2:], kernel_extents(use, w))
        return Convolution(x[0], groups, x[1] // groups, w[1], three_axes(axes), transposed=True)
