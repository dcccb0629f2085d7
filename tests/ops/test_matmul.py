"""MatMul and Gemm on the GPU alone against numpy's float64."""

from __future__ import annotations

import numpy as np
import opcase
import pytest
from opscope.engine.device.profile import DeviceProfile
from opscope.engine.errors import NodeError, NotCoveredError
from opscope.engine.ops import product, tiles
from opscope.engine.ops.product import Loop, merge
from opscope.engine.ops.tiles import Tile
from recurrent_case import force_pieces, fresh_session
from window_case import close, force_tile, normal, run_on

TILES = [v for v in vars(tiles).values() if isinstance(v, Tile)]


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.matmul(a.astype(np.float64), b.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((3,), (3,)),
        ((4, 3), (3,)),
        ((3,), (3, 5)),
        ((2, 4, 3), (3,)),
        ((3,), (2, 3, 5)),
        ((5, 7), (7, 9)),
        ((65, 33), (33, 67)),
        ((1, 300), (300, 7)),
        ((1, 600), (600, 70)),
        ((70, 600), (600, 1)),
        ((2, 3, 20, 17), (17, 21)),
        ((2, 3, 20, 17), (3, 17, 21)),
        ((2, 3, 20, 17), (2, 1, 17, 21)),
        ((1, 3, 20, 17), (2, 1, 17, 21)),
        ((6, 1, 1, 16), (16, 16)),
        ((2, 1, 2, 1, 2, 1, 4, 9), (1, 2, 1, 2, 1, 2, 9, 4)),  # more batch axes than the shader's
        ((13, 9), (2, 1, 2, 9, 14)),
    ],
)
def test_ranks_and_broadcasting(a: tuple[int, ...], b: tuple[int, ...], dtype: type) -> None:
    x, y = normal(a, dtype, 1), normal(b, dtype, 2)
    (actual,) = opcase.run_op("MatMul", [x, y])
    close(actual, matmul(x, y))


@pytest.mark.parametrize("opset", [1, 9, 13, 21])
def test_every_schema_version(opset: int) -> None:
    x, y = normal((3, 4)), normal((4, 5))
    close(opcase.run_op("MatMul", [x, y], opset=opset)[0], matmul(x, y))


