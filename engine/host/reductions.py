"""Reductions over axes, running sums, arg-max, and the softmax family.

Sums of 16-bit floats are taken in float32. Softmax and its kin before version 13 flatten the input
to two dimensions at ``axis``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.use import OpUse
from .dtypes import widened
from .shape_ops import axes_of, normal_axes, normal_axis
from .table import host
from .values import Value

Array = np.ndarray
Axes = tuple[int, ...]


def _log_sum_exp(x: Array, axes: Axes) -> Value:
    top = np.max(x, axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    return np.log(np.sum(np.exp(x - top), axes, keepdims=True)) + top


def _extreme(reduce: Callable[..., Array], x: Array, axes: Axes) -> Array:
    if x.size:
        return reduce(x, axes, keepdims=True)
    if x.dtype.kind in "iub":
        info = np.iinfo(np.uint8 if x.dtype.kind == "b" else x.dtype)
        bounds: tuple[Any, Any] = (info.min, info.max) if x.dtype.kind != "b" else (False, True)
    else:
        bounds = (-np.inf, np.inf)
    return reduce(x, axes, keepdims=True, initial=bounds[0 if reduce is np.max else 1])


_REDUCE: dict[str, Callable[[Array, Axes], Array]] = {
    "ReduceSum": lambda x, a: np.sum(x, a, keepdims=True, dtype=x.dtype),
    "ReduceMean": lambda x, a: _mean(x, a),
    "ReduceMax": lambda x, a: _extreme(np.max, x, a),
    "ReduceMin": lambda x, a: _extreme(np.min, x, a),
    "ReduceProd": lambda x, a: np.prod(x, a, keepdims=True, dtype=x.dtype),
    "ReduceL1": lambda x, a: np.sum(np.abs(x), a, keepdims=True, dtype=x.dtype),
    "ReduceL2": lambda x, a: np.sqrt(np.sum(_real(x) ** 2, a, keepdims=True)),
    "ReduceSumSquare": lambda x, a: np.sum(x * x, a, keepdims=True, dtype=x.dtype),
    "ReduceLogSum": lambda x, a: np.log(np.sum(_real(x), a, keepdims=True)),
    "ReduceLogSumExp": lambda x, a: _log_sum_exp(_real(x), a),
}


def _real(x: Array) -> Array:
    return x.astype(np.float64) if x.dtype.kind in "iu" else x


def _mean(x: Array, axes: Axes) -> Value:
    if x.dtype.kind not in "iu":
        return np.mean(x, axes, keepdims=True)
    total = np.sum(x, axes, keepdims=True, dtype=x.dtype)
    count = math.prod(x.shape[a] for a in axes)
    return np.trunc(total / max(count, 1))


@host(*_REDUCE, versions=(1, 28), attributes=("axes", "keepdims", "noop_with_empty_axes"))
def reduce(use: OpUse, data: Array, axes: Array | None = None) -> Array:
    """Reduce over the axes: where none are named over all, or each element apart.

    With noop_with_empty_axes the latter: a ReduceL2 gives each element's magnitude then.
    """
    named = axes_of(use, axes) or []
    if not named and not use.attr("noop_with_empty_axes", 0):
        named = list(range(data.ndim))
    over = normal_axes(use, named, data.ndim)
    result = np.asarray(_REDUCE[use.op_type](widened(data), over)).astype(data.dtype)
    if use.attr("keepdims", 1):
        return result
    return result.reshape([d for i, d in enumerate(data.shape) if i not in over])


@host("ArgMax", "ArgMin", versions=(1, 13), attributes=("axis", "keepdims", "select_last_index"))
def arg_extreme(use: OpUse, data: Array) -> Array:
    """Index of the largest (smallest) value along an axis: the first one, or the last."""
    axis = normal_axis(use, use.attr("axis", 0), data.ndim)
    find = np.argmax if use.op_type == "ArgMax" else np.argmin
    if use.attr("select_last_index", 0):
        found = data.shape[axis] - 1 - find(np.flip(data, axis), axis)
    else:
        found = find(data, axis)
    found = np.asarray(found, np.int64)
    return np.expand_dims(found, axis) if use.attr("keepdims", 1) else found


@host("CumSum", versions=(11, 14), attributes=("exclusive", "reverse"))
def cumulative_sum(use: OpUse, data: Array, axis: Array) -> Array:
    """Running sums."""
    return _cumulative(use, data, axis, np.cumsum, 0)


@host("CumProd", versions=(26, 26), attributes=("exclusive", "reverse"))
def cumulative_product(use: OpUse, data: Array, axis: Array) -> Array:
    """Running products."""
    return _cumulative(use, data, axis, np.cumprod, 1)


def _cumulative(
    use: OpUse, data: Array, axis: Array, run: Callable[..., Array], neutral: int
) -> Array:
    along = normal_axis(use, int(axis.reshape(-1)[0]), data.ndim)
    values = np.moveaxis(widened(data), along, 0)
    if use.attr("reverse", 0):
        values = values[::-1]
    if use.attr("exclusive", 0) and len(values):
        first = np.full_like(values[:1], neutral)
        values = np.concatenate((first, values[:-1]))
    total = run(values, 0, dtype=values.dtype)
    if use.attr("reverse", 0):
        total = total[::-1]
    return np.moveaxis(total, 0, along).astype(data.dtype)


def _softmax(x: Array) -> Value:
    powers = np.exp(x - np.max(x, 1, keepdims=True, initial=-np.inf))
    return powers / np.sum(powers, 1, keepdims=True)


def _log_softmax(x: Array) -> Value:
    centred = x - np.max(x, 1, keepdims=True, initial=-np.inf)
    return centred - np.log(np.sum(np.exp(centred), 1, keepdims=True))


def _hardmax(x: Array) -> Array:
    result = np.zeros_like(x)
    if x.size:
        result[np.arange(len(x)), np.argmax(x, 1)] = 1
    return result


_SOFT: dict[str, Callable[[Array], Array]] = {
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
    "Hardmax": _hardmax,
}


@host(*_SOFT, versions=(1, 12), attributes=("axis",))
def soft_flat(use: OpUse, x: Array) -> Array:
    """Before 13: over all that follows ``axis`` (1 by default) together."""
    axis = normal_axis(use, use.attr("axis", 1), max(x.ndim, 1)) if x.ndim else 0
    rows = widened(x).reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))
    return _SOFT[use.op_type](rows).reshape(x.shape).astype(x.dtype)


@host(*_SOFT, versions=(13, 13), attributes=("axis",))
def soft(use: OpUse, x: Array) -> Array:
    """From 13: over ``axis`` (the last by default) alone."""
    axis = normal_axis(use, use.attr("axis", -1), x.ndim)
    last = np.moveaxis(widened(x), axis, -1)
    rows = _SOFT[use.op_type](last.reshape(-1, x.shape[axis]) if x.size else last.reshape(0, 1))
    return np.moveaxis(rows.reshape(last.shape), -1, axis).astype(x.dtype)
