"""What ORT does to a graph around the look-up of kernels; each case was run on the 0.4.0 plugin."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from opscope.engine.checks.judge import Judgement, judge
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.model import Model
from opscope.engine.providers import Reason, Status
from opscope.engine.providers.ort import OrtProvider
from opscope.engine.providers.ort_graph import place_ort
from opscope.engine.providers.ort_options import OrtOptions
from opscope.engine.providers.tables import load_table
from opscope.engine.providers.uses import model_uses
from small_model import model, node, verdict

BATCH = ("float32", ("batch", 6))
TABLE = np.arange(10, dtype=np.float32)
NCHW = OrtProvider(load_table("ort-webgpu-0.4.0"), OrtOptions(preferred_layout="NCHW"))
NHWC = OrtProvider(load_table("ort-webgpu-0.4.0"))


def made(*nodes: onnx.NodeProto, x: Any = BATCH, outputs: str = "y", **weights: Any) -> Model:
    opset = weights.pop("opset", 17)
    inputs = {"x": x, **weights.pop("inputs", {})}
    return model(nodes, inputs, outputs, {k: np.array(v) for k, v in weights.items()}, opset)


def judged(*nodes: onnx.NodeProto, **more: Any) -> Judgement:
    return judge(made(*nodes, **more), ["ort-webgpu"])


def on_cpu(subject: Model, provider: OrtProvider) -> set[str]:
    verdicts = place_ort(subject, infer_types(subject), provider)
    return {subject.nodes[i].name for i, v in verdicts.items() if v.status is Status.HOST}


def test_constants_and_fixed_shapes_are_folded_before_anything_is_placed() -> None:
    found = judged(
        node("Shape", "x", "s", "shape"),
        node("Add", "a a", "b", "sum"),
        node("Reshape", "x s", "z", "reshape"),
        node("Add", "z b", "y", "last"),
        x=("float32", (2, 6)),
        a=np.ones(6, np.float32),
    )
    statuses = [verdict(found, n).status for n in ("shape", "sum", "reshape", "last")]
    assert statuses == [Status.FOLDED, Status.FOLDED, Status.GPU, Status.GPU]


def test_a_symbolic_dimension_keeps_shape_unfolded_whatever_is_assumed() -> None:
    found = judged(node("Shape", "x", "s", "shape"), node("Reshape", "x s", "y", "reshape"))
    assert found.assumed == {"batch": 1}
    assert verdict(found, "shape").status is Status.GPU


def test_a_shape_that_hangs_on_a_values_number_is_not_known_whatever_is_assumed() -> None:
    """The plan pads by numbers that it made up; ORT has seen none when it places."""
    found = judged(
        node("Pad", "x p", "w", "pad"),
        node("Shape", "w", "s", "shape"),
        node("Reshape", "w s", "y", "reshape"),
        x=("float32", (2, 6)),
        inputs={"p": ("int64", (4,))},
    )
    assert found.plan is not None
    assert verdict(found, "shape").status is Status.GPU


def test_a_value_of_a_loops_own_hides_the_constant_of_that_name_around_it() -> None:
    body = helper.make_graph(
        [node("Identity", "c", "d", "again"), node("Exp", "s", "t", "exp")],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", TensorProto.FLOAT, [2, 6]),
        ],
        [
            helper.make_tensor_value_info("d", TensorProto.BOOL, []),
            helper.make_tensor_value_info("t", TensorProto.FLOAT, [2, 6]),
        ],
    )
    subject = made(node("Loop", "n c x", "y", "loop", body=body), n=np.array(3), c=np.array(True))
    assert on_cpu(subject, NHWC) >= {"again"}
    uses = {n.name: use for n, use in model_uses(subject, infer_types(subject))}
    assert not uses["again"].values


def test_dequantizing_is_not_folded() -> None:
    found = judged(
        node("QuantizeLinear", "a s", "q", "quantize"),
        node("DequantizeLinear", "q s", "d", "dequantize"),
        node("Add", "x d", "y", "last"),
        a=np.ones(6, np.float32),
        s=np.float32(1),
    )
    assert verdict(found, "quantize").status is Status.FOLDED
    assert verdict(found, "dequantize").status is Status.GPU


def gather(table: np.ndarray) -> Model:
    """Shape's output, which the kernel leaves in host memory, picks from a table."""
    return made(node("Shape", "x", "s", "shape"), node("Gather", "w s", "y", "gather"), w=table)


