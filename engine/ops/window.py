"""The geometry of sliding windows, exact in integers: convolutions, their transposes, pools.

Formulas are ONNX's, versions 1 to 22. Where ``auto_pad`` is SAME_UPPER or SAME_LOWER the padding is
split evenly and an odd element goes to the end or to the beginning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..providers.support import SUPPORTED, Reason, Support, refused
from .use import OpUse

MAX_SPATIAL_AXES = 3


@dataclass(frozen=True, slots=True)
class Axis:
    """One spatial axis: extents in elements, ``begin`` and ``end`` the padding around the input.

    For a transposed convolution ``begin`` and ``end`` are what is cut from the full result; a
    negative ``end`` means that the output reaches past it.
    """

    input: int
    output: int
    kernel: int
    stride: int = 1
    dilation: int = 1
    begin: int = 0
    end: int = 0

    @property
    def reach(self) -> int:
        """Elements from a window's first tap to its last, both included."""
        return (self.kernel - 1) * self.dilation + 1


ONE = Axis(input=1, output=1, kernel=1)


def three_axes(axes: Sequence[Axis]) -> tuple[Axis, Axis, Axis]:
    """``axes`` with axes of extent 1 put in front: kernels always see depth, height, width."""
    depth, height, width = (*(ONE,) * (MAX_SPATIAL_AXES - len(axes)), *axes)
    return depth, height, width


def check_window(use: OpUse) -> Support:
    """Decline what no window kernel does: too many spatial axes, two paddings at once."""
    shape = use.inputs[0].shape if use.inputs and use.inputs[0] is not None else None
    if shape is not None and not 3 <= len(shape) <= 2 + MAX_SPATIAL_AXES:
        return refused(
            Reason.SHAPE,
            f"the input has {len(shape)} dimensions; the kernel takes 3 to {2 + MAX_SPATIAL_AXES}",
            rank=len(shape),
        )
    mode = use.attr("auto_pad", "NOTSET")
    if mode not in ("NOTSET", "", "SAME_UPPER", "SAME_LOWER", "VALID"):
        return refused(Reason.ATTRIBUTE, f"auto_pad is {mode!r}", attribute="auto_pad")
    if mode not in ("NOTSET", "") and any(use.attr("pads", ())):
        return refused(
            Reason.ATTRIBUTE,
            f"auto_pad is {mode} and pads is {list(use.attr('pads'))}; ONNX forbids both at once",
            attribute="pads",
        )
    return SUPPORTED


def conv_axes(use: OpUse, spatial: Sequence[int], kernel: Sequence[int]) -> tuple[Axis, ...]:
    """The axes of a Conv over an input of ``spatial`` extents; NodeError where none fits."""
    return tuple(_sliding(use, i, spatial[i], kernel[i]) for i in range(len(spatial)))


def pool_axes(use: OpUse, spatial: Sequence[int]) -> tuple[Axis, ...]:
    """The axes of a pool, ``ceil_mode`` included; NodeError where none fits."""
    kernel = _integers(use, "kernel_shape", len(spatial), 0, minimum=1)
    ceil = bool(use.attr("ceil_mode", 0))
    return tuple(_sliding(use, i, spatial[i], kernel[i], ceil) for i in range(len(spatial)))


