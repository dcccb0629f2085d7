"""What a report holds, and what it must never hold."""

import json
from dataclasses import replace

import report_case as case
from opscope.engine.ir.model import Graph, Model, Node, NodeId, Port, TensorType
from opscope.engine.live.answer import LivePlacement
from opscope.engine.providers.targets import target
from opscope.engine.report.build import Subject, make_report
from opscope.engine.report.data import MAX_BYTES, MAX_NODES, ReportCopy, ReportTarget
from opscope.engine.report.parse import parse


def test_a_report_holds_structure_verdicts_findings_and_times():
    report = make_report(case.subject()).report
    assert [(n.index, n.op, n.name) for n in report.nodes] == [
        (0, "GRU", "enc/secret_gru"),
        (1, "Add", ""),
        (2, "acme::Secret", "last"),
    ]
    assert report.selected == 0
    assert report.model["sha256"] == case.SHA
    assert report.model["opsets"] == {"ai.onnx": 22, "acme": 1}
    assert report.values["hidden"] == ("float32", ("patients", None, 4))
    assert report.values["sum"] == ("float32", None)
    assert report.values["out"] == ("float32", ("patients", 4))  # as the graph declares it
    assert report.weights == {"gru_w": ("float32", (1, 12, 3)), "offset": ("float32", ())}
    assert report.verdicts["ort-webgpu"][0][:2] == ("host", "schema version")
    assert [f["code"] for f in report.findings] == ["opset-gate", "note"]
    gru, add = report.times
    assert (gru.kernel, gru.dispatches, gru.n, gru.min_ns, gru.p50_ns) == (
        "gru_scan",
        2,
        20,
        1e5,
        1.5e5,
    )
    assert (add.n, add.p50_ns) == (0, 5e4)  # the first run's time, and said to be it
    assert report.timing == {"engine": "Opscope on wgpu", "source": "inside-pass"}
    assert report.adapter["driver"] == "7.1"
    assert report.assumed == {"patients": 1, "voice[1]": 7}
    assert {"opscope", "wgpu", "python", "system"} <= set(report.versions)


def test_a_report_says_what_decided_and_for_whom():
    subject = case.subject()
    name = "ort-webgpu,enableInt64=1,forceCpuNodeNames=last"
    report = make_report(replace(subject, verdicts={name: {}, **subject.verdicts})).report
    assert report.decided["ort-webgpu"] == {
        0: {"step": "schema version"},
        1: {"step": "Bias", "provider": "gpu", "into": 2},
    }
    assert report.decided["opscope"] == {}
    assert report.targets["opscope"] == ReportTarget("Opscope")
    found = report.targets[name]
    assert found.label == report.targets["ort-webgpu"].label
    assert found.version == target("ort-webgpu").version
    assert found.date == target("ort-webgpu").provider.table.date
    assert found.options == ("enableInt64=1", "preferredLayout=NHWC", "forceCpuNodeNames=last")
    assert report.targets["ort-webgpu"].options == ("enableInt64=0", "preferredLayout=NHWC")
    assert (
        make_report(case.subject(verdicts={"ort-cpu": {}})).report.targets["ort-cpu"].options == ()
    )


def test_a_report_has_the_live_answer_and_the_copies_of_its_region():
    report = make_report(case.subject()).report
    live = report.live["ort-webgpu"]
    assert live.versions == {"onnxruntime": "1.32.0"}
    assert live.nodes == {
        0: ("host", "CPUExecutionProvider", "same name"),
        1: ("fused", "WebGpuExecutionProvider", "fused into 'last' (Secret)"),
        2: ("unknown", "", ""),
    }
    assert live.notes == ("the table is of 0.4.0",)
    assert report.copies["ort-webgpu"] == (
        ReportCopy("hidden", True, 2_048, 0, (1,)),
        ReportCopy("secret_inner", False, None, None, (2,)),
    )
    region = make_report(case.subject(nodes=[case.CUSTOM], selected=None)).report
    assert list(region.live["ort-webgpu"].nodes) == [2]
    assert [c.value for c in region.copies["ort-webgpu"]] == ["secret_inner"]
    assert region.decided["ort-webgpu"] == {}


