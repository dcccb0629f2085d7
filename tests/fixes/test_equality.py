"""How outputs before and after are compared."""

import numpy as np
import pytest
from opscope.engine.fixes.equality import judge

A = np.array([1, 2, 3], np.float32)


def found(before, after, allowed=None, heals=False):
    return judge("somebody", {"y": before}, {"y": after}, allowed, heals)


def test_the_same_bits():
    for value in (A, np.array([np.nan, -0.0]), np.array(["a", "b"], object), [A, A], {"k": 1.5}):
        assert found(value, value).exact
        assert not found(value, value).failure


@pytest.mark.parametrize(
    "after",
    [A.astype(np.float64), A[:2], np.array([1, 2, 3]), [A], np.array([0.0, 2, 3], np.float32)],
)
def test_other_values_where_none_are_allowed(after):
    assert found(A, after).failure


def test_the_sign_of_zero_is_a_bit():
    assert found(np.float32([0.0]), np.float32([-0.0])).failure


def test_within_a_tolerance():
    close = A * np.float32(1 + 1e-4)
    assert not found(A, close, 1e-3).failure
    assert found(A, close, 1e-3).worst == "y"
    assert found(A, close, 1e-3).rel_l2 == pytest.approx(1e-4, rel=0.01)
    assert "is allowed" in found(A, close, 1e-5).failure


def test_infinities_that_become_finite():
    """What f16 overflowed is no yardstick for f32; the other way round it is a defect."""
    inf = np.float32([1, np.inf, np.nan])
    assert found(inf, A, 1e-3).failure
    healed = found(inf, A, 1e-3, heals=True)
    assert not healed.failure
    assert healed.healed == 2
    assert "2 elements that were infinite or NaN are finite now" in healed.text
    assert found(A, inf, 1e-3, heals=True).failure
    assert found(inf, A + 1, 1e-3, heals=True).failure


def test_other_outputs():
    assert judge("somebody", {"y": A}, {"z": A}, None).failure
    assert judge("somebody", {}, {}, None).skipped
