"""QuantizeLinear, DequantizeLinear and their kin: per tensor, per axis, per block."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from ..ops.use import OpUse
from .casts import cast_to
from .convolution import convolved
from .dtypes import FLOAT4, FLOATS, dtype_of, widened
from .linear import matmul_integer
from .shape_ops import normal_axis
from .table import host
from .values import Value
from .windows import WINDOW_ATTRIBUTES

Array = np.ndarray


def _spread(use: OpUse, values: Array, x: Array) -> Array:
    """Scale or zero point in a shape that broadcasts against ``x``."""
    block = use.attr("block_size", 0)
    if values.size == 1 and not block:
        return values.reshape(())
    axis = normal_axis(use, use.attr("axis", 1), x.ndim)
    if block:
        if values.ndim != x.ndim:
            raise use.error(f"block_size needs a scale of rank {x.ndim}, not {values.ndim}")
        spread = np.repeat(values, block, axis)
        return spread.take(range(x.shape[axis]), axis)
    if values.shape != (x.shape[axis],):
        raise use.error(f"scale {list(values.shape)} does not fit axis {axis} of {list(x.shape)}")
    return values.reshape([-1 if a == axis else 1 for a in range(x.ndim)])


@host("DequantizeLinear", versions=(10, 28), attributes=("axis", "block_size", "output_dtype"))
def dequantize(use: OpUse, x: Array, scale: Array, zero_point: Array | None = None) -> Array:
    """(x - zero_point) * scale in the scale's type (or output_dtype)."""
    code = use.attr("output_dtype", 0)
    dtype = dtype_of(use, code) if code else scale.dtype
    wide = x.astype(np.float64)
    if zero_point is not None:
        wide = wide - _spread(use, zero_point, x).astype(np.float64)
    return (wide * _spread(use, scale, x).astype(np.float64)).astype(dtype)


@host(
    "QuantizeLinear",
    versions=(10, 28),
    attributes=("axis", "block_size", "output_dtype", "precision", "saturate"),
)
def quantize(use: OpUse, x: Array, scale: Array, zero_point: Array | None = None) -> Value:
    """Saturate(round(x / scale) + zero_point), halves to even; the zero point says the type."""
    code = use.attr("output_dtype", 0)
    dtype = dtype_of(use, code) if code else np.dtype(np.uint8)
    if zero_point is not None:
        dtype = zero_point.dtype
    precision = use.attr("precision", 0)
    kind = dtype_of(use, precision) if precision else np.promote_types(np.float32, scale.dtype)
    if scale.dtype == np.int32:
        kind = np.dtype(np.float32)
    # The text divides in the precision's type; its rounding decides ties.
    ratio = x.astype(kind) / _spread(use, scale, x).astype(kind)
    if dtype in FLOATS:
        shift = 0 if zero_point is None else _spread(use, zero_point, x).astype(np.float32)
        shifted = ratio + shift
        if dtype == FLOAT4:
            return np.clip(shifted, -6, 6).astype(dtype)
        return cast_to(use, shifted, dtype)
    return _saturated(use, np.rint(widened(ratio)), zero_point, x, dtype)


def _saturated(
    use: OpUse, rounded: Array, zero_point: Array | None, x: Array, dtype: np.dtype
) -> Array:
    shifted = rounded.astype(np.float64)
    if zero_point is not None:
        shifted = shifted + _spread(use, zero_point, x).astype(np.float64)
    limit = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    # NaN has no defined integer; 0 keeps numpy from an arbitrary one.
    bounded = np.clip(np.nan_to_num(shifted, posinf=np.inf, neginf=-np.inf), limit.min, limit.max)
    return bounded.astype(np.int64).astype(dtype)


@host("DynamicQuantizeLinear", versions=(11, 11))
def dynamic_quantize(use: OpUse, x: Array) -> tuple[Array, Array, Array]:
    """uint8 with scale and zero point from the data's range (which 0 belongs to)."""
    low = np.minimum(0, x.min(initial=0)).astype(np.float32)
    high = np.maximum(0, x.max(initial=0)).astype(np.float32)
    scale = np.float32((high - low) / np.float32(255))
    if scale == 0:
        scale = np.float32(1)  # the text divides 0 by 0 here; ONNX Runtime takes 1
    zero = np.clip(np.rint(-low / scale), 0, 255)
    y = np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8)
    return y, np.asarray(scale), np.asarray(zero, np.uint8)


@host("QLinearConv", versions=(10, 10), attributes=(*WINDOW_ATTRIBUTES, "group"))
def qlinear_conv(
    use: OpUse,
    x: Array,
    x_scale: Array,
    x_zero_point: Array,
    w: Array,
    w_scale: Array,
    w_zero_point: Array,
    y_scale: Array,
    y_zero_point: Array,
    b: Array | None = None,
) -> Array:
    """Conv of dequantized values (int32 bias of scale x_scale * w_scale), quantized again."""
    filters = (-1, *(1,) * (w.ndim - 1))
    left = x.astype(np.float64) - float(x_zero_point.reshape(-1)[0])
    right = w.astype(np.float64) - w_zero_point.astype(np.float64).reshape(filters)
    total = convolved(use, left, right)
    channel = (-1, *(1,) * (x.ndim - 2))
    if b is not None:
        total += b.astype(np.float64).reshape(channel)
    factor = x_scale.astype(np.float64).reshape(()) * w_scale.astype(np.float64).reshape(channel)
    rounded = np.rint((total * (factor / float(y_scale.reshape(-1)[0]))).astype(np.float32))
    return _saturated_by(rounded, y_zero_point.reshape(()))


@host("QLinearMatMul", versions=(10, 21))
def qlinear_matmul(
    use: OpUse,
    a: Array,
    a_scale: Array,
    a_zero_point: Array,
    b: Array,
    b_scale: Array,
    b_zero_point: Array,
    y_scale: Array,
    y_zero_point: Array,
) -> Array:
    """MatMul of dequantized values, quantized again; vectors are per row of A, column of B."""
    total = matmul_integer(use, a, b, a_zero_point, b_zero_point).astype(np.float64)
    row = a_scale.astype(np.float64)
    row = row[:, None] if row.ndim == 1 and row.size > 1 else row
    y_row = y_scale.astype(np.float64)
    y_row = y_row[:, None] if y_row.ndim == 1 and y_row.size > 1 else y_row
    zero = y_zero_point
    zero = zero[:, None] if zero.ndim == 1 and zero.size > 1 else zero
    ratio = (total * (row * b_scale.astype(np.float64) / y_row)).astype(np.float32)
    return _saturated_by(np.rint(ratio), zero)


def _saturated_by(rounded: Array, zero: Array) -> Array:
    if zero.dtype in FLOATS:
        return (rounded + zero.astype(np.float32)).astype(zero.dtype)
    limit = ml_dtypes.iinfo(zero.dtype)  # type: ignore[no-untyped-call]
    shifted = rounded.astype(np.float64) + zero.astype(np.float64)
    return np.clip(shifted, limit.min, limit.max).astype(np.int64).astype(zero.dtype)
