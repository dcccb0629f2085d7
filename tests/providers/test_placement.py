"""Placement over graphs."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper
from opscope.engine.checks.judge import judge
from opscope.engine.ir.infer import infer_types
from opscope.engine.providers import Reason, Status, Support
from opscope.engine.providers.placement import place
from small_model import model, node, verdict

X = {"x": ("float32", (2, 6))}
GPU, HOST, FOLDED = Support(Status.GPU), Support(Status.HOST), Support(Status.FOLDED)


def test_our_placement_folds_shapes_and_constants_without_a_plan() -> None:
    subject = model(
        [
            node("Shape", "x", "s", "shape"),
            node("Gather", "s i", "g", "pick"),
            node("Relu", "x", "r", "relu"),
            node("NonZero", "r", "y", "nonzero"),
        ],
        {"x": ("float32", ("n", 6))},
        "y g",
        {"i": np.array([0])},
    )
    verdicts = place(subject, "opscope", infer_types(subject))
    by_name = {subject.nodes[i].name: v.status for i, v in verdicts.items()}
    assert by_name == {
        "shape": Status.FOLDED,
        "pick": Status.FOLDED,
        "relu": Status.GPU,
        "nonzero": Status.HOST,
    }


def test_a_loops_body_is_on_our_host_with_it() -> None:
    body = helper.make_graph(
        [node("Identity", "c", "d", "keep"), node("Relu", "v", "w", "inside")],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("d", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, None),
        ],
    )
    loop = node("Loop", "m _ x", "y", "loop", body=body)
    judged = judge(model([loop], X, "y", {"m": np.array(2)}))
    inside = verdict(judged, "inside", "opscope")
    assert (inside.status, inside.reason) == (Status.HOST, Reason.NO_KERNEL)
    assert "'loop' (Loop)" in inside.detail
    assert verdict(judged, "inside", "ort-webgpu").status is Status.GPU
