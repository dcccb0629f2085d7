"""Judging a model: plans, assumed sizes, functions, and each finding once."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import onnx.parser
import pytest
from onnx import TensorProto, helper
from opscope.engine.checks import run_checks
from opscope.engine.checks.judge import judge
from opscope.engine.device.profile import DeviceProfile
from opscope.engine.diagnostics import Severity
from opscope.engine.errors import FeedError, WorkError
from opscope.engine.host.work import PLANNING_TRIPS, Work
from opscope.engine.ir.infer import infer
from opscope.engine.ir.load import load_bytes, load_model
from opscope.engine.ir.model import Model, NodeId, TensorType
from opscope.engine.ops import load_kernels
from opscope.engine.plan.planner import PlanOptions, make_plan
from opscope.engine.providers import Status
from opscope.engine.session import Session
from small_model import findings, gru, model, node, only

X = {"x": ("float32", (2, 6))}


ML = "ai.onnx.ml"


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


def test_of_a_body_that_its_calls_place_differently_the_worst_counts() -> None:
    body = helper.make_function(
        "local", "Same", ["a"], ["b"],
        [node("Relu", "a", "b", "relu")], [helper.make_opsetid("", 17)],
    )  # fmt: skip
    for first, second in (("x", "z"), ("z", "x")):
        subject = model(
            [
                node("Same", first, "p", "first", domain="local"),
                node("Same", second, "q", "second", domain="local"),
            ],
            {"x": ("float32", (2, 6)), "z": ("float64", (2, 6))},
            "p q",
            functions=[body],
            domains=["local"],
        )
        inside = NodeId(("local::Same",), 0)
        assert judge(subject).verdicts["opscope"][inside].status is Status.HOST


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


def test_the_checks_place_for_every_target_where_nobody_did() -> None:
    subject = gru("float16")
    found = run_checks(subject, infer(subject).types)
    assert {(d.code, d.target) for d in found} == {("f16-recurrent-on-cpu", "ort-webgpu")}


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