def transpose_axes(use: OpUse, spatial: Sequence[int], kernel: Sequence[int]) -> tuple[Axis, ...]:
    """The axes of a ConvTranspose over an input of ``spatial`` extents.

    ``output_shape`` fixes the output and derives the padding; so does SAME_* with the output
    input * stride, whatever ``output_padding`` is. Otherwise the padding fixes the output.
    """
    rank = len(spatial)
    strides = _integers(use, "strides", rank, 1, minimum=1)
    dilations = _integers(use, "dilations", rank, 1, minimum=1)
    extra = _integers(use, "output_padding", rank, 0)
    mode = use.attr("auto_pad", "NOTSET")
    begins, ends = _pads(use, rank)
    wanted = tuple(use.attr("output_shape", ()))
    if len(wanted) == rank + 2:  # version 1 does not say that batch and channels are left out
        wanted = wanted[2:]
    if wanted and len(wanted) != rank:
        raise use.error(f"output_shape has {len(wanted)} values for {rank} spatial axes")
    axes = []
    for i in range(rank):
        axis = Axis(spatial[i], 0, kernel[i], strides[i], dilations[i])
        full = strides[i] * (spatial[i] - 1) + axis.reach + extra[i]
        begin, end = begins[i], ends[i]
        if wanted or mode in ("SAME_UPPER", "SAME_LOWER"):
            output = wanted[i] if wanted else spatial[i] * strides[i]
            # ONNX: the beginning gets total // 2 for SAME_UPPER and the rest for all other modes.
            # Padding is never negative at the beginning: what is missing is missing at the end.
            cut = max(0, full - output)
            begin = cut // 2 if mode == "SAME_UPPER" else cut - cut // 2
            end = full - output - begin
        else:
            output = full - begin - end
        if spatial[i] == 0 and not wanted:
            output = max(0, output)
        if output < 0 or (output == 0 and spatial[i] > 0):
            raise use.error(
                f"spatial axis {i} has no output: stride {strides[i]} x (input {spatial[i]} - 1) + "
                f"window {axis.reach} + output_padding {extra[i]} - pads {begin} and {end} "
                f"= {output}"
            )
        axes.append(Axis(spatial[i], output, kernel[i], strides[i], dilations[i], begin, end))
    return tuple(axes)


def _sliding(use: OpUse, i: int, extent: int, kernel: int, ceil: bool = False) -> Axis:
    rank = len(use.dims(0)) - 2
    stride = _integers(use, "strides", rank, 1, minimum=1)[i]
    dilation = _integers(use, "dilations", rank, 1, minimum=1)[i]
    begins, ends = _pads(use, rank)
    begin, end = begins[i], ends[i]
    reach = (kernel - 1) * dilation + 1
    mode = use.attr("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        output = -(-extent // stride)
        total = max(0, (output - 1) * stride + reach - extent)
        begin = total // 2 if mode == "SAME_UPPER" else total - total // 2
        end = total - begin
        return Axis(extent, output, kernel, stride, dilation, begin, end)
    room = extent + begin + end - reach
    if room < 0:
        raise use.error(
            f"spatial axis {i}: the window spans {reach} (kernel {kernel}, dilation {dilation}) "
            f"but the input has {extent} + {begin} + {end} with its pads"
        )
    output = room // stride + 1
    if ceil and room % stride and output * stride < extent + begin:
        output += 1  # a window more, unless it would start in the padding at the end
    return Axis(extent, output, kernel, stride, dilation, begin, end)


def kernel_extents(use: OpUse, weight: Sequence[int]) -> tuple[int, ...]:
    """The window of a convolution: the weight's, which ``kernel_shape`` must repeat if given."""
    kernel = tuple(weight[2:])
    stated = tuple(use.attr("kernel_shape", kernel))
    if stated != kernel:
        raise use.error(f"kernel_shape is {list(stated)} but the weight has {list(kernel)}")
    if math.prod(kernel) == 0:
        raise use.error(f"the weight has an empty window: {list(weight)}")
    return kernel


def _pads(use: OpUse, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pads = _integers(use, "pads", 2 * rank, 0)
    return pads[:rank], pads[rank:]


def _integers(
    use: OpUse, name: str, count: int, default: int, *, minimum: int = 0
) -> tuple[int, ...]:
    values = tuple(use.attr(name, ())) or (default,) * count
    if len(values) != count:
        raise use.error(f"{name} has {len(values)} values; {count} are needed")
    if min(values, default=minimum) < minimum:
        raise use.error(f"{name} is {list(values)}; its values must be at least {minimum}")
    return values
