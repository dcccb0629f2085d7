"""Fusions after placing, as seen with ORT 1.32.0 and its WebGPU plugin 0.4.0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from opscope.engine.ir.infer import infer_types
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Status, Support
from small_model import model, node

WEBGPU, CPU = "ort-webgpu@0.4.0", "ort-cpu@1.32.0"
IMAGE = {"x": ("float32", (1, 3, 8, 8))}
ROWS = {"x": ("float32", (2, 6))}
WEIGHTS = {
    "w": np.ones((8, 3, 3, 3), np.float32),
    "v": np.ones((6, 4), np.float32),
    "k": np.float32(1.702),
    "lo": np.float32(0),
    "hi": np.float32(6),
}


def placed(
    nodes: Sequence[onnx.NodeProto], inputs: Mapping[str, Any], target: str, opset: int = 20
) -> dict[str, Support]:
    subject = model(nodes, inputs, "y", WEIGHTS, opset)
    found = place(subject, target, infer_types(subject))
    return {n.outputs[0]: found[n.id] for n in subject.graph.nodes}


BOTH = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid")
GPU_ALONE = ("Elu", "Gelu", "HardSwish")


@pytest.mark.parametrize("op", [*BOTH, *GPU_ALONE])
def test_an_activation_is_computed_in_the_convolution(op: str) -> None:
    nodes = [node("Conv", "x w", "c"), node(op, "c", "y")]
    on_gpu = placed(nodes, IMAGE, WEBGPU)["y"]
    assert (on_gpu.status, on_gpu.data["provider"]) == (Status.FUSED, "gpu")
    assert on_gpu.data["into"] == "0"
    assert on_gpu.on_gpu
    on_cpu = placed(nodes, IMAGE, CPU)["y"]
    assert (on_cpu.status is Status.FUSED) == (op in BOTH)
    assert not on_cpu.on_gpu


def test_a_clip_needs_constant_bounds() -> None:
    nodes = [node("Conv", "x w", "c"), node("Clip", "c lo hi", "y")]
    assert placed(nodes, IMAGE, WEBGPU)["y"].status is Status.FUSED
    given = {**IMAGE, "top": ("float32", ())}
    nodes = [node("Conv", "x w", "c"), node("Clip", "c lo top", "y")]
    assert placed(nodes, given, WEBGPU)["y"].status is Status.GPU


def test_an_activation_on_another_provider_is_not_fused() -> None:
    """From opset 22 on Elu has no kernel on WebGPU, Conv has."""
    nodes = [node("Conv", "x w", "c"), node("Elu", "c", "y")]
    found = placed(nodes, IMAGE, WEBGPU, opset=22)
    assert [found[n].status for n in ("c", "y")] == [Status.GPU, Status.HOST]


def test_a_version_that_nobody_has_watched_fuses_nothing() -> None:
    nodes = [node("Conv", "x w", "c"), node("Relu", "c", "y")]
    found = placed(nodes, IMAGE, "ort-cpu@1.27.0")
    assert found["y"].status is Status.HOST


@pytest.mark.parametrize("target", [WEBGPU, CPU])
def test_sigmoid_linear_units_are_one_node(target: str) -> None:
    silu = [node("Sigmoid", "x", "s"), node("Mul", "x s", "y")]
    found = placed(silu, ROWS, target)
    assert found["s"].status is Status.FUSED
    assert found["s"].data["into"] == "1"
    quick = [node("Mul", "x k", "a"), node("Sigmoid", "a", "s"), node("Mul", "x s", "y")]
    assert [placed(quick, ROWS, target)[n].status for n in "as"] == [Status.FUSED] * 2


def test_a_matmul_on_the_cpu_takes_transposes_and_factors() -> None:
    other = {**ROWS, "z": ("float32", (2, 4))}
    turned = [node("Transpose", "x", "t", perm=[1, 0]), node("MatMul", "t z", "y")]
    assert placed(turned, other, CPU)["t"].data["provider"] == "cpu"
    assert placed(turned, other, WEBGPU)["t"].status is Status.GPU
    scaled = [node("MatMul", "x v", "m"), node("Mul", "m k", "y")]
    assert placed(scaled, ROWS, CPU)["y"].data["into"] == "0"
    assert placed(scaled, ROWS, WEBGPU)["y"].status is Status.GPU


def test_gemm_and_relu_are_one_on_the_cpu() -> None:
    nodes = [node("Gemm", "x v", "g"), node("Relu", "g", "y")]
    assert placed(nodes, ROWS, CPU)["y"].status is Status.FUSED
    assert placed(nodes, ROWS, WEBGPU)["y"].status is Status.GPU
