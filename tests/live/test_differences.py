"""Prediction beside reality, and the findings that ``check --live`` makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from opscope.engine.checks.live import agrees, live_findings, side_by_side
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.model import NodeId
from opscope.engine.live.answer import LiveNode, LivePlacement
from opscope.engine.live.differences import differences, place_of
from opscope.engine.providers.support import Reason, Status, Support
from small_model import model, node

GPU, CPU = "WebGpuExecutionProvider", "CPUExecutionProvider"
MADE = model([node("GRU", "x w r", "a", "gru"), node("Relu", "a", "y", "relu")], {}, "y")
FIRST, SECOND = NodeId((), 0), NodeId((), 1)
ON_GPU = Support(Status.GPU, detail="it has a kernel", data={"step": "kernel"})
ON_CPU = Support(Status.HOST, Reason.SCHEMA_VERSION, "stamped 22", {"step": "version rule"})
VERSIONS = {"onnxruntime": "1.32.0", "onnxruntime-ep-webgpu": "0.4.0"}


def live(first: LiveNode, second: LiveNode, **more: Any) -> LivePlacement:
    return LivePlacement("ort-webgpu", VERSIONS, {FIRST: first, SECOND: second}, **more)


def node_on(provider: str) -> LiveNode:
    return LiveNode(Status.HOST if provider == CPU else Status.GPU, provider, "same name")


def test_a_difference_names_both_sides_and_the_step() -> None:
    answer = live(node_on(GPU), node_on(GPU))
    (found,) = differences(MADE, {FIRST: ON_CPU, SECOND: ON_GPU}, answer)
    assert found.node == FIRST
    assert found.text == (
        "predicted on the CPU (version rule): stamped 22; the installed ORT 1.32.0, "
        "onnxruntime-ep-webgpu 0.4.0 runs it on WebGpuExecutionProvider"
    )


@pytest.mark.parametrize(
    ("verdict", "actual", "same"),
    [
        (ON_GPU, node_on(GPU), True),
        (ON_GPU, node_on(CPU), False),
        (Support(Status.FUSED, data={"provider": "gpu"}), node_on(GPU), True),
        (ON_GPU, LiveNode(Status.FUSED, CPU, "fused into 'x' (FusedConv)"), False),
        (Support(Status.FOLDED), LiveNode(Status.FOLDED, "", "dropped"), True),
        (ON_GPU, LiveNode(Status.FOLDED, "", "dropped"), False),
        (Support(Status.FAILS, data={"when": "run time"}), node_on(GPU), True),
        (Support(Status.FAILS, data={"when": "session creation"}), node_on(GPU), False),
        (Support(Status.UNKNOWN), node_on(GPU), None),
        (ON_GPU, LiveNode(Status.UNKNOWN, "", "not told"), None),
        (Support(Status.FUSED), node_on(GPU), None),
    ],
)
def test_agreement_is_about_where_the_work_is_done(
    verdict: Support, actual: LiveNode, same: bool | None
) -> None:
    assert agrees(verdict, actual) is same
    found = differences(
        MADE, {FIRST: verdict}, LivePlacement("ort-webgpu", VERSIONS, {FIRST: actual})
    )
    assert bool(found) is (same is False)


def test_a_failure_that_was_not_predicted_is_a_difference() -> None:
    answer = LivePlacement("ort-webgpu", VERSIONS, {}, "no kernel for GRU", FIRST)
    (found,) = differences(MADE, {FIRST: ON_CPU, SECOND: ON_GPU}, answer)
    assert found.node == FIRST
    assert found.text.endswith("says: no kernel for GRU")
    predicted = Support(Status.FAILS, data={"when": "session creation"})
    assert differences(MADE, {FIRST: predicted, SECOND: ON_GPU}, answer) == ()


def test_a_run_that_fails_although_nobody_said_so() -> None:
    answer = live(node_on(CPU), node_on(GPU), ran=True, run_error="Indices are not supported")
    (found,) = differences(MADE, {FIRST: ON_CPU, SECOND: ON_GPU}, answer)
    assert "no failure" in found.text
    late = Support(Status.FAILS, data={"when": "run time"})
    assert differences(MADE, {FIRST: ON_CPU, SECOND: late}, answer) == ()
    fine = live(node_on(CPU), node_on(GPU), ran=True)
    (found,) = differences(MADE, {FIRST: ON_CPU, SECOND: late}, fine)
    assert found.node == SECOND


def test_findings_are_an_error_per_node_and_one_line_on_the_rest() -> None:
    answer = live(node_on(GPU), node_on(GPU), notes=("the table is older",))
    verdicts = {FIRST: ON_CPU, SECOND: ON_GPU}
    error, info = live_findings(MADE, "ort-webgpu", verdicts, answer)
    assert (error.code, error.severity, error.name) == ("table-differs", Severity.ERROR, "gru")
    assert (error.op, error.target) == ("GRU", "ort-webgpu")
    assert error.data["step"] == "version rule"
    assert error.text.endswith("; the table is older")
    assert "choose it as the target, or record a table of it" in error.remedy
    assert error.data["provider"] == GPU
    assert info.severity is Severity.INFO
    assert (
        "1 of 2 nodes as predicted, 1 differ, 0 cannot be compared; the table is older" in info.text
    )


def test_no_session_is_said_once() -> None:
    answer = LivePlacement("ort-webgpu", VERSIONS, {}, "ORT's process ended by signal 6 (SIGABRT)")
    error, info = live_findings(MADE, "ort-webgpu", {FIRST: ON_CPU, SECOND: ON_GPU}, answer)
    assert error.node is None
    assert "makes no session: ORT's process ended by signal 6" in info.text
    assert side_by_side(MADE, {FIRST: ON_CPU}, answer) == ()


def test_side_by_side_has_every_node() -> None:
    rows = side_by_side(MADE, {FIRST: ON_CPU, SECOND: ON_GPU}, live(node_on(GPU), node_on(GPU)))
    assert [(r.label, r.predicted, r.live, r.agrees) for r in rows] == [
        ("gru", "on the CPU (version rule)", GPU, False),
        ("relu", "on the GPU (kernel)", GPU, True),
    ]
    assert rows[0].to_json()["node"] == {"graph": [], "index": 0, "name": "gru"}


def test_place_of_a_verdict_that_says_nothing() -> None:
    assert place_of(Support(Status.UNSUPPORTED)) == ""
