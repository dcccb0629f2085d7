"""Average, maximum and Lp pooling, over windows and over everything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..ops.use import OpUse
from .dtypes import widened
from .table import host
from .values import Value
from .windows import WINDOW_ATTRIBUTES, windows_of

Array = np.ndarray


def _kernel(use: OpUse, x: Array) -> tuple[int, ...]:
    kernel = use.attr("kernel_shape")
    if not kernel:
        raise use.error("the attribute kernel_shape is required")
    if len(kernel) != x.ndim - 2:
        raise use.error(f"kernel_shape {list(kernel)} does not fit an input of rank {x.ndim}")
    return tuple(kernel)


@host(
    "AveragePool",
    versions=(1, 22),
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "count_include_pad"),
)
def average_pool(use: OpUse, x: Array) -> Value:
    """The mean of each window; the padding counts only with count_include_pad."""
    windows = windows_of(use, x.shape, _kernel(use, x), bool(use.attr("ceil_mode", 0)))
    axes = tuple(range(-len(windows.kernel), 0))
    total = np.sum(windows.view(widened(x), 0), axes)
    ones = np.ones((1, 1, *x.shape[2:]), np.float32)
    if use.attr("count_include_pad", 0):
        # What lies beyond the stated pads (ceil_mode) never counts.
        pads = list(zip(windows.before, windows.after, strict=True))
        ones = np.pad(ones, [(0, 0), (0, 0), *pads], constant_values=1)
        none = (0,) * len(pads)
        no_pads = replace(windows, before=none, after=none)
        count = np.sum(no_pads.view(ones, 0), axes)
    else:
        count = np.sum(windows.view(ones, 0), axes)
    return (total / count.astype(total.dtype)).astype(x.dtype)


@host(
    "MaxPool",
    versions=(1, 22),
    attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "storage_order"),
)
def max_pool(use: OpUse, x: Array) -> tuple[Array, ...]:
    """The largest value of each window and, where wanted, its flat index in the input."""
    windows = windows_of(use, x.shape, _kernel(use, x), bool(use.attr("ceil_mode", 0)))
    low = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    view = windows.view(x, low)
    rank = len(windows.kernel)
    if not use.wants(1):
        return (np.max(view, tuple(range(-rank, 0))),)
    flat = view.reshape(*view.shape[:-rank], -1)
    tap = np.unravel_index(np.argmax(flat, -1), windows.kernel)
    position = []
    for axis in range(rank):
        first = np.arange(windows.output[axis]) * windows.strides[axis] - windows.before[axis]
        first = first.reshape([-1 if a == axis else 1 for a in range(rank)])
        position.append(first + tap[axis] * windows.dilations[axis])
    spatial = x.shape[2:]
    within = np.ravel_multi_index(
        tuple(position), spatial, order="F" if use.attr("storage_order", 0) else "C"
    )
    planes = np.arange(x.shape[0] * x.shape[1]).reshape(*x.shape[:2], *(1,) * rank)
    indices = planes * int(np.prod(spatial)) + within
    return np.max(flat, -1), indices.astype(np.int64)


@host("LpPool", versions=(2, 22), attributes=(*WINDOW_ATTRIBUTES, "ceil_mode", "p"))
def lp_pool(use: OpUse, x: Array) -> Array:
    """The p-norm of each window."""
    windows = windows_of(use, x.shape, _kernel(use, x), bool(use.attr("ceil_mode", 0)))
    return _norm(windows.view(widened(x), 0), use.attr("p", 2), len(windows.kernel)).astype(x.dtype)


def _norm(values: Array, p: int, rank: int) -> Array:
    total = np.sum(np.abs(values) ** p, tuple(range(-rank, 0)))
    return np.asarray(total ** (1 / p))


@host("GlobalAveragePool", versions=(1, 22))
def global_average_pool(use: OpUse, x: Array) -> Value:
    """The mean over all spatial axes."""
    return np.mean(widened(x), tuple(range(2, x.ndim)), keepdims=True).astype(x.dtype)


@host("GlobalMaxPool", versions=(1, 22))
def global_max_pool(use: OpUse, x: Array) -> Value:
    """The largest value over all spatial axes."""
    return np.max(x, tuple(range(2, x.ndim)), keepdims=True)


@host("GlobalLpPool", versions=(2, 22), attributes=("p",))
def global_lp_pool(use: OpUse, x: Array) -> Array:
    """The p-norm over all spatial axes."""
    found = _norm(widened(x), use.attr("p", 2), x.ndim - 2)
    return found.reshape(*x.shape[:2], *(1,) * (x.ndim - 2)).astype(x.dtype)
