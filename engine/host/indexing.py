"""Data movement: slices, gathers, scatters, joins and splits, padding."""

from __future__ import annotations

import math

import numpy as np

from ..ops.use import OpUse
from .dtypes import require_room
from .shape_ops import axes_of, normal_axes, normal_axis
from .table import host
from .values import Value

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
    """Slice-10 and later: bounds, axes and steps as inputs; bounds are clamped as Python's are."""
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
        index[axis] = slice(start, end, step)
    return data[tuple(index)]


def _wrapped(use: OpUse, indices: Array, length: int) -> Array:
    """``indices`` counted from 0; NodeError if one is outside the axis of ``length``."""
    if indices.size and (indices.min() < -length or indices.max() >= length):
        bad = indices[(indices < -length) | (indices >= length)].reshape(-1)[0]
        raise use.error(f"index {bad} is out of range for an axis of length {length}")
    return np.where(indices < 0, indices + length, indices)


@host("Gather", versions=(1, 25), attributes=("axis",))
def gather(use: OpUse, data: Array, indices: Array) -> Array:
    """Whole slices of ``data`` along ``axis``."""
    axis = normal_axis(use, use.attr("axis", 0), data.ndim)
    require_room(use, data.shape[:axis] + indices.shape + data.shape[axis + 1 :], data.dtype)
    if indices.size == 1:  # shape arithmetic: the fast way
        length, at = data.shape[axis], int(indices.reshape(-1)[0])
        if not -length <= at < length:
            raise use.error(f"index {at} is out of range for an axis of length {length}")
    else:
        indices = _wrapped(use, indices, data.shape[axis])
    return data.take(indices, axis)


@host("GatherElements", versions=(11, 13), attributes=("axis",))
def gather_elements(use: OpUse, data: Array, indices: Array) -> Value:
    """One element of ``data`` per index, along ``axis``."""
    axis = normal_axis(use, use.attr("axis", 0), data.ndim)
    return data[_element_index(use, data, indices, axis)]


def _element_index(use: OpUse, data: Array, indices: Array, axis: int) -> tuple[Array, ...]:
    if indices.ndim != data.ndim:
        raise use.error(f"indices have rank {indices.ndim}, the data {data.ndim}")
    index: list[Array] = list(np.indices(indices.shape, sparse=True))
    index[axis] = _wrapped(use, indices, data.shape[axis])
    return tuple(index)


@host("GatherND", versions=(11, 13), attributes=("batch_dims",))
def gather_nd(use: OpUse, data: Array, indices: Array) -> Value:
    """Slices of ``data`` at the tuples in the last axis of ``indices``, per batch."""
    batch_dims = use.attr("batch_dims", 0)
    depth = indices.shape[-1]
    if depth + batch_dims > data.ndim or data.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise use.error(
            f"indices of shape {list(indices.shape)} do not fit data of shape "
            f"{list(data.shape)} with batch_dims {batch_dims}"
        )
    inner = indices.ndim - 1 - batch_dims
    index: list[Array] = [
        np.arange(size).reshape([-1 if a == b else 1 for b in range(batch_dims)] + [1] * inner)
        for a, size in enumerate(data.shape[:batch_dims])
    ]
    index += [_wrapped(use, indices[..., i], data.shape[batch_dims + i]) for i in range(depth)]
    if not index:
        return np.broadcast_to(data, (*indices.shape[:-1], *data.shape))
    return data[tuple(index)]


_REDUCTIONS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def _scatter(use: OpUse, data: Array, index: tuple[Array, ...], updates: Array) -> Array:
    reduction = use.attr("reduction", "none")
    result = data.copy()
    if reduction == "none":
        result[index] = updates
    elif reduction in _REDUCTIONS:
        _REDUCTIONS[reduction].at(result, index, updates)
    else:
        raise use.error(f"the reduction {reduction!r} is unknown")
    return result


@host("ScatterND", versions=(11, 18), attributes=("reduction",))
def scatter_nd(use: OpUse, data: Array, indices: Array, updates: Array) -> Array:
    """A copy of ``data`` with slices set (or reduced into) at the tuples of ``indices``."""
    depth = indices.shape[-1]
    wanted = (*indices.shape[:-1], *data.shape[depth:])
    if depth > data.ndim or updates.shape != wanted:
        raise use.error(
            f"updates have shape {list(updates.shape)}; data {list(data.shape)} and indices "
            f"{list(indices.shape)} need {list(wanted)}"
        )
    index = tuple(_wrapped(use, indices[..., i], data.shape[i]) for i in range(depth))
    return _scatter(use, data, index, updates)


@host("ScatterElements", "Scatter", versions=(9, 18), attributes=("axis", "reduction"))
def scatter_elements(use: OpUse, data: Array, indices: Array, updates: Array) -> Array:
    """A copy of ``data`` with one element set (or reduced into) per index, along ``axis``."""
    axis = normal_axis(use, use.attr("axis", 0), data.ndim)
    if updates.shape != indices.shape:
        raise use.error(f"updates {list(updates.shape)} and indices {list(indices.shape)} differ")
    return _scatter(use, data, _element_index(use, data, indices, axis), updates)


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


