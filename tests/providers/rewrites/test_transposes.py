"""Which Transposes are left once ORT has moved them: run on ORT 1.32.0 and its WebGPU 0.4.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from opscope.engine.ir.infer import infer_types
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Status
from small_model import model, node

FLAT = {"x": ("float32", (2, 6))}
WEIGHTS = {"w": np.ones((8, 3, 3, 3), np.float32), "r": np.array([1, 8, 36])}
NHWC, NCHW, CPU = "ort-webgpu@0.4.0", "ort-webgpu@0.4.0,preferredLayout=NCHW", "ort-cpu@1.32.0"


def gone(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Any],
    target: str,
    weights: Mapping[str, Any] = WEIGHTS,
    opset: int = 17,
) -> set[str]:
    subject = model(nodes, inputs, "y", weights, opset)
    found = place(subject, target, infer_types(subject))
    return {n.outputs[0] for n in subject.graph.nodes if found[n.id].status is Status.FOLDED}


@pytest.mark.parametrize("target", [NHWC, NCHW, CPU])
def test_two_cancel_around_what_does_not_mind(target: str) -> None:
    around = [
        node("Transpose", "x", "a", perm=[1, 0]),
        node("Relu", "a", "b"),
        node("Transpose", "b", "y", perm=[1, 0]),
    ]
    assert gone(around, FLAT, target) == {"a", "y"}


@pytest.mark.parametrize("target", [NHWC, CPU])
def test_of_two_in_a_row_the_second_does_both(target: str) -> None:
    row = [
        node("Transpose", "x", "a", perm=[1, 2, 0]),
        node("Transpose", "a", "b", perm=[1, 2, 0]),
        node("Relu", "b", "y"),
    ]
    assert gone(row, {"x": ("float32", (2, 3, 4))}, target) == {"a"}


@pytest.mark.parametrize(("target", "expected"), [(NHWC, {"a", "y"}), (NCHW, set()), (CPU, set())])
def test_the_layout_of_a_convolution_takes_the_users_own(target: str, expected: set[str]) -> None:
    """A model from TensorFlow: its Transposes are what the layout NHWC would put there undone."""
    nodes = [
        node("Transpose", "x", "a", perm=[0, 3, 1, 2]),
        node("Conv", "a w", "c"),
        node("Transpose", "c", "y", perm=[0, 2, 3, 1]),
    ]
    assert gone(nodes, {"x": ("float32", (1, 8, 8, 3))}, target) == expected


def test_one_with_the_layouts_own_is_there_still() -> None:
    """A mask for a convolution's output: ORT makes one of the layout's Transpose and this."""
    nodes = [
        node("Conv", "x w", "c"),
        node("Sigmoid", "m", "s"),
        node("Transpose", "s", "t", perm=[1, 2, 0]),
        node("Mul", "c t", "p"),
        node("Conv", "p v", "y"),
    ]
    inputs = {"x": ("float32", (1, 3, 16)), "m": ("float32", (16, 1, 8))}
    weights = {"w": np.ones((8, 3, 1), np.float32), "v": np.ones((2, 8, 1), np.float32)}
    assert gone(nodes, inputs, NHWC, weights) == set()


def test_a_reshape_between_stops_it() -> None:
    nodes = [
        node("Conv", "x w", "c"),
        node("Reshape", "c r", "q"),
        node("Transpose", "q", "y", perm=[0, 2, 1]),
    ]
    assert gone(nodes, {"x": ("float32", (1, 3, 8, 8))}, NHWC) == set()


def test_one_that_nothing_takes_up_stays() -> None:
    nodes = [
        node("Transpose", "x", "a", perm=[1, 0]),
        node("Relu", "a", "b"),
        node("MatMul", "b v", "y"),
    ]
    assert gone(nodes, FLAT, NHWC, {"v": np.ones((2, 3), np.float32)}) == set()


@pytest.mark.parametrize("perm", [[0, 0], [0, 5], [0, 1, 2], [-1, 0]])
def test_a_permutation_that_is_none_is_left_alone(perm: list[int]) -> None:
    nodes = [
        node("Transpose", "x", "a", perm=perm),
        node("Transpose", "a", "b", perm=perm),
        node("Relu", "b", "y"),
    ]
    assert gone(nodes, FLAT, NHWC) == set()


def test_one_that_states_no_permutation_is_left_alone() -> None:
    nodes = [node("Transpose", "x", "a"), node("Relu", "a", "b"), node("Transpose", "b", "y")]
    assert gone(nodes, FLAT, CPU) == set()


def test_a_reshape_that_only_moves_axes_of_length_one_does_both() -> None:
    nodes = [
        node("Relu", "x", "r"),
        node("Transpose", "r", "a", perm=[0, 2, 1, 3]),
        node("Reshape", "a k", "y"),
    ]
    inputs = {"x": ("float32", (1, 4, 3, 8))}
    assert gone(nodes, inputs, CPU, {"k": np.array([3, 1, 4, 8])}) == {"y"}
