"""Pools on the GPU alone against the float64 oracle."""

from __future__ import annotations

from collections.abc import Iterator

import conv_oracle
import numpy as np
import opcase
import opscope.shaders
import pytest
from opscope.engine.errors import NodeError, NotCoveredError
from recurrent_case import force_pieces, mutate
from window_case import close, need_f16_shaders, normal, run_on

KINDS = {"MaxPool": "max", "AveragePool": "average", "LpPool": "lp"}
GEOMETRIES = [
    ((1, 1, 9), {"kernel_shape": [3]}),
    ((2, 3, 11), {"kernel_shape": [4], "strides": [3], "pads": [1, 2], "dilations": [2]}),
    ((2, 3, 7, 8), {"kernel_shape": [3, 2], "strides": [2, 3], "pads": [2, 0, 1, 1]}),
    ((1, 2, 9, 7), {"kernel_shape": [2, 3], "dilations": [3, 2], "strides": [1, 2]}),
    (
        (1, 2, 4, 5, 6),
        {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "pads": [1, 0, 0, 1, 1, 1]},
    ),
]


@pytest.fixture(autouse=True)
def _shaders_as_they_are() -> Iterator[None]:
    """Forget what a mutant composed."""
    yield
    opscope.shaders._environment.cache_clear()


@pytest.mark.parametrize("op", KINDS)
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("shape", "attributes"), GEOMETRIES)
def test_windows(
    op: str, ceil_mode: int, dtype: type, shape: tuple[int, ...], attributes: dict[str, object]
) -> None:
    x = normal(shape, dtype)
    attributes = {**attributes, "ceil_mode": ceil_mode}
    (y,) = opcase.run_op(op, [x], attributes, opset=22)
    close(y, conv_oracle.pool(KINDS[op], x, **attributes))


@pytest.mark.parametrize("op", KINDS)
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("ceil_mode", [0, 1])
def test_auto_pad(op: str, mode: str, ceil_mode: int) -> None:
    for size, stride in ((7, 1), (7, 2), (8, 3), (9, 4)):
        x = normal((1, 2, size))
        attributes = {
            **{"kernel_shape": [3], "strides": [stride]},
            **{"auto_pad": mode, "ceil_mode": ceil_mode},
        }
        (y,) = opcase.run_op(op, [x], attributes, opset=22)
        close(y, conv_oracle.pool(KINDS[op], x, **attributes))


@pytest.mark.parametrize("include", [0, 1])
@pytest.mark.parametrize("ceil_mode", [0, 1])
@pytest.mark.parametrize(("shape", "attributes"), GEOMETRIES)
def test_what_an_average_counts(
    include: int, ceil_mode: int, shape: tuple[int, ...], attributes: dict[str, object]
) -> None:
    x = normal(shape)
    attributes = {**attributes, "count_include_pad": include, "ceil_mode": ceil_mode}
    (y,) = opcase.run_op("AveragePool", [x], attributes, opset=22)
    close(y, conv_oracle.pool("average", x, **attributes))


@pytest.mark.parametrize(
    ("size", "pads", "expected"),
    [
        # Kernel 2, stride 3: a last window that would start beyond the input is not one.
        (5, [0, 0], [0.5, 3.5]),
        (6, [0, 0], [0.5, 3.5]),
        (7, [0, 0], [0.5, 3.5, 6.0]),
        (6, [0, 1], [0.5, 3.5]),
    ],
)
def test_ceil_mode_by_hand(size: int, pads: list[int], expected: list[float]) -> None:
    x = np.arange(size, dtype=np.float32).reshape(1, 1, size)
    attributes = {"kernel_shape": [2], "strides": [3], "ceil_mode": 1, "pads": pads}
    (y,) = opcase.run_op("AveragePool", [x], attributes, opset=22)
    assert y[0, 0].tolist() == expected


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms(p: int) -> None:
    x = normal((1, 2, 5, 6))
    attributes = {"kernel_shape": [2, 3], "p": p}
    (y,) = opcase.run_op("LpPool", [x], attributes, opset=22)
    # pow() of a GPU is good to a few units in the last place of its exponent.
    np.testing.assert_allclose(y, conv_oracle.pool("lp", x, **attributes), rtol=2e-6 * p)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("shape", "attributes"), GEOMETRIES)
def test_indices_of_maxima(
    order: int, shape: tuple[int, ...], attributes: dict[str, object]
) -> None:
    x = np.round(normal(shape) * 2)  # with equal maxima: the first one counts
    attributes = {**attributes, "storage_order": order}
    y, indices = opcase.run_op("MaxPool", [x], attributes, opset=22, outputs=2)
    close(y, conv_oracle.pool("max", x, **attributes))
    assert indices.dtype == np.int64
    assert np.array_equal(indices, conv_oracle.max_pool_indices(x, **attributes))


