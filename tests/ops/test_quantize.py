"""Linear quantization both ways: per tensor, axis and block; halves to even; saturation."""

from __future__ import annotations

import numpy as np
import pytest
from opcase import run_op
from opscope.engine.errors import NodeError, NotCoveredError
from opscope.engine.host.evaluate import evaluate
from opscope.engine.ops.use import OpUse

TYPES = ("int8", "uint8", "int16", "uint16")


def quantized(x: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    info = np.iinfo(zero.dtype)
    # The quotient is f32's, as in ONNX; whether 2.5 / 1 rounds to 2 must not depend on more.
    with np.errstate(invalid="ignore"):
        steps = np.round((x.astype(np.float32) / scale.astype(np.float32)).astype(np.float64))
    return np.clip(steps + zero.astype(np.float64), info.min, info.max).astype(zero.dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_halves_round_to_even_and_values_saturate(dtype: str) -> None:
    zero = np.array(3, dtype)
    x = np.float32([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1e9, -1e9, np.inf, -np.inf, 0, 7])
    for scale in (np.float32(1), np.float32(0.5)):
        (got,) = run_op("QuantizeLinear", [x, scale, zero], opset=21)
        np.testing.assert_array_equal(got, quantized(x, scale, zero), strict=True)


@pytest.mark.parametrize("dtype", TYPES)
def test_along_an_axis_and_in_blocks(dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((2, 6, 5)) * 30).astype(np.float32)
    scale = rng.uniform(0.5, 2, 6).astype(np.float32)
    zero = np.arange(6).astype(dtype)
    column = scale[None, :, None], zero[None, :, None]
    (y,) = run_op("QuantizeLinear", [x, scale, zero], {"axis": 1}, opset=21)
    np.testing.assert_array_equal(y, quantized(x, *column), strict=True)
    (back,) = run_op("DequantizeLinear", [y, scale, zero], {"axis": -2}, opset=21)
    want = (y.astype(np.float64) - column[1]) * column[0]
    np.testing.assert_allclose(back, want, rtol=1e-6)

    scale = rng.uniform(0.5, 2, (2, 2, 5)).astype(np.float32)
    zero = rng.integers(0, 9, (2, 2, 5)).astype(dtype)
    spread = scale.repeat(4, 1)[:, :6], zero.repeat(4, 1)[:, :6]
    attributes = {"axis": 1, "block_size": 4}
    (y,) = run_op("QuantizeLinear", [x, scale, zero], attributes, opset=21)
    np.testing.assert_array_equal(y, quantized(x, *spread), strict=True)
    (back,) = run_op("DequantizeLinear", [y, scale, zero], attributes, opset=21)
    want = (y.astype(np.float64) - spread[1]) * spread[0]
    np.testing.assert_allclose(back, want, rtol=1e-6)


def test_values_below_the_zero_point_are_negative() -> None:
    x = np.arange(37, dtype=np.uint8)
    scale, zero = np.float32(0.25), np.uint8(20)
    (y,) = run_op("DequantizeLinear", [x, scale, zero])
    np.testing.assert_array_equal(y, (np.arange(37) - 20) * np.float32(0.25))
    (y,) = run_op("DequantizeLinear", [x.astype(np.int32) - 30, scale])
    np.testing.assert_array_equal(y, (np.arange(37) - 30) * np.float32(0.25))
    half = run_op("DequantizeLinear", [x, np.float16(0.25), zero], opset=19)[0]
    np.testing.assert_array_equal(half, ((np.arange(37) - 20) * 0.25).astype(np.float16))


def test_without_a_zero_point_the_type_is_uint8_or_as_asked() -> None:
    x = np.float32([-1, 3, 300])
    np.testing.assert_array_equal(
        run_op("QuantizeLinear", [x, np.float32(1)])[0], np.uint8([0, 3, 255]), strict=True
    )
    (got,) = run_op("QuantizeLinear", [x, np.float32(1)], {"output_dtype": 3}, opset=21)
    np.testing.assert_array_equal(got, np.int8([-1, 3, 127]), strict=True)


@pytest.mark.parametrize(
    "x", [[0, 2, -3, -2.5, 1.34, 0.5], [-1.0, -2.1, -1.3], [1, 2.1, 1.3, 2.5, 3.34], [0, 0]]
)
def test_dynamic_quantization(x: list[float]) -> None:
    values = np.float32(x)
    y, scale, zero = run_op("DynamicQuantizeLinear", [values], outputs=3)
    low, high = min(values.min(), np.float32(0)), max(values.max(), np.float32(0))
    step = (high - low) / np.float32(255) or np.float32(1)
    offset = np.uint8(np.round(np.clip(-low / step, 0, 255)))
    np.testing.assert_allclose(scale, step, rtol=1e-6)
    assert zero == offset
    np.testing.assert_array_equal(y, quantized(values, step, offset))


def test_shapes_and_types_are_checked() -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(NodeError, match=r"scales of shape \(2,\) for the extent 3 of axis 1"):
        run_op("QuantizeLinear", [x, np.ones(2, np.float32), np.zeros(2, np.uint8)])
    with pytest.raises(NotCoveredError, match="QuantizeLinear to int4"):
        run_op("QuantizeLinear", [x, np.float32(1)], {"output_dtype": 22}, opset=21)


def test_dynamic_quantization_of_zeros_has_the_scale_1() -> None:
    zeros = np.zeros(5, np.float32)
    on_host = evaluate(OpUse("DynamicQuantizeLinear", outputs=OpUse("").outputs * 3), [zeros])
    for y, scale, zero in (run_op("DynamicQuantizeLinear", [zeros], outputs=3), on_host):
        assert (y.tolist(), scale.item(), zero.item()) == ([0] * 5, 1.0, 0)
