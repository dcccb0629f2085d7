"""Data movement that no index tensor steers: slices, joins, splits, padding, blocks."""

from __future__ import annotations

import math

import numpy as np

from ..ops.use import OpUse
from .dtypes import require_room
from .shape_ops import axes_of, normal_axes, normal_axis
from .table import host

Array = np.ndarray


@host("Slice", versions=(1, 9), attributes=("starts", "ends", "axes"))
def slice_by_attributes(use: OpUse, data: Array) -> Array:
    """Slice-1: bounds in attributes, steps of 1."""
    starts, ends = use.attr("starts"), use.attr("ends")
    if starts is None or ends is None:
        raise use.error("the attributes starts and ends are required")
    return _sliced(use, data, list(starts), list(ends), axes_of(use, None), None)


@host("Slice", versions=(10, 13))
def slice_by_inputs(
    use: OpUse,
    data: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Array:
    """Slice-10 and later: bounds, axes and steps as inputs; bounds are clamped to the axis."""
    return _sliced(
        use,
        data,
        starts.tolist(),
        ends.tolist(),
        None if axes is None else axes.tolist(),
        None if steps is None else steps.tolist(),
    )


def _sliced(
    use: OpUse,
    data: Array,
    starts: list[int],
    ends: list[int],
    axes: list[int] | None,
    steps: list[int] | None,
) -> Array:
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise use.error(
            f"{len(starts)} starts, {len(ends)} ends, {len(axes)} axes and {len(steps)} steps "
            "do not go together"
        )
    if 0 in steps:
        raise use.error("a step is 0")
    index: list[slice] = [slice(None)] * data.ndim
    for axis, start, end, step in zip(
        normal_axes(use, axes, data.ndim), starts, ends, steps, strict=True
    ):
        # A start before the front is clamped to it even for negative steps, unlike Python's.
        index[axis] = slice(max(start, -data.shape[axis]), end, step)
    return data[tuple(index)]


@host("Concat", versions=(1, 13), attributes=("axis",))
def concat(use: OpUse, *parts: Array) -> Array:
    """Join along ``axis`` (1 by default before version 4)."""
    axis = use.attr("axis", 1 if 0 < use.since_version < 4 else None)
    if axis is None:
        raise use.error("the attribute axis is required")
    if not parts:
        raise use.error("there is no input")
    require_room(use, (sum(part.size for part in parts),), parts[0].dtype)
    return np.concatenate(parts, axis)


@host("Split", versions=(1, 18), attributes=("axis", "split", "num_outputs"))
def split(use: OpUse, data: Array, sizes: Array | None = None) -> tuple[Array, ...]:
    """Cut along ``axis``: into given sizes, or equal ones of which the last may be smaller."""
    axis = normal_axis(use, use.attr("axis", 0), data.ndim)
    length = data.shape[axis]
    listed = use.attr("split") if sizes is None else sizes.tolist()
    if listed is None:
        count = use.attr("num_outputs", len(use.outputs))
        size = -(-length // count)
        if size * count != length and "num_outputs" not in use.attributes:
            raise use.error(
                f"axis {axis} of length {length} cannot be cut into {count} equal parts"
            )
        listed = [max(0, min(size, length - i * size)) for i in range(count)]
    if sum(listed) != length or min(listed, default=0) < 0:
        raise use.error(f"the sizes {list(listed)} do not add up to axis {axis}'s length {length}")
    cuts = np.cumsum(listed)[:-1].tolist()
    return tuple(np.split(data, cuts, axis))


_PAD_MODES = frozenset(("constant", "reflect", "edge", "wrap"))


@host("Pad", versions=(2, 10), attributes=("pads", "mode", "value"))
def pad_by_attributes(use: OpUse, data: Array) -> Array:
    """Pad-2: everything in attributes."""
    fill = np.asarray(use.attr("value", 0.0)).astype(data.dtype)
    return _padded(use, data, list(use.attr("pads", ())), range(data.ndim), fill)


@host("Pad", versions=(11, 25), attributes=("mode",))
def pad_by_inputs(
    use: OpUse,
    data: Array,
    pads: Array,
    constant_value: Array | None = None,
    axes: Array | None = None,
) -> Array:
    """Pad-11 and later: pads, value and (from 18) axes as inputs; negative pads crop."""
    fill = np.zeros((), data.dtype) if constant_value is None else constant_value
    named = normal_axes(use, list(range(data.ndim)) if axes is None else axes.tolist(), data.ndim)
    return _padded(use, data, pads.tolist(), named, fill)


def _padded(
    use: OpUse, data: Array, pads: list[int], axes: range | tuple[int, ...], fill: Array
) -> Array:
    if len(pads) != 2 * len(axes):
        raise use.error(f"{len(pads)} pads are given for {len(axes)} axes")
    mode = use.attr("mode", "constant")
    if mode not in _PAD_MODES:
        raise use.error(f"the mode {mode!r} is unknown")
    widths = [(0, 0)] * data.ndim
    crops: list[slice] = [slice(None)] * data.ndim
    for position, axis in enumerate(axes):
        before, after = pads[position], pads[position + len(axes)]
        length = data.shape[axis]
        total, kept = length + before + after, length + min(before, 0) + min(after, 0)
        if total < 0:
            raise use.error(f"pads {before} and {after} take more than axis {axis}'s {length}")
        if kept <= 0 < total and mode != "constant":
            raise use.error(f"mode {mode!r} has nothing to repeat: axis {axis} is empty")
        first = max(0, -before) if kept > 0 else 0
        crops[axis] = slice(first, first + max(kept, 0))
        widths[axis] = (max(0, before), max(0, after)) if kept > 0 else (total, 0)
    data = data[tuple(crops)]
    require_room(
        use, tuple(d + b + a for d, (b, a) in zip(data.shape, widths, strict=True)), data.dtype
    )
    if mode == "constant":
        return np.pad(data, widths, constant_values=fill.reshape(-1)[0])
    return np.pad(data, widths, mode=mode)


@host("DepthToSpace", versions=(1, 28), attributes=("blocksize", "mode"))
def depth_to_space(use: OpUse, data: Array) -> Array:
    """Blocks of channels become pixels: (N, C, H, W) to (N, C/b^2, H*b, W*b)."""
    block, mode = use.attr("blocksize"), use.attr("mode", "DCR")
    batch, channels, height, width = data.shape
    if not block or channels % (block * block):
        raise use.error(f"{channels} channels do not divide by blocksize {block} squared")
    if mode == "DCR":
        parts = data.reshape(batch, block, block, -1, height, width).transpose(0, 3, 4, 1, 5, 2)
    elif mode == "CRD":
        parts = data.reshape(batch, -1, block, block, height, width).transpose(0, 1, 4, 2, 5, 3)
    else:
        raise use.error(f"the mode {mode!r} is unknown")
    return parts.reshape(batch, -1, height * block, width * block)


@host("SpaceToDepth", versions=(1, 28), attributes=("blocksize", "mode"))
def space_to_depth(use: OpUse, data: Array) -> Array:
    """Blocks of pixels become channels: (N, C, H, W) to (N, C*b^2, H/b, W/b)."""
    block, mode = use.attr("blocksize"), use.attr("mode", "DCR")
    batch, channels, height, width = data.shape
    if mode not in ("DCR", "CRD"):
        raise use.error(f"the mode {mode!r} is unknown")
    if not block or height % block or width % block:
        raise use.error(f"{height} x {width} does not divide by blocksize {block}")
    parts = data.reshape(batch, channels, height // block, block, width // block, block)
    parts = parts.transpose((0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4))
    return parts.reshape(batch, math.prod(parts.shape[1:4]), height // block, width // block)
