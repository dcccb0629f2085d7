"""Value statistics gathered on the GPU: how rows are written by stats.wgsl, and read back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ir.model import NodeId
from ..ops.steps import Tensor, Variable
from ..results import ValueStats

ROW_WORDS = 4  # key of the maximum, key of the negated minimum, NaN count, Inf count
ITEMS_PER_THREAD = 16


@dataclass(frozen=True, slots=True)
class StatsRow:
    """What row ``i`` of the statistics buffer speaks of."""

    node: NodeId
    output: str
    dtype: str
    elements: int


def stats_variables(tensor: Tensor) -> dict[str, Variable]:
    """Template variables of stats.wgsl for ``tensor`` (f32 or f16)."""
    return {"T": tensor.element, "ITEMS": ITEMS_PER_THREAD}


def stats_invocations(tensor: Tensor) -> int:
    """How many invocations stats.wgsl needs for ``tensor``."""
    return -(-tensor.size // ITEMS_PER_THREAD)


def decode_statistics(raw: memoryview, rows: Sequence[StatsRow]) -> tuple[ValueStats, ...]:
    """The statistics of each row.

    A key orders floats as unsigned integers and is never 0 for a finite value: sign bit flipped
    for positive values, all bits for negative ones.
    """
    words = np.frombuffer(raw, np.uint32, ROW_WORDS * len(rows)).reshape(-1, ROW_WORDS)
    found = []
    for row, (high, low, nan, inf) in zip(rows, words, strict=True):
        maximum = _float(int(high)) if high else math.nan
        minimum = -_float(int(low)) if low else math.nan
        found.append(
            ValueStats(
                row.node, row.output, row.dtype, row.elements, minimum, maximum, int(nan), int(inf)
            )
        )
    return tuple(found)


def _float(key: int) -> float:
    bits = key ^ 0x80000000 if key & 0x80000000 else key ^ 0xFFFFFFFF
    return float(np.array(bits, np.uint32).view(np.float32))
