"""A report opened again: the region's structure, verdicts, findings and times; nothing is run."""

import json
from xml.etree import ElementTree as ET

import pytest
import report_case as case
from opscope.engine.cli.main import main
from opscope.engine.diagnostics import Severity
from opscope.engine.errors import ModelFileError, UsageError
from opscope.engine.guard.checking import check_model
from opscope.engine.guard.junit import junit_xml
from opscope.engine.guard.results import Checked
from opscope.engine.guard.sarif import sarif_log
from opscope.engine.ir.model import NodeId
from opscope.engine.providers.support import Reason, Status, Support
from opscope.engine.report.build import make_report
from opscope.engine.report.container import SIGNATURE, write_zip
from opscope.engine.report.model import ReportedModel, reported_model
from opscope.engine.report.parse import parse
from opscope.engine.report.reopen import open_model, open_runnable, stated


@pytest.fixture
def path(tmp_path):
    found = str(tmp_path / "r.zip")
    write_zip(found, b"", make_report(case.subject()).report.to_text(), "")
    return found


def test_the_region_is_there_as_it_was(path):
    model = open_model(path)
    assert isinstance(model, ReportedModel)
    assert model.title == "Report of model ab12ab12ab12"
    assert [(n.id, n.op, n.name) for n in model.graph.nodes] == [
        (case.GRU, "GRU", "enc/secret_gru"),
        (case.ADD, "Add", ""),
        (case.CUSTOM, "acme::Secret", "last"),
    ]
    assert model.graph.nodes[0].attributes["activations"] == ("Sigmoid", "Tanh")
    assert [p.name for p in model.graph.inputs] == ["voice"]
    assert [p.name for p in model.graph.outputs] == ["out"]
    assert model.graph.initializers["gru_w"].shape == (1, 12, 3)
    assert model.graph.initializers["gru_w"].size_bytes == 144
    assert model.opset_imports == {"": 22, "acme": 1}
    assert model.types[(), "hidden"].shape == ("patients", None, 4)
    assert model.selected == case.GRU
    verdict = model.verdicts["ort-webgpu"][case.GRU]
    assert (verdict.status, verdict.reason) == (Status.HOST, Reason.SCHEMA_VERSION)
    gate, note = model.diagnostics
    assert (gate.code, gate.severity, gate.node) == ("opset-gate", Severity.ERROR, case.GRU)
    assert gate.links == ("https://example.org/28976",)
    assert note.node is None
    assert [(s.node, s.time.n, s.time.typical_ns) for s in model.summary] == [
        (case.GRU, 20, 1.5e5),
        (case.ADD, 0, 5e4),
    ]


def test_what_decided_the_live_answer_and_the_copies_are_there_as_they_were(path):
    model = open_model(path)
    verdicts = model.verdicts["ort-webgpu"]
    assert verdicts[case.GRU].data == {"step": "schema version"}
    assert verdicts[case.GRU].detail == "the node 'enc/secret_gru' has 22"
    assert verdicts[case.ADD].data == {"step": "Bias", "provider": "gpu", "into": str(case.CUSTOM)}
    assert verdicts[case.CUSTOM].data == {}
    given = case.subject()
    live = model.live["ort-webgpu"]
    assert live == given.live["ort-webgpu"]
    assert list(model.live) == ["ort-webgpu"]
    # What crosses from or to nodes that are not shown cannot be drawn; the report lists it.
    assert model.copies["ort-webgpu"] == given.copies["ort-webgpu"][:1]


def test_that_a_node_reads_cpu_values_alone_survives():
    """Where it does, being on the CPU costs no copy."""
    verdict = Support(
        Status.HOST, Reason.TYPE, "int64", {"step": "kernel", "host_values_only": True}
    )
    subject = case.subject(verdicts={"ort-webgpu": {case.ADD: verdict}})
    model = reported_model(parse(make_report(subject).report.to_text(), "r"))
    assert model.verdicts["ort-webgpu"] == {case.ADD: verdict}


def test_weights_are_absent_and_say_so(path):
    with pytest.raises(ModelFileError, match="holds no weights, so 'gru_w'"):
        open_model(path).graph.initializers["gru_w"].numpy()


def test_a_report_cannot_be_run(path):
    with pytest.raises(UsageError, match="holds no weights"):
        open_runnable(path)


def test_nodes_of_a_subgraph_keep_their_indices():
    report = make_report(case.subject()).report
    from dataclasses import replace

    inner = replace(report, graph=("3.body",), nodes=report.nodes[2:], selected=2)
    model = reported_model(inner)
    assert list(model.nodes) == [NodeId((), 2)]
    assert model.diagnostics[0].node is None  # it speaks of a node that is not shown


def test_a_target_that_the_report_does_not_know_is_unknown(path):
    judged = stated(open_model(path), ["opscope", "other"])
    assert judged.verdicts["opscope"][case.ADD].status is Status.GPU
    assert judged.verdicts["other"][case.ADD].status is Status.UNKNOWN
    assert [d.code for d in judged.diagnostics] == ["note"]  # the other is ort-webgpu's


def test_check_shows_what_the_report_says(path, capsys):
    assert main(["check", path, "--format", "json"]) == 1
    file = json.loads(capsys.readouterr().out)["files"][0]
    assert file["operators"]["GRU"]["ort-webgpu"] == {"host (schema version)": 1}
    assert {d["code"] for d in file["diagnostics"]} == {"opset-gate", "note"}
    assert main(["check", path, "--target", "opscope"]) == 0


def test_check_is_incomplete_for_a_target_whose_findings_the_report_lacks(path, capsys):
    assert main(["check", path, "--target", "opscope", "--target", "ort-cpu"]) == 3
    out, error = capsys.readouterr()
    assert "incomplete: " in out
    assert error.startswith(f"opscope: error: {path}: the report holds no findings of ")
    assert "ort-cpu" in error or "CPU" in error
    assert error.count("\n") == 1


def test_a_target_with_verdicts_but_without_findings_is_not_fine_either(tmp_path):
    report = make_report(case.subject(diagnostics=(), told=("opscope",))).report
    path = str(tmp_path / "r.zip")
    write_zip(path, b"", report.to_text(), "")
    checked = check_model(path, ["opscope", "ort-webgpu"])
    assert list(checked.not_known) == ["ort-webgpu"]
    assert checked.exit_code == 3
    assert Checked.from_json(json.loads(json.dumps(checked.to_json()))) == checked
    (error,) = ET.fromstring(junit_xml([checked])).iter("error")
    assert error.get("message") == checked.not_known["ort-webgpu"]
    (notice,) = sarif_log([checked], exit_code=3)["runs"][0]["invocations"][0][
        "toolExecutionNotifications"
    ]
    assert checked.not_known["ort-webgpu"] in notice["message"]["text"]


def test_check_names_no_command_that_needs_the_model(path, capsys):
    assert main(["check", path]) == 1
    out = capsys.readouterr().out
    assert "opset-gate" in out
    assert "opscope fix" not in out


@pytest.mark.parametrize("command", ["run", "plan"])
def test_run_and_plan_refuse_it_in_one_line(path, command, capsys):
    assert main([command, path]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"opscope: error: {path}: this is a report")
    assert error.count("\n") == 1


def test_a_picture_that_is_no_report_is_refused(tmp_path, capsys):

    path = tmp_path / "cat.png"
    path.write_bytes(SIGNATURE)
    assert main(["check", str(path)]) == 2
    assert "holds no report of Opscope" in capsys.readouterr().err
