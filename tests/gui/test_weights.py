"""Statistics of weights against numpy, with what is not finite counted and left out."""

import numpy as np
import pytest
from opscope.engine.errors import CancelledError
from opscope.engine.ir.model import Weight
from opscope.gui import weights
from opscope.gui.weights import BINS, weight_stats


def weight(array):
    return Weight("w", str(array.dtype), array.shape, array.nbytes, read=lambda: array)


def nobody():
    """The check of a job that nobody cancels."""


def test_finite_values(monkeypatch):
    monkeypatch.setattr(weights, "_CHUNK", 100)  # several chunks must give the same
    values = np.random.default_rng(0).normal(3, 2, 1050).astype(np.float32)
    found = weight_stats(weight(values.reshape(10, 105)), nobody)
    wide = values.astype(np.float64)
    assert (found.count, found.nan, found.inf, found.zeros) == (1050, 0, 0, 0)
    assert (found.minimum, found.maximum) == (wide.min(), wide.max())
    assert found.mean == pytest.approx(wide.mean(), rel=1e-12)
    assert found.deviation == pytest.approx(wide.std(), rel=1e-12)
    assert found.counts.tolist() == np.histogram(wide, BINS)[0].tolist()


def test_what_is_not_finite_is_counted_apart():
    values = np.array([1, 0, np.nan, np.inf, -np.inf, 3], np.float16)
    found = weight_stats(weight(values), nobody)
    assert (found.nan, found.inf, found.zeros) == (1, 2, 1)
    assert (found.minimum, found.maximum, found.counts.sum()) == (0, 3, 3)
    nothing = weight_stats(weight(np.full(3, np.nan, np.float32)), nobody)
    assert nothing.counts is None
    assert nothing.nan == 3


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (np.array([], np.float32), ""),
        (np.array(["a", "b"], object), "'a', 'b'"),
        (np.array([True, False]), "True, False"),
        (np.array(-7, np.int64), "-7"),
        (np.arange(20, dtype=np.int8), ", ".join(map(str, range(16))) + ", ..."),
    ],
)
def test_values_as_text(array, values):
    assert weight_stats(weight(array), nobody).values == values


def test_one_value_everywhere_has_a_histogram():
    found = weight_stats(weight(np.full(9, 0.02, np.float32)), nobody)
    assert found.deviation == 0
    assert found.counts.sum() == 9


def test_it_can_be_cancelled():
    def cancelled():
        raise CancelledError("enough")

    with pytest.raises(CancelledError):
        weight_stats(weight(np.ones(5, np.float32)), cancelled)
