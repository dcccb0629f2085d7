"""Resize and Upsample: one matrix (or index list) per axis, applied one after the other.

Every mode of ONNX is separable, so an axis of length n becomes one of length m by weights (m, n)
that follow from the coordinate transformation alone. Computed in float64, rounded once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..ops.use import OpUse
from .dtypes import is_integer, require_room
from .shape_ops import normal_axes
from .table import host

Array = np.ndarray
_MODES = ("nearest", "linear", "cubic")


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis to resize: lengths, scale, and the region of interest (for cropping)."""

    index: int
    length: int
    output: int
    scale: float
    start: float = 0.0
    end: float = 1.0


@host("Upsample", versions=(7, 8), attributes=("mode", "scales"))
def upsample_7(use: OpUse, x: Array) -> Array:
    """Upsample-7: scales in an attribute."""
    return _by_old_rule(use, x, [float(s) for s in use.attr("scales", ())], "floor")


@host("Upsample", versions=(9, 10), attributes=("mode",))
def upsample_9(use: OpUse, x: Array, scales: Array) -> Array:
    """Upsample-9: scales as an input."""
    return _by_old_rule(use, x, scales.tolist(), "floor")


@host("Resize", versions=(10, 10), attributes=("mode",))
def resize_10(use: OpUse, x: Array, scales: Array) -> Array:
    """Resize-10: asymmetric coordinates; nearest rounds up where it shrinks."""
    return _by_old_rule(use, x, scales.tolist(), "simple")


def _by_old_rule(use: OpUse, x: Array, scales: list[float], nearest: str) -> Array:
    axes = _scaled_axes(use, x, tuple(range(x.ndim)), scales)
    mode = {"bilinear": "linear"}.get(use.attr("mode", "nearest"), use.attr("mode", "nearest"))
    return _resized(use, x, axes, mode, "asymmetric", nearest)


@host(
    "Resize",
    versions=(11, 19),
    attributes=(
        "antialias",
        "axes",
        "coordinate_transformation_mode",
        "cubic_coeff_a",
        "exclude_outside",
        "extrapolation_value",
        "keep_aspect_ratio_policy",
        "mode",
        "nearest_mode",
    ),
)
def resize(
    use: OpUse,
    x: Array,
    roi: Array | None = None,
    scales: Array | None = None,
    sizes: Array | None = None,
) -> Array:
    """Resize-11 and later, by scales or sizes."""
    named = use.attr("axes")
    axes = normal_axes(use, list(range(x.ndim)) if named is None else list(named), x.ndim)
    has_scales = scales is not None and scales.size > 0
    has_sizes = sizes is not None and sizes.size > 0
    if has_scales == has_sizes:
        raise use.error("exactly one of scales and sizes is needed")
    if has_scales and scales is not None:
        found = _scaled_axes(use, x, axes, scales.tolist(), roi)
    else:
        assert sizes is not None
        found = _sized_axes(use, x, axes, sizes.tolist(), roi)
    return _resized(
        use,
        x,
        found,
        use.attr("mode", "nearest"),
        use.attr("coordinate_transformation_mode", "half_pixel"),
        use.attr("nearest_mode", "round_prefer_floor"),
    )


def _region(use: OpUse, roi: Array | None, count: int) -> list[tuple[float, float]]:
    if use.attr("coordinate_transformation_mode") != "tf_crop_and_resize":
        return [(0.0, 1.0)] * count
    if roi is None or roi.size != 2 * count:
        raise use.error(f"tf_crop_and_resize needs a roi of {2 * count} values")
    return list(zip(roi[:count].tolist(), roi[count:].tolist(), strict=True))


def _scaled_axes(
    use: OpUse, x: Array, axes: tuple[int, ...], scales: list[float], roi: Array | None = None
) -> list[Axis]:
    if len(scales) != len(axes) or min(scales, default=1) <= 0:
        raise use.error(f"the scales {scales} do not fit {len(axes)} axes")
    found = []
    for axis, scale, (a, b) in zip(axes, scales, _region(use, roi, len(axes)), strict=True):
        length = x.shape[axis]
        found.append(Axis(axis, length, math.floor(length * (b - a) * scale), scale, a, b))
    return found


def _sized_axes(
    use: OpUse, x: Array, axes: tuple[int, ...], sizes: list[int], roi: Array | None
) -> list[Axis]:
    policy = use.attr("keep_aspect_ratio_policy", "stretch")
    if len(sizes) != len(axes):
        raise use.error(f"the sizes {sizes} do not fit {len(axes)} axes")
    ratios = [size / x.shape[a] for a, size in zip(axes, sizes, strict=True)]
    if policy not in ("stretch", "not_larger", "not_smaller"):
        raise use.error(f"keep_aspect_ratio_policy {policy!r} is unknown")
    if policy != "stretch":
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        ratios = [ratio] * len(axes)
        sizes = [math.floor(ratio * x.shape[a] + 0.5) for a in axes]
    return [
        Axis(axis, x.shape[axis], size, ratio, a, b)
        for axis, size, ratio, (a, b) in zip(
            axes, sizes, ratios, _region(use, roi, len(axes)), strict=True
        )
    ]


