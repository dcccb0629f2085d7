"""Who takes what a provider leaves: the CPU, the operator's body, or nobody.

Each case was run on ONNX Runtime 1.32.0 and its WebGPU plugin 0.4.0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.model import TensorType
from opscope.engine.ops.use import OpUse
from opscope.engine.providers.ort import OrtProvider
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Reason, Status, Support
from opscope.engine.providers.tables import load_table
from small_model import model, node

WEBGPU, CPU = "ort-webgpu@0.4.0", "ort-cpu@1.32.0"


X2 = {"x": ("float32", (2,))}


def judged(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Any],
    target: str = WEBGPU,
    opset: int = 17,
    outputs: str = "y",
    weights: Mapping[str, np.ndarray] | None = None,
    domains: Sequence[str] = (),
) -> dict[str, Support]:
    subject = model(nodes, inputs, outputs, weights, opset, domains=domains)
    found = place(subject, target, infer_types(subject))
    return {node.op: found[node.id] for node in subject.nodes.values()}


def test_on_the_cpu_target_a_cpu_kernel_is_where_it_should_be() -> None:
    found = judged([node("Relu", "x", "y")], {"x": ("float32", (2,))}, CPU)["Relu"]
    assert (found.status, found.reason, found.data["step"]) == (Status.HOST, Reason.NONE, "kernel")


@pytest.mark.parametrize("target", [WEBGPU, CPU])
def test_where_nobody_has_a_kernel_the_session_is_not_made(target: str) -> None:
    found = judged([node("Max", "x x", "y")], {"x": ("int16", (2,))}, target)["Max"]
    assert found.status is Status.FAILS
    assert (found.data["when"], found.data["step"]) == ("session creation", "CPU look-up")
    assert "int16" in found.detail
    assert found.detail.count("ORT CPU") == 1


def test_float16_goes_through_float32_on_the_cpu() -> None:
    inputs = {
        "x": ("float16", (3, 1, 6)),
        "w": ("float16", (1, 12, 6)),
        "r": ("float16", (1, 12, 4)),
    }
    gru = node("GRU", "x w r", "y", hidden_size=4)
    for target in (WEBGPU, CPU):
        found = judged([gru], inputs, target)["GRU"]
        assert found.status is Status.HOST
        assert found.data["casts"]
        assert "Cast" in found.detail
    assert judged([gru], inputs)["GRU"].data["dtype"] == "float16"


def test_an_operator_without_a_kernel_is_its_body() -> None:
    found = judged([node("Mish", "x", "y")], {"x": ("float32", (2, 6))}, opset=18)["Mish"]
    assert (found.status, found.data["step"]) == (Status.GPU, "function body")
    assert found.data["expanded"] == {"gpu": 3, "cpu": 0}


def test_a_body_that_cannot_run_fails_the_session() -> None:
    """Bernoulli's body has RandomUniformLike 22, of which no provider has a kernel."""
    bernoulli = judged([node("Bernoulli", "x", "y")], {"x": ("float32", (2,))}, CPU, 22)[
        "Bernoulli"
    ]
    assert (bernoulli.status, bernoulli.data["when"]) == (Status.FAILS, "session creation")
    assert "RandomUniformLike" in bernoulli.detail
    older = judged([node("Bernoulli", "x", "y")], {"x": ("float32", (2,))}, CPU, 15)["Bernoulli"]
    assert older.status is Status.HOST


def test_a_body_of_operators_that_have_changed_since_is_not_taken() -> None:
    swish = node("Swish", "x", "y")
    assert judged([swish], {"x": ("float32", (2,))}, CPU, 24)["Swish"].status is Status.HOST
    assert judged([swish], {"x": ("float32", (2,))}, CPU, 28)["Swish"].status is Status.FAILS


@pytest.mark.parametrize("domain", ["com.example", "ai.onnx.preview.training"])
def test_an_operator_that_ort_does_not_know_fails_the_session(domain: str) -> None:
    unknown = helper.make_node("Adam", ["x"], ["y"], domain=domain)
    found = judged([unknown], {"x": ("float32", (2,))}, domains=(domain,))[f"{domain}::Adam"]
    assert (found.status, found.data["step"]) == (Status.FAILS, "operator look-up")


