"""CumSum, CumProd, TopK, Trilu, OneHot against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from opcase import run_op
from opscope.engine.errors import NodeError, NotCoveredError


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_running_sums_and_products(exclusive: int, reverse: int, dtype: str) -> None:
    x = (np.random.default_rng(1).integers(-3, 4, (3, 7, 5))).astype(dtype)
    x[x == 0] = 1
    attributes = {"exclusive": exclusive, "reverse": reverse}
    for op_type, merge, start, opset in (
        ("CumSum", np.add, 0, 14), ("CumProd", np.multiply, 1, 26),
    ):  # fmt: skip
        for axis in (1, -1):
            line = np.flip(x, axis) if reverse else x
            want = merge.accumulate(line, axis, dtype=dtype)
            if exclusive:
                want = np.roll(want, 1, axis)
                np.moveaxis(want, axis, 0)[0] = start
            want = np.flip(want, axis) if reverse else want
            (got,) = run_op(op_type, [x, np.int64(axis)], attributes, opset=opset)
            np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(largest: int, dtype: str) -> None:
    x = np.random.default_rng(2).integers(0, 9, (4, 30, 3)).astype(dtype)
    attributes = {"axis": 1, "largest": largest}
    values, indices = run_op("TopK", [x, np.int64([6])], attributes, outputs=2)
    order = np.argsort(-x.astype(np.float64) if largest else x, axis=1, kind="stable")[:, :6]
    np.testing.assert_array_equal(indices, order, strict=True)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1), strict=True)
    assert run_op("TopK", [x, np.int64([0])], attributes, outputs=2)[0].shape == (4, 0, 3)
    with pytest.raises(NodeError, match=r"k is 31, axis 1 of .* has 30 elements"):
        run_op("TopK", [x, np.int64([31])], attributes, outputs=2)


def test_nan_is_the_largest() -> None:
    x = np.float32([1, np.nan, np.inf, -np.inf])
    assert run_op("TopK", [x, np.int64([4])], outputs=2)[1].tolist() == [1, 2, 0, 3]
    smallest = run_op("TopK", [x, np.int64([4])], {"largest": 0}, outputs=2)[1]
    assert smallest.tolist() == [3, 0, 2, 1]


def test_lines_that_are_too_long_are_left_to_the_host() -> None:
    x = np.zeros((1, 40_000), np.float32)
    with pytest.raises(NotCoveredError, match="TopK over 40,000 elements; the kernel goes to"):
        run_op("TopK", [x, np.int64([1])], outputs=2)


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
@pytest.mark.parametrize("k", [-9, -1, 0, 2, 9])
def test_triangles(k: int, dtype: str) -> None:
    x = np.arange(1, 2 * 4 * 5 + 1).reshape(2, 4, 5).astype(dtype)
    np.testing.assert_array_equal(run_op("Trilu", [x, np.int64(k)])[0], np.triu(x, k), strict=True)
    (lower,) = run_op("Trilu", [x, np.int64(k)], {"upper": 0})
    np.testing.assert_array_equal(lower, np.tril(x, k), strict=True)


@pytest.mark.parametrize("index", ["int32", "int64", "float32"])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis: int, index: str) -> None:
    where = np.array([[0, 2, -1], [4, 5, -6]]).astype(index)
    values = np.float32([-3, 7])
    (got,) = run_op("OneHot", [where, np.int64(5), values], {"axis": axis})
    depth = np.arange(5)
    hot = (where[..., None] % 5 == depth) & (where[..., None] >= -5) & (where[..., None] < 5)
    want = np.moveaxis(np.where(hot, values[1], values[0]), -1, axis)
    np.testing.assert_array_equal(got, want, strict=True)
    if index == "int64":
        beyond = np.int64([2**32 + 1, -(2**33) + 2])
        assert (run_op("OneHot", [beyond, np.int64(5), values])[0] == -3).all()


def test_an_unsigned_index_never_counts_from_the_end() -> None:
    where, values = np.uint32([1, 2**32 - 1, 2**31, 4]), np.float32([-3, 7])
    (got,) = run_op("OneHot", [where, np.int64(5), values])
    np.testing.assert_array_equal(got == 7, where[:, None] == np.arange(5))
