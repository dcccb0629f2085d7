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

from .conv_geometry import Convolution
from .convolution import Convolving, check_bias
from .registry import kernel
from .use import OpUse
from .window import kernel_extents, three_axes, transpose_axes


@kernel("ConvTranspose", since=(1, 11, 22))
class ConvTranspose(Convolving):
    """Transposed convolution of one to three spatial axes, all its phases in one dispatch."""

    attributes = Convolving.attributes | {"output_padding", "output_shape"}

    def convolution(self, use: OpUse) -> Convolution:
        """The weight is (C, M / groups, kernel...)."""
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
