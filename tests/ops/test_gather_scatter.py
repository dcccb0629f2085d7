"""Gather and scatter, any rank, negative indices, both index types, ordered reductions."""

from __future__ import annotations

import numpy as np
import pytest
from opcase import op_model, run_op, session
from opscope.engine.errors import NodeError, NotCoveredError
from opscope.engine.host.evaluate import evaluate_model

TYPES = ("float32", "float16", "int64", "bool", "int8")


def data(dtype: str, *shape: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.standard_normal(shape) * 20).astype(np.int64).astype(dtype)


@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", TYPES)
def test_gather(dtype: str, index: str) -> None:
    rng = np.random.default_rng(1)
    x = data(dtype, 3, 5, 8)
    where = rng.integers(-5, 5, (2, 3)).astype(index)
    np.testing.assert_array_equal(
        run_op("Gather", [x, where], {"axis": 1})[0], np.take(x, where, 1), strict=True
    )
    scalar = np.array(2, index)
    np.testing.assert_array_equal(run_op("Gather", [x, scalar])[0], x[2], strict=True)
    where = np.array([-1, 0, 3], index)
    np.testing.assert_array_equal(run_op("Gather", [x, where], {"axis": -1})[0], x[..., where])
    where = rng.integers(-5, 5, (2, 3, 8)).astype(index)
    np.testing.assert_array_equal(
        run_op("GatherElements", [x, where], {"axis": 1})[0], np.take_along_axis(x[:2], where, 1)
    )
    nowhere = np.zeros((0,), index)
    assert run_op("Gather", [x, nowhere])[0].shape == (0, 5, 8)


