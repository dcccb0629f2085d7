"""The distance of two arrays."""

from __future__ import annotations

import numpy as np
import pytest
from opscope.engine.numerics.compare import compare


def test_the_numbers() -> None:
    got = compare(np.array([3.0, 4.0, 0.0]), np.array([3.0, 4.0, 5.0]))
    assert got.rel_l2 == pytest.approx(5 / np.sqrt(50))
    assert got.max_abs == 5
    assert got.mismatched == 0


def test_equal_nan_and_infinity_are_no_distance() -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 1], np.float16)
    assert compare(odd, odd) == compare(np.ones(1), np.ones(1))


@pytest.mark.parametrize("other", [np.nan, np.inf, 1.0])
def test_one_sided_nan_and_infinity_are_infinitely_far(other: float) -> None:
    got = compare(np.array([other, 1]), np.array([-np.inf, 1]))
    assert (got.rel_l2, got.mismatched) == (np.inf, 1)


def test_nothing_expected() -> None:
    assert compare(np.zeros(2), np.zeros(2)).rel_l2 == 0
    assert compare(np.ones(2), np.zeros(2)).rel_l2 == np.inf
    assert compare(np.zeros((0, 3)), np.zeros((0, 3))).max_abs == 0


def test_other_shapes_are_an_error() -> None:
    with pytest.raises(ValueError, match="shape"):
        compare(np.zeros(2), np.zeros((1, 2)))
