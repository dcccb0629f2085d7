"""JUnit XML as CI servers read it: suites, cases, failures, errors, and names of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import guard_models as models
import junitparser
import pytest
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.guard import Checked, Found, LiveTable, Policy, check_model
from opscope.engine.guard.checking import Request, failed
from opscope.engine.guard.junit import junit_xml, legal

KINDS = {"failure", "error", "skipped"}


def parsed(*checked: Checked) -> ET.Element:
    """The report, by the rules that the schemas of Jenkins' and Ant's readers have in common."""
    text = junit_xml(checked)
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n')
    root = ET.fromstring(text.encode("utf-8"))
    assert root.tag == "testsuites"
    for suite in root:
        assert suite.tag == "testsuite"
        assert suite.get("name")
        cases = list(suite)
        assert {c.tag for c in cases} == {"testcase"}
        assert int(suite.get("tests", "")) == len(cases)
        for kind, total in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert int(suite.get(total, "")) == len(suite.findall(f"testcase/{kind}"))
        float(suite.get("time", ""))
        for case in cases:
            assert case.get("name")
            assert case.get("classname") == suite.get("name")
            float(case.get("time", ""))
            assert {e.tag for e in case} <= KINDS | {"system-out", "system-err"}
            problems = [e for e in case if e.tag in KINDS]
            assert len(problems) <= 1
            assert all(p.get("message") and p.get("type") for p in problems)
    names = [(c.get("classname"), c.get("name")) for c in root.iter("testcase")]
    assert len(names) == len(set(names))  # GitLab takes the first of two alone
    for total in ("tests", "failures", "errors"):
        assert int(root.get(total, "")) == sum(int(s.get(total, "")) for s in root)
    return root


def cases(root: ET.Element) -> dict[str, str]:
    """Case -> what became of it."""
    return {
        c.get("name", ""): next((e.tag for e in c if e.tag in KINDS), "passed")
        for c in root.iter("testcase")
    }


def of(path: str, *diagnostics: Diagnostic, **fields: Any) -> Checked:
    found = tuple(Found(d, str(i), d.name) for i, d in enumerate(diagnostics))
    return Checked(path, ("ort-webgpu",), found, **fields)


def test_a_clean_model_is_a_case_that_passes_per_target(tmp_path: Path) -> None:
    checked = check_model(models.gru(tmp_path / "fine.onnx"))
    assert cases(parsed(checked)) == {
        "model: nothing that fails the check": "passed",
        "opscope: nothing that fails the check": "passed",
        "ort-webgpu: nothing that fails the check": "passed",
    }


def test_each_finding_that_fails_is_a_failed_case(tmp_path: Path) -> None:
    path = models.elus(tmp_path / "m.onnx", ["a", "b"])
    checked = check_model(path, policy=Policy(fail_on=Severity.WARNING))
    found = cases(parsed(checked))
    assert found["ort-webgpu: opset-gate: a (Elu)"] == "failure"
    assert found["ort-webgpu: opset-gate: b (Elu)"] == "failure"
    assert found["opscope: nothing that fails the check"] == "passed"
    assert "ort-webgpu: nothing that fails the check" not in found
    first = parsed(checked).find(".//failure")
    assert first is not None
    assert first.get("type") == "warning: opset-gate"
    assert first.get("message") == checked.findings[0].diagnostic.text
    assert f"remedy: {checked.findings[0].diagnostic.remedy}" in (first.text or "")


def test_what_does_not_fail_is_output_of_the_case_that_passes(tmp_path: Path) -> None:
    checked = check_model(models.elus(tmp_path / "m.onnx", ["a"]), ["ort-webgpu"])
    outputs = [e.text or "" for e in parsed(checked).iter("system-out")]
    assert any("warning: [opset-gate] 'a' (Elu): " in text for text in outputs)


def test_a_file_that_cannot_be_checked_is_an_error() -> None:
    root = parsed(failed(Request("bad.onnx"), "bad.onnx: it is empty", 2))
    assert cases(root) == {"the file can be checked": "error"}
    (error,) = root.iter("error")
    assert error.get("message") == "bad.onnx: it is empty"
    assert root.get("errors") == "1"


def test_an_ort_that_cannot_be_asked_is_an_error() -> None:
    checked = of("m.onnx", live=(LiveTable("ort-webgpu", unavailable="no adapter"),))
    found = cases(parsed(checked))
    assert found["ort-webgpu: the installed ONNX Runtime can be asked"] == "error"


def test_no_two_cases_and_no_two_suites_share_a_name() -> None:
    twin = Diagnostic("host-node", Severity.ERROR, "t", name="n", op="Relu", target="ort-webgpu")
    literal = replace(twin, name="n (Relu) (2)", op="")
    root = parsed(of("m.onnx", twin, twin, literal), of("m.onnx", twin))
    assert [s.get("name") for s in root] == ["m.onnx", "m.onnx (2)"]
    assert root.get("failures") == "4"


@pytest.mark.parametrize(
    "name",
    ["a\x00b", "\x1b[31m", "\ud800", "\ufffe", "<b>&\"'", "]]>", "行\n\t", "\U0001f600", "e\u0301"],
)
def test_any_name_gives_xml_that_can_be_read(name: str) -> None:
    d = Diagnostic("host-node", Severity.ERROR, f"of {name}", f"try {name}", None, name, name)
    root = parsed(of(name, d), failed(Request(name), f"{name}: bad", 2))
    (failure,) = root.iter("failure")
    assert failure.get("message") == f"of {legal(name)}"
    assert root[0].get("name") == legal(name)


def test_another_reader_finds_the_same(tmp_path: Path) -> None:
    path = models.elus(tmp_path / "m.onnx", ["a", "b"])
    checked = check_model(path, policy=Policy(fail_on=Severity.WARNING))
    bad = failed(Request("bad.onnx"), "bad.onnx: it is empty", 2)
    (tmp_path / "report.xml").write_text(junit_xml([checked, bad]), encoding="utf-8")
    suites = list(junitparser.JUnitXml.fromfile(str(tmp_path / "report.xml")))
    assert [s.name for s in suites] == [path, "bad.onnx"]
    results = {c.name: [type(r).__name__ for r in c.result] for s in suites for c in s}
    assert results["ort-webgpu: opset-gate: a (Elu)"] == ["Failure"]
    assert results["opscope: nothing that fails the check"] == []
    assert results["the file can be checked"] == ["Error"]


def test_what_xml_cannot_hold_is_written_out() -> None:
    assert legal("a\x00\x1b\ud800\ufffe z") == r"a\x00\x1b\ud800\ufffe z"
    assert legal("\t\n äé行\U0001f600") == "\t\n äé行\U0001f600"
