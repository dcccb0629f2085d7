"""Reductions and ArgMax, ArgMin against numpy in f64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from opcase import op_model, run_op, session
from opscope.engine.errors import NotCoveredError
from opscope.engine.ir.model import TensorType
from opscope.engine.ops import load_kernels
from opscope.engine.ops.use import OpUse
from opscope.engine.providers.support import Reason


def log_sum_exp(x: np.ndarray, axis: Any, keepdims: bool) -> np.ndarray:
    largest = x.max(axis, keepdims=True)
    total = np.log(np.exp(x - largest).sum(axis, keepdims=True)) + largest
    return total if keepdims else np.squeeze(total, axis)


Function = Callable[..., np.ndarray]
FUNCTIONS: dict[str, Function] = {
    "ReduceSum": np.sum,
    "ReduceMean": np.mean,
    "ReduceMax": np.max,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
    "ReduceL1": lambda x, **k: np.sum(np.abs(x), **k),
    "ReduceL2": lambda x, **k: np.sqrt(np.sum(x * x, **k)),
    "ReduceSumSquare": lambda x, **k: np.sum(x * x, **k),
    "ReduceLogSum": lambda x, **k: np.log(np.sum(x, **k)),
    "ReduceLogSumExp": log_sum_exp,
}
SHAPES = [
    ((3, 4, 5), (1,)),
    ((3, 4, 5), (0, -1)),
    ((3, 4, 5), ()),
    ((2, 3, 4, 5, 6), (1, -2)),
    ((2, 100, 7), (1,)),
    ((300, 5), (0,)),
    ((4, 1000), (1,)),
    ((600, 2, 200), (0, 2)),
    ((), ()),
    ((5, 1, 3), (1,)),
]


def data(op_type: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(len(shape))
    if dtype == "int32":
        return np.asarray(rng.integers(-3, 4, shape)).astype(dtype)
    x = np.asarray(rng.uniform(0.5, 1.5, shape))
    if op_type == "ReduceProd":
        x = np.where(rng.random(shape) < 0.02, x, 1)
    return (x * (200 if op_type == "ReduceLogSumExp" else 1)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
@pytest.mark.parametrize("op_type", FUNCTIONS)
def test_reductions(op_type: str, dtype: str) -> None:
    if dtype == "int32" and op_type in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        with pytest.raises(NotCoveredError, match="is int32"):
            run_op(op_type, [data(op_type, (3,), dtype)])
        return
    for k, (shape, axes) in enumerate(SHAPES):
        x, keep = data(op_type, shape, dtype), bool(k % 2)
        inputs = [x, np.array(axes, np.int64)] if axes else [x]
        (got,) = run_op(op_type, inputs, {"keepdims": int(keep)})
        wide = x.astype(np.int64 if dtype == "int32" else np.float64)
        want = np.asarray(FUNCTIONS[op_type](wide, axis=axes or None, keepdims=keep))
        if dtype == "int32":
            want = np.trunc(want).astype(np.int64)
        with np.errstate(over="ignore"):
            want = want.astype(dtype)
        rtol = {"float32": 3e-6, "float16": 1e-3}.get(dtype, 0)
        np.testing.assert_allclose(got, want, rtol=rtol, err_msg=str(shape))
        assert got.shape == want.shape


def test_f16_sums_are_taken_in_f32() -> None:
    ones = np.ones(100_000, np.float16)
    assert run_op("ReduceMean", [ones])[0] == 1
    # 60,000 is within f16, though a sum in f16 would stand still at 2048.
    assert run_op("ReduceSum", [ones[:60_000]])[0] == 60_000


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"])
def test_a_long_reduction_takes_two_stages(op_type: str) -> None:
    x = np.random.default_rng(1).uniform(0.5, 1.5, (256 * 70, 2)).astype(np.float32)
    # Elements of a result apart from one another, and side by side.
    for values, axis in ((x, 0), (np.ascontiguousarray(x.T), 1), (x.reshape(140, 128, 2), 1)):
        inputs = [values, np.int64([axis])]
        model, feeds = op_model(op_type, inputs, {"keepdims": 0}, opset=18)
        long = values.shape[axis] > 8_192
        assert len(session().plan(model, feeds).dispatches) == (2 if long else 1)
        (got,) = run_op(op_type, inputs, {"keepdims": 0}, opset=18)
        want = FUNCTIONS[op_type](values.astype(np.float64), axis=axis)
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_int32_sums_wrap() -> None:
    x = np.full(5, 2**30, np.int32)
    assert run_op("ReduceSum", [x])[0] == np.array(5 * 2**30).astype(np.int32)


@pytest.mark.parametrize("op_type", FUNCTIONS)
def test_over_nothing(op_type: str) -> None:
    want = {"ReduceMax": -np.inf, "ReduceMin": np.inf, "ReduceProd": 1.0, "ReduceMean": np.nan,
            "ReduceLogSum": -np.inf, "ReduceLogSumExp": -np.inf}.get(op_type, 0.0)  # fmt: skip
    (got,) = run_op(op_type, [np.zeros((2, 0, 3), np.float32), np.int64([1])])
    np.testing.assert_array_equal(got, np.full((2, 1, 3), want, np.float32))
    assert run_op(op_type, [np.zeros((2, 0, 3), np.float32), np.int64([0])])[0].shape == (1, 0, 3)


def test_no_axes_may_mean_none() -> None:
    x = np.float32([[1, -2], [3, 4]])
    for op_type, want in (("ReduceSum", x), ("ReduceSumSquare", x * x), ("ReduceL1", np.abs(x))):
        (got,) = run_op(op_type, [x, np.zeros(0, np.int64)], {"noop_with_empty_axes": 1})
        np.testing.assert_array_equal(got, want)


def test_axes_of_older_versions_are_attributes() -> None:
    x = np.float32([[1, -2], [3, 4]])
    np.testing.assert_array_equal(run_op("ReduceSum", [x], {"axes": [1]}, opset=11)[0], [[-1], [7]])


def test_nan_and_infinity() -> None:
    x = np.float32([[1, np.inf], [np.nan, 1], [-np.inf, -np.inf], [1e30, -1e30]])
    for op_type, function in (("ReduceMax", np.max), ("ReduceMin", np.min)):
        (got,) = run_op(op_type, [x, np.int64([1])], {"keepdims": 0})
        np.testing.assert_array_equal(got, function(x, axis=1))
    (got,) = run_op("ReduceLogSumExp", [x, np.int64([1])], {"keepdims": 0})
    np.testing.assert_array_equal(got, np.float32([np.inf, np.nan, -np.inf, 1e30]))


def test_bool_extremes() -> None:
    x = np.array([[True, False], [False, False]])
    np.testing.assert_array_equal(run_op("ReduceMax", [x, np.int64([1])])[0], [[True], [False]])
    np.testing.assert_array_equal(run_op("ReduceMin", [x, np.int64([1])])[0], [[False], [False]])


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize(("op_type", "function"), [("ArgMax", np.argmax), ("ArgMin", np.argmin)])
def test_places(op_type: str, function: Function, dtype: str) -> None:
    rng = np.random.default_rng(2)
    for shape, axis in (((3, 4, 5), 1), ((3, 400, 5), 1), ((7, 1000), -1), ((2, 2, 2, 3), 3)):
        x = rng.integers(0, 30, shape).astype(dtype)
        if dtype.startswith("float"):
            x = np.where(rng.random(shape) < 0.01, np.nan, x).astype(dtype)
        (got,) = run_op(op_type, [x], {"axis": axis, "keepdims": 0})
        np.testing.assert_array_equal(got, function(x, axis), strict=True)
        attributes = {"axis": axis, "select_last_index": 1}
        (got,) = run_op(op_type, [x], attributes)
        last = shape[axis] - 1 - function(np.flip(x, axis), axis, keepdims=True)
        np.testing.assert_array_equal(got, last, strict=True)


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceMax", "ReduceLogSumExp", "ArgMax"])
def test_long_lines_beside_many_others_are_walked_to_their_end(op_type: str) -> None:
    """One invocation may not take 66,103 turns: llvmpipe would leave its loop without a word."""
    x = np.random.default_rng(2).uniform(0, 1, (66_103, 2)).astype(np.float32)
    x[-1] = 9  # what a loop that ends early does not see
    if op_type == "ArgMax":
        (got,) = run_op(op_type, [x], {"axis": 0, "keepdims": 0})
        assert got.tolist() == [66_102, 66_102]
        return
    (got,) = run_op(op_type, [x, np.int64([0])], {"keepdims": 0})
    want = FUNCTIONS[op_type](x.astype(np.float64), axis=0, keepdims=False)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize(
    ("op_type", "shape", "attributes"),
    [
        ("ReduceSum", (8_000_009,), {}),  # a prime: there are no parts to share
        ("ReduceLogSumExp", (8_000_000,), {}),
        ("ArgMax", (8_000_000,), {}),
        ("LpNormalization", (8_000_009,), {}),
        ("DynamicQuantizeLinear", (8_000_009,), {}),
        ("MeanVarianceNormalization", (8_000_009, 1), {"axes": [0]}),
    ],
)
def test_more_than_a_workgroup_may_walk_is_declined(
    op_type: str, shape: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    use = OpUse(op_type, "", 0, (TensorType("float32", shape),), attributes=attributes)
    kernel, verdict = load_kernels().support(use)
    assert kernel is None
    assert verdict.reason is Reason.SHAPE
    assert "loop turns for one invocation" in verdict.detail
    shorter = OpUse(
        op_type, "", 0, (TensorType("float32", (1_000, *shape[1:])),), attributes=attributes
    )
    assert load_kernels().support(shorter)[0] is not None
