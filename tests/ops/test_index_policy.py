"""The policy's numbers, against numpy's f16."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from opscope.engine.ops.index_policy import INDEX_POLICY
from opscope.engine.ops.registry import REGISTRY


def lost(extent: int) -> int:
    with np.errstate(over="ignore"):
        i = np.arange(extent)
        return int(np.count_nonzero(i.astype(np.float16).astype(np.float64) != i))


@pytest.mark.parametrize(
    "extent", [0, 1, 2047, 2048, 2049, 2050, 2051, 2052, 4095, 4096, 4097, 4099, 5000, 8192, 8193,
               10_001, 16_384, 30_000, 65_503, 65_504, 65_505, 65_536, 70_000, 1_048_576]
)  # fmt: skip
def test_lost_indices_are_those_of_numpy(extent: int) -> None:
    assert INDEX_POLICY.lost_f16_indices(extent) == lost(extent)


def test_nothing_is_lost_up_to_the_limit() -> None:
    assert INDEX_POLICY.f16_exact_limit == 2048
    assert INDEX_POLICY.lost_f16_indices(2048) == 0
    assert INDEX_POLICY.lost_f16_indices(2049) == 0
    assert INDEX_POLICY.lost_f16_indices(2050) == 1


def test_much_is_lost_at_4096_which_is_the_reason_for_the_rule() -> None:
    assert INDEX_POLICY.lost_f16_indices(4096) == 1024


def test_integers_are_demanded_above_the_limit() -> None:
    assert not INDEX_POLICY.needs_integer_index(2048)
    assert INDEX_POLICY.needs_integer_index(2049)
    assert INDEX_POLICY.needs_integer_index(4096)


def test_the_index_type_is_never_a_float() -> None:
    assert INDEX_POLICY.index_type == "i32"


def test_the_policy_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        INDEX_POLICY.index_type = "f16"  # type: ignore[misc]


def test_it_describes_itself() -> None:
    text = INDEX_POLICY.describe()
    for part in ("ConvTranspose", "Conv", "MaxPool", "i32", "2048", "1024"):
        assert part in text
