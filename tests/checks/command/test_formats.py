"""JSON, SARIF and JUnit say what the text says."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import report_case
from opscope.engine.cli import main
from opscope.engine.report.build import make_report
from opscope.engine.report.container import write_zip


def test_json_holds_what_the_text_says(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.json"
    missing = str(tmp_path / "missing.onnx")
    assert main(["check", half, missing, "--format", "json", "-o", str(target)]) == 2
    assert capsys.readouterr().out == ""
    data = json.loads(target.read_text())
    assert data["schema"] == 1
    assert [t["id"] for t in data["targets"]] == ["opscope", "ort-webgpu"]
    first, second = data["files"]
    assert first["exit_code"] == 1
    assert first["placement"] == {"opscope": {"gpu": 1}, "ort-webgpu": {"host": 1}}
    assert first["operators"]["GRU"]["ort-webgpu"] == {"host (type)": 1}
    assert [d["code"] for d in first["diagnostics"]] == ["f16-recurrent-on-cpu"]
    assert first["diagnostics"][0]["node"] == {"graph": [], "index": 0, "name": "rnn"}
    assert (second["path"], second["exit_code"]) == (missing, 2)
    assert "missing.onnx" in second["error"]


def test_sarif_and_junit_say_what_the_text_says(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"")
    assert main(["check", half, "bad.onnx", "--format", "sarif", "-o", "out.sarif"]) == 2
    run = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]
    assert [r["ruleId"] for r in run["results"]] == ["f16-recurrent-on-cpu"]
    assert run["invocations"][0]["exitCode"] == 2
    told = run["invocations"][0]["toolExecutionNotifications"]
    assert "bad.onnx" in told[0]["message"]["text"]
    assert main(["check", half, "bad.onnx", "--format", "junit", "-o", "out.xml"]) == 2
    root = ET.parse(tmp_path / "out.xml").getroot()
    assert (root.get("failures"), root.get("errors")) == ("1", "1")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_a_report_is_checked_as_it_says(
    tmp_path: Path, fine: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "r.zip")
    write_zip(path, b"", make_report(report_case.subject()).report.to_text(), "")
    assert main(["check", path, "--format", form]) == 1
    out = capsys.readouterr().out
    assert "opset-gate" in out
    assert "enc/secret_gru" in out
    assert main(["check", path, "--live"]) == 3
    assert "a report holds no model to ask about" in capsys.readouterr().err
