"""Softmax and its kin, and all normalizations, against numpy in f64."""

from __future__ import annotations

import numpy as np
import pytest
from opcase import run_op
from opscope.engine.errors import NotCoveredError

FLOATS = ("float32", "float16")


def data(dtype: str, *shape: int, mean: float = 0, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.standard_normal(shape) + mean).astype(dtype)


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def close(got: np.ndarray, want: np.ndarray, dtype: str, *, rtol: float = 2e-5) -> None:
    """Equal to what f64 gives: to ``rtol`` in f32, to an ulp or two in f16."""
    assert got.dtype == dtype
    tolerance = rtol if dtype == "float32" else 2e-3
    np.testing.assert_allclose(wide(got), want, rtol=tolerance, atol=tolerance / 4)


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    shares = np.exp(x - x.max(axis, keepdims=True))
    return shares / shares.sum(axis, keepdims=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((3, 4, 5), 1), ((3, 4, 5), -1), ((2, 300), 1), ((2, 70, 3), 1), ((1, 70_000), -1)],
)
def test_softmax(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    x = (data(dtype, *shape) * 10).astype(dtype)
    want = softmax(wide(x), axis)
    (got,) = run_op("Softmax", [x], {"axis": axis})
    # Devices may take numbers below 2^-126 for zero.
    tolerance = 2e-5 if dtype == "float32" else 2e-3
    np.testing.assert_allclose(got, want.astype(dtype), rtol=tolerance, atol=2**-126)
    close(run_op("LogSoftmax", [x], {"axis": axis})[0], np.log(want), dtype)
    ties = np.round(x / 8)
    place = np.expand_dims(ties.argmax(axis), axis)
    hard = np.zeros(shape, dtype)
    np.put_along_axis(hard, place, 1, axis)
    np.testing.assert_array_equal(run_op("Hardmax", [ties], {"axis": axis})[0], hard)


def test_softmax_before_version_13_flattens() -> None:
    x = data("float32", 2, 3, 40)
    want = softmax(wide(x.reshape(2, 120)), 1).reshape(x.shape)
    close(run_op("Softmax", [x], {"axis": 1}, opset=11)[0], want, "float32")
    close(run_op("Softmax", [x], opset=9)[0], want, "float32")
    one = softmax(wide(x.reshape(1, -1)), 1).reshape(x.shape)
    close(run_op("Softmax", [x], {"axis": 0}, opset=11)[0], one, "float32")


def test_softmax_of_large_values_and_masks() -> None:
    x = np.float32([[1e4, 1e4 + 1, -np.inf], [-1e9, -1e9, 0]])
    close(run_op("Softmax", [x])[0], softmax(wide(x), -1), "float32")
    np.testing.assert_array_equal(run_op("Softmax", [np.float32(5).reshape(())])[0], 1)
    assert run_op("Softmax", [np.zeros((2, 0, 3), np.float32)])[0].shape == (2, 0, 3)
    assert np.isnan(run_op("Softmax", [np.float32([1, np.nan, 2])])[0]).all()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("shape", "axis"), [((2, 3, 40), -1), ((2, 3, 40), 1), ((5, 600), -1), ((2, 3, 4, 5), 2)]
)
def test_layer_normalization(shape: tuple[int, ...], axis: int, dtype: str) -> None:
    x = data(dtype, *shape, mean=3)
    scale, bias = data(dtype, *shape[axis:], seed=1), data(dtype, *shape[axis:], seed=2)
    axes = tuple(range(axis % len(shape), len(shape)))
    mean, variance = wide(x).mean(axes, keepdims=True), wide(x).var(axes, keepdims=True)
    factor = 1 / np.sqrt(variance + 1e-3)
    attributes = {"axis": axis, "epsilon": 1e-3}
    y, means, factors = run_op("LayerNormalization", [x, scale, bias], attributes, outputs=3)
    close(y, (wide(x) - mean) * factor * wide(scale) + wide(bias), dtype)
    np.testing.assert_allclose(means, mean, rtol=1e-5)
    np.testing.assert_allclose(factors, factor, rtol=1e-5)
    (y,) = run_op("LayerNormalization", [x, scale], attributes)
    close(y, (wide(x) - mean) * factor * wide(scale), dtype)
    squares = (wide(x) ** 2).mean(axes, keepdims=True)
    (y,) = run_op("RMSNormalization", [x, scale], {"axis": axis}, opset=23)
    close(y, wide(x) / np.sqrt(squares + 1e-5) * wide(scale), dtype)


def test_a_large_mean_costs_no_digits() -> None:
    x = data("float32", 4, 512, mean=1000)
    scale = np.ones(512, np.float32)
    want = (wide(x) - wide(x).mean(-1, keepdims=True)) / wide(x).std(-1, keepdims=True)
    (y,) = run_op("LayerNormalization", [x, scale])
    # The input itself holds the deviations to 6e-5 only.
    np.testing.assert_allclose(y, want, atol=2e-4)
    half = x.astype(np.float16)
    want = (wide(half) - wide(half).mean(-1, keepdims=True)) / wide(half).std(-1, keepdims=True)
    (y,) = run_op("LayerNormalization", [half, scale.astype(np.float16)])
    np.testing.assert_allclose(y, want, atol=3e-3)


