"""One operator at a time: exact integers, refusals by name, limits, what the reference lacks."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from opscope.engine.errors import LimitError, NodeError
from opscope.engine.host.evaluate import can_evaluate, evaluate
from opscope.engine.ops.use import OpUse
from opscope.engine.providers.support import Reason, Status


def run(op: str, *arrays: Any, since: int = 0, outputs: int = 1, domain: str = "", **attrs: Any):
    use = OpUse(
        op, domain, since, outputs=OpUse("").outputs * outputs, attributes=attrs, name="here"
    )
    results = evaluate(use, arrays)
    return results[0] if outputs == 1 else results


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_integer_division_truncates_towards_zero() -> None:
    got = run("Div", ints(7, -7, 7, -7, 2**62 + 1), ints(2, 2, -2, -2, 1))
    assert got.tolist() == [3, -3, -3, 3, 2**62 + 1]
    assert got.dtype == np.int64


def test_integer_division_by_zero_is_an_error() -> None:
    with pytest.raises(NodeError, match=r"here.*division of whole numbers by 0"):
        run("Div", ints(1), ints(0))


def test_large_integers_stay_exact() -> None:
    big = 2**53 + 1
    assert run("Add", ints(big), ints(2)).item() == big + 2
    assert run("Mul", ints(3037000499), ints(3037000499)).item() == 3037000499**2
    assert run("Pow", ints(3), ints(39)).item() == 3**39
    assert run("ReduceSum", ints(big, 2), keepdims=0).item() == big + 2


def test_scalars_stay_scalars() -> None:
    got = run("Gather", ints(4, 5), np.array(1, np.int64))
    assert isinstance(got, np.ndarray)
    assert got.shape == ()
    assert got.dtype == np.int64


def test_outputs_are_dense() -> None:
    assert run("Transpose", np.zeros((2, 3))).flags.c_contiguous
    assert run("Expand", np.zeros((1, 3)), ints(4, 3)).flags.c_contiguous


def test_inputs_are_not_changed() -> None:
    data = np.zeros(3, np.float32)
    run("ScatterND", data, ints(1).reshape(1, 1), np.ones(1, np.float32))
    assert not data.any()


def test_an_unknown_attribute_is_refused_by_name() -> None:
    with pytest.raises(NodeError, match="'gain' is not supported"):
        run("Relu", np.ones(2, np.float32), gain=2.0)
    verdict = can_evaluate(OpUse("Relu", attributes={"gain": 2.0}))
    assert (verdict.status, verdict.reason) == (Status.UNSUPPORTED, Reason.ATTRIBUTE)
    verdict = can_evaluate(OpUse("Det", since_version=22, attributes={"gain": 2.0}))
    assert (verdict.status, verdict.reason) == (Status.UNSUPPORTED, Reason.ATTRIBUTE)


def test_an_input_that_is_left_out_is_named() -> None:
    with pytest.raises(NodeError, match="Relu lacks the input 'X', which ONNX requires"):
        evaluate(OpUse("Relu", "", 14, (None,), (None,), {}, opset=17), [None])


def test_an_unknown_operator_is_refused_by_name() -> None:
    verdict = can_evaluate(OpUse("DynamicQuantizeLSTM", "com.microsoft"))
    assert verdict.status is Status.UNSUPPORTED
    assert "com.microsoft::DynamicQuantizeLSTM" in verdict.detail


def test_a_version_that_was_not_read_is_refused() -> None:
    verdict = can_evaluate(OpUse("Scan", since_version=8, complete=False))
    assert (verdict.status, verdict.reason) == (Status.UNSUPPORTED, Reason.SCHEMA_VERSION)


def test_known_operators_are_accepted() -> None:
    for op, count in {"GRU": 3, "ConvTranspose": 2, "Det": 1, "If": 1, "StringSplit": 1}.items():
        assert (
            can_evaluate(OpUse(op, inputs=(None,) * count, complete=False)).status is Status.HOST
        ), op


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("ConstantOfShape", [ints(1 << 20, 1 << 20)]),
        ("Expand", [np.zeros(1, np.float32), ints(1 << 40)]),
        ("Tile", [np.zeros(8, np.float32), ints(1 << 30)]),
        ("Range", [ints(0)[0:1].reshape(()), np.array(1 << 40), np.array(1)]),
        ("Pad", [np.zeros(1, np.float32), ints(1 << 40, 0)]),
        ("OneHot", [ints(0), np.array(1 << 40), ints(0, 1)]),
        ("Add", [np.zeros((1 << 16, 1), "f4"), np.zeros((1, 1 << 16), "f4")]),
        ("MatMul", [np.zeros((1 << 16, 1), "f4"), np.zeros((1, 1 << 16), "f4")]),
        ("Gather", [np.zeros((1, 1 << 16), "f4"), np.zeros(1 << 16, np.int64)]),
    ],
)
def test_a_hostile_shape_takes_no_memory(op: str, inputs: list[np.ndarray]) -> None:
    with pytest.raises(LimitError, match=r"here.*bytes"):
        run(op, *inputs)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_hostile_pads_take_no_memory(op: str) -> None:
    with pytest.raises(LimitError, match=r"here.*bytes"):
        run(op, np.zeros((1, 1, 4), "f4"), kernel_shape=(2,), pads=(1 << 40, 0))


def test_lrn_needs_a_size() -> None:
    with pytest.raises(NodeError, match="size is 0; it must be at least 1"):
        run("LRN", np.zeros((1, 2, 3), "f4"), size=0)


def test_slices_clamp_and_step_backwards() -> None:
    data = np.arange(6)
    assert run("Slice", data, ints(-1), ints(-100), ints(0), ints(-2)).tolist() == [5, 3, 1]
    assert run("Slice", data, ints(2), ints(2**63 - 1), ints(0)).tolist() == [2, 3, 4, 5]
    assert run("Slice", data, since=1, starts=(1,), ends=(-1,), axes=(0,)).tolist() == [1, 2, 3, 4]
    # A start before the front is the front, also on the way back: one element, unlike numpy.
    assert run("Slice", data, ints(-9), ints(-99), ints(0), ints(-1)).tolist() == [0]


@pytest.mark.parametrize("pads", [(-5, 3), (3, -5), (-4, 2)])
def test_pads_that_crop_everything_leave_the_value_alone(pads: tuple[int, int]) -> None:
    data = np.arange(1, 5)
    assert run("Pad", data, ints(*pads), np.array(7)).tolist() == [7] * (4 + sum(pads))
    with pytest.raises(NodeError, match="mode 'edge' has nothing to repeat: axis 0 is empty"):
        run("Pad", data, ints(*pads), mode="edge")


def test_a_reduction_over_no_axes_still_does_the_rest() -> None:
    data, none = np.float32([[1, -2], [4, 0.5]]), np.zeros(0, np.int64)
    for op, want in (
        ("ReduceSum", data),
        ("ReduceMax", data),
        ("ReduceMean", data),
        ("ReduceL2", np.abs(data)),
        ("ReduceSumSquare", data**2),
    ):
        np.testing.assert_array_equal(run(op, data, none, noop_with_empty_axes=1), want)
    got = run("ReduceLogSum", np.abs(data), none, noop_with_empty_axes=1, keepdims=0)
    np.testing.assert_allclose(got, np.log(np.abs(data)), rtol=1e-6)


def test_reshape_copies_a_zero_unless_told_not_to() -> None:
    data = np.zeros((2, 3))
    assert run("Reshape", data, ints(0, -1)).shape == (2, 3)
    assert run("Reshape", np.zeros((0, 3)), ints(3, 0), allowzero=1).shape == (3, 0)
    with pytest.raises(NodeError, match=r"6 elements.*\[4, 2\]"):
        run("Reshape", data, ints(4, 2))


def test_casts() -> None:
    assert run("Cast", np.array([1.9, -1.9], np.float32), to=7).tolist() == [1, -1]
    assert run("Cast", np.array([300], np.int32), to=2).tolist() == [44]
    assert run("Cast", np.array([0.5, 0.0, np.nan], np.float32), to=9).tolist() == [1, 0, 1]
    assert run("Cast", np.array([1 / 3], np.float32), to=16).dtype == ml_dtypes.bfloat16
    huge = np.array([1e6], np.float32)
    assert float(run("Cast", huge, to=17)[0]) == 448
    assert np.isnan(float(run("Cast", huge, to=17, saturate=0)[0]))
    assert run("Cast", np.array(["1.5", "-inf"], object), to=1).tolist() == [1.5, -np.inf]


def test_softmax_before_13_flattens() -> None:
    data = np.random.default_rng(0).standard_normal((2, 3, 4))
    old = run("Softmax", data, since=11)
    np.testing.assert_allclose(old.sum(axis=(1, 2)), 1)
    np.testing.assert_allclose(run("Softmax", data, since=13).sum(axis=2), 1)


def test_sums_of_f16_are_taken_in_f32() -> None:
    ones = np.ones(100_000, np.float16)
    assert run("ReduceMean", ones, keepdims=0) == 1
    row = np.full((1, 8192), 0.1, np.float16)
    exact = (row.astype(np.float64) @ row.astype(np.float64).T).item()
    assert run("MatMul", row, row.T.copy()).item() == pytest.approx(exact, rel=1e-3)


def test_batch_normalization_9_is_inference() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    scale, bias, mean, variance = np.random.default_rng(1).uniform(0.5, 2, (4, 3)).astype("f4")
    got = run("BatchNormalization", x, scale, bias, mean, variance, since=9, epsilon=0.1)
    wide = (x - mean[:, None].astype(float)) / np.sqrt(variance[:, None].astype(float) + 0.1)
    np.testing.assert_allclose(got, wide * scale[:, None] + bias[:, None], rtol=1e-5, atol=1e-6)
    with pytest.raises(NodeError, match="training"):
        run("BatchNormalization", x, scale, bias, mean, variance, since=9, outputs=5)


def test_batch_normalization_of_one_dimension_keeps_it() -> None:
    """ONNX: of a single dimension of size N, one channel is assumed."""
    one = np.ones(1, np.float32)
    x = np.array([1, 3], np.float32)
    got = run("BatchNormalization", x, one, one, one, one, since=15, epsilon=0.0)
    assert got.tolist() == [1, 3]
    with pytest.raises(NodeError, match="has one channel, not 2"):
        run("BatchNormalization", x, *[np.ones(2, np.float32)] * 4, since=15)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_mean_variance_normalization_of_any_float(dtype: type) -> None:
    x = (np.arange(24) % 7 - 3).reshape(2, 3, 4).astype(dtype)
    wide = x.astype(np.float64)
    centred = wide - wide.mean((0, 2), keepdims=True)
    want = centred / (np.sqrt((centred**2).mean((0, 2), keepdims=True)) + 1e-9)
    got = run("MeanVarianceNormalization", x, axes=(0, -1))
    assert got.dtype == dtype
    half_unit = float(ml_dtypes.finfo(dtype).eps) / 2
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=half_unit + 1e-6, atol=1e-6)


def test_dequantize_before_19() -> None:
    x = np.array([[0, 128, 255]], np.uint8)
    scale, zero = np.array([0.5, 1, 2], np.float32), np.array([128, 128, 128], np.uint8)
    got = run("DequantizeLinear", x, scale, zero, since=13, axis=1)
    assert got.tolist() == [[-64, 0, 254]]


def test_one_hot_with_float_indices() -> None:
    got = run("OneHot", np.array([1.0, -1.0], np.float32), ints(3), np.array([0, 5], np.float32))
    assert got.tolist() == [[0, 5, 0], [0, 0, 5]]


def test_zip_map() -> None:
    scores = np.array([[0.25, 0.75]], np.float32)
    use = OpUse("ZipMap", "ai.onnx.ml", 1, attributes={"classlabels_strings": ("a", "b")})
    assert evaluate(use, [scores]) == [[{"a": 0.25, "b": 0.75}]]
    with pytest.raises(NodeError, match="1 class labels for 2 scores"):
        run("ZipMap", scores, since=1, domain="ai.onnx.ml", classlabels_int64s=(7,))


def test_resize_tf_half_pixel_for_nn() -> None:
    data = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)
    got = run(
        "Resize",
        data,
        None,
        np.array([1, 1, 1, 0.5], np.float32),
        since=11,
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="tf_half_pixel_for_nn",
    )
    assert got.reshape(-1).tolist() == [1, 3]  # floor((i + 0.5) / 0.5)


def test_top_k_of_equals_keeps_the_order() -> None:
    values, indices = run("TopK", np.array([1, 3, 3, 2]), ints(3), outputs=2)
    assert (values.tolist(), indices.tolist()) == ([3, 3, 2], [1, 2, 3])


def test_unwanted_outputs_are_none() -> None:
    use = OpUse("TopK", outputs=(None, OpUse("").outputs[0]))
    first, second = evaluate(use, [np.array([1.0, 2.0]), ints(1)])
    assert first is None
    assert second.tolist() == [1]
