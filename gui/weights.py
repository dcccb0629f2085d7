"""Statistics and histogram of a constant tensor, computed on a worker thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..engine.ir.model import Weight

BINS = 64
_CHUNK = 1 << 20  # elements looked at between two questions whether anybody still wants to know


@dataclass(frozen=True)
class WeightStats:
    """What a weight holds.

    Attributes:
        count: number of values; nan, inf, zeros: how many of them are such.
        minimum, maximum, mean, deviation: over the finite values, NaN where there are none.
        counts: (bins,) int64 of the finite values, evenly spaced from minimum to maximum.
        values: the first values as text, for small tensors and those that are no numbers.
    """

    count: int
    nan: int = 0
    inf: int = 0
    zeros: int = 0
    minimum: float = float("nan")
    maximum: float = float("nan")
    mean: float = float("nan")
    deviation: float = float("nan")
    counts: np.ndarray | None = None
    values: str = ""


def weight_stats(weight: Weight, check: Callable[[], None]) -> WeightStats:
    """Read ``weight`` and describe it; ``check`` is asked often and raises to cancel.

    Raises:
        ModelFileError: its data may not or cannot be read.
    """
    array = weight.numpy().reshape(-1)
    values = ", ".join(_value_text(v) for v in array[:16]) + (", ..." if array.size > 16 else "")
    if array.dtype.kind in "OSU" or array.size == 0:
        return WeightStats(array.size, values=values)
    if array.dtype.kind == "c":
        array = np.abs(array)
    parts = [array[i : i + _CHUNK] for i in range(0, array.size, _CHUNK)]
    nan = inf = zeros = finite = 0
    low, high, total = np.inf, -np.inf, 0.0
    for part in parts:
        check()
        numbers = part.astype(np.float64)
        good = numbers[np.isfinite(numbers)]
        nan += int(np.count_nonzero(np.isnan(numbers)))
        inf += int(np.count_nonzero(np.isinf(numbers)))
        zeros += int(np.count_nonzero(good == 0))
        finite += good.size
        if good.size:
            low, high, total = min(low, good.min()), max(high, good.max()), total + good.sum()
    if not finite:
        return WeightStats(array.size, nan, inf, zeros, values=values)
    mean, squares = total / finite, 0.0
    counts = np.zeros(BINS, np.int64)
    edges = (low, high) if high > low else (low - 0.5, low + 0.5)
    for part in parts:
        check()
        numbers = part.astype(np.float64)
        good = numbers[np.isfinite(numbers)]
        squares += float(((good - mean) ** 2).sum())
        counts += np.histogram(good, bins=BINS, range=edges)[0]
    deviation = float(np.sqrt(squares / finite))
    return WeightStats(
        array.size, nan, inf, zeros, float(low), float(high), float(mean), deviation, counts, values
    )


def _value_text(value: object) -> str:
    if isinstance(value, (bytes, str)):
        return repr(value)
    return str(value) if isinstance(value, (int, np.integer, np.bool_)) else f"{value:.5g}"
