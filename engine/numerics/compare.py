"""How far two arrays are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Difference:
    """The distance of an array from what was expected, in float64.

    Attributes:
        rel_l2: |actual - expected| / |expected|, Euclidean; over 0 where nothing was expected.
        max_abs: the largest distance of two elements.
        mismatched: elements where only one is NaN, or infinities differ; they count above as
            infinitely far.
    """

    rel_l2: float
    max_abs: float
    mismatched: int


def compare(actual: np.ndarray, expected: np.ndarray) -> Difference:
    """The distance of ``actual`` from ``expected``; equal infinities and NaN are no distance.

    Raises:
        ValueError: their shapes differ.
    """
    if actual.shape != expected.shape:
        raise ValueError(f"shape {actual.shape} is not {expected.shape}")
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    a, e = actual.astype(wide), expected.astype(wide)
    same = (a == e) | (np.isnan(a) & np.isnan(e))
    odd = ~same & ~(np.isfinite(a) & np.isfinite(e))
    if odd.any():
        return Difference(np.inf, np.inf, int(odd.sum()))
    apart = ~same
    gap = np.zeros(a.shape)
    gap[apart] = np.abs(a[apart] - e[apart])
    norm = float(np.linalg.norm(np.where(np.isfinite(e), e, 0)))
    distance = float(np.linalg.norm(gap))
    rel = distance / norm if norm else (np.inf if distance else 0.0)
    return Difference(rel, float(gap.max(initial=0)), 0)