@pytest.mark.parametrize(
    ("a", "b"), [((4, 0), (0, 5)), ((20, 0), (0, 20)), ((0, 4), (4, 5)), ((0,), (0,))]
)
def test_empty_operands(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = normal(a), normal(b)
    (actual,) = opcase.run_op("MatMul", [x, y])
    assert np.array_equal(actual, np.matmul(x, y))


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_every_tile_at_its_edges(
    tile: Tile, trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more and one less than a tile each way; trusted and with the driver's checks."""
    on = force_tile(monkeypatch, tile, trusted=trusted)
    r, c, d = tile.rows, tile.columns, tile.depth
    for m, n, k in ((r, c, d), (r + 1, c + 1, d + 1), (r - 1, c - 1, 2 * d - 1), (1, 1, d)):
        x, y = normal((m, k), seed=1), normal((k, n), seed=2)
        ((actual,), kernels) = run_on(on, "MatMul", [x, y])
        assert kernels == [f"matmul_tiled {tile}"]
        close(actual, matmul(x, y))


def test_checked_and_trusted_tiles_agree_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [normal((2, 70, 33)), normal((2, 33, 65))]
    results = []
    for trusted in (True, False):
        on = force_tile(monkeypatch, tiles.MEDIUM, trusted=trusted)
        results.append(run_on(on, "MatMul", inputs)[0][0])
    assert np.array_equal(*results)


@pytest.mark.parametrize("share", [1, 2, 8, 32, 256])
def test_sums_shared_by_invocations(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "_results_per_workgroup", lambda *_: 256 // share)
    on = force_tile(monkeypatch, None)
    for a, b in (((3, 1000), (1000, 5)), ((1, 7), (7, 300)), ((2, 3, 40), (2, 40, 1))):
        x, y = normal(a, seed=1), normal(b, seed=2)
        ((actual,), kernels) = run_on(on, "MatMul", [x, y])
        assert kernels == [f"matmul_dot {share} a sum"]
        close(actual, matmul(x, y))


@pytest.mark.parametrize("tiled", [True, False])
def test_pieces_under_the_work_limit(tiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    force_tile(monkeypatch, tiles.SMALL if tiled else None)
    on = force_pieces(monkeypatch, steps=1, work=32 * 32 * 40 * 2)
    x, y = normal((3, 70, 40)), normal((3, 40, 100))
    ((actual,), kernels) = run_on(on, "MatMul", [x, y])
    assert len(kernels) > 5
    close(actual, matmul(x, y))


def test_sums_of_f16_are_taken_in_f32() -> None:
    x, y = np.ones((1, 8192), np.float16), np.ones((8192, 1), np.float16)
    assert opcase.run_op("MatMul", [x, y])[0] == 8192
    x, y = np.ones((32, 4096), np.float16), np.ones((4096, 32), np.float16)
    assert (opcase.run_op("MatMul", [x, y])[0] == 4096).all()


@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize(
    ("m", "k", "n", "c"),
    [
        (5, 7, 3, None),
        (5, 7, 3, (3,)),
        (5, 7, 3, (5, 1)),
        (5, 7, 3, (1, 1)),
        (5, 7, 3, ()),
        (37, 40, 66, (37, 66)),
        (37, 40, 66, (66,)),
        (1, 512, 10, (1, 10)),
    ],
)
def test_gemm(
    trans_a: int, trans_b: int, m: int, k: int, n: int, c: tuple[int, ...] | None
) -> None:
    a = normal((k, m) if trans_a else (m, k), seed=1)
    b = normal((n, k) if trans_b else (k, n), seed=2)
    product_of = matmul(a.T if trans_a else a, b.T if trans_b else b)
    inputs = [a, b] if c is None else [a, b, normal(c, seed=3)]
    attributes = {"transA": trans_a, "transB": trans_b}
    (y,) = opcase.run_op("Gemm", inputs, attributes)
    addend = 0.0 if c is None else inputs[2].astype(np.float64)
    close(y, product_of + addend)
    (y,) = opcase.run_op("Gemm", inputs, {**attributes, "alpha": 0.5, "beta": -2.0})
    close(y, 0.5 * product_of - 2.0 * addend)


@pytest.mark.parametrize("opset", [7, 9, 11, 13])
def test_every_schema_version_of_gemm(opset: int) -> None:
    x, y, z = normal((3, 4), np.float16), normal((4, 5), np.float16), normal((5,), np.float16)
    (actual,) = opcase.run_op("Gemm", [x, y, z], opset=opset)
    close(actual, matmul(x, y) + z)


def test_contradictions_are_named_with_their_numbers() -> None:
    with pytest.raises(NodeError, match="3 columns meet 4 rows"):
        opcase.run_op("MatMul", [normal((2, 3)), normal((4, 5))])
    with pytest.raises(NodeError, match="do not broadcast"):
        opcase.run_op("MatMul", [normal((2, 2, 3)), normal((3, 3, 5))])
    with pytest.raises(NodeError, match=r"A' is \[2, 3\] but B' is \[4, 5\]"):
        opcase.run_op("Gemm", [normal((2, 3)), normal((4, 5))])
    with pytest.raises(NodeError, match=r"C is \[2\], which does not broadcast to \[3, 5\]"):
        opcase.run_op("Gemm", [normal((3, 4)), normal((4, 5)), normal((2,))])


def test_integers_are_declined() -> None:
    x = np.ones((2, 2), np.int32)
    for op in ("MatMul", "Gemm"):
        with pytest.raises(NotCoveredError, match="int32"):
            opcase.run_op(op, [x, x])


def test_loops_that_every_operand_walks_as_one_are_merged() -> None:
    rows = [Loop(2, a=60, b=0, c=30), Loop(3, a=20, b=0, c=10), Loop(1, a=7, b=7, c=7)]
    assert merge(rows) == (Loop(6, a=20, b=0, c=10),)
    apart = (Loop(2, a=60, b=5, c=30), Loop(3, a=20, b=0, c=10))
    assert merge(apart) == apart


def test_tiles_follow_shape_and_adapter() -> None:
    gpu, software = DeviceProfile(kind="DiscreteGPU"), DeviceProfile(kind="CPU")
    assert tiles.choose_tile(gpu, 4096, 4096) == tiles.LARGE
    assert tiles.choose_tile(gpu, 2048, 2048) == tiles.WIDE
    assert tiles.choose_tile(gpu, 1024, 1024) == tiles.MEDIUM
    assert tiles.choose_tile(gpu, 64, 57_600, 4) == tiles.MEDIUM  # half of a wider one is empty
    assert tiles.choose_tile(gpu, 100, 100) == tiles.SMALL
    assert tiles.choose_tile(gpu, 8, 4096) == tiles.NARROW
    assert tiles.choose_tile(gpu, 4096, 8) is None
    assert tiles.choose_tile(software, 4096, 4096) == tiles.FEW_THREADS
    for tile in TILES:  # what WebGPU promises everywhere
        assert tile.workgroup_bytes <= 16_384
        assert tile.threads <= 256
    with pytest.raises(ValueError, match="cannot share the loads"):
        Tile(32, 64, 8, 8, 8)


def test_spans_of_tiles_cover_a_grid_once() -> None:
    for grid, limit, most in (((5, 4, 3), 10**9, 100), ((5, 4, 3), 30, 100), ((7, 2, 9), 10**9, 2)):
        seen = np.zeros(grid, int)
        for (x, y, z), (w, h, d) in tiles.tile_spans(grid, 4, limit, most):
            seen[x : x + w, y : y + h, z : z + d] += 1
            assert w * h * d * 4 <= max(limit, 4)
            assert max(w, h, d) <= most
        assert (seen == 1).all()


def test_a_grid_wider_than_the_adapter_allows() -> None:
    on = fresh_session(max_compute_workgroups_per_dimension=13)
    for a, b, count in (((30, 20, 10), (30, 10, 20), 3), ((2000, 10), (10, 20), 1)):
        x, y = normal(a), normal(b)
        ((actual,), kernels) = run_on(on, "MatMul", [x, y])
        assert len(kernels) == count
        close(actual, matmul(x, y))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 40), (20, 20)])
def test_sums_longer_than_a_software_adapter_loops(rows: int, columns: int) -> None:
    depth = 140_000
    x, y = np.ones((rows, depth), np.float32), np.ones((depth, columns), np.float32)
    assert (opcase.run_op("MatMul", [x, y])[0] == depth).all()
