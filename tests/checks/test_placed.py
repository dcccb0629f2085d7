"""What each verdict becomes: a finding with its reason and what would change it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import helper
from opscope.engine.checks.context import Context
from opscope.engine.checks.judge import judge
from opscope.engine.checks.placed import target_findings
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.infer import infer
from opscope.engine.ir.model import Model, NodeId
from opscope.engine.providers import Status
from opscope.engine.providers.ort import OrtProvider
from opscope.engine.providers.support import Reason, Support
from opscope.engine.providers.tables import load_table
from opscope.engine.providers.targets import target
from opscope.engine.providers.uses import model_uses
from small_model import findings, gru, half, model, node, only

X = {"x": ("float32", (2, 6))}


def test_an_f16_recurrent_node_on_the_cpu_is_an_error() -> None:
    told = only(gru("float16"), "f16-recurrent-on-cpu", "ort-webgpu")
    assert told.severity is Severity.ERROR
    assert "7-13 and exactly 14 with float32" in told.text
    assert told.versions == "ORT WebGPU 0.4.0"
    assert "Cast" in told.remedy
    assert "opset" not in told.remedy
    assert findings(gru("float16"), "host-node") == []


def test_of_a_newer_stamp_an_f16_recurrent_node_needs_both_remedies() -> None:
    told = only(gru("float16", opset=22), "f16-recurrent-on-cpu", "ort-webgpu")
    assert "Cast" in told.remedy
    assert "opset 21" in told.remedy
    assert findings(gru("float16", opset=22), "opset-gate") == []


def test_where_a_kernel_takes_f16_the_stamp_alone_is_the_reason() -> None:
    subject, asked = gru("float16", opset=22), target("ort-webgpu")
    table = load_table("ort-webgpu-0.4.0")
    first, *others = table.find("", "GRU")
    assert others
    able = replace(first, types={**first.types, "T": frozenset(("float16", "float32"))})
    able_table = replace(table, rows={**table.rows, ("", "GRU"): (able, *others)})
    verdict = judge(subject).verdicts["ort-webgpu"][NodeId((), 0)]
    context = Context(subject, infer(subject).types, {asked.id: {NodeId((), 0): verdict}})
    codes = [
        [d.code for d in target_findings(context, replace(asked, provider=OrtProvider(chosen)))]
        for chosen in (table, able_table)
    ]
    assert codes == [["f16-recurrent-on-cpu"], ["opset-gate"]]


def test_without_any_kernel_a_cast_does_not_help() -> None:
    weights = {"w": half(1, 4, 6), "r": half(1, 4, 4)}
    subject = model(
        [node("RNN", "x w r", "y", "rnn", hidden_size=4)],
        {"x": ("float16", (3, 1, 6))},
        "y",
        weights,
    )
    assert only(subject, "host-node", "ort-webgpu").severity is Severity.ERROR
    assert findings(subject, "f16-recurrent-on-cpu") == []


def test_where_a_dimension_is_open_fixing_it_helps() -> None:
    def relu(rows: int | str) -> Model:
        return model([node("Relu", "x", "y", "relu")], {"x": ("float32", (rows, 6))}, "y")

    told = only(judge(relu("n"), ["webnn"]), "host-node")
    assert "fixed shapes" in told.text
    assert "--rule fix-shapes" in told.remedy
    assert findings(judge(relu(2), ["webnn"]), "host-node") == []


def test_an_opset_gate_says_which_opset_to_export() -> None:
    told = only(gru(opset=22), "opset-gate", "ort-webgpu")
    assert told.severity is Severity.ERROR
    assert "export the model at opset 21" in told.remedy
    assert told.links
    relu = model([node("Elu", "x", "y", "elu")], X, "y", opset=22)
    assert only(relu, "opset-gate").severity is Severity.WARNING
    assert findings(gru(opset=21), "opset-gate") == []


def test_what_creating_a_session_rejects_is_an_error() -> None:
    told = only(gru(activations=["Softsign", "Tanh"]), "rejected-at-session")
    assert told.severity is Severity.ERROR
    assert "Softsign" in told.text
    assert "session creation" in told.text
    assert "creating the session fails" in told.remedy


def test_what_is_taken_and_then_fails_is_an_error() -> None:
    subject = model(
        [node("MaxPool", "x", "y i", "pool", kernel_shape=[2])],
        {"x": ("float32", (1, 1, 4))},
        "y i",
    )
    told = only(subject, "fails-at-run")
    assert told.severity is Severity.ERROR
    assert "Indices" in told.text
    assert "the run fails" in told.remedy
    assert findings(subject, "rejected-at-session") == []


def relus(opset: int) -> Model:
    return model(
        [node("Relu", "x", "a", "one"), node("Relu", "a", "y", "two")], X, "y", opset=opset
    )


def test_outside_the_layout_range_is_one_finding_for_the_model() -> None:
    judged = judge(relus(6))
    told = only(judged, "outside-layout-range", "ort-webgpu")
    assert (told.node, told.severity) == (None, Severity.ERROR)
    assert "2 nodes fall to the CPU" in told.text
    assert "opset 7 or later" in told.remedy
    assert told.versions == "ORT WebGPU 0.4.0"
    assert findings(judged, "opset-gate") == findings(judged, "host-node") == []


def test_above_the_layout_range_an_older_opset_is_named() -> None:
    subject, asked = relus(21), target("ort-webgpu")
    narrow = OrtProvider(replace(load_table("ort-webgpu-0.4.0"), opsets=(7, 20)))
    types = infer(subject).types
    verdicts = {n.id: narrow.support(use) for n, use in model_uses(subject, types)}
    context = Context(subject, types, {asked.id: verdicts})
    (told,) = target_findings(context, replace(asked, provider=narrow))
    assert told.code == "outside-layout-range"
    assert told.remedy.startswith("export the model at opset 20; with the provider option ")
    assert told.data == {"opset": 21, "lowest": 7, "highest": 20, "nodes": 2}


def test_within_the_layout_range_or_without_one_there_is_none() -> None:
    lowest, _ = load_table("ort-webgpu-0.4.0").opsets
    assert findings(relus(lowest), "outside-layout-range") == []
    planar = judge(relus(lowest - 1), ["ort-webgpu,preferredLayout=NCHW"])
    assert findings(planar, "outside-layout-range") == []


def test_on_a_target_that_is_a_cpu_its_nodes_are_no_findings() -> None:
    subject = gru()
    kernel = Support(Status.HOST, Reason.NONE, "it has a CPU kernel")
    webgpu = target("ort-webgpu")
    for name, codes in (("ort-cpu@1.32.0", []), ("ort-webgpu", ["host-node"])):
        context = Context(subject, infer(subject).types, {name: {NodeId((), 0): kernel}})
        found = target_findings(context, replace(webgpu, id=name))
        assert [d.code for d in found] == codes


def test_what_nobody_can_run_is_an_error_for_us() -> None:
    subject = model(
        [node("Thing", "x", "y", "odd", domain="com.example")], X, "y", domains=["com.example"]
    )
    told = only(subject, "unsupported-node", "opscope")
    assert told.severity is Severity.ERROR
    assert told.op == "com.example::Thing"


def test_an_unknown_type_is_information() -> None:
    subject = model(
        [
            node("Thing", "x", "a", "odd", domain="com.example"),
            node("Relu", "a", "y", "after"),
        ],
        X,
        "y",
        domains=["com.example"],
    )
    told = only(subject, "unknown-placement", "ort-webgpu")
    assert (told.name, told.severity) == ("after", Severity.INFO)


def test_a_host_node_of_ours_is_told_once_with_its_bytes() -> None:
    subject = model([node("Relu", "x", "a"), node("NonZero", "a", "y", "nonzero")], X, "y")
    told = only(subject, "host-node", "opscope")
    assert told.severity is Severity.WARNING
    assert "bytes per run" in told.text


def test_shape_arithmetic_on_the_cpu_is_information() -> None:
    subject = model(
        [
            node("Shape", "x", "s", "shape"),
            node("Concat", "s s", "t", "concat", axis=0),
            node("Slice", "t zero two", "u", "slice"),
            node("Reshape", "x u", "y", "reshape"),
        ],
        {"x": ("float32", ("n", 6))},
        "y",
        {"zero": np.array([0]), "two": np.array([2])},
    )
    severities = {d.name: d.severity for d in findings(subject, "host-node", "ort-webgpu")}
    assert severities == {"concat": Severity.INFO, "slice": Severity.INFO}


def test_a_split_is_about_the_node_that_has_no_kernel_not_about_its_shape_arithmetic() -> None:
    subject = model(
        [
            node("Relu", "x", "first", "first"),
            node("Shape", "first", "shape", "shape"),
            node("Slice", "shape one two", "batch", "batch"),
            node("Concat", "one batch four", "sizes", "sizes", axis=0),
            node("ConstantOfShape", "sizes", "h", "state"),
            helper.make_node(
                "GRU", ["first", "w", "r", "", "", "h"], ["g"], name="rnn", hidden_size=4
            ),
            node("Relu", "g", "y", "last"),
        ],
        {"x": ("float32", ("steps", "batch", 6))},
        "y",
        {
            "w": np.zeros((1, 12, 6), np.float32),
            "r": np.zeros((1, 12, 4), np.float32),
            "one": np.array([1]),
            "two": np.array([2]),
            "four": np.array([4]),
        },
        22,
    )
    told = only(subject, "splits-gpu", "ort-webgpu")
    assert told.name == "rnn"
    assert "this GRU and " in told.text


def test_a_model_that_is_refused_for_its_versions_is_one_finding() -> None:
    plain = model([node("Relu", "x", "a"), node("Abs", "a", "y")], X, "y")
    for newer, number, remedy in (
        (replace(plain, ir_version=99), "IR version is 99", "ir_version 14 or less"),
        (replace(plain, opset_imports={"": 99}), "version 99 of ai.onnx", "version 28 or less"),
        (replace(plain, opset_imports={}), "imports no opset", "import the version"),
    ):
        told = only(newer, "rejected-at-session", "ort-webgpu")
        assert (told.severity, told.node) == (Severity.ERROR, None)
        assert number in told.text
        assert remedy in told.remedy
