"""Cast between every pair of types that the device holds, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto
from opcase import run_op
from opscope.engine.errors import NotCoveredError
from opscope.engine.ir.dtypes import dtype_code

TYPES = ("float32", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
         "uint64", "bool")  # fmt: skip


def cast(x: np.ndarray, dtype: str) -> np.ndarray:
    return run_op("Cast", [x], {"to": dtype_code(dtype)})[0]


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", TYPES)
def test_every_pair(source: str, target: str) -> None:
    # Values that every type but bool holds, and fractions for the floats.
    x = np.array([0, 1, 2.75, 100.5, 127, 3, 64], np.float64).astype(source)
    np.testing.assert_array_equal(cast(x, target), x.astype(target), strict=True)


@pytest.mark.parametrize("source", ["int16", "int32", "int64"])
@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "uint16", "uint32", "int64"])
def test_integers_keep_their_low_bits(source: str, target: str) -> None:
    x = np.array([-1, -128, 300, 32_767, -32_768], source)
    np.testing.assert_array_equal(cast(x, target), x.astype(target), strict=True)


def test_floats_lose_their_fraction() -> None:
    x = np.float32([2.9, -2.9, -0.5, 127.99, -128.99])
    for target in ("int8", "int16", "int32", "int64"):
        np.testing.assert_array_equal(cast(x, target), x.astype(target))
    np.testing.assert_array_equal(cast(np.float32([-1.5, 300.7]), "uint8"), [255, 44])


def test_anything_but_zero_is_true() -> None:
    x = np.float32([0, -0.0, 1e-45, np.nan, np.inf, -1])
    np.testing.assert_array_equal(cast(x, "bool"), [0, 0, 1, 1, 1, 1])
    np.testing.assert_array_equal(cast(np.int64([0, 2**32, -1]), "bool"), [0, 1, 1])


def test_64_bit_integers_go_to_the_nearest_float() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(-(2**63), 2**63, 3000)
    ties = [2**24 + 1, 2**25 + 2, 2**40 + 2**16, 2**40 + 2**15, 2**53 + 1, -(2**63), 2**63 - 1]
    x = np.concatenate([x, x >> 20, x >> 33, x >> 40, ties])
    np.testing.assert_array_equal(cast(x, "float32"), x.astype(np.float32))
    unsigned = x.astype(np.uint64)
    np.testing.assert_array_equal(cast(unsigned, "float32"), unsigned.astype(np.float32))


def test_large_floats_to_64_bit_integers() -> None:
    rng = np.random.default_rng(2)
    x = np.float32(rng.standard_normal(2000) * 10.0 ** rng.integers(-3, 18, 2000))
    np.testing.assert_array_equal(cast(x, "int64"), x.astype(np.int64))
    x = np.float32([0, 2.0**63, 2.0**63 + 2.0**42])
    np.testing.assert_array_equal(cast(x, "uint64"), x.astype(np.uint64))


def test_f16_rounds_to_nearest_and_overflows_to_infinity() -> None:
    rng = np.random.default_rng(3)
    x = np.float32(rng.standard_normal(4001) * 10.0 ** rng.integers(-9, 5, 4001))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(cast(x, "float16"), x.astype(np.float16))
    edge = np.float32([65504, 65519, 65520, -1e9, np.nan])
    np.testing.assert_array_equal(
        cast(edge, "float16"), np.float16([65504, 65504, np.inf, -np.inf, np.nan])
    )


def test_cast_like_takes_the_other_type() -> None:
    x = np.float32([1.5, -2.5])
    (got,) = run_op("CastLike", [x, np.int64([0])])
    np.testing.assert_array_equal(got, np.int64([1, -2]), strict=True)


@pytest.mark.parametrize("code", [TensorProto.DOUBLE, TensorProto.BFLOAT16])
def test_types_that_the_device_lacks_go_to_the_host(code: int) -> None:
    with pytest.raises(NotCoveredError, match=r"Cast to (float64|bfloat16)"):
        run_op("Cast", [np.float32([1])], {"to": code})