PREFERRED = {
    "a small table": (gather(TABLE), {"gather"}),
    "100 elements": (gather(np.zeros(100, np.float32)), {"gather"}),
    "101 elements": (gather(np.zeros(101, np.float32)), set()),
    "f16": (gather(TABLE.astype(np.float16)), set()),
    "a graph input": (
        made(
            node("Shape", "x", "s", "shape"),
            node("Gather", "t s", "y", "gather"),
            inputs={"t": ("float32", (500,))},
        ),
        {"gather"},
    ),
    "a chain": (
        made(
            node("Shape", "x", "s", "shape"),
            node("Gather", "w s", "a", "gather"),
            node("Mul", "a a", "b", "mul"),
            node("Add", "b v", "y", "add"),
            w=TABLE,
            v=np.ones(2, np.float32),
        ),
        {"gather", "mul", "add"},
    ),
    "through a node without a kernel": (
        made(
            node("Shape", "x", "s", "shape"),
            node("Gather", "s i", "g", "gather64"),
            node("Gather", "w g", "y", "gather"),
            w=TABLE,
            i=[0],
        ),
        {"gather64", "gather"},
    ),
}


@pytest.mark.parametrize("case", PREFERRED)
def test_host_values_pull_their_arithmetic_to_the_cpu_with_nchw_only(case: str) -> None:
    subject, moved = PREFERRED[case]
    assert on_cpu(subject, NCHW) == moved
    assert on_cpu(subject, NHWC) == moved & {"gather64"}


def test_what_the_kernel_wants_in_host_memory_does_not_pull_it() -> None:
    subject = made(node("Shape", "x", "s", "shape"), node("Reshape", "x s", "y", "reshape"))
    assert on_cpu(subject, NCHW) == set()


def test_shape_arithmetic_on_the_cpu_costs_no_copy_and_says_so() -> None:
    subject, _ = PREFERRED["through a node without a kernel"]
    verdicts = place_ort(subject, infer_types(subject), NHWC)
    data = {subject.nodes[i].name: v.data for i, v in verdicts.items()}
    assert data["gather64"]["host_values_only"]
    assert "host_values_only" not in data["gather"]
    moved = place_ort(subject, infer_types(subject), NCHW)
    assert [v.reason for v in moved.values()][-1] is Reason.HOST_ON_PURPOSE


def test_a_graph_inputs_arithmetic_is_no_shape_arithmetic() -> None:
    found = judged(node("Add", "x x", "y", "sum"), x=("int64", (4,)))
    assert "host_values_only" not in verdict(found, "sum").data


@pytest.mark.parametrize("opset", [7, 12, 17, 22])
def test_a_dropout_without_effect_is_gone(opset: int) -> None:
    inside = judged(node("Dropout", "x", "d", "drop"), node("Relu", "d", "y", "relu"), opset=opset)
    assert verdict(inside, "drop").status is Status.FOLDED
    with_mask = judged(
        node("Dropout", "x", "d m", "drop"),
        node("Relu", "d", "y", "relu"),
        outputs="y m",
        opset=opset,
    )
    assert verdict(with_mask, "drop").status is Status.HOST
    at_the_end = judged(
        node("Relu", "x", "d", "relu"), node("Dropout", "d", "y", "drop"), opset=opset
    )
    assert verdict(at_the_end, "drop").status is Status.HOST
