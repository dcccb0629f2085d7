"""Conv, ConvTranspose and ConvInteger, summed in float64 and rounded once: a yardstick."""

from __future__ import annotations

import numpy as np

from ..ops.use import OpUse
from .dtypes import require_room
from .table import host
from .windows import WINDOW_ATTRIBUTES, auto_pad_of, pads_of, per_axis, windows_of

Array = np.ndarray
_CHUNK_BYTES = 64 << 20  # of the unfolded input that is held at once


@host("Conv", versions=(1, 22), attributes=(*WINDOW_ATTRIBUTES, "group"))
def conv(use: OpUse, x: Array, w: Array, b: Array | None = None) -> Array:
    """Convolution of x (N, C, *spatial) with w (M, C/group, *kernel), bias b (M)."""
    y = convolved(use, x.astype(np.float64), w.astype(np.float64))
    if b is not None:
        y += b.astype(np.float64).reshape(-1, *(1,) * (x.ndim - 2))
    return y.astype(x.dtype)


@host("ConvInteger", versions=(10, 10), attributes=(*WINDOW_ATTRIBUTES, "group"))
def conv_integer(
    use: OpUse,
    x: Array,
    w: Array,
    x_zero_point: Array | None = None,
    w_zero_point: Array | None = None,
) -> Array:
    """Conv of (x - zero) with (w - zero) in int32; the padding is the zero point."""
    left, right = x.astype(np.float64), w.astype(np.float64)
    if x_zero_point is not None:
        left -= float(x_zero_point.reshape(-1)[0])
    if w_zero_point is not None:
        right -= w_zero_point.astype(np.float64).reshape(-1, *(1,) * (w.ndim - 1))
    return convolved(use, left, right).astype(np.int64).astype(np.int32)


def convolved(use: OpUse, x: Array, w: Array) -> Array:
    """The convolution of float64 arrays by the node's attributes, without bias."""
    group = use.attr("group", 1)
    filters, depth = w.shape[:2]
    if x.ndim < 3 or w.ndim != x.ndim or group < 1 or filters % group:
        raise use.error(f"X {list(x.shape)} and W {list(w.shape)} do not fit with group {group}")
    if x.shape[1] != depth * group:
        raise use.error(
            f"X has {x.shape[1]} channels; W {list(w.shape)} with group {group} needs "
            f"{depth * group}"
        )
    kernel = w.shape[2:]
    if tuple(use.attr("kernel_shape") or kernel) != kernel:
        raise use.error(f"kernel_shape {list(use.attr('kernel_shape'))} differs from W's")
    windows = windows_of(use, x.shape, kernel)
    batch, size = x.shape[0], int(np.prod(windows.output))
    require_room(use, (batch, filters, *windows.output), x.dtype)
    taps = depth * int(np.prod(kernel))
    view = windows.view(x, 0.0)  # (N, C, *output, *kernel)
    rank = len(kernel)
    y = np.empty((batch, filters, *windows.output), np.float64)
    rows = windows.output[0]
    chunk = max(1, rows * _CHUNK_BYTES // max(1, 8 * taps * size))
    flat_w = w.reshape(group, filters // group, taps)
    for n in range(batch):
        for g in range(group):
            channels = slice(g * depth, (g + 1) * depth)
            made = slice(g * (filters // group), (g + 1) * (filters // group))
            for start in range(0, rows, chunk):
                part = view[n, channels, start : start + chunk]
                order = (0, *range(rank + 1, 2 * rank + 1), *range(1, rank + 1))
                columns = part.transpose(order).reshape(taps, -1)
                y[n, made, start : start + chunk] = (flat_w[g] @ columns).reshape(
                    y[n, made, start : start + chunk].shape
                )
    return y


@host(
    "ConvTranspose",
    versions=(1, 22),
    attributes=(*WINDOW_ATTRIBUTES, "group", "output_padding", "output_shape"),
)
def conv_transpose(use: OpUse, x: Array, w: Array, b: Array | None = None) -> Array:
    """Transposed convolution of x (N, C, *spatial) with w (C, M/group, *kernel), bias b (M)."""
    group = use.attr("group", 1)
    channels, depth = w.shape[:2]
    if x.ndim < 3 or w.ndim != x.ndim or x.shape[1] != channels or group < 1 or channels % group:
        raise use.error(f"X {list(x.shape)} and W {list(w.shape)} do not fit with group {group}")
    kernel = w.shape[2:]
    if tuple(use.attr("kernel_shape") or kernel) != kernel:
        raise use.error(f"kernel_shape {list(use.attr('kernel_shape'))} differs from W's")
    rank = len(kernel)
    strides = per_axis(use, "strides", rank, 1)
    dilations = per_axis(use, "dilations", rank, 1)
    before, output = _transposed_output(use, x.shape[2:], kernel, strides, dilations)
    batch, filters = x.shape[0], depth * group
    require_room(use, (batch, filters, *output), x.dtype)

    # Every tap of every input lands somewhere in the full output; the pads cut that afterwards.
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    full = [
        max((n - 1) * s + r, p + o)
        for n, s, r, p, o in zip(x.shape[2:], strides, reach, before, output, strict=True)
    ]
    y = np.zeros((batch, filters, *full), np.float64)
    size = int(np.prod(x.shape[2:]))
    inputs = x.astype(np.float64).reshape(batch, group, channels // group, size)
    weights = w.astype(np.float64).reshape(group, channels // group, depth, *kernel)
    for tap in np.ndindex(*kernel):
        matrix = weights[(slice(None), slice(None), slice(None), *tap)]
        part = np.matmul(matrix.transpose(0, 2, 1)[None], inputs)
        where = tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s)
            for t, d, n, s in zip(tap, dilations, x.shape[2:], strides, strict=True)
        )
        y[(slice(None), slice(None), *where)] += part.reshape(batch, filters, *x.shape[2:])
    cut = tuple(slice(p, p + o) for p, o in zip(before, output, strict=True))
    y = y[(slice(None), slice(None), *cut)]
    if b is not None:
        y = y + b.astype(np.float64).reshape(-1, *(1,) * rank)
    return y.astype(x.dtype)


def _transposed_output(
    use: OpUse,
    spatial: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(pads before, output sizes) by ONNX's formulas, dilations included."""
    rank = len(spatial)
    extra = per_axis(use, "output_padding", rank, 0)
    before, after = pads_of(use, rank)
    mode = auto_pad_of(use)
    wanted = use.attr("output_shape")
    if wanted is not None and len(wanted) not in (rank, rank + 2):
        raise use.error(f"output_shape has {len(wanted)} entries for {rank} spatial axes")
    starts: list[int] = []
    sizes: list[int] = []
    for i in range(rank):
        reach = (kernel[i] - 1) * dilations[i] + 1
        natural = strides[i] * (spatial[i] - 1) + extra[i] + reach
        if wanted or mode.startswith("SAME"):
            size = wanted[-rank:][i] if wanted else spatial[i] * strides[i]
            total = max(0, natural - size)  # an output longer than natural ends in zeros
            # The text: SAME_UPPER puts the odd one at the end, everything else at the start.
            start = total // 2 if mode == "SAME_UPPER" else total - total // 2
        else:
            start, end = (0, 0) if mode == "VALID" else (before[i], after[i])
            size = natural - start - end
        if size < 1:
            raise use.error(f"output axis {i} would have length {size}")
        starts.append(start)
        sizes.append(size)
    return tuple(starts), tuple(sizes)
