"""Judging a model: what each verdict becomes, limits, measured values, and each finding once."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper
from opscope.engine.checks import run_checks
from opscope.engine.checks.context import Context
from opscope.engine.checks.judge import judge
from opscope.engine.checks.measured import measured_findings
from opscope.engine.checks.placed import target_findings
from opscope.engine.checks.required import is_covered, required, strict
from opscope.engine.device.profile import DeviceProfile
from opscope.engine.diagnostics import Diagnostic, Severity, merge
from opscope.engine.errors import FeedError, WorkError
from opscope.engine.host.work import PLANNING_TRIPS, Work
from opscope.engine.ir.infer import infer
from opscope.engine.ir.load import load_bytes, load_model
from opscope.engine.ir.model import Model, NodeId, TensorType
from opscope.engine.ops import load_kernels
from opscope.engine.plan.planner import PlanOptions, make_plan
from opscope.engine.providers import Status
from opscope.engine.providers.ort import OrtProvider
from opscope.engine.providers.support import Reason, Support
from opscope.engine.providers.tables import load_table
from opscope.engine.providers.targets import target
from opscope.engine.results import ValueStats
from opscope.engine.session import Session
from small_model import findings, half, model, node, only

X = {"x": ("float32", (2, 6))}
ML = "ai.onnx.ml"


def gru(dtype: str = "float32", opset: int = 17, **attributes: object) -> Model:
    weights = {"w": half(1, 12, 6).astype(dtype), "r": half(1, 12, 4).astype(dtype)}
    return model(
        [node("GRU", "x w r", "y", "rnn", hidden_size=4, **attributes)],
        {"x": (dtype, (3, 1, 6))},
        "y",
        weights,
        opset,
    )


# ------------------------------------------------------------------ verdicts


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
    able = tuple(
        replace(row, types={**row.types, "T": frozenset(("float16", "float32"))})
        for row in table.find("", "GRU")
    )
    able_table = replace(table, rows={**table.rows, ("", "GRU"): able})
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
    _, highest = load_table("ort-webgpu-0.4.0").opsets
    judged = judge(relus(highest + 1))
    told = only(judged, "outside-layout-range", "ort-webgpu")
    assert (told.node, told.severity) == (None, Severity.ERROR)
    assert "2 node(s)" in told.text
    assert f"opset {highest}" in told.remedy
    assert told.versions == "ORT WebGPU 0.4.0"
    assert findings(judged, "opset-gate") == findings(judged, "host-node") == []
    old = only(relus(6), "outside-layout-range")
    assert "opset 7 or later" in old.remedy


def test_within_the_layout_range_or_without_one_there_is_none() -> None:
    _, highest = load_table("ort-webgpu-0.4.0").opsets
    assert findings(relus(highest), "outside-layout-range") == []
    planar = judge(relus(highest + 1), ["ort-webgpu,preferredLayout=NCHW"])
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


# ------------------------------------------------------------------ plans


def test_a_node_that_contradicts_onnx_is_a_finding() -> None:
    subject = model([node("MatMul", "x x", "y", "product")], X, "y")
    told = only(subject, "cannot-run")
    assert (told.severity, told.name, told.target) == (Severity.ERROR, "product", "opscope")
    assert findings(judge(subject, ["ort-webgpu"]), "cannot-run") == []


@pytest.mark.parametrize(
    ("coefficients", "severity", "words"),
    [
        (12, Severity.WARNING, "defines no result"),  # ORT 1.32.0 runs it with the first 6
        (6, None, ""),
        (7, Severity.ERROR, "7 coefficients do not fit"),  # as ORT 1.32.0 says
        (3, Severity.ERROR, "3 coefficients do not fit"),
    ],
)
def test_coefficients_that_nobody_defines(
    coefficients: int, severity: Severity | None, words: str
) -> None:
    attributes = {"classlabels_ints": [0, 1, 2], "coefficients": [0.5] * coefficients}
    classifier = node("LinearClassifier", "x", "label scores", "c", domain=ML, **attributes)
    classifier.attribute.append(helper.make_attribute("intercepts", [0.0] * 3))
    # A map has no shape, so it is computed while planning.
    zipped = node("ZipMap", "scores", "maps", "z", domain=ML, classlabels_int64s=[0, 1, 2])
    ports = {"x": ("float32", (3, 2))}
    subject = model([classifier, zipped], ports, "label maps", domains=[ML])
    told = findings(judge(subject, ["opscope"]), "cannot-run")
    assert [d.severity for d in told] == ([severity] if severity else [])
    assert all(words in d.text for d in told)


def test_an_assumed_size_proves_nothing_against_a_node() -> None:
    subject = model([node("MatMul", "x x", "y", "product")], {"x": ("float32", ("n", 6))}, "y")
    told = only(subject, "cannot-run")
    assert told.severity is Severity.WARNING
    assert "n = 1 assumed" in told.text
    assert "--dim" in told.remedy
    (given,) = findings(judge(subject, dims={"n": 2}), "cannot-run")
    assert given.severity is Severity.ERROR
    assert findings(judge(subject, dims={"n": 6}), "cannot-run") == []


def test_an_input_without_a_rank_is_not_planned() -> None:
    subject = model([node("Relu", "x", "y", "relu")], {"x": ("float32", None)}, "y")
    told = only(subject, "not-planned")
    assert told.severity is Severity.INFO
    assert "'x'" in told.text
    given = judge(subject, shapes={"x": (2, 3)})
    assert findings(given, "not-planned") == []
    assert given.types[(), "y"] == TensorType("float32", (2, 3))


def endless(trips: int) -> Model:
    """A constant Loop whose result is added to the input."""
    text = f"""<ir_version: 9, opset_import: ["" : 17]> main (float[2] x) => (float[2] y) {{
        n = Constant <value = int64 {{{trips}}}> ()
        z = Constant <value = float[2] {{0.0, 1.0}}> ()
        [loop] s = Loop(n, , z) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {{
            d = Identity(c)
            e = Abs(a) }}>
        y = Add(x, s) }}"""
    return load_bytes(onnx.parser.parse_model(text).SerializeToString())


def test_a_long_loop_does_not_hold_up_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opscope.engine.host.control.MAX_TRIPS", 20_000)  # an error without a limit
    told = only(endless(9_000_000), "not-planned")
    assert (told.severity, told.name, told.op) == (Severity.INFO, "loop", "Loop")
    assert f"no more than {PLANNING_TRIPS:,} trips" in told.text
    judged = judge(endless(PLANNING_TRIPS // 100))
    assert findings(judged, "not-planned") == []
    assert judged.plan is not None


def test_before_a_run_a_loop_has_the_runs_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opscope.engine.plan.planner.Work", lambda: Work(trips=3))
    subject, feeds = endless(50), {"x": np.zeros(2, np.float32)}
    with pytest.raises(WorkError, match=" 3 trips"):
        make_plan(subject, feeds, DeviceProfile(), load_kernels(), PlanOptions())
    plan = Session().plan(subject, feeds, profile=DeviceProfile())
    assert plan.types[(), "y"] == TensorType("float32", (2,))


def test_shapes_that_do_not_fit_are_the_callers_error() -> None:
    with pytest.raises(FeedError, match="there is no input 'z'"):
        judge(gru(), shapes={"z": (1,)})


def test_no_memory_is_taken_for_the_inputs() -> None:
    subject = model(
        [node("ReduceMax", "x", "y", "max")], {"x": ("float32", (1 << 8, 1 << 20))}, "y"
    )
    tracemalloc.start()
    try:
        assert judge(subject).plan is not None
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_assumed_dimensions_are_stated_and_refine_the_types() -> None:
    judged = judge(model([node("Relu", "x", "y")], {"x": ("float32", ("n", "t"))}, "y"))
    assert judged.assumed == {"n": 1, "t": 64}
    assert judged.types[(), "y"] == TensorType("float32", (1, 64))
    given = judge(judged.model, dims={"n": 3, "t": 5})
    assert given.assumed == {}
    assert given.types[(), "y"] == TensorType("float32", (3, 5))


def test_a_functions_body_gets_what_its_calls_agree_on() -> None:
    body = helper.make_function(
        "local", "Twice", ["a"], ["b"],
        [node("Add", "a a", "b", "sum")], [helper.make_opsetid("", 17)],
    )  # fmt: skip
    subject = model(
        [
            node("Twice", "x", "p", "first", domain="local"),
            node("Twice", "z", "q", "second", domain="local"),
        ],
        {"x": ("float32", ("n", 6)), "z": ("float32", (4, 6))},
        "p q",
        functions=[body],
        domains=["local"],
    )
    judged = judge(subject)
    inside = NodeId(("local::Twice",), 0)
    assert judged.types[inside.graph, "a"] == TensorType("float32", (None, 6))
    assert judged.verdicts["ort-webgpu"][inside].status is Status.GPU
    assert judged.verdicts["opscope"][inside].status is Status.GPU


def test_a_failure_inside_a_function_names_the_files_node() -> None:
    body = helper.make_function(
        "local", "Wrong", ["a"], ["b"],
        [node("MatMul", "a a", "b", "product")], [helper.make_opsetid("", 17)],
    )  # fmt: skip
    subject = model(
        [node("Wrong", "x", "y", "call", domain="local")],
        X,
        "y",
        functions=[body],
        domains=["local"],
    )
    told = only(subject, "cannot-run")
    assert told.node == NodeId(("local::Wrong",), 0)
    assert told.name == "product"


# ------------------------------------------------------------------ once each


def finding(code: str, index: int, text: str, target: str = "opscope") -> Diagnostic:
    return Diagnostic(code, Severity.WARNING, text, node=NodeId((), index), target=target)


def test_of_a_check_and_a_plan_on_one_node_the_plan_stays() -> None:
    checks = [
        finding("host-node", 0, "a guess"),
        finding("host-node", 0, "another engine", "ort-webgpu"),
        finding("host-node", 1, "another node"),
        finding("copies", 0, "another code"),
    ]
    merged = merge(checks, [finding("host-node", 0, "with bytes")])
    assert {d.text for d in merged} == {
        "another engine", "another node", "another code", "with bytes",
    }  # fmt: skip


def test_two_findings_of_one_rule_on_one_node_both_stay() -> None:
    rows = [finding("f16-index-loss", 0, "rows"), finding("f16-index-loss", 0, "columns")]
    assert len(merge(rows, [])) == 2
    assert len(merge(rows, rows)) == 2


def test_the_worst_comes_first() -> None:
    mild = replace(finding("a", 0, "mild"), severity=Severity.INFO)
    bad = replace(finding("b", 1, "bad"), severity=Severity.ERROR)
    assert [d.text for d in merge([mild, finding("c", 2, "so-so")], [bad])] == [
        "bad", "so-so", "mild",
    ]  # fmt: skip


def test_the_checks_place_for_every_target_where_nobody_did() -> None:
    subject = gru("float16")
    found = run_checks(subject, infer(subject).types)
    assert {(d.code, d.target) for d in found} == {("f16-recurrent-on-cpu", "ort-webgpu")}


# ------------------------------------------------------------------ required operators


def test_required_and_strict_name_the_node_its_type_and_the_rows() -> None:
    judged = judge(gru("float16"))
    for found in (list(required(judged, ["GRU"])), list(strict(judged))):
        assert [d.target for d in found] == ["ort-webgpu"]
        assert found[0].name == "rnn"
        assert "float16[3, 1, 6]" in found[0].text
        assert "7-13 and exactly 14" in found[0].text
    assert list(required(judge(gru()), ["GRU"])) == []
    assert list(strict(judge(gru()))) == []


@pytest.mark.parametrize(
    ("target_id", "verdict", "expected"),
    [
        ("ort-webgpu", Support(Status.GPU), True),
        ("ort-webgpu", Support(Status.FOLDED), True),
        ("ort-webgpu", Support(Status.FUSED, data={"provider": "gpu"}), True),
        ("ort-webgpu", Support(Status.FUSED, data={"provider": "cpu"}), False),
        ("ort-webgpu", Support(Status.HOST), False),
        ("ort-cpu", Support(Status.HOST), True),
        ("ort-cpu", Support(Status.FUSED, data={"provider": "cpu"}), True),
        ("ort-cpu", Support(Status.HOST, Reason.NO_KERNEL), False),
        ("ort-cpu", Support(Status.FAILS), False),
        ("opscope", Support(Status.FUSED), True),
    ],
)
def test_what_counts_as_covered(target_id: str, verdict: Support, expected: bool) -> None:
    assert is_covered(target_id, verdict) is expected


def test_a_required_operator_that_is_not_there_is_told() -> None:
    told = list(required(judge(gru()), ["GRUU"]))
    assert [(d.code, d.severity) for d in told] == [("required-op-absent", Severity.WARNING)]
    assert "GRUU" in told[0].text


# ------------------------------------------------------------------ measured


def stats(index: int, nan: int = 0, inf: int = 0, dtype: str = "float16") -> ValueStats:
    return ValueStats(NodeId((), index), f"v{index}", dtype, 10, 0.0, 1.0, nan, inf)


def test_the_first_node_with_inf_and_the_first_with_nan() -> None:
    subject = model(
        [
            node("Mul", "x x", "a", "square"),
            node("Div", "a a", "b", "ratio"),
            node("Relu", "b", "y", "end"),
        ],
        {"x": ("float16", (10,))},
        "y",
    )
    found = measured_findings(subject, [stats(0, inf=3), stats(1, nan=2, inf=1), stats(2, nan=2)])
    assert [(d.code, d.name) for d in found] == [
        ("f16-overflow", "square"),
        ("nan-values", "ratio"),
    ]
    assert "3 of 10 values" in found[0].text
    single = measured_findings(subject, [stats(0, inf=1, dtype="float32")])
    assert [d.code for d in single] == ["inf-values"]
    assert measured_findings(subject, [stats(0), stats(1)]) == ()


# ------------------------------------------------------------------ all together

CODES = {
    "copies", "f16-constant-overflow", "f16-constant-vanishes", "f16-index-loss",
    "f16-index-pattern", "f16-long-sum", "f16-recurrent-on-cpu", "fails-at-run", "host-node",
    "int64-narrowing", "opset-gate", "rejected-at-session",
}  # fmt: skip


def test_the_sample_of_warnings_shows_every_code() -> None:
    path = Path(__file__).parents[2] / "resources" / "samples" / "warnings.onnx"
    judged = judge(load_model(str(path)))
    assert {d.code for d in judged.diagnostics} >= CODES
    assert all(d.text and (d.remedy or d.severity is Severity.INFO) for d in judged.diagnostics)


def test_an_empty_graph_has_nothing_to_say() -> None:
    port = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([], "g", [port], [port])
    subject = load_bytes(onnx.helper.make_model(graph).SerializeToString())
    assert judge(subject).verdicts == {"opscope": {}, "ort-webgpu": {}}