def _resized(
    use: OpUse, x: Array, axes: list[Axis], mode: str, coordinates: str, nearest: str
) -> Array:
    if mode not in _MODES:
        raise use.error(f"the mode {mode!r} is unknown")
    shape = list(x.shape)
    for axis in axes:
        shape[axis.index] = axis.output
    require_room(use, tuple(shape), x.dtype)
    y = x if mode == "nearest" else x.astype(np.float64)
    outside: list[tuple[int, Array]] = []
    for axis in axes:
        untouched = axis.output == axis.length and (axis.start, axis.end) == (0.0, 1.0)
        if untouched and axis.scale == 1:
            continue
        position = _positions(use, axis, coordinates)
        if coordinates == "tf_crop_and_resize":
            outside.append((axis.index, (position < 0) | (position > axis.length - 1)))
        if mode == "nearest":
            y = y.take(_nearest(use, position, axis, nearest), axis.index)
        else:
            weights = _weights(use, position, axis, mode)
            y = np.moveaxis(np.tensordot(weights, y, (1, axis.index)), 0, axis.index)
    for index, mask in outside:
        where = mask.reshape([-1 if a == index else 1 for a in range(x.ndim)])
        y = np.where(where, use.attr("extrapolation_value", 0.0), y)
    if is_integer(x.dtype) and mode != "nearest":
        limits = np.iinfo(x.dtype)
        # The text is silent; ORT and onnx.reference truncate, ORT rounds where it antialiases.
        whole = np.rint(y) if use.attr("antialias", 0) else np.trunc(y)
        y = np.clip(whole, limits.min, limits.max)
    return y.astype(x.dtype)


def _positions(use: OpUse, axis: Axis, mode: str) -> Array:
    """Where each output lies in the input, as a float64 coordinate."""
    at = np.arange(axis.output, dtype=np.float64)
    scale, last = axis.scale, axis.length - 1
    match mode:
        case "asymmetric":
            return at / scale
        case "half_pixel":
            return (at + 0.5) / scale - 0.5
        case "tf_half_pixel_for_nn":
            return (at + 0.5) / scale
        case "pytorch_half_pixel":
            return (at + 0.5) / scale - 0.5 if axis.output > 1 else at * 0
        case "align_corners":
            return at * last / (axis.output - 1) if axis.output > 1 else at * 0
        case "half_pixel_symmetric":
            adjustment = axis.output / (scale * axis.length)
            centre = axis.length / 2
            return centre * (1 - adjustment) + (at + 0.5) / scale - 0.5
        case "tf_crop_and_resize":
            if axis.output > 1:
                span = (axis.end - axis.start) * last / (axis.output - 1)
                return axis.start * last + at * span
            return 0.5 * (axis.start + axis.end) * last + at * 0
    raise use.error(f"coordinate_transformation_mode {mode!r} is unknown")


def _nearest(use: OpUse, position: Array, axis: Axis, mode: str) -> Array:
    match mode:
        case "round_prefer_floor":
            found = np.ceil(position - 0.5)
        case "round_prefer_ceil":
            found = np.floor(position + 0.5)
        case "floor":
            found = np.floor(position)
        case "ceil":
            found = np.ceil(position)
        case "simple":
            found = np.ceil(position) if axis.scale < 1 else np.floor(position)
        case _:
            raise use.error(f"nearest_mode {mode!r} is unknown")
    return np.clip(found, 0, axis.length - 1).astype(np.int64)


def _weights(use: OpUse, position: Array, axis: Axis, mode: str) -> Array:
    """The (output, length) matrix of one axis."""
    a = use.attr("cubic_coeff_a", -0.75)
    stretch = max(1.0, 1 / axis.scale) if use.attr("antialias", 0) else 1.0
    reach = math.ceil((1 if mode == "linear" else 2) * stretch)
    base = np.floor(position).astype(np.int64)
    matrix = np.zeros((len(position), axis.length))
    rows = np.arange(len(position))
    for offset in range(1 - reach, reach + 1):
        at = base + offset
        distance = np.abs(position - at) / stretch
        weight = np.maximum(0, 1 - distance) if mode == "linear" else _cubic(distance, a)
        inside = (at >= 0) & (at < axis.length)
        if use.attr("exclude_outside", 0):
            weight = np.where(inside, weight, 0)
        np.add.at(matrix, (rows, np.clip(at, 0, axis.length - 1)), weight)
    if use.attr("exclude_outside", 0) or use.attr("antialias", 0):
        matrix /= matrix.sum(1, keepdims=True)
    return matrix


def _cubic(t: Array, a: float) -> Array:
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0))