_PAD_MODES = {"reflect": "reflect", "edge": "edge", "wrap": "wrap"}


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
    widths = [(0, 0)] * data.ndim
    crops: list[slice] = [slice(None)] * data.ndim
    for position, axis in enumerate(axes):
        before, after = pads[position], pads[position + len(axes)]
        length = data.shape[axis]
        if length + min(before, 0) + min(after, 0) < 0 and length + before + after < 0:
            raise use.error(f"pads {before} and {after} take more than axis {axis}'s {length}")
        crops[axis] = slice(max(0, -before), length - max(0, -after))
        widths[axis] = (max(0, before), max(0, after))
    data = data[tuple(crops)]
    require_room(
        use, tuple(d + b + a for d, (b, a) in zip(data.shape, widths, strict=True)), data.dtype
    )
    mode = use.attr("mode", "constant")
    if mode == "constant":
        return np.pad(data, widths, constant_values=fill.reshape(-1)[0])
    if mode not in _PAD_MODES:
        raise use.error(f"the mode {mode!r} is unknown")
    if data.size == 0 and any(b or a for b, a in widths):
        raise use.error(f"mode {mode!r} has nothing to repeat: the input is empty")
    return np.pad(data, widths, mode=_PAD_MODES[mode])  # type: ignore[call-overload,no-any-return]


@host("NonZero", versions=(9, 13))
def non_zero(use: OpUse, data: Array) -> Array:
    """Indices of the non-zero elements: (rank, count) int64."""
    return np.array(np.nonzero(np.atleast_1d(data)), np.int64)[: max(data.ndim, 1)]


@host("Compress", versions=(9, 28), attributes=("axis",))
def compress(use: OpUse, data: Array, condition: Array) -> Array:
    """The slices (or elements of the flattened data) whose condition is true."""
    axis = use.attr("axis")
    axis = None if axis is None else normal_axis(use, axis, data.ndim)
    length = data.size if axis is None else data.shape[axis]
    return np.compress(condition[:length], data, axis)


@host("Trilu", versions=(14, 14), attributes=("upper",))
def trilu(use: OpUse, data: Array, k: Array | None = None) -> Array:
    """The upper or lower triangle of each matrix; zero elsewhere."""
    diagonal = 0 if k is None else int(k.reshape(-1)[0])
    return np.triu(data, diagonal) if use.attr("upper", 1) else np.tril(data, diagonal)


@host("OneHot", versions=(9, 28), attributes=("axis",))
def one_hot(use: OpUse, indices: Array, depth: Array, values: Array) -> Value:
    """values[1] where the new axis's index is the given one, values[0] elsewhere."""
    count = int(depth.reshape(-1)[0])
    axis = normal_axis(use, use.attr("axis", -1), indices.ndim + 1)
    require_room(use, (*indices.shape, max(count, 0)), values.dtype)
    inside = np.where(indices < 0, indices + count, indices).astype(np.int64)
    hot = np.expand_dims(inside, axis) == np.arange(count).reshape(
        [-1 if a == axis else 1 for a in range(indices.ndim + 1)]
    )
    return np.where(hot, values[1], values[0]).astype(values.dtype)


@host("TopK", versions=(1, 9), attributes=("axis", "k"))
def top_k_by_attribute(use: OpUse, data: Array) -> tuple[Array, Array]:
    """TopK-1: k is an attribute."""
    return _top_k(use, data, use.attr("k", -1))


@host("TopK", versions=(10, 24), attributes=("axis", "largest", "sorted"))
def top_k(use: OpUse, data: Array, k: Array) -> tuple[Array, Array]:
    """The k largest (or smallest) and their indices, in order; of equals the first comes first."""
    if use.attr("sorted", 1) not in (0, 1):
        raise use.error(f"sorted is {use.attr('sorted')}; 0 or 1 is needed")
    return _top_k(use, data, int(k.reshape(-1)[0]))


def _top_k(use: OpUse, data: Array, k: int) -> tuple[Array, Array]:
    axis = normal_axis(use, use.attr("axis", -1), data.ndim)
    length = data.shape[axis]
    if not 0 <= k <= length:
        raise use.error(f"k is {k}, but axis {axis} has length {length}")
    if use.attr("largest", 1):
        backwards = np.argsort(np.flip(data, axis), axis, kind="stable")
        order = np.flip(length - 1 - backwards, axis)
    else:
        order = np.argsort(data, axis, kind="stable")
    order = order.take(range(k), axis)
    return np.take_along_axis(data, order, axis), order.astype(np.int64)


@host("Unique", versions=(11, 28), attributes=("axis", "sorted"))
def unique(use: OpUse, data: Array) -> tuple[Array, Array, Array, Array]:
    """Unique values or slices, first indices, inverse, counts; sorted or by first appearance."""
    axis = use.attr("axis")
    found, first, inverse, counts = np.unique(
        data, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not use.attr("sorted", 1):
        order = np.argsort(first)
        found = found.take(order, 0 if axis is None else axis)
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    return found, *(a.astype(np.int64) for a in (first, inverse, counts))  # type: ignore[return-value]


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