def test_why_ort_made_no_session_is_told_without_paths():
    error = f"Load of {case.FOLDER}/clinic.onnx failed at 'last'"
    answer = LivePlacement("ort-webgpu", {"onnxruntime": "9"}, {}, error, case.CUSTOM)
    found = make_report(case.subject(live={"ort-webgpu": answer})).report.live["ort-webgpu"]
    assert found.error == "Load of (path left out) failed at 'last'"
    assert found.failed == 2
    answer = replace(answer, error="", run_error=f"no {case.FOLDER}/clinic.onnx", failed_node=None)
    found = make_report(case.subject(live={"ort-webgpu": answer})).report.live["ort-webgpu"]
    assert (found.run_error, found.failed) == ("no (path left out)", None)


def test_no_weight_no_path_and_no_file_name_leave_the_machine():
    text = make_report(case.subject()).report.to_text()
    for secret in (str(case.SECRET), "secret-person", "secret-project", "clinic", "cache.bin"):
        assert secret not in text
    nodes = json.loads(text)["nodes"]
    assert nodes[0]["attributes"] == {
        "hidden_size": 4,
        "activations": ["Sigmoid", "Tanh"],
        "clip": 3.5,
    }
    assert nodes[2]["attributes"] == {"mode": "fast", "level": 3}


def test_the_values_of_constant_nodes_stay_behind():
    node = Node(NodeId((), 0), "Constant", "", "k", (), ("c",), {"value_floats": (case.SECRET,)})
    graph = Graph((), nodes=(node,), outputs=(Port("c", TensorType("float32", (1,))),))
    subject = Subject(Model("", case.SHA, 1, graph), graph, [node.id], {}, {}, ())
    assert make_report(subject).report.nodes[0].attributes == {}


def test_the_home_folder_is_taken_out_of_texts(monkeypatch, tmp_path):
    from opscope.engine.diagnostics import Diagnostic, Severity

    monkeypatch.setenv("HOME", str(tmp_path))
    found = Diagnostic("x", Severity.INFO, f"data at {tmp_path}/weights.bin is missing")
    report = make_report(case.subject(diagnostics=(found,))).report
    assert report.findings[0]["text"] == "data at (path left out)/weights.bin is missing"


def test_the_files_name_is_said_when_asked_for_and_never_its_folder():
    report = make_report(case.subject(), file_name=True).report
    assert report.file_name == "clinic.onnx"
    assert "secret" not in report.file_name
    assert make_report(case.subject()).report.file_name == ""


def test_before_any_run_there_is_no_time_and_no_adapter():
    report = make_report(case.subject(summary=(), timing_source="")).report
    assert (report.times, report.timing, report.adapter) == ((), {}, {})


def test_a_report_can_always_be_read_back():
    for redact in (False, True):
        report = make_report(case.subject(), redact=redact).report
        again = parse(report.to_text(), "r.png")
        assert json.loads(again.to_text()) == json.loads(report.to_text())


def _chain(count: int, name_length: int) -> Subject:
    nodes = tuple(
        Node(NodeId((), i), "Relu", "", f"{i}_" + "n" * name_length, (f"v{i}",), (f"v{i + 1}",))
        for i in range(count)
    )
    graph = Graph((), nodes=nodes)
    ids = [n.id for n in nodes]
    return Subject(Model("", case.SHA, 1, graph), graph, ids, {}, {}, (), ids[count // 2])


def test_what_does_not_fit_is_left_out_far_from_the_selected_node_and_counted():
    report = make_report(_chain(4000, 3000)).report
    assert len(report.to_text()) <= MAX_BYTES
    assert 0 < len(report.nodes) < 4000
    assert len(report.nodes) + report.left_out == 4000
    middle = [n.index for n in report.nodes]
    assert report.selected == 2000
    assert abs(sum(middle) / len(middle) - 2000) < 1
    assert parse(report.to_text(), "r").left_out == report.left_out


def test_a_huge_view_is_cut_at_the_limit():
    report = make_report(_chain(MAX_NODES + 10, 1)).report
    assert (len(report.nodes), report.left_out) == (MAX_NODES, 10)


def test_hostile_names_do_not_break_the_report():
    names = ("\ud800", "a\nb\x1b[31m", "x" * 10_000, "")
    nodes = tuple(
        Node(NodeId((), i), "Relu", "", name, (name,), (f"o{i}",)) for i, name in enumerate(names)
    )
    graph = Graph((), nodes=nodes)
    ids = [n.id for n in nodes]
    subject = Subject(Model("", case.SHA, 1, graph), graph, ids, {}, {}, (), ids[0])
    for redact in (False, True):
        again = parse(make_report(subject, redact=redact).report.to_text(), "r")
        assert len(again.nodes) == 4
        for node in again.nodes:
            assert node.name.isprintable()
