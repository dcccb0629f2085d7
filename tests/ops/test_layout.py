"""Operators that only move elements: every type, any rank, empty and scalar tensors."""

from __future__ import annotations

import numpy as np
import pytest
from opcase import op_model, run_op, session
from opscope.engine.errors import NodeError

TYPES = ("float32", "float16", "int64", "bool", "int8")


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def data(dtype: str, *shape: int) -> np.ndarray:
    count = int(np.prod(shape))
    return (np.arange(count) * 7 % 101 - 50).reshape(shape).astype(dtype)


def same(got: np.ndarray, want: np.ndarray) -> None:
    np.testing.assert_array_equal(got, want, strict=True)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("shape", "perm"),
    [
        ((2, 3, 4, 5), (3, 1, 0, 2)),
        ((33, 47), (1, 0)),
        ((4, 33, 47), (0, 2, 1)),
        ((2, 3, 16, 32), (0, 2, 3, 1)),
        ((3, 64, 8), (1, 0, 2)),
        ((1, 5, 1, 7), (2, 1, 0, 3)),
        ((2, 1, 3, 1, 4, 2, 2), (6, 2, 0, 1, 3, 5, 4)),
        ((2, 0, 3), (2, 0, 1)),
        ((8,), (0,)),
    ],
)
def test_transpose(shape: tuple[int, ...], perm: tuple[int, ...], dtype: str) -> None:
    x = data(dtype, *shape)
    same(run_op("Transpose", [x], {"perm": perm})[0], x.transpose(perm))


def test_transpose_reverses_by_default() -> None:
    x = data("float32", 2, 3, 4)
    same(run_op("Transpose", [x])[0], x.T)
    same(run_op("Transpose", [np.float32(3).reshape(())])[0], np.float32(3).reshape(()))
    with pytest.raises(NodeError, match=r"perm \(0, 0, 1\) is no permutation of the 3 axes"):
        run_op("Transpose", [x], {"perm": (0, 0, 1)})


@pytest.mark.parametrize("dtype", TYPES)
def test_slice(dtype: str) -> None:
    x = data(dtype, 5, 8, 12)
    for starts, ends, axes, steps, want in (
        (ints(1, -1, 2), ints(4, -99_999_999_999, 12), ints(0, 1, 2), ints(1, -2, 3),
         x[1:4, ::-2, 2:12:3]),
        (ints(4), ints(8), ints(2), None, x[:, :, 4:8]),
        (ints(9), ints(8), ints(2), None, x[:, :, 9:8]),
        (ints(-1), ints(-(2**63)), ints(-2), ints(-1), x[:, ::-1]),
        (ints(0, 0), ints(2**63 - 1, 2**31 - 1), None, None, x),
        (ints(20), ints(0), ints(0), ints(-3), x[20:0:-3]),
        # A start before the front is the front, also on the way back: one element, unlike numpy.
        (ints(-9, -(2**63)), ints(-(2**63), -99), ints(0, 2), ints(-1, -2), x[:1, :, :1]),
    ):  # fmt: skip
        inputs = [x, starts, ends, axes, steps]
        same(run_op("Slice", inputs[: 5 if steps is not None else 4])[0], want)
    same(
        run_op("Slice", [x], {"starts": (0, -3), "ends": (3, 2**31 - 1), "axes": (0, 2)}, opset=9)[
            0
        ],
        x[:3, :, -3:],
    )


def test_a_step_of_zero_is_refused() -> None:
    with pytest.raises(NodeError, match="the step along axis 0 is 0"):
        run_op("Slice", [data("float32", 3), ints(0), ints(3), ints(0), ints(0)])


@pytest.mark.parametrize("dtype", TYPES)
def test_split(dtype: str) -> None:
    x = data(dtype, 5, 8, 12)
    for got, want in zip(
        run_op("Split", [x, ints(3, 0, 4, 5)], {"axis": 2}, outputs=4),
        np.split(x, [3, 3, 7], 2),
        strict=True,
    ):
        same(got, want)
    parts = run_op("Split", [x], {"axis": -2, "num_outputs": 3}, outputs=3)
    for got, want in zip(parts, (x[:, :3], x[:, 3:6], x[:, 6:]), strict=True):
        same(got, want)
    # An output that nobody wants is not computed.
    (last,) = run_op("Split", [x], {"axis": 1}, outputs=["", "y"], opset=13)
    same(last, x[:, 4:])


@pytest.mark.parametrize("dtype", TYPES)
def test_concat(dtype: str) -> None:
    x = data(dtype, 5, 8, 12)
    empty = x[:, :0]
    same(run_op("Concat", [x, empty, x[:, :3], x], {"axis": 1})[0],
         np.concatenate([x, x[:, :3], x], 1))  # fmt: skip
    same(run_op("Concat", [x, x[..., :1]], {"axis": -1})[0], np.concatenate([x, x[..., :1]], 2))
    same(run_op("Concat", [empty, empty], {"axis": 1})[0], empty)
    same(run_op("Concat", [empty, x], {"axis": 1})[0], x)


