"""ORT WebGPU's rules for one node, against facts that were read in its source and run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from opscope.engine.checks.judge import judge
from opscope.engine.ir.model import Model, TensorType
from opscope.engine.ir.schema import schema
from opscope.engine.ops.use import OpUse
from opscope.engine.providers import Reason, Status, Support
from opscope.engine.providers.ort import OrtProvider
from opscope.engine.providers.ort_options import OrtOptions
from opscope.engine.providers.ort_steps import version_rule
from opscope.engine.providers.tables import load_table, parse_table
from small_model import half, model, node

ORT = OrtProvider(load_table("ort-webgpu-0.4.0"))

# The first opset at which each operator falls to the CPU (measured on the released plugin).
GATES = {
    **dict.fromkeys(("GRU", "LSTM", "ConvTranspose", "MaxPool", "Sin", "Cos", "Tan"), 22),
    **dict.fromkeys(("Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh"), 22),
    **dict.fromkeys(("Elu", "HardSigmoid", "HardSwish", "ThresholdedRelu"), 22),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), 22),
    "GridSample": 20,
    **dict.fromkeys(("Flatten", "If"), 23),
    **dict.fromkeys(("Pad", "DequantizeLinear"), 24),
    **dict.fromkeys(("Transpose", "Shape", "Squeeze"), 25),
}
NEVER = ("Conv", "MatMul", "Add", "Relu", "Gemm", "Sigmoid", "Tanh", "Mul", "Softmax")


def use_at(op: str, opset: int, *dtypes: str) -> OpUse:
    found = schema("", op, opset)
    assert found is not None
    kinds = tuple(TensorType(d, (1, 8, 16)) for d in dtypes)
    return OpUse(op, since_version=found.since_version, inputs=kinds, opset=opset)


def first_opset_on_the_cpu(op: str) -> int | None:
    """Between the oldest opset with a kernel and 27, by the version rule alone."""
    refused = [
        version_rule(ORT, use_at(op, n)) is not None for n in range(7, 28) if schema("", op, n)
    ]
    opsets = [n for n in range(7, 28) if schema("", op, n)]
    start = refused.index(False)
    return next((n for n, r in zip(opsets[start:], refused[start:], strict=True) if r), None)


@pytest.mark.parametrize(("op", "opset"), GATES.items())
def test_the_opset_at_which_an_operator_leaves_the_gpu(op: str, opset: int) -> None:
    assert first_opset_on_the_cpu(op) == opset


@pytest.mark.parametrize("op", NEVER)
def test_operators_that_no_opset_takes_away(op: str) -> None:
    assert first_opset_on_the_cpu(op) is None


def test_an_open_ended_row_matches_its_own_version_alone() -> None:
    rows = {(r.since, r.until): r for r in ORT.table.find("", "GRU")}
    assert set(rows) == {(7, 13), (14, None)}
    assert [v for v in (1, 7, 13, 14, 22) if rows[7, 13].matches(v)] == [7, 13]
    assert [v for v in (7, 13, 14, 15, 22) if rows[14, None].matches(v)] == [14]


def test_a_newer_stamp_says_which_opset_would_do() -> None:
    verdict = ORT.support(use_at("GRU", 22, "float32", "float32", "float32"))
    assert (verdict.status, verdict.reason) == (Status.HOST, Reason.SCHEMA_VERSION)
    assert verdict.data["opset_that_would_match"] == 21
    assert "7-13 and exactly 14" in verdict.detail
    assert ORT.support(use_at("GRU", 21, "float32", "float32", "float32")).status is Status.GPU


def test_gru_and_lstm_have_f32_kernels_only() -> None:
    for op in ("GRU", "LSTM"):
        verdict = ORT.support(use_at(op, 17, "float16", "float16", "float16"))
        assert (verdict.status, verdict.reason) == (Status.HOST, Reason.TYPE), op
        assert "float16" in verdict.detail
        assert "exactly 14 with float32" in verdict.detail
        assert verdict.data["dtype"] == "float16"


def test_an_unknown_type_leaves_the_verdict_open() -> None:
    assert ORT.support(use_at("Relu", 17, "?")).status is Status.UNKNOWN
    assert ORT.support(use_at("Relu", 17, "float32")).status is Status.GPU
    assert ORT.support(use_at("Relu", 17, "float64")).reason is Reason.TYPE


def test_no_kernel_at_all() -> None:
    for op in ("NonZero", "Loop", "RNN", "ConstantOfShape"):
        assert ORT.support(use_at(op, 17)).reason is Reason.NO_KERNEL, op


def test_int64_arithmetic_needs_an_option() -> None:
    use = use_at("Add", 17, "int64", "int64")
    assert ORT.support(use).reason is Reason.TYPE
    assert OrtProvider(ORT.table, OrtOptions(enable_int64=True)).support(use).status is Status.GPU


@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({}, Status.GPU),
        ({"inputs": 4}, Status.HOST),
        ({"outputs": 2}, Status.HOST),
        ({"attributes": {"past_present_share_buffer": 1}}, Status.HOST),
    ],
)
def test_attention_with_a_past_is_left_to_the_cpu(more: dict[str, Any], status: Status) -> None:
    kind = TensorType("float32", (1, 2, 4))
    use = OpUse(
        "Attention",
        "com.microsoft",
        inputs=(kind,) * more.get("inputs", 3),
        outputs=(kind,) * more.get("outputs", 1),
        attributes=more.get("attributes", {}),
        opset=1,
    )
    assert ORT.support(use).status is status


def test_outside_the_layout_transformations_opsets_nothing_is_taken() -> None:
    assert "layout" in ORT.support(use_at("Relu", 6, "float32")).detail
    nchw = OrtProvider(ORT.table, OrtOptions(preferred_layout="NCHW"))
    assert nchw.support(use_at("Relu", 6, "float32")).status is Status.GPU
    assert ORT.support(use_at("Relu", 7, "float32")).status is Status.GPU


def volume(
    op: str, shape: tuple[int, ...], weights: tuple[int, ...], **attributes: object
) -> Model:
    return model(
        [node(op, "x w", "y", "n", **attributes)],
        {"x": ("float32", shape)},
        "y",
        {"w": np.zeros(weights, np.float32)},
    )


def verdict_on(subject: Model, name: str = "n") -> Support:
    judged = judge(subject, ["ort-webgpu"])
    return next(
        v for i, v in judged.verdicts["ort-webgpu"].items() if subject.nodes[i].name == name
    )


def recurrent(op: str, activations: list[str] | None) -> Model:
    gates = {"GRU": 3, "LSTM": 4}[op]
    extra = {} if activations is None else {"activations": activations}
    weights = {n: np.zeros((1, gates * 4, 4), np.float32) for n in "wr"}
    return model(
        [node(op, "x w r", "y", "n", hidden_size=4, **extra)],
        {"x": ("float32", (3, 1, 4))},
        "y",
        weights,
    )


FAILING = {
    "3-D ConvTranspose": lambda: volume("ConvTranspose", (1, 2, 3, 3, 3), (2, 2, 2, 2, 2)),
    "grouped 3-D Conv": lambda: volume("Conv", (1, 4, 3, 3, 3), (4, 2, 2, 2, 2), group=2),
    "MaxPool with Indices": lambda: model(
        [node("MaxPool", "x", "y i", "n", kernel_shape=[2])], {"x": ("float32", (1, 2, 8))}, "y i"
    ),
    "GRU with Softsign": lambda: recurrent("GRU", ["Softsign", "Tanh"]),
    "LSTM with HardSigmoid": lambda: recurrent("LSTM", ["HardSigmoid", "Tanh", "Tanh"]),
    "Resize with antialias": lambda: model(
        [node("Resize", "x _ s", "y", "n", antialias=1, mode="linear")],
        {"x": ("float32", (1, 1, 8, 8))},
        "y",
        {"s": np.array([1, 1, 0.5, 0.5], np.float32)},
        opset=18,
    ),
    "cubic Resize in f16": lambda: model(
        [node("Resize", "x _ s", "y", "n", mode="cubic")],
        {"x": ("float16", (1, 1, 8, 8))},
        "y",
        {"s": np.array([1, 1, 2, 2], np.float32)},
    ),
    "ScatterND that adds in f16": lambda: model(
        [node("ScatterND", "x i u", "y", "n", reduction="add")],
        {"x": ("float16", (4,))},
        "y",
        {"i": np.zeros((1, 1), np.int64), "u": half(1)},
    ),
    "BatchNormalization in training": lambda: model(
        [node("BatchNormalization", "x s s s s", "y m v", "n", training_mode=1)],
        {"x": ("float32", (1, 2, 4))},
        "y m v",
        {"s": np.ones(2, np.float32)},
    ),
}  # fmt: skip
RUNNING = {
    "2-D ConvTranspose": lambda: volume("ConvTranspose", (1, 2, 3, 3), (2, 2, 2, 2)),
    "3-D Conv": lambda: volume("Conv", (1, 4, 3, 3, 3), (4, 4, 2, 2, 2)),
    "MaxPool": lambda: model(
        [node("MaxPool", "x", "y", "n", kernel_shape=[2])], {"x": ("float32", (1, 2, 8))}, "y"
    ),
    "GRU with Relu": lambda: recurrent("GRU", ["Relu", "Tanh"]),
    "GRU": lambda: recurrent("GRU", None),
    "LSTM": lambda: recurrent("LSTM", ["Sigmoid", "Tanh", "Tanh"]),
}


@pytest.mark.parametrize("case", FAILING)
def test_what_is_taken_and_then_fails(case: str) -> None:
    verdict = verdict_on(FAILING[case]())
    assert verdict.status is Status.FAILS
    when = "session creation" if case.startswith("GRU") else "run time"
    assert f"fails at {when}" in verdict.detail


@pytest.mark.parametrize("case", RUNNING)
def test_its_neighbours_run(case: str) -> None:
    assert verdict_on(RUNNING[case]()).status is Status.GPU


def test_the_table_is_the_plugins_own_list() -> None:
    table = load_table("ort-webgpu-0.4.0")
    assert sum(map(len, table.rows.values())) == 371
    assert (table.id, table.version, table.opsets) == ("ort-webgpu", "0.4.0", (7, 28))
    assert table.source
    assert table.date


def test_a_broken_table_says_what_is_missing() -> None:
    with pytest.raises(ValueError, match="unknown schema 2"):
        parse_table({"schema": 2}, "new")
    with pytest.raises(ValueError, match="matching versions None"):
        parse_table({"schema": 1}, "vague")
    with pytest.raises(ValueError, match="'kernels' is missing"):
        parse_table({"schema": 1, "matching": "exact-when-open"}, "empty")
