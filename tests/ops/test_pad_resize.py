"""Pad against numpy.pad, Resize against ONNX's text written out element by element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from opcase import run_op
from opscope.engine.errors import NodeError, NotCoveredError


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool", "int8"])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_pad(mode: str, dtype: str) -> None:
    x = (np.random.default_rng(0).standard_normal((3, 4, 8)) * 20).astype(dtype)
    for pads in (
        (0, 1, 2, 3, 0, 1), (0, 2, 0, 1, 0, 0), (2, 0, 0, 0, 3, 0), (5, 9, 0, 7, 10, 0),
    ):  # fmt: skip
        inputs = [x, ints(*pads)]
        more = {}
        if mode == "constant":
            inputs.append(np.array(1, dtype))
            more = {"constant_values": np.array(1, dtype)}
        want = np.pad(x, list(zip(pads[:3], pads[3:], strict=True)), mode=mode, **more)
        (got,) = run_op("Pad", inputs, {"mode": mode})
        np.testing.assert_array_equal(got, want, strict=True)


def test_pads_may_crop_and_name_axes() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    (got,) = run_op("Pad", [x, ints(-1, 2, 1, -3), None, ints(0, -1)])
    np.testing.assert_array_equal(got, np.pad(x[1:, :, :1], ((0, 1), (0, 0), (2, 0))))
    attributes = {"pads": (0, 0, 1, 0, 0, 2), "value": 7.0}
    (got,) = run_op("Pad", [x], attributes, opset=9)
    np.testing.assert_array_equal(got, np.pad(x, ((0, 0), (0, 0), (1, 2)), constant_values=7))
    (got,) = run_op("Pad", [np.zeros((0, 2), np.float32), ints(1, 0, 1, 1), np.float32(3)])
    np.testing.assert_array_equal(got, np.full((2, 3), 3, np.float32))
    with pytest.raises(NodeError, match="pads -3 and 0 leave -1 of axis 0"):
        run_op("Pad", [x, ints(-3, 0, 0, 0, 0, 0)])


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_what_pads_crop_is_not_padded_with(mode: str, dtype: str) -> None:
    x = np.arange(5 * 6 * 8).reshape(5, 6, 8).astype(dtype)
    for pads, kept, widths in (
        ((-1, 2, 0, 2, -3, 0), x[1:, :3], ((0, 2), (2, 0), (0, 0))),
        ((4, 0, -2, -2, 0, 3), x[:3, :, 2:], ((4, 0), (0, 0), (0, 3))),
        ((-1, -1, 0, -1, 1, 0), x[1:4, 1:], ((0, 0), (0, 1), (0, 0))),
        ((0, 1, -1, 0, 0, -3), x[:, :, 1:5], ((0, 0), (1, 0), (0, 0))),
        ((0, -2, -4, 0, 1, 0), x[:, 2:, 4:], ((0, 0), (0, 1), (0, 0))),
    ):
        (got,) = run_op("Pad", [x, ints(*pads)], {"mode": mode})
        np.testing.assert_array_equal(got, np.pad(kept, widths, mode=mode), strict=True)


@pytest.mark.parametrize("pads", [(-5, 3), (3, -5), (-4, 2)])
def test_pads_that_crop_everything_leave_the_value_alone(pads: tuple[int, int]) -> None:
    x = np.arange(1, 5, dtype=np.float32)
    (got,) = run_op("Pad", [x, ints(*pads), np.float32(7)])
    np.testing.assert_array_equal(got, np.full(4 + sum(pads), 7, np.float32))
    for mode in ("edge", "reflect", "wrap"):
        with pytest.raises(NodeError, match="axis 0 has no elements to pad with"):
            run_op("Pad", [x, ints(*pads)], {"mode": mode})


def origin(mode: str, new: int, extent: int, size: int, scale: float) -> float:
    """The old coordinate of the element ``new``, in ONNX's words."""
    if mode == "align_corners":
        return new * (extent - 1) / (size - 1) if size > 1 else 0.0
    if mode == "asymmetric":
        return new / scale
    if mode == "pytorch_half_pixel" and size == 1:
        return 0.0
    return (new + 0.5) / scale - 0.5


def weights(mode: str, x: float, nearest: str, a: float) -> list[tuple[int, float]]:
    """(old index, weight) that make the element at the old coordinate ``x``."""
    low = int(np.floor(x))
    if mode == "nearest":
        rounded = {
            "floor": np.floor(x),
            "ceil": np.ceil(x),
            "round_prefer_floor": np.ceil(x - 0.5),
            "round_prefer_ceil": np.floor(x + 0.5),
        }[nearest]
        return [(int(rounded), 1.0)]
    if mode == "linear":
        return [(low, 1 - (x - low)), (low + 1, x - low)]

    def cubic(d: float) -> float:
        if d <= 1:
            return (a + 2) * d**3 - (a + 3) * d**2 + 1
        return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a

    return [(k, cubic(abs(x - k))) for k in range(low - 1, low + 3)]


