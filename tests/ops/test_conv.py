"""Conv on the GPU alone against the float64 oracle."""

from __future__ import annotations

from collections.abc import Callable

import conv_oracle
import numpy as np
import opcase
import pytest
from onnx import helper, numpy_helper
from opscope.engine.errors import NodeError, NotCoveredError
from opscope.engine.ir.load import load_bytes
from opscope.engine.ops import tiles
from opscope.engine.ops.tiles import Tile
from recurrent_case import force_pieces
from window_case import check_conv, close, force_tile, normal

TILES = [v for v in vars(tiles).values() if isinstance(v, Tile)]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(
    ("x", "w", "attributes"),
    [
        ((1, 1, 9), (1, 1, 3), {}),
        ((2, 3, 11), (4, 3, 3), {"strides": [2], "pads": [1, 2]}),
        ((1, 4, 12), (6, 2, 4), {"group": 2, "dilations": [3], "pads": [5, 4]}),
        ((2, 3, 7, 8), (5, 3, 3, 2), {"strides": [2, 3], "pads": [0, 1, 2, 1]}),
        ((1, 6, 9, 7), (6, 1, 3, 3), {"group": 6, "pads": [1, 1, 1, 1]}),
        ((1, 6, 9, 7), (12, 1, 3, 3), {"group": 6, "dilations": [2, 1], "strides": [1, 2]}),
        ((1, 16, 5, 9), (20, 16, 1, 1), {}),
        ((1, 2, 4, 5, 6), (3, 2, 2, 3, 2), {"strides": [2, 1, 2], "pads": [1, 0, 1, 0, 2, 1]}),
        ((1, 4, 5, 4, 5), (4, 2, 2, 2, 3), {"group": 2, "dilations": [2, 1, 2]}),
        ((1, 1, 40), (36, 1, 16), {"strides": [4]}),
    ],
)
def test_strides_dilations_groups_and_pads(
    x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, object], dtype: type
) -> None:
    check_conv("Conv", x, w, dtype=dtype, **attributes)


@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_auto_pad(mode: str, stride: int) -> None:
    for size in (7, 8, 9):
        check_conv("Conv", (1, 2, size), (3, 2, 4), auto_pad=mode, strides=[stride])
    check_conv("Conv", (1, 1, 6, 7), (1, 1, 2, 3), auto_pad=mode, strides=[stride, 1])