@pytest.mark.parametrize("dtype", TYPES)
def test_gather_nd(dtype: str) -> None:
    rng = np.random.default_rng(2)
    x = data(dtype, 2, 3, 4, 5, 6)
    where = rng.integers(0, 4, (2, 3, 7, 2))
    where[..., 1] -= 2
    want = np.stack([[x[a, b][tuple(where[a, b].T)] for b in range(3)] for a in range(2)])
    np.testing.assert_array_equal(run_op("GatherND", [x, where], {"batch_dims": 2})[0], want)
    whole = np.int64([[1, 2, 3, 4, -1], [0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(run_op("GatherND", [x, whole])[0], x[tuple(whole.T)])
    np.testing.assert_array_equal(run_op("GatherND", [x, np.int64([[1, -1]])])[0], x[[1], [2]])


def test_a_known_index_out_of_range_is_an_error() -> None:
    x = data("float32", 3, 5)
    with pytest.raises(NodeError, match=r"index 5 at \(1,\) of input 1 is outside of the extent 5"):
        run_op("Gather", [x, np.int64([0, 5])], {"axis": 1}, constants=(1,))
    with pytest.raises(NodeError, match=r"index -4 at \(0, 0\) of input 1 is outside .* extent 3"):
        run_op("GatherND", [x, np.int64([[-4, 0]])], constants=(1,))


FLAT, TUPLES = data("float32", 4, 5), np.int64([[0, 1], [3, 4]])
TWO = data("float32", 2)
INDEXED = {  # operator, inputs (the indices are input 1), attributes, extent of the last index
    "Gather": ("Gather", [FLAT, np.int64([0, 4])], {"axis": 1}, 5),
    "Gather, int32": ("Gather", [FLAT, np.int32([0, 4])], {"axis": 1}, 5),
    "Gather, rows of four": ("Gather", [data("float32", 4, 8), np.int64([0, 3])], {}, 4),
    "GatherElements": ("GatherElements", [FLAT, np.int64([[0, 1, 2, 3, 3]])], {}, 4),
    "GatherND": ("GatherND", [FLAT, TUPLES], {}, 5),
    "GatherND, batches": ("GatherND", [FLAT[None], TUPLES[None]], {"batch_dims": 1}, 5),
    "ScatterND": ("ScatterND", [FLAT, TUPLES, TWO], {}, 5),
    "ScatterND, adding": ("ScatterND", [FLAT, TUPLES, TWO], {"reduction": "add"}, 5),
    "ScatterElements": ("ScatterElements", [FLAT[0], np.int64([0, 4]), TWO], {}, 5),
    "ScatterElements, adding": (
        "ScatterElements",
        [FLAT[0], np.int32([0, 4]), TWO],
        {"reduction": "add"},
        5,
    ),
}


@pytest.mark.parametrize("name", INDEXED)
def test_an_index_out_of_range_that_only_the_run_knows_is_an_error(name: str) -> None:
    op, inputs, attributes, extent = INDEXED[name]
    model, feeds = op_model(op, inputs, attributes, name="picks")
    right = session().run(model, feeds, fallback="error").outputs["y0"]
    np.testing.assert_array_equal(right, evaluate_model(model, feeds)["y0"])
    wrong = [(extent, ""), (-extent - 1, "")]
    if inputs[1].dtype == np.int64:
        wrong += [(2**32, " or above"), (-(2**40), " or below")]
    for index, beyond in wrong:
        stray = inputs[1].copy()
        stray.reshape(-1)[-1] = index
        shown = max(min(index, 2**31 - 1), -(2**31))
        with pytest.raises(NodeError) as error:
            session().run(model, {**feeds, "x1": stray}, fallback="error")
        assert str(error.value) == (
            f"node 'picks' ({op}): index {shown}{beyond} of input 1 is outside of the extent "
            f"{extent}: {-extent} to {extent - 1} are allowed (found in the run)"
        )
        with pytest.raises(NodeError, match=f"index {index} is out of range"):
            evaluate_model(model, {**feeds, "x1": stray})
    # The next run of the same program is a fresh one.
    again = session().run(model, feeds, fallback="error").outputs["y0"]
    np.testing.assert_array_equal(again, right)


@pytest.mark.parametrize("name", INDEXED)
def test_indices_that_are_known_while_planning_are_not_watched(name: str) -> None:
    op, inputs, attributes, _ = INDEXED[name]
    model, feeds = op_model(op, inputs, attributes, constants=(1,))
    assert session().plan(model, feeds).watch is None
    got = session().run(model, feeds, fallback="error").outputs["y0"]
    np.testing.assert_array_equal(got, evaluate_model(model, feeds)["y0"])


def test_indices_into_an_axis_without_elements_are_an_error() -> None:
    with pytest.raises(NodeError, match="input 1 has indices into an axis without elements"):
        run_op("Gather", [data("float32", 0, 5), np.int64([0])])
    nothing = run_op("Gather", [data("float32", 0, 5), np.zeros(0, np.int64)])[0]
    assert nothing.shape == (0, 5)


@pytest.mark.parametrize("dtype", TYPES)
def test_scatter_replaces(dtype: str) -> None:
    x, updates = data(dtype, 4, 5, 6), data(dtype, 3, 6, seed=1)
    where = np.int64([[0, 1], [3, -1], [2, 2]])
    want = x.copy()
    want[tuple(where.T)] = updates
    np.testing.assert_array_equal(run_op("ScatterND", [x, where, updates])[0], want, strict=True)

    x, updates = data(dtype, 4, 5), data(dtype, 2, 3, seed=1)
    where = np.int64([[0, -1, 2], [4, 1, 3]])
    want = x.copy()
    for row in range(2):
        want[row, where[row]] = updates[row]
    for op_type, opset in (("ScatterElements", 18), ("Scatter", 9)):
        got = run_op(op_type, [x, where, updates], {"axis": 1}, opset=opset)[0]
        np.testing.assert_array_equal(got, want, strict=True)
    nothing = run_op("ScatterND", [x, np.zeros((0, 1), np.int64), data(dtype, 0, 5)])[0]
    np.testing.assert_array_equal(nothing, x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize(
    ("reduction", "merge"),
    [("add", np.add), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)],
)
def test_reductions_take_repeated_indices_in_order(dtype, reduction, merge) -> None:
    rng = np.random.default_rng(3)
    x, updates = data(dtype, 4, 5, 6), data(dtype, 9, 5, 6, seed=1) // 8
    where = rng.integers(-4, 4, (9, 1))
    want = x.copy()
    for row in range(9):
        want[where[row, 0]] = merge(want[where[row, 0]], updates[row])
    (got,) = run_op("ScatterND", [x, where, updates], {"reduction": reduction})
    np.testing.assert_array_equal(got, want, strict=True)

    x, updates = data(dtype, 6, 5), data(dtype, 4, 9, seed=2) // 8
    where = rng.integers(-5, 5, (4, 9)).astype(np.int32)
    want = x.copy()
    for row in range(4):
        for column in range(9):
            at = row, where[row, column]
            want[at] = merge(want[at], updates[row, column])
    attributes = {"reduction": reduction, "axis": 1}
    (got,) = run_op("ScatterElements", [x, where, updates], attributes)
    np.testing.assert_array_equal(got, want, strict=True)


def test_more_updates_than_one_dispatch_takes() -> None:
    count = 40_000
    where = np.arange(count)[:, None] % 3
    updates = np.arange(count, dtype=np.int32)
    want = [updates[k::3].sum(dtype=np.int32) for k in range(3)]
    x = np.zeros(3, np.int32)
    np.testing.assert_array_equal(
        run_op("ScatterND", [x, where, updates], {"reduction": "add"})[0], want
    )
    (got,) = run_op("ScatterElements", [x, where[:, 0], updates], {"reduction": "add"})
    np.testing.assert_array_equal(got, want)


def test_64_bit_reductions_are_left_to_the_host() -> None:
    x = data("int64", 3)
    with pytest.raises(NotCoveredError, match="reduction 'add' of int64"):
        run_op("ScatterND", [x, np.int64([[0]]), x[:1]], {"reduction": "add"})


def test_shapes_are_checked() -> None:
    x = data("float32", 4, 5)
    with pytest.raises(NodeError, match=r"updates of shape \(2, 4\); .* need \(2, 5\)"):
        run_op("ScatterND", [x, np.int64([[0], [1]]), data("float32", 2, 4)])
    with pytest.raises(NodeError, match="tuples of 3 indices into 2 axes"):
        run_op("GatherND", [x, np.int64([[0, 0, 0]])])
