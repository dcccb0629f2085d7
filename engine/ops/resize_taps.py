"""Where each element of a resized axis comes from: indices and weights, in exact f64.

Resizing is separable: along one axis, each new element is a weighted sum of a few old ones. This
is ONNX's text (Resize 10 to 19) with its coordinate transformations, computed once per plan.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

COORDINATES = frozenset(
    (
        "half_pixel",
        "half_pixel_symmetric",
        "pytorch_half_pixel",
        "align_corners",
        "asymmetric",
        "tf_half_pixel_for_nn",
        "tf_crop_and_resize",
    )
)
NEAREST = frozenset(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to resize, alike for all axes.

    Attributes:
        mode: "nearest", "linear" or "cubic".
        coordinates: one of :data:`COORDINATES`.
        nearest: one of :data:`NEAREST`.
        cubic_a: the cubic's coefficient.
        exclude_outside: weights outside of the axis are dropped, the rest scaled up.
        antialias: stretch the filter when shrinking.
    """

    mode: str = "nearest"
    coordinates: str = "half_pixel"
    nearest: str = "round_prefer_floor"
    cubic_a: float = -0.75
    exclude_outside: bool = False
    antialias: bool = False


@dataclass(frozen=True, slots=True)
class Taps:
    """The sources of each element of a resized axis.

    Attributes:
        indices: (size, taps) int64, within the old axis.
        weights: (size, taps) float64.
        outside: (size,) bool: the element lies outside of the cropped region.
    """

    indices: np.ndarray
    weights: np.ndarray
    outside: np.ndarray

    @property
    def is_identity(self) -> bool:
        """True if every element is the old one of the same index."""
        size = len(self.indices)
        heaviest = self.indices[np.arange(size), self.weights.argmax(axis=1)]
        return bool(
            np.array_equal(heaviest, np.arange(size))
            and np.all(self.weights.max(axis=1) == 1)
            and np.all(np.count_nonzero(self.weights, axis=1) == 1)
            and not self.outside.any()
        )


def taps(
    sampling: Sampling, extent: int, size: int, scale: float, roi: tuple[float, float] = (0.0, 1.0)
) -> Taps:
    """The sources of an axis of ``extent`` elements resized to ``size`` by ``scale``."""
    x = _coordinates(sampling.coordinates, extent, size, scale, roi)
    outside = np.zeros(size, bool)
    if sampling.coordinates == "tf_crop_and_resize":
        outside = (x < 0) | (x > extent - 1)
    if sampling.mode == "nearest":
        found = np.clip(_nearest(sampling.nearest, x), 0, extent - 1).astype(np.int64)
        return Taps(found[:, None], np.ones((size, 1)), outside)
    stretch = min(scale, 1.0) if sampling.antialias else 1.0
    reach = int(np.ceil((1 if sampling.mode == "linear" else 2) / stretch))
    indices = np.floor(x).astype(np.int64)[:, None] + np.arange(1 - reach, reach + 1)
    distance = np.abs(indices - x[:, None]) * stretch
    if sampling.mode == "linear":
        weights = np.clip(1 - distance, 0, 1)
    else:
        weights = _cubic(distance, sampling.cubic_a)
    inside = (indices >= 0) & (indices < extent)
    if sampling.exclude_outside:
        weights = np.where(inside, weights, 0)
    total = weights.sum(axis=1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return Taps(np.clip(indices, 0, extent - 1), weights, outside)


def _coordinates(
    mode: str, extent: int, size: int, scale: float, roi: tuple[float, float]
) -> np.ndarray:
    """The old coordinate of each new element, (size,) float64."""
    new = np.arange(size, dtype=np.float64)
    if mode == "align_corners":
        return new * (extent - 1) / (size - 1) if size > 1 else new * 0
    if mode == "asymmetric":
        return new / scale
    if mode == "tf_half_pixel_for_nn":
        return (new + 0.5) / scale
    if mode == "tf_crop_and_resize":
        start, end = roi
        if size <= 1:
            return new * 0 + 0.5 * (start + end) * (extent - 1)
        return start * (extent - 1) + new * (end - start) * (extent - 1) / (size - 1)
    if mode == "pytorch_half_pixel" and size <= 1:
        return new * 0
    found = (new + 0.5) / scale - 0.5
    if mode == "half_pixel_symmetric":
        found += extent / 2 * (1 - size / (scale * extent))
    return found


def _nearest(mode: str, x: np.ndarray) -> np.ndarray:
    rounded: dict[str, np.ndarray] = {
        "floor": np.floor(x),
        "ceil": np.ceil(x),
        "round_prefer_floor": np.ceil(x - 0.5),
        "round_prefer_ceil": np.floor(x + 0.5),
    }
    return rounded[mode]


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = a * (((distance - 5) * distance + 8) * distance - 4)
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))