@pytest.mark.parametrize("opset", [1, 11, 21, 22])
def test_every_schema_version(opset: int) -> None:
    check_conv("Conv", (1, 2, 8), (2, 2, 3), opset=opset, bias=False)


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_every_tile_at_its_edges(
    tile: Tile, trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more and one less than a tile each way; trusted and with the driver's checks."""
    on = force_tile(monkeypatch, tile, trusted=trusted)
    r, c, d = tile.rows, tile.columns, tile.depth
    for rows, columns, depth in (
        (r, c, d),
        (r + 1, c + 1, d + 1),
        (r - 1, c - 1, d - 1),
        (1, 2, 1),
    ):
        found = check_conv("Conv", (1, depth, columns), (rows, depth, 1), on=on)
        assert found == [f"conv_tiled {tile}"]
    check_conv(
        "Conv", (2, 6, 9, 7), (10, 3, 3, 2), on=on, group=2, strides=[2, 1], pads=[1, 0, 2, 1]
    )


def test_checked_and_trusted_tiles_agree_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [normal((2, 5, 13, 9)), normal((33, 5, 3, 3)), normal((33,))]
    results = [
        opcase.run_op_result(
            "Conv",
            inputs,
            {"pads": [1, 1, 1, 1]},
            on=force_tile(monkeypatch, tiles.MEDIUM, trusted=trusted),
        ).outputs["y0"]
        for trusted in (True, False)
    ]
    assert np.array_equal(*results)


@pytest.mark.parametrize("tiled", [True, False])
def test_weights_that_are_no_constants(tiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    on = force_tile(monkeypatch, tiles.SMALL if tiled else None)
    for x, w, attributes in (
        ((1, 9, 8), (17, 9, 3), {"pads": [1, 1]}),
        ((1, 4, 5, 6), (6, 2, 3, 2), {"group": 2, "dilations": [1, 2]}),
    ):
        found = check_conv("Conv", x, w, runtime=True, on=on, **attributes)
        assert ("conv_pack" in found) == tiled


def test_large_convolutions_are_tiled_and_depthwise_ones_are_not() -> None:
    (kernel,) = check_conv("Conv", (1, 32, 8, 8), (64, 32, 3, 3), pads=[1, 1, 1, 1])
    assert kernel.startswith("conv_tiled")
    (kernel,) = check_conv("Conv", (1, 32, 8, 8), (32, 1, 3, 3), group=32)
    assert kernel == "conv_direct"


@pytest.mark.parametrize("tiled", [True, False])
def test_pieces_under_the_work_limit(tiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    force_tile(monkeypatch, tiles.SMALL if tiled else None)
    on = force_pieces(monkeypatch, steps=1, work=32 * 32 * 32 * 2)
    found = check_conv("Conv", (1, 20, 150), (70, 10, 3), on=on, group=2)
    assert len(found) > 3


@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize(
    ("op", "attributes", "function"),
    [
        ("Relu", {}, lambda v: np.maximum(v, 0)),
        ("LeakyRelu", {"alpha": 0.2}, lambda v: np.where(v < 0, 0.2 * v, v)),
        ("Sigmoid", {}, lambda v: 1 / (1 + np.exp(-v))),
    ],
)
def test_the_activation_that_follows_is_part_of_the_store(
    op: str,
    attributes: dict[str, float],
    function: Callable[[np.ndarray], np.ndarray],
    tiled: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, w, b = normal((1, 9, 40)), normal((13, 9, 3), seed=1), normal((13,), seed=2)
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"]),
            helper.make_node(op, ["c"], ["y"], **attributes),
        ],
        "g",
        [helper.make_tensor_value_info("x", 1, x.shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    on = force_tile(monkeypatch, tiles.SMALL if tiled else None)
    program = on.prepare(load_bytes(model.SerializeToString()), {"x": x}, fallback="error")
    assert len(program.plan.dispatches) == 1
    close(program.run({"x": x}).outputs["y"], function(conv_oracle.conv(x, w, b)))


def test_sums_of_f16_are_taken_in_f32() -> None:
    x, w = np.ones((1, 4096, 2), np.float16), np.ones((1, 4096, 1), np.float16)
    (y,) = opcase.run_op("Conv", [x, w])
    assert (y == 4096).all()


def test_sums_longer_than_a_software_adapter_loops() -> None:
    x, w = np.ones((1, 1, 70_003), np.float32), np.ones((1, 1, 70_000), np.float32)
    (y,) = opcase.run_op("Conv", [x, w])
    assert y.tolist() == [[[70_000] * 4]]
    x, w = np.ones((1, 20_000, 3), np.float32), np.ones((1, 20_000, 1), np.float32)
    (y,) = opcase.run_op("Conv", [x, w])
    assert y.tolist() == [[[20_000] * 3]]


def test_empty_results() -> None:
    (y,) = opcase.run_op("Conv", [np.zeros((0, 2, 5), np.float32), normal((3, 2, 2))])
    assert y.shape == (0, 3, 4)


def test_a_million_columns_in_f16() -> None:
    x = normal((1, 1, 1_048_700), np.float16, 5)
    w = np.array([[[1, 0, 0]]], np.float16)
    (y,) = opcase.run_op("Conv", [x, w])
    close(y, x[..., :-2].astype(np.float64))


@pytest.mark.parametrize(
    ("inputs", "attributes", "text"),
    [
        (((1, 3, 8), (4, 2, 3)), {}, "the input has 3 channels; weight [4, 2, 3] and group 1"),
        (((1, 4, 8), (3, 2, 3)), {"group": 2}, "outputs in 2 equal groups"),
        (((1, 2, 8), (4, 2, 3)), {"kernel_shape": [5]}, "kernel_shape is [5]"),
        (((1, 2, 4), (4, 2, 3)), {"dilations": [2]}, "spans 5 (kernel 3, dilation 2)"),
        (((1, 2, 8), (4, 2, 3), (3,)), {}, "the bias has shape [3]; 4 values are needed"),
        (((1, 2, 8), (4, 2, 3)), {"strides": [0]}, "strides is [0]"),
        (((1, 2, 8), (4, 2, 3)), {"pads": [1]}, "pads has 1 values; 2 are needed"),
        (((1, 2, 8), (4, 2, 3, 1)), {}, "ranks do not fit"),
    ],
)
def test_contradictions_are_named_with_their_numbers(
    inputs: tuple[tuple[int, ...], ...], attributes: dict[str, object], text: str
) -> None:
    with pytest.raises(NodeError) as caught:
        opcase.run_op("Conv", [normal(shape) for shape in inputs], attributes)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("x", "w", "attributes", "text"),
    [
        ((1, 1, 2, 2, 2, 2), (1, 1, 1, 1, 1, 1), {}, "6 dimensions; the kernel takes 3 to 5"),
        ((1, 1, 5), (1, 1, 3), {"auto_pad": "SAME_UPPER", "pads": [1, 1]}, "forbids both"),
        ((1, 1, 5), (1, 1, 3), {"auto_pad": "SAME"}, "auto_pad is 'SAME'"),
    ],
)
def test_what_is_declined_says_why(
    x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, object], text: str
) -> None:
    with pytest.raises(NotCoveredError) as caught:
        opcase.run_op("Conv", [normal(x), normal(w)], attributes)
    assert text in str(caught.value)
