"""ConvTranspose on the GPU alone: every attribute, its phases, its indices, and the cases."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import opcase
import opscope.shaders
import opscope_testdata as testdata
import pytest
from opscope.engine.errors import NodeError
from opscope.engine.ir.load import load_model
from opscope.engine.ops import tiles
from opscope.engine.ops.conv_tiled import axis_phases
from opscope.engine.ops.tiles import Tile
from opscope.engine.ops.window import Axis
from recurrent_case import force_pieces, mutate
from window_case import check_conv, close, force_tile, need_f16_shaders, normal, run_on

OP = "ConvTranspose"
TILES = [v for v in vars(tiles).values() if isinstance(v, Tile)]


@pytest.fixture(autouse=True)
def _shaders_as_they_are() -> Iterator[None]:
    """Forget what a mutant composed."""
    yield
    opscope.shaders._environment.cache_clear()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize(
    ("x", "w", "attributes"),
    [
        ((1, 1, 5), (1, 1, 3), {}),
        ((2, 3, 6), (3, 4, 4), {"strides": [2], "pads": [1, 0], "output_padding": [1]}),
        ((1, 4, 5), (4, 3, 4), {"group": 2, "strides": [3], "dilations": [2]}),
        ((1, 4, 5), (4, 1, 5), {"group": 4, "strides": [4], "dilations": [6], "pads": [2, 3]}),
        ((1, 2, 7), (2, 2, 2), {"strides": [5], "output_padding": [4]}),
        ((1, 3, 4, 5), (3, 2, 3, 2), {"strides": [2, 3], "pads": [1, 0, 0, 1]}),
        ((2, 6, 3, 4), (6, 1, 3, 3), {"group": 6, "strides": [1, 2], "output_padding": [0, 1]}),
        ((1, 9, 4, 4), (9, 13, 2, 2), {"strides": [2, 2]}),
        ((1, 2, 5, 3), (2, 3, 3, 3), {"dilations": [5, 1], "pads": [5, 1, 5, 1]}),
        ((1, 2, 3, 2, 3), (2, 3, 2, 3, 2), {"strides": [2, 2, 3], "pads": [0, 1, 0, 1, 1, 1]}),
        (
            (1, 4, 2, 3, 2),
            (4, 2, 2, 2, 3),
            {"group": 2, "dilations": [2, 3, 1], "strides": [4, 2, 2]},
        ),
    ],
)
def test_strides_dilations_groups_and_padding(
    x: tuple[int, ...],
    w: tuple[int, ...],
    attributes: dict[str, object],
    tiled: bool,
    dtype: type,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on = force_tile(monkeypatch, tiles.SMALL if tiled else None)
    check_conv(OP, x, w, dtype=dtype, on=on, **attributes)


@pytest.mark.parametrize("mode", ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("tiled", [True, False])
def test_auto_pad_output_padding_and_output_shape(
    mode: str, tiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = force_tile(monkeypatch, tiles.SMALL if tiled else None)
    shapes = (1, 2, 4), (2, 3, 4)
    for stride in (1, 2, 3):
        for extra in range(stride):
            check_conv(OP, *shapes, on=on, auto_pad=mode, strides=[stride], output_padding=[extra])
        for output in (5, 6, 9, 14, 15):  # from far below the full extent to beyond it
            check_conv(OP, *shapes, on=on, auto_pad=mode, strides=[stride], output_shape=[output])
    check_conv(OP, *shapes, on=on, auto_pad=mode, strides=[3], output_shape=[9], output_padding=[2])


@pytest.mark.parametrize(
    ("mode", "extra", "output", "expected"),
    [
        # The full result of ones (3) with this kernel and stride 3 is
        # 1 10 100 1001 10 100 1001 10 100 1000: by hand, as ONNX Runtime 1.32 has it too.
        ("NOTSET", 0, 9, [10, 100, 1001, 10, 100, 1001, 10, 100, 1000]),
        ("SAME_UPPER", 0, 9, [1, 10, 100, 1001, 10, 100, 1001, 10, 100]),
        ("SAME_LOWER", 0, 9, [10, 100, 1001, 10, 100, 1001, 10, 100, 1000]),
        ("NOTSET", 0, 7, [100, 1001, 10, 100, 1001, 10, 100]),
        ("SAME_UPPER", 0, 7, [10, 100, 1001, 10, 100, 1001, 10]),
        ("NOTSET", 0, 12, [1, 10, 100, 1001, 10, 100, 1001, 10, 100, 1000, 0, 0]),
        ("SAME_UPPER", 2, None, [10, 100, 1001, 10, 100, 1001, 10, 100, 1000]),
        ("SAME_LOWER", 2, None, [100, 1001, 10, 100, 1001, 10, 100, 1000, 0]),
        ("VALID", 1, None, [1, 10, 100, 1001, 10, 100, 1001, 10, 100, 1000, 0]),
    ],
)
def test_where_odd_padding_goes(
    mode: str, extra: int, output: int | None, expected: list[int]
) -> None:
    x, w = np.ones((1, 1, 3), np.float32), np.array([[[1, 10, 100, 1000]]], np.float32)
    attributes: dict[str, object] = {"strides": [3], "auto_pad": mode, "output_padding": [extra]}
    if output is not None:
        attributes["output_shape"] = [output]
    (y,) = opcase.run_op(OP, [x, w], attributes)
    assert y[0, 0].tolist() == expected


@pytest.mark.parametrize("opset", [1, 11, 21, 22])
def test_every_schema_version(opset: int) -> None:
    check_conv(OP, (1, 2, 4), (2, 3, 3), opset=opset, strides=[2], bias=False)


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("tile", TILES, ids=str)
def test_every_tile_at_its_edges(
    tile: Tile, trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Phases of one more and one less than a tile, with sums of about a slice."""
    on = force_tile(monkeypatch, tile, trusted=trusted)
    r, c, d = tile.rows, tile.columns, tile.depth
    for rows, columns, depth in ((r, c, d // 2), (r + 1, c + 1, d + 1), (r - 1, c - 1, d - 1)):
        found = check_conv(
            OP, (1, depth, columns), (depth, rows, 4), on=on, strides=[2], pads=[1, 1]
        )
        assert found == [f"conv_tiled transposed {tile}"]
    check_conv(OP, (2, 6, 5, 4), (6, 5, 3, 2), on=on, group=2, strides=[2, 3], pads=[1, 0, 0, 1])


def test_checked_and_trusted_tiles_agree_to_the_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [normal((2, 5, 13, 9)), normal((5, 33, 3, 4)), normal((33,))]
    attributes = {"strides": [2, 3], "output_padding": [1, 0]}
    results = []
    for trusted in (True, False):
        on = force_tile(monkeypatch, tiles.MEDIUM, trusted=trusted)
        results.append(run_on(on, OP, inputs, attributes)[0][0])
    assert np.array_equal(*results)


@pytest.mark.parametrize("tiled", [True, False])
def test_weights_that_are_no_constants(tiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    on = force_tile(monkeypatch, tiles.SMALL if tiled else None)
    for x, w, attributes in (
        ((1, 9, 8), (9, 17, 5), {"strides": [2]}),
        ((1, 4, 5, 6), (4, 3, 3, 2), {"group": 2, "dilations": [1, 2], "strides": [2, 2]}),
        ((1, 2, 3), (2, 3, 2), {"strides": [4]}),  # two of four phases have no tap
    ):
        found = check_conv(OP, x, w, runtime=True, on=on, **attributes)
        assert ("conv_pack" in found) == tiled


@pytest.mark.parametrize("tiled", [True, False])
def test_pieces_under_the_work_limit(tiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    force_tile(monkeypatch, tiles.SMALL if tiled else None)
    on = force_pieces(monkeypatch, steps=1, work=32 * 32 * 32)
    found = check_conv(OP, (1, 20, 90), (20, 35, 4), on=on, group=2, strides=[2])
    assert len(found) > 3


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation", "begin"),
    [
        (4, 2, 1, 1),
        (16, 8, 1, 4),
        (2, 5, 1, 0),
        (5, 4, 6, 2),
        (3, 6, 4, 1),
        (3, 1, 5, 5),
        (7, 3, 3, 0),
    ],
)
def test_phases_hold_each_tap_that_meets_an_input_and_no_other(
    kernel: int, stride: int, dilation: int, begin: int
) -> None:
    """No tap is computed in vain: against the definition, position by position."""
    size = 40
    output = stride * (size - 1) + (kernel - 1) * dilation + 1 - begin
    axis = Axis(size, output, kernel, stride, dilation, begin)
    common = math.gcd(stride, dilation)
    seen = []
    for phase in axis_phases(axis, transposed=True):
        for q in range(phase.count):
            o = phase.place + q * stride
            seen.append(o)
            taps = {
                phase.kernel + j * (stride // common): phase.source + q - j * (dilation // common)
                for j in range(phase.taps)
            }
            whole = {k: o + begin - k * dilation for k in range(kernel)}
            assert taps == {k: p // stride for k, p in whole.items() if p % stride == 0}
    assert sorted(seen) == list(range(output))
    work = sum(p.count * p.taps for p in axis_phases(axis, transposed=True))
    assert work <= (output + stride) * -(-kernel // (stride // common))


def test_large_ones_are_tiled_and_depthwise_ones_are_not() -> None:
    (kernel,) = check_conv(OP, (1, 32, 8, 8), (32, 48, 2, 2), strides=[2, 2])
    assert kernel.startswith("conv_tiled transposed")
    (kernel,) = check_conv(OP, (1, 32, 4, 8), (32, 1, 3, 3), group=32, strides=[1, 2])
    assert kernel == "conv_direct transposed"


# Widths whose indices f16 loses: the pattern that ONNX Runtime's issue 28976 reports.
STRIDED = [(4, 1), (4, 2), (4, 3), (4, 4), (16, 8)]


def wide(kernel: int, stride: int, columns: int, channels: int) -> tuple[np.ndarray, np.ndarray]:
    x = normal((1, channels, -(-columns // stride) + kernel), np.float16, 1)
    return x, normal((channels, 1, kernel), np.float16, 2)


def expected_wide(x: np.ndarray, w: np.ndarray, stride: int) -> np.ndarray:
    """The definition, a whole tap at a time: quick for long rows."""
    size, kernel = x.shape[2], w.shape[2]
    y = np.zeros((1, 1, stride * (size - 1) + kernel))
    for k in range(kernel):
        spread = np.einsum("ci,c->i", x[0].astype(np.float64), w[:, 0, k].astype(np.float64))
        y[0, 0, k : k + stride * (size - 1) + 1 : stride] += spread
    return y


@pytest.mark.parametrize(("kernel", "stride"), STRIDED)
@pytest.mark.parametrize("tiled", [True, False])
def test_every_column_beyond_what_f16_can_count(
    kernel: int, stride: int, tiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = force_tile(monkeypatch, tiles.SMALL if tiled else None)
    x, w = wide(kernel, stride, 20_000, 8)
    ((y,), _) = run_on(on, OP, [x, w], {"strides": [stride]})
    close(y, expected_wide(x, w, stride))


def test_a_million_columns_in_f16() -> None:
    x, w = wide(4, 2, 1_048_576, 1)
    (y,) = opcase.run_op(OP, [x, w], {"strides": [2]})
    assert y.shape[2] > 1_048_576
    close(y, expected_wide(x, w, 2))


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "lib/window.wgsl",
            "let position = o + extents.w;",
            "let position = Index(f16(o) + f16(extents.w));",
        ),
        (
            "lib/window.wgsl",
            "at % windows.w_extents.y,",
            "Index(f16(at % windows.w_extents.y)),",
        ),
    ],
)
def test_a_mutant_with_f16_indices_is_caught(
    file: str, old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_f16_shaders()
    force_tile(monkeypatch, None)
    on = mutate(monkeypatch, file, old, new)
    x, w = wide(4, 2, 3000, 1)
    ((y,), _) = run_on(on, OP, [x, w], {"strides": [2]})
    expected = expected_wide(x, w, 2)
    close(y[..., :2048], expected[..., :2048])
    with pytest.raises(AssertionError):
        close(y, expected)


def test_a_mutant_of_the_tiles_with_f16_indices_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    need_f16_shaders()
    force_tile(monkeypatch, tiles.SMALL)
    old = "let o = phase.place.xyz + q.xyz * params.place_stride.xyz;"
    new = "let o = vec3<Index>(vec3<f16>(phase.place.xyz + q.xyz * params.place_stride.xyz));"
    on = mutate(monkeypatch, "conv_tiled.wgsl", old, new)
    x, w = wide(4, 2, 3000, 1)
    ((y,), _) = run_on(on, OP, [x, w], {"strides": [2]})
    expected = expected_wide(x, w, 2)
    with pytest.raises(AssertionError):
        close(y, expected)


@pytest.mark.parametrize("case_id", ["D10", "D12", "D13", "D15"])
def test_cases(case_id: str) -> None:
    case = testdata.load_case(case_id)
    result = opcase.session().run(load_model(str(case.folder / "model.onnx")), case.feeds)
    for name, expected in case.expected.items():
        np.testing.assert_allclose(
            result.outputs[name], expected, rtol=case.info["rtol"], atol=case.info["atol"]
        )


@pytest.mark.parametrize(
    ("x", "w", "attributes", "text"),
    [
        ((1, 3, 8), (4, 2, 3), {}, "the input has 3 channels; weight [4, 2, 3] and group 1 need 4"),
        ((1, 3, 8), (3, 2, 3), {"group": 2}, "in 2 equal groups"),
        ((1, 2, 2), (2, 2, 2), {"pads": [2, 1]}, "window 2 + output_padding 0 - pads 2 and 1 = 0"),
        ((1, 2, 2), (2, 2, 2), {"output_shape": [1, 2, 3, 4]}, "output_shape has 4 values"),
        ((1, 2, 2), (2, 2, 2), {"output_padding": [0, 0]}, "output_padding has 2 values"),
    ],
)
def test_contradictions_are_named_with_their_numbers(
    x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, object], text: str
) -> None:
    with pytest.raises(NodeError) as caught:
        opcase.run_op(OP, [normal(x), normal(w)], attributes)
    assert text in str(caught.value)