def test_concat_of_more_inputs_than_bindings() -> None:
    parts = [data("float32", 2, k % 5 + 1) + k for k in range(40)]
    same(run_op("Concat", parts, {"axis": 1})[0], np.concatenate(parts, 1))


def test_concat_names_the_input_that_does_not_fit() -> None:
    x = data("float32", 2, 3)
    with pytest.raises(NodeError, match=r"input 1 has the shape \(3, 3\), input 0 has \(2, 3\)"):
        run_op("Concat", [x, data("float32", 3, 3)], {"axis": 1})


def test_copies_beyond_65535_workgroups() -> None:
    rows = 65_536 * 256 // 4096 + 3
    x = np.zeros((rows, 4095), np.int8)
    x[-1, -1] = 5
    model, feeds = op_model("Concat", [x, x[:1]], {"axis": 0})
    plan = session().plan(model, feeds)
    assert max(plan.dispatches[0].groups) <= 65_535
    assert plan.dispatches[0].groups[1] > 1
    (y,) = session().run(model, feeds).outputs.values()
    session().forget(model)
    assert y[rows - 1, -1] == 5
    assert np.count_nonzero(y) == 1


@pytest.mark.parametrize("dtype", TYPES)
def test_expand_and_tile(dtype: str) -> None:
    x = data(dtype, 5, 1, 8)
    same(run_op("Expand", [x, ints(2, 1, 6, 1)])[0], np.broadcast_to(x, (2, 5, 6, 8)))
    same(run_op("Expand", [x, ints(1)])[0], x)
    same(run_op("Expand", [data(dtype), ints(3, 4)])[0], np.broadcast_to(data(dtype), (3, 4)))
    same(run_op("Expand", [x, ints(0, 8)])[0], np.broadcast_to(x, (5, 0, 8)))
    same(run_op("Tile", [x, ints(2, 3, 2)])[0], np.tile(x, (2, 3, 2)))
    same(run_op("Tile", [x, ints(2, 0, 2)])[0], np.tile(x, (2, 0, 2)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", ["DCR", "CRD"])
def test_blocks(dtype: str, mode: str) -> None:
    x = data(dtype, 2, 12, 3, 4)
    if mode == "DCR":
        want = x.reshape(2, 2, 2, 3, 3, 4).transpose(0, 3, 4, 1, 5, 2)
    else:
        want = x.reshape(2, 3, 2, 2, 3, 4).transpose(0, 1, 4, 2, 5, 3)
    (got,) = run_op("DepthToSpace", [x], {"blocksize": 2, "mode": mode})
    same(got, want.reshape(2, 3, 6, 8))
    if mode == "DCR":
        same(run_op("SpaceToDepth", [got], {"blocksize": 2})[0], x)


def test_views_do_no_work() -> None:
    x = data("int64", 2, 3, 4)
    for op_type, inputs, attributes, want in (
        ("Reshape", [x, ints(0, -1)], {}, x.reshape(2, 12)),
        ("Reshape", [x[:0], ints(0, 5)], {"allowzero": 1}, x[:0].reshape(0, 5)),
        ("Flatten", [x], {"axis": 0}, x.reshape(1, 24)),
        ("Flatten", [x], {"axis": -1}, x.reshape(6, 4)),
        ("Unsqueeze", [x, ints(0, -1)], {}, x[None, ..., None]),
        ("Squeeze", [x[:, None], ints(1)], {}, x),
        ("Squeeze", [x[:1]], {}, x[0]),
        ("Identity", [x], {}, x),
    ):
        model, feeds = op_model(op_type, inputs, attributes)
        assert session().plan(model, feeds).dispatches == ()
        same(run_op(op_type, inputs, attributes)[0], want)


def test_dropout_is_the_identity_with_a_mask_of_ones() -> None:
    x = data("float32", 3, 4)
    y, mask = run_op("Dropout", [x, np.float32(0.7)], outputs=2)
    same(y, x)
    same(mask, np.ones((3, 4), bool))


@pytest.mark.parametrize(
    ("shape", "text"),
    [((5, -1), "24 elements of (2, 3, 4) do not fill the shape [5, -1]"),
     ((2, 3), "24 elements of (2, 3, 4) do not fill the shape [2, 3]"),
     ((1, 2, 3, 0), "copies axis 3 of (2, 3, 4)")],
)  # fmt: skip
def test_reshape_names_the_numbers(shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(NodeError) as error:
        run_op("Reshape", [data("float32", 2, 3, 4), ints(*shape)])
    assert text in str(error.value)
