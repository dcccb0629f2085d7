"""Batch, layer, instance, group and local response normalization, in float32 at least."""

from __future__ import annotations

import math

import numpy as np

from ..ops.use import OpUse
from .dtypes import dtype_of, widened
from .shape_ops import normal_axes, normal_axis
from .table import host
from .values import Value

Array = np.ndarray


def _per_channel(values: Array, rank: int) -> Array:
    return widened(values).reshape(1, -1, *(1,) * (rank - 2))


@host(
    "BatchNormalization",
    versions=(6, 13),
    attributes=("epsilon", "momentum", "spatial", "is_test"),
)
def batch_normalization(
    use: OpUse, x: Array, scale: Array, bias: Array, mean: Array, variance: Array
) -> Value:
    """Before 14: inference; momentum concerns training alone, which is refused."""
    if not use.attr("spatial", 1):
        raise use.error("spatial=0 (statistics per activation) is not supported")
    if any(use.wants(i) for i in range(1, 5)) or (
        0 < use.since_version < 7 and not use.attr("is_test", 0)
    ):
        raise use.error("training (is_test=0, or running statistics as outputs) is not supported")
    return _batch_normalized(use, x, scale, bias, mean, variance)


@host("BatchNormalization", versions=(14, 15), attributes=("epsilon", "momentum", "training_mode"))
def batch_normalization_14(
    use: OpUse, x: Array, scale: Array, bias: Array, mean: Array, variance: Array
) -> tuple[Array, ...]:
    """From 14: by the given statistics, or with training_mode by the batch's own."""
    if not use.attr("training_mode", 0):
        return (_batch_normalized(use, x, scale, bias, mean, variance),)
    over = (0, *range(2, x.ndim))
    wide, keep = widened(x), use.attr("momentum", 0.9)
    now_mean, now_variance = np.mean(wide, over), np.var(wide, over)
    return (
        _batch_normalized(use, x, scale, bias, now_mean, now_variance),
        (widened(mean) * keep + now_mean * (1 - keep)).astype(mean.dtype),
        (widened(variance) * keep + now_variance * (1 - keep)).astype(variance.dtype),
    )


def _batch_normalized(
    use: OpUse, x: Array, scale: Array, bias: Array, mean: Array, variance: Array
) -> Value:
    if x.ndim < 2 and scale.size != 1:
        raise use.error(f"an input of shape {x.shape} has one channel, not {scale.size}")
    factor = widened(scale) / np.sqrt(widened(variance) + use.attr("epsilon", 1e-5))
    shift = widened(bias) - widened(mean) * factor
    rank = max(x.ndim, 2)
    y = widened(x) * _per_channel(factor, rank) + _per_channel(shift, rank)
    return y.astype(x.dtype).reshape(x.shape)


@host("LayerNormalization", versions=(17, 17), attributes=("axis", "epsilon", "stash_type"))
def layer_normalization(
    use: OpUse, x: Array, scale: Array, bias: Array | None = None
) -> tuple[Array, Array, Array]:
    """Mean 0 and deviation 1 over the axes from ``axis`` on; also the mean and 1/deviation."""
    axis = normal_axis(use, use.attr("axis", -1), x.ndim)
    over = tuple(range(axis, x.ndim))
    stash = dtype_of(use, use.attr("stash_type", 1))
    wide = x.astype(np.promote_types(stash, np.float32) if stash.kind == "f" else np.float32)
    mean = np.mean(wide, over, keepdims=True)
    centred = wide - mean
    inverse = 1 / np.sqrt(
        np.mean(centred * centred, over, keepdims=True) + use.attr("epsilon", 1e-5)
    )
    y = (centred * inverse).astype(x.dtype) * scale
    return (y if bias is None else y + bias), mean.astype(stash), inverse.astype(stash)


@host("RMSNormalization", versions=(23, 23), attributes=("axis", "epsilon", "stash_type"))
def rms_normalization(use: OpUse, x: Array, scale: Array) -> Value:
    """Root mean square 1 over the axes from ``axis`` on."""
    axis = normal_axis(use, use.attr("axis", -1), x.ndim)
    stash = dtype_of(use, use.attr("stash_type", 1))
    wide = x.astype(np.promote_types(stash, np.float32) if stash.kind == "f" else np.float32)
    square = np.mean(wide * wide, tuple(range(axis, x.ndim)), keepdims=True)
    return (wide / np.sqrt(square + use.attr("epsilon", 1e-5))).astype(x.dtype) * scale