def test_a_scale_over_fewer_or_more_axes() -> None:
    x = data("float32", 2, 3, 8)
    mean, deviation = wide(x).mean(-1, keepdims=True), wide(x).std(-1, keepdims=True)
    for shape in ((3, 8), (8,), (1, 1, 8), (1,), ()):
        scale = data("float32", *shape, seed=3)
        (y,) = run_op("LayerNormalization", [x, scale], {"epsilon": 1e-12})
        close(y, (wide(x) - mean) / deviation * wide(scale), "float32")
    with pytest.raises(NotCoveredError, match=r"a scale or bias of shape \(3, 1\)"):
        run_op("LayerNormalization", [x, data("float32", 3, 1)])


@pytest.mark.parametrize("dtype", FLOATS)
def test_by_channel(dtype: str) -> None:
    x = data(dtype, 2, 6, 4, 5)
    scale, bias, mean = (data(dtype, 6, seed=k) for k in (1, 2, 3))
    variance = np.abs(data(dtype, 6, seed=4)) + np.array(0.1, dtype)

    def channel(v: np.ndarray) -> np.ndarray:
        return wide(v)[None, :, None, None]

    axes = (2, 3)
    own_mean, own = wide(x).mean(axes, keepdims=True), wide(x).var(axes, keepdims=True)
    (y,) = run_op("InstanceNormalization", [x, scale, bias])
    close(y, (wide(x) - own_mean) / np.sqrt(own + 1e-5) * channel(scale) + channel(bias), dtype)

    groups = wide(x).reshape(2, 3, -1)
    normal = groups - groups.mean(-1, keepdims=True)
    normal /= np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    (y,) = run_op("GroupNormalization", [x, scale, bias], {"num_groups": 3}, opset=21)
    close(y, normal.reshape(x.shape) * channel(scale) + channel(bias), dtype)
    (y,) = run_op("GroupNormalization", [x, scale[:3], bias[:3]], {"num_groups": 3}, opset=18)
    per_group = normal * wide(scale)[None, :3, None] + wide(bias)[None, :3, None]
    close(y, per_group.reshape(x.shape), dtype)

    inputs = [x, scale, bias, mean, variance]
    normal = (wide(x) - channel(mean)) / np.sqrt(channel(variance) + 1e-3)
    for opset in (7, 9, 14, 15):
        (y,) = run_op("BatchNormalization", inputs, {"epsilon": 1e-3}, opset=opset)
        close(y, normal * channel(scale) + channel(bias), dtype)
    flat = x[:, :, 0, 0]
    (y,) = run_op("BatchNormalization", [flat, *inputs[1:]], {"epsilon": 1e-3})
    close(y, (normal * channel(scale) + channel(bias))[:, :, 0, 0], dtype)


def test_training_is_refused() -> None:
    x, one = data("float32", 2, 3), np.ones(3, np.float32)
    with pytest.raises(NotCoveredError, match="training_mode"):
        run_op("BatchNormalization", [x, one, one, one, one], {"training_mode": 1}, outputs=3)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [3, 4])
def test_local_response(size: int, dtype: str) -> None:
    x = data(dtype, 2, 6, 4, 5)
    before, after = (size - 1) // 2, size // 2
    squares = np.stack(
        [(wide(x)[:, max(0, c - before) : c + after + 1] ** 2).sum(1) for c in range(6)], 1
    )
    attributes = {"size": size, "alpha": 0.5, "beta": 0.6, "bias": 2.0}
    (y,) = run_op("LRN", [x], attributes)
    close(y, wide(x) / (2 + 0.5 / size * squares) ** 0.6, dtype)


@pytest.mark.parametrize("dtype", FLOATS)
def test_over_axes(dtype: str) -> None:
    x = data(dtype, 2, 6, 4, 5)
    centred = wide(x) - wide(x).mean((0, 2, 3), keepdims=True)
    deviation = np.sqrt((centred**2).mean((0, 2, 3), keepdims=True))
    close(run_op("MeanVarianceNormalization", [x])[0], centred / (deviation + 1e-9), dtype)
    x[:, :, 0, 0] = 0
    for p, norm in (
        (1, np.abs(wide(x)).sum(1, keepdims=True)),
        (2, np.sqrt((wide(x) ** 2).sum(1, keepdims=True))),
    ):
        want = np.divide(wide(x), norm, out=np.zeros(x.shape), where=norm > 0)
        close(run_op("LpNormalization", [x], {"axis": 1, "p": p})[0], want, dtype)


def test_lrn_without_neighbours_is_refused() -> None:
    with pytest.raises(NotCoveredError, match="LRN has size 0"):
        run_op("LRN", [np.ones((1, 3, 2), np.float32)], {"size": 0})