@pytest.mark.parametrize("name", ["here", ""])
def test_a_node_that_names_no_operator_fails_the_session_and_is_named(name: str) -> None:
    (found,) = judged([helper.make_node("", ["x"], ["y"], name=name)], X2, CPU).items()
    assert found[0] == "unnamed operator"
    assert (found[1].status, found[1].data["when"]) == (Status.FAILS, "session creation")
    assert f"the node '{name or 'unnamed operator #0'}' names no operator" in found[1].detail


@pytest.mark.parametrize("target", [CPU, WEBGPU])
@pytest.mark.parametrize(
    ("imports", "status", "words"),
    [
        # What onnxruntime 1.32.0 said on the CPU: INVALID_GRAPH, "Missing opset", and a session.
        ({"": 0}, Status.FAILS, "no operator Abs at version 0"),
        ({"": -1}, Status.FAILS, "no operator Abs at version -1"),
        ({}, Status.FAILS, "imports no opset"),
        ({"ai.onnx.ml": 1}, Status.UNKNOWN, "takes the newest version"),
    ],
)
def test_a_model_without_a_version_of_its_operators(
    target: str, imports: dict[str, int], status: Status, words: str
) -> None:
    subject = replace(model([node("Abs", "x", "y")], X2, "y"), opset_imports=imports)
    (found,) = place(subject, target, infer_types(subject)).values()
    assert (found.status, found.data["step"]) == (status, "operator look-up")
    assert words in found.detail


@pytest.mark.parametrize(
    ("target", "imports", "status"),
    [
        # What onnxruntime of each version said: "Current official support is till opset ...".
        ("ort-cpu@1.24.4", {"": 25}, Status.HOST),
        ("ort-cpu@1.24.4", {"": 26}, Status.FAILS),
        ("ort-cpu@1.30.0", {"": 27}, Status.FAILS),
        ("ort-cpu@1.32.0", {"": 28}, Status.HOST),
        ("ort-cpu@1.32.0", {"": 29}, Status.FAILS),
        ("ort-webgpu@0.4.0", {"": 29}, Status.FAILS),
        ("ort-cpu@1.32.0", {"": 17, "com.microsoft": 2}, Status.FAILS),
        ("ort-cpu@1.32.0", {"": 17, "ai.onnx.ml": 6}, Status.FAILS),
        ("ort-cpu@1.32.0", {"": 17, "own": 99}, Status.HOST),
    ],
)
def test_an_import_above_the_newest_that_ort_knows_fails_the_session(
    target: str, imports: dict[str, int], status: Status
) -> None:
    subject = replace(model([node("Abs", "x", "y")], X2, "y"), opset_imports=imports)
    (found,) = place(subject, target, infer_types(subject)).values()
    assert found.status is status
    if status is Status.FAILS:
        assert found.data["when"] == "session creation"
        assert "the newest that it knows" in found.detail


@pytest.mark.parametrize(
    ("target", "ir_version", "status"),
    [
        # What onnxruntime of each version said: "Unsupported model IR version: 14, max supported
        # IR version: 13".
        ("ort-cpu@1.24.4", 13, Status.HOST),
        ("ort-cpu@1.24.4", 14, Status.FAILS),
        ("ort-cpu@1.27.0", 14, Status.FAILS),
        ("ort-cpu@1.30.0", 14, Status.FAILS),
        ("ort-cpu@1.32.0", 14, Status.HOST),
        ("ort-cpu@1.32.0", 15, Status.FAILS),
        ("ort-webgpu@0.4.0", 15, Status.FAILS),
        ("ort-cpu@1.32.0", 0, Status.HOST),
    ],
)
def test_an_ir_version_above_the_newest_that_ort_knows_fails_the_session(
    target: str, ir_version: int, status: Status
) -> None:
    subject = replace(model([node("Abs", "x", "y")], X2, "y"), ir_version=ir_version)
    (found,) = place(subject, target, infer_types(subject)).values()
    assert found.status is status
    if status is Status.FAILS:
        assert f"the model's IR version is {ir_version}" in found.detail


def test_a_recurrent_node_over_batches_first_fails_on_the_cpu() -> None:
    inputs = {
        "x": ("float64", (1, 3, 6)),
        "w": ("float64", (1, 12, 6)),
        "r": ("float64", (1, 12, 4)),
    }
    for layout, expected in ((1, Status.FAILS), (0, Status.HOST)):
        gru = node("GRU", "x w r", "y", hidden_size=4, layout=layout)
        found = judged([gru], inputs, CPU)["GRU"]
        assert found.status is (Status.HOST if layout == 0 else expected)


