"""Quantizers: pairs that ORT takes out, and those of which it is not known; run on 0.4.0."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from opscope.engine.ir.infer import infer_types
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Status
from small_model import model, node

IMAGE = {"x": ("float32", (1, 4, 8, 8))}
WEIGHTS = {
    "s": np.array(0.05, np.float32),
    "z": np.array(128, np.uint8),
    "t": np.array(0.1, np.float32),
    "w": np.ones((4, 4, 1, 1), np.float32),
}
LAST, FIRST, REVERSED = [0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0]


def quantize(given: str, made: str, name: str, scale: str = "s") -> onnx.NodeProto:
    return node("QuantizeLinear", f"{given} {scale} z", made, name)


def dequantize(given: str, made: str, name: str, scale: str = "s") -> onnx.NodeProto:
    return node("DequantizeLinear", f"{given} {scale} z", made, name)


def turn(given: str, made: str, perm: list[int]) -> onnx.NodeProto:
    return node("Transpose", given, made, "turn", perm=perm)


def statuses(*nodes: onnx.NodeProto, target: str = "ort-webgpu") -> dict[str, Status]:
    made = model(nodes, IMAGE, "y", WEIGHTS)
    found = place(made, target, infer_types(made))
    return {made.nodes[i].name: v.status for i, v in found.items()}


@pytest.mark.parametrize("scale", ["s", "t"])
def test_of_two_pairs_in_a_row_one_is_left(scale: str) -> None:
    found = statuses(
        quantize("x", "a", "q1"),
        dequantize("a", "b", "d1"),
        quantize("b", "c", "q2", scale),
        dequantize("c", "y", "d2", scale),
    )
    assert found == {
        "q1": Status.HOST,
        "d1": Status.FUSED,
        "q2": Status.FUSED,
        "d2": Status.GPU,
    }


def test_a_pair_with_another_scale_between_is_kept() -> None:
    found = statuses(
        quantize("x", "a", "q1"),
        dequantize("a", "b", "d1", "t"),
        quantize("b", "c", "q2"),
        dequantize("c", "y", "d2"),
    )
    assert found["d1"] is Status.GPU
    assert found["q2"] is Status.HOST


def test_what_undoes_nothing_at_the_end_of_the_graph_goes() -> None:
    found = statuses(quantize("x", "a", "q1"), dequantize("a", "b", "d1"), quantize("b", "y", "q2"))
    assert found == {"q1": Status.HOST, "d1": Status.FUSED, "q2": Status.FUSED}


def test_a_pair_that_is_read_between_is_kept() -> None:
    found = statuses(
        quantize("x", "a", "q1"),
        dequantize("a", "b", "d1"),
        quantize("b", "c", "q2"),
        dequantize("c", "e", "d2"),
        node("Add", "b e", "y", "sum"),
    )
    assert Status.FUSED not in found.values()


def test_beside_a_transpose_of_a_layout_it_is_not_known() -> None:
    found = statuses(
        quantize("x", "a", "q"),
        dequantize("a", "b", "d"),
        turn("b", "c", LAST),
        node("Relu", "c", "y", "relu"),
    )
    assert (found["d"], found["turn"]) == (Status.UNKNOWN, Status.UNKNOWN)
    assert (found["q"], found["relu"]) == (Status.HOST, Status.GPU)


def test_what_is_left_of_a_quantizer_behind_a_cancelled_layout_is_not_known() -> None:
    found = statuses(
        node("Conv", "x w", "a", "conv"), turn("a", "b", LAST), quantize("b", "y", "q")
    )
    assert (found["turn"], found["q"]) == (Status.FOLDED, Status.UNKNOWN)


def test_other_permutations_and_the_cpu_provider_lose_no_quantizer() -> None:
    nodes = [quantize("x", "a", "q"), dequantize("a", "b", "d")]
    assert statuses(*nodes, turn("b", "y", REVERSED))["d"] is Status.GPU
    assert statuses(*nodes, turn("b", "y", LAST), target="ort-cpu")["d"] is Status.HOST


def test_transposes_that_cancel_before_any_layout_leave_quantizers_alone() -> None:
    found = statuses(
        turn("x", "a", LAST),
        quantize("a", "b", "q"),
        dequantize("b", "c", "d"),
        node("Transpose", "c", "y", "back", perm=FIRST),
    )
    assert found == {
        "turn": Status.FOLDED,
        "q": Status.HOST,
        "d": Status.GPU,
        "back": Status.FOLDED,
    }


def test_quantizing_again_what_was_dequantized_is_dropped() -> None:
    nodes = [
        dequantize("u", "a", "d1"),
        quantize("a", "b", "q2"),
        dequantize("b", "c", "d2"),
        node("Add", "c x", "y", "sum"),
    ]
    made = model(nodes, {**IMAGE, "u": ("uint8", (1, 4, 8, 8))}, "y", WEIGHTS)
    found = place(made, "ort-webgpu", infer_types(made))
    by_name = {made.nodes[i].name: v for i, v in found.items()}
    assert [by_name[n].status for n in ("d1", "q2")] == [Status.FOLDED, Status.FOLDED]
    assert by_name["d2"].status is Status.GPU