def resized(x: np.ndarray, sizes: tuple[int, ...], coordinates: str, mode: str, nearest: str,
            outside: bool) -> np.ndarray:  # fmt: skip
    result = x.astype(np.float64)
    for axis, size in enumerate(sizes):
        extent, rows = x.shape[axis], []
        for new in range(size):
            at = origin(coordinates, new, extent, size, size / extent)
            taps = weights(mode, at, nearest, -0.75)
            if outside:
                taps = [(k, w) for k, w in taps if 0 <= k < extent]
            total = sum(w for _, w in taps)
            rows.append(
                sum(w / total * result.take(min(max(k, 0), extent - 1), axis) for k, w in taps)
            )
        result = np.stack(rows, axis)
    return result


@pytest.mark.parametrize(
    "coordinates", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_resize(mode: str, coordinates: str) -> None:
    x = np.random.default_rng(1).standard_normal((2, 3, 5, 7)).astype(np.float32)
    roundings = ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]
    options = roundings if mode == "nearest" else [roundings[0]]
    for sizes, nearest in itertools.product([(2, 3, 8, 5), (2, 3, 10, 14), (2, 3, 1, 3)], options):
        outside = mode == "cubic" and sizes[2] == 8
        attributes = {
            "mode": mode, "coordinate_transformation_mode": coordinates, "nearest_mode": nearest,
            "exclude_outside": int(outside),
        }  # fmt: skip
        (got,) = run_op("Resize", [x, None, None, ints(*sizes)], attributes, opset=13)
        want = resized(x, sizes, coordinates, mode, nearest, outside)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_corners_align_at_the_whole_size_where_scales_leave_a_fraction(mode: str) -> None:
    x = np.random.default_rng(3).standard_normal((1, 2, 5, 7)).astype(np.float32)
    attributes = {"mode": mode, "coordinate_transformation_mode": "align_corners"}
    (got,) = run_op("Resize", [x, None, np.float32([1, 1, 0.75, 1.5])], attributes, opset=13)
    want = resized(x, (1, 2, 3, 10), "align_corners", mode, "round_prefer_floor", False)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    if mode != "nearest":
        np.testing.assert_allclose(got[..., ::2, ::9], x[..., ::4, ::6], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "int64", "uint8", "bool"])
def test_nearest_moves_any_type(dtype: str) -> None:
    x = np.arange(2 * 3 * 4).reshape(1, 2, 3, 4).astype(dtype)
    want = x.repeat(2, 2).repeat(3, 3)
    scales = np.float32([1, 1, 2, 3])
    for op_type, inputs, opset in (
        ("Upsample", [x, scales], 9),
        ("Resize", [x, scales], 10),
        ("Resize", [x, None, scales], 18),
    ):
        np.testing.assert_array_equal(run_op(op_type, inputs, opset=opset)[0], want, strict=True)
    attributes = {"scales": [1.0, 1.0, 2.0, 3.0]}
    np.testing.assert_array_equal(run_op("Upsample", [x], attributes, opset=7)[0], want)


def test_f16_keeps_f32_between_the_axes() -> None:
    x = np.random.default_rng(2).standard_normal((1, 2, 6, 6)).astype(np.float16)
    sizes = (1, 2, 9, 11)
    (got,) = run_op("Resize", [x, None, None, ints(*sizes)], {"mode": "linear"})
    want = resized(x, sizes, "half_pixel", "linear", "", False)
    # Half a unit of f16 and f32's own error; rounding in between would cost another half.
    unit = np.spacing(np.abs(want).astype(np.float16)).astype(np.float64)
    assert (np.abs(got - want) <= 0.51 * unit).all()


def test_integers_are_not_interpolated() -> None:
    x = np.zeros((1, 1, 2, 2), np.uint8)
    with pytest.raises(NotCoveredError, match="uint8 by linear"):
        run_op("Resize", [x, None, np.float32([1, 1, 2, 2])], {"mode": "linear"})


def test_scales_round_the_size_down_in_f32() -> None:
    x = np.zeros((1, 1, 10, 10), np.float32)
    # 10 * 2.3f is 22.999999 in f64, 23 in f32, where ONNX computes it.
    assert run_op("Resize", [x, None, np.float32([1, 1, 2.3, 0.5])])[0].shape == (1, 1, 23, 5)
    with pytest.raises(NodeError, match="3 scales or sizes for 4 axes"):
        run_op("Resize", [x, None, np.float32([1, 2, 2])])