def test_a_known_failure_is_of_the_versions_that_were_seen() -> None:
    table = load_table("ort-webgpu-0.4.0")
    pool = OpUse(
        "MaxPool",
        "",
        12,
        (TensorType("float32", (1, 3, 8, 8)),),
        (TensorType("float32"), TensorType("int64")),
        {"kernel_shape": (2, 2)},
        opset=17,
    )
    for version in ("0.2.1", "0.3.0", "0.4.0"):
        seen = OrtProvider(load_table(f"ort-webgpu-{version}")).support(pool)
        assert (seen.status, seen.data["when"]) == (Status.FAILS, "run time")
    later = OrtProvider(replace(table, version="0.9.9")).support(pool)
    assert (later.status, later.data["step"]) == (Status.UNKNOWN, "known failure")
    assert "0.4.0" in later.detail
    assert "0.9.9" in later.detail


@pytest.mark.parametrize(
    ("roi", "is_constant", "when"),
    [
        # What the plugin 0.4.0 did on Mesa 25, x in float16.
        ("float16", True, "session creation"),
        ("float16", False, "run time"),
        ("float32", True, None),
        ("float32", False, None),
    ],
)
def test_a_resize_that_crops_reads_its_roi_as_float32(
    roi: str, is_constant: bool, when: str | None
) -> None:
    crop = node(
        "Resize", "x roi s", "y", mode="linear", coordinate_transformation_mode="tf_crop_and_resize"
    )
    inputs = {"x": ("float16", (1, 1, 8, 8))}
    weights = {"s": np.array([1, 1, 0.5, 0.5], np.float32)}
    if is_constant:
        weights["roi"] = np.zeros(8, roi)
    else:
        inputs["roi"] = (roi, (8,))
    found = judged([crop], inputs, opset=18, weights=weights)["Resize"]
    assert found.data.get("when") == when
    assert found.status is (Status.FAILS if when else Status.GPU)


def test_the_largest_of_nothing_fails_when_it_is_run() -> None:
    for length, expected in ((0, Status.FAILS), (3, Status.GPU)):
        largest = node("ReduceMax", "x", "y")
        found = judged([largest], {"x": ("float32", (2, length))}, opset=13)["ReduceMax"]
        assert found.status is expected


def test_outside_the_layouts_opsets_the_provider_takes_nothing_but_with_nchw() -> None:
    for target, expected in ((WEBGPU, Status.HOST), (f"{WEBGPU},preferredLayout=NCHW", Status.GPU)):
        found = judged([node("Relu", "x", "y")], {"x": ("float32", (2,))}, target, opset=6)["Relu"]
        assert found.status is expected
    gated = judged([node("Relu", "x", "y")], {"x": ("float32", (2,))}, opset=6)["Relu"]
    assert (gated.data["step"], gated.data["opset"]) == ("layout gate", 6)
    assert gated.data["range"] == [7, 28]


def test_a_loop_is_on_the_cpu_and_its_body_on_the_gpu() -> None:
    ports = [
        ("i", TensorProto.INT64, []),
        ("c", TensorProto.BOOL, []),
        ("s", TensorProto.FLOAT, [2]),
    ]
    body = helper.make_graph(
        [node("Identity", "c", "d"), node("Add", "s x", "t"), node("Relu", "t", "u")],
        "body",
        [helper.make_tensor_value_info(*port) for port in ports],
        [
            helper.make_tensor_value_info("d", TensorProto.BOOL, []),
            helper.make_tensor_value_info("u", TensorProto.FLOAT, [2]),
        ],
    )
    loop = helper.make_node("Loop", ["n", "b", "x"], ["y"], body=body)
    weights = {"n": np.array(3), "b": np.array(True)}
    found = judged([loop], {"x": ("float32", (2,))}, weights=weights)
    sides = {op: verdict.status for op, verdict in found.items()}
    assert sides == {
        "Loop": Status.HOST,
        "Identity": Status.HOST,
        "Add": Status.GPU,
        "Relu": Status.GPU,
    }


def test_webnn_takes_fixed_shapes_alone() -> None:
    for shape, expected in (((2, 6), Status.GPU), (("batch", 6), Status.HOST)):
        found = judged([node("Relu", "x", "y")], {"x": ("float32", shape)}, "webnn")["Relu"]
        assert found.status is expected
