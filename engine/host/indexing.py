"""Elements by their index: gathers, scatters, and operators that look for positions."""

from __future__ import annotations

import numpy as np

from ..ops.use import OpUse
from .dtypes import require_room
from .shape_ops import normal_axis
from .table import host
from .values import Value

Array = np.ndarray


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