def test_a_maximum_with_nan_is_nan_and_one_of_infinities_is_infinite() -> None:
    x = np.array([[[1, np.nan, 2, -np.inf, -np.inf, np.inf]]], np.float32)
    (y,) = opcase.run_op("MaxPool", [x], {"kernel_shape": [2]})
    np.testing.assert_array_equal(y[0, 0], [np.nan, np.nan, 2, -np.inf, np.inf])
    (y,) = opcase.run_op("GlobalMaxPool", [x])
    assert np.isnan(y).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    "shape", [(2, 3, 5), (2, 3, 7, 9), (1, 300, 1), (1, 2, 40, 50), (1, 2, 2, 3, 2, 3)]
)
def test_whole_channels(shape: tuple[int, ...], dtype: type) -> None:
    x = normal(shape, dtype)
    axes = tuple(range(2, len(shape)))
    for op, reduce in (("GlobalAveragePool", np.mean), ("GlobalMaxPool", np.max)):
        (y,) = opcase.run_op(op, [x])
        close(y, reduce(x.astype(np.float64), axis=axes, keepdims=True))


def test_sums_of_f16_are_taken_in_f32() -> None:
    x = np.full((1, 1, 256, 256), 1000, np.float16)
    assert opcase.run_op("GlobalAveragePool", [x])[0] == 1000
    (y,) = opcase.run_op("AveragePool", [x], {"kernel_shape": [128, 128]})
    assert (y == 1000).all()


def test_more_channels_than_workgroups_in_a_row() -> None:
    x = normal((1, 66_000, 2))
    (y,) = opcase.run_op("GlobalAveragePool", [x])
    close(y, x.astype(np.float64).mean(axis=2, keepdims=True))


def test_a_million_columns_in_f16() -> None:
    x = normal((1, 1, 1_048_700), np.float16, 5)
    (y,) = opcase.run_op("MaxPool", [x], {"kernel_shape": [2]})
    close(y, np.maximum(x[..., 1:], x[..., :-1]).astype(np.float64))


def test_a_mutant_with_f16_indices_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    need_f16_shaders()
    old = "let start = o * steps.x - extents.w;"
    new = "let start = Index(f16(o) * f16(steps.x)) - extents.w;"
    on = mutate(monkeypatch, "lib/window.wgsl", old, new)
    x = normal((1, 1, 5000), np.float16)
    ((y,), _) = run_on(on, "MaxPool", [x], {"kernel_shape": [1]})
    close(y[..., :2048], x[..., :2048].astype(np.float64))
    with pytest.raises(AssertionError):
        close(y, x.astype(np.float64))


def test_pieces_under_the_work_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    on = force_pieces(monkeypatch, steps=1, work=100)
    x = normal((2, 30, 11))
    ((y,), kernels) = run_on(on, "AveragePool", [x], {"kernel_shape": [3]})
    assert len(kernels) > 3
    close(y, conv_oracle.pool("average", x, kernel_shape=[3]))
    ((y,), kernels) = run_on(on, "GlobalAveragePool", [x])
    assert len(kernels) > 3
    close(y, x.astype(np.float64).mean(axis=2, keepdims=True))


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("opset", [1, 8, 10, 11, 12, 19, 22])
def test_every_schema_version(op: str, opset: int) -> None:
    x = normal((1, 2, 8))
    (y,) = opcase.run_op(op, [x], {"kernel_shape": [3], "strides": [2]}, opset=opset)
    close(y, conv_oracle.pool(KINDS[op], x, kernel_shape=[3], strides=[2]))


def test_contradictions_and_what_is_declined() -> None:
    with pytest.raises(NodeError, match=r"spans 5 \(kernel 3, dilation 2\)"):
        opcase.run_op("MaxPool", [normal((1, 1, 4))], {"kernel_shape": [3], "dilations": [2]})
    with pytest.raises(NodeError, match="kernel_shape has 2 values; 1 are needed"):
        opcase.run_op("MaxPool", [normal((1, 1, 4))], {"kernel_shape": [3, 3]})
    with pytest.raises(NotCoveredError, match="int8"):
        opcase.run_op("MaxPool", [np.ones((1, 1, 4), np.int8)], {"kernel_shape": [2]})
    # llvmpipe would leave the loops of such a window early and say nothing.
    with pytest.raises(NotCoveredError, match="has 65,536 elements: 66,05"):
        opcase.run_op("AveragePool", [normal((1, 1, 256, 256))], {"kernel_shape": [256, 256]})
    with pytest.raises(NotCoveredError, match="has 30,000 elements: 90,00"):
        opcase.run_op("AveragePool", [normal((1, 1, 30_000, 1))], {"kernel_shape": [30_000, 1]})
    with pytest.raises(NotCoveredError, match="6 dimensions"):
        opcase.run_op("MaxPool", [normal((1, 1, 2, 2, 2, 2))], {"kernel_shape": [1, 1, 1, 1]})
