"""Functions of one input against numpy in f64: every value class, f32 and f16, any length."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from opcase import run_op, run_op_result
from opscope.engine.results import RunResult

SPECIAL = np.array(
    [0, -0.0, 1, -1, np.nan, np.inf, -np.inf, 100, -100, 1e30, -1e30, 0.5, 1.5, 2.5, -0.5, -1.5,
     3.4e38, 1e-30, 88.6, 89, -103, -87, 0.75, 1.4, 0.41421, 20.5, 50000, 1e-5, 1e10, 6e4, -6e4],
    np.float32,
)  # fmt: skip

# Devices may take numbers below 2^-126 for zero, also on the way to a larger result.
FLUSHED = 2**-116

erf = np.vectorize(math.erf)


def elu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, np.expm1(x), x)


FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Abs": np.abs,
    "Acos": np.arccos,
    "Acosh": np.arccosh,
    "Asin": np.arcsin,
    "Asinh": np.arcsinh,
    "Atan": np.arctan,
    "Atanh": np.arctanh,
    "Ceil": np.ceil,
    "Celu": elu,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Elu": elu,
    "Erf": erf,
    "Exp": np.exp,
    "Floor": np.floor,
    "LeakyRelu": lambda x: np.where(x < 0, 0.01 * x, x),
    "Log": np.log,
    "Mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "Neg": np.negative,
    "Reciprocal": lambda x: 1 / x,
    "Relu": lambda x: np.maximum(x, 0),
    "Round": np.round,
    "Selu": lambda x: 1.0507009873554805 * np.where(x <= 0, 1.6732632423543772 * np.expm1(x), x),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Softplus": lambda x: np.logaddexp(0, x),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Sqrt": np.sqrt,
    "Tan": np.tan,
    "Tanh": np.tanh,
}


def samples() -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.concatenate(
        [SPECIAL, rng.standard_normal(800) * 3, rng.uniform(-1, 1, 400)], dtype=np.float32
    )


def expected(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return function(x.astype(np.float64)).astype(x.dtype)


@pytest.mark.parametrize("op_type", FUNCTIONS)
def test_f32(op_type: str) -> None:
    x = samples()
    for values in (x[: len(x) // 4 * 4], x[: len(x) // 4 * 4 - 1]):
        (y,) = run_op(op_type, [values], opset=22)
        np.testing.assert_allclose(y, expected(FUNCTIONS[op_type], values), rtol=4e-6, atol=FLUSHED)


@pytest.mark.parametrize("op_type", FUNCTIONS)
def test_f16_computes_in_f32_and_rounds_once(op_type: str) -> None:
    x = SPECIAL[np.abs(SPECIAL) < 65504].astype(np.float16)
    (y,) = run_op(op_type, [x], opset=22)
    # One unit in the last place of f16, and half of its smallest number.
    np.testing.assert_allclose(y, expected(FUNCTIONS[op_type], x), rtol=2**-10, atol=2**-24)


@pytest.mark.parametrize(
    ("op_type", "attributes", "function"),
    [
        ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}, lambda x: np.clip(0.3 * x + 0.4, 0, 1)),
        ("HardSwish", {}, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
        ("LeakyRelu", {"alpha": 0.3}, lambda x: np.where(x < 0, 0.3 * x, x)),
        ("Elu", {"alpha": 2.0}, lambda x: np.where(x < 0, 2 * np.expm1(x), x)),
        ("Celu", {"alpha": 2.0}, lambda x: np.where(x <= 0, 2 * np.expm1(x / 2), x)),
        ("Selu", {"alpha": 2.0, "gamma": 3.0}, lambda x: 3 * np.where(x <= 0, 2 * np.expm1(x), x)),
        ("ThresholdedRelu", {"alpha": 0.7}, lambda x: np.where(x > np.float32(0.7), x, 0)),
        ("Shrink", {"lambd": 0.4, "bias": 0.3},
         lambda x: np.where(x > np.float32(0.4), x - np.float32(0.3),
                            np.where(x < -np.float32(0.4), x + np.float32(0.3), 0))),
        ("Gelu", {}, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))),
        ("Gelu", {"approximate": "tanh"},
         lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    ],
)  # fmt: skip
def test_attributes(op_type, attributes, function) -> None:
    x = samples()
    x = x[np.abs(x) < 30]
    (y,) = run_op(op_type, [x], attributes, opset=22)
    np.testing.assert_allclose(y, expected(function, x), rtol=4e-6, atol=1e-6)


def test_gelu_of_special_values() -> None:
    x = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, -15])
    want = [np.nan, np.inf, np.nan, np.float32(3e38), 0, 0]
    for attributes in ({}, {"approximate": "tanh"}):
        (y,) = run_op("Gelu", [x], attributes, opset=20)
        np.testing.assert_allclose(y, want, atol=1e-30)


def test_roots_of_squares_are_exact() -> None:
    x = np.arange(4000, dtype=np.float32)
    np.testing.assert_array_equal(run_op("Sqrt", [x * x])[0], x)
    np.testing.assert_array_equal(run_op("Reciprocal", [1 / 2.0 ** np.arange(99, dtype="f4")])[0],
                                  2.0 ** np.arange(99, dtype="f4"))  # fmt: skip


def test_predicates_see_the_bits() -> None:
    x = np.concatenate([SPECIAL, [1e-42, -1e-42]], dtype=np.float32)
    np.testing.assert_array_equal(run_op("IsNaN", [x], opset=20)[0], np.isnan(x))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_thresholds_take_nan_to_zero(dtype: type) -> None:
    x = np.array([np.nan, 2, -2, 0, np.nan], dtype)
    (got,) = run_op("ThresholdedRelu", [x], {"alpha": 1.0}, opset=20)
    np.testing.assert_array_equal(got, [0, 2, 0, 0, 0])
    (got,) = run_op("Shrink", [x], {"lambd": 1.0, "bias": 0.5}, opset=20)
    np.testing.assert_array_equal(got, [0, 1.5, -1.5, 0, 0])
    np.testing.assert_array_equal(run_op("IsInf", [x], opset=20)[0], np.isinf(x))
    only_negative = run_op("IsInf", [x], {"detect_positive": 0}, opset=20)[0]
    np.testing.assert_array_equal(only_negative, np.isneginf(x))
    np.testing.assert_array_equal(run_op("Not", [x > 0])[0], ~(x > 0))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_integers_wrap_at_their_own_width(dtype: str) -> None:
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, 1, info.max // 2], dtype)
    np.testing.assert_array_equal(run_op("Abs", [x])[0], np.abs(x))
    np.testing.assert_array_equal(run_op("Sign", [x])[0], np.sign(x))
    np.testing.assert_array_equal(run_op("BitwiseNot", [x])[0], ~x)
    if dtype.startswith("int"):
        np.testing.assert_array_equal(run_op("Neg", [x])[0], -x)
        np.testing.assert_array_equal(run_op("Relu", [x])[0], np.maximum(x, 0))


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (3, 1, 2, 1, 2, 1, 2)])
def test_any_shape(shape: tuple[int, ...]) -> None:
    x = np.full(shape, -3.5, np.float32)
    np.testing.assert_array_equal(run_op("Relu", [x])[0], np.zeros(shape, np.float32))


def test_a_large_tensor_takes_a_grid_of_two_dimensions() -> None:
    x = np.zeros(70_000 * 256 + 1, np.float32)
    x[-1], x[65_535 * 256] = -2, -3
    result: RunResult = run_op_result("Abs", [x])
    y = next(iter(result.outputs.values()))
    assert y[-1] == 2
    assert y[65_535 * 256] == 3
    assert np.count_nonzero(y) == 2