@host("InstanceNormalization", versions=(6, 22), attributes=("epsilon",))
def instance_normalization(use: OpUse, x: Array, scale: Array, bias: Array) -> Value:
    """Mean 0 and deviation 1 per sample and channel, then scale and bias per channel."""
    y = _standardized(widened(x), tuple(range(2, x.ndim)), use.attr("epsilon", 1e-5))
    return (y * _per_channel(scale, x.ndim) + _per_channel(bias, x.ndim)).astype(x.dtype)


def _standardized(x: Array, over: tuple[int, ...], epsilon: float) -> Array:
    centred = x - np.mean(x, over, keepdims=True)
    return np.asarray(centred / np.sqrt(np.mean(centred * centred, over, keepdims=True) + epsilon))


@host("GroupNormalization", versions=(18, 21), attributes=("epsilon", "num_groups", "stash_type"))
def group_normalization(use: OpUse, x: Array, scale: Array, bias: Array) -> Value:
    """Mean 0 and deviation 1 per sample and group; scale and bias per group (18) or channel."""
    groups, channels = use.attr("num_groups"), x.shape[1]
    if not groups or channels % groups:
        raise use.error(f"{channels} channels do not divide into {groups} groups")
    stash = dtype_of(use, use.attr("stash_type", 1))
    wide = x.astype(stash) if stash == np.float64 else widened(x)
    rows = wide.reshape(x.shape[0], groups, -1)
    y = _standardized(rows, (2,), use.attr("epsilon", 1e-5)).reshape(x.shape)
    if scale.size == groups != channels:
        scale, bias = (np.repeat(a, channels // groups) for a in (scale, bias))
    return (y * _per_channel(scale, x.ndim) + _per_channel(bias, x.ndim)).astype(x.dtype)


@host("LRN", versions=(1, 13), attributes=("alpha", "beta", "bias", "size"))
def local_response(use: OpUse, x: Array) -> Value:
    """Divide by the energy of the neighbouring channels."""
    size, channels = use.attr("size"), x.shape[1]
    if size < 1:
        raise use.error(f"size is {size}; it must be at least 1")
    square = widened(x) ** 2
    energy = np.zeros_like(square)
    low, high = (size - 1) // 2, math.ceil((size - 1) / 2)
    for channel in range(channels):
        near = square[:, max(0, channel - low) : min(channels, channel + high + 1)]
        energy[:, channel] = near.sum(1)
    base = use.attr("bias", 1.0) + use.attr("alpha", 1e-4) / size * energy
    return (widened(x) / base ** use.attr("beta", 0.75)).astype(x.dtype)


@host("MeanVarianceNormalization", versions=(9, 13), attributes=("axes",))
def mean_variance_normalization(use: OpUse, x: Array) -> Value:
    """(x - mean) / (deviation + 1e-9); ONNX's own function body is written for f32 alone."""
    axes = normal_axes(use, list(use.attr("axes", (0, 2, 3))), x.ndim)
    wide = widened(x)
    centred = wide - np.mean(wide, axes, keepdims=True)
    deviation = np.sqrt(np.mean(centred**2, axes, keepdims=True))
    return (centred / (deviation + 1e-9)).astype(x.dtype)


@host("LpNormalization", versions=(1, 22), attributes=("axis", "p"))
def lp_normalization(use: OpUse, x: Array) -> Array:
    """Divide by the 1- or 2-norm along an axis; 0 where the norm is 0."""
    p = use.attr("p", 2)
    if p not in (1, 2):
        raise use.error(f"p is {p}; 1 or 2 is needed")
    axis = normal_axis(use, use.attr("axis", -1), x.ndim)
    wide = widened(x)
    norm = np.sum(np.abs(wide) ** p, axis, keepdims=True) ** (1 / p)
    return np.where(norm == 0, 0, wide / np.where(norm == 0, 1, norm)).astype(x.dtype)
