"""SARIF 2.1.0: valid by the standard's own schema, and what viewers need is where they look."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import guard_models as models
import jsonschema
import opscope_testdata as testdata
import pytest
from opscope.engine.checks.codes import CODES
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.guard import Checked, Found, LiveTable, check_model, sarif
from opscope.engine.guard.checking import Request, failed
from opscope.engine.guard.sarif import artifact_location, sarif_log
from opscope.engine.guard.worker import plain
from opscope.engine.ir.model import NodeId

SCHEMA = Path(__file__).parent / "data/sarif-schema-2.1.0.json"


@cache
def validator() -> jsonschema.protocols.Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def log_of(*checked: Checked, **options: Any) -> dict[str, Any]:
    """The log as it is written and read again, which the schema accepts."""
    text = json.dumps(sarif_log(checked, **options), allow_nan=False, default=plain)
    data = json.loads(text)
    errors = [f"{e.json_path}: {e.message}" for e in validator().iter_errors(data)]
    assert errors == []
    assert data["version"] == "2.1.0"
    return data["runs"][0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def half(here: Path, name: str = "models/half.onnx") -> Checked:
    """A GRU in f16: an error about a node for ORT WebGPU."""
    models.gru(here / name, "float16")
    return check_model(name)


def saying(text: str, **fields: Any) -> Checked:
    diagnostic = Diagnostic("host-node", Severity.ERROR, text, **fields)
    return Checked("m.onnx", ("ort-webgpu",), (Found(diagnostic, "0" * 32, "place"),))


def test_the_schema_is_the_one_that_the_log_names() -> None:
    assert json.loads(SCHEMA.read_text())["id"] == sarif.SCHEMA_URI
    assert not list(validator().iter_errors({"version": "2.1.0", "runs": []}))
    assert list(validator().iter_errors({"version": "2.1.0", "runs": [{}]}))


def test_a_finding_points_at_the_file_and_the_node(here: Path) -> None:
    checked = half(here)
    run = log_of(checked, exit_code=1)
    found = checked.failing[0]
    result = next(r for r in run["results"] if r["level"] == "error")
    assert result["ruleId"] == found.diagnostic.code
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    text = result["message"]["text"]
    assert text.startswith("ort-webgpu: 'rnn' (GRU): ")
    assert f"\nRemedy: {found.diagnostic.remedy}" in text
    (location,) = result["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "models/half.onnx", "uriBaseId": "%SRCROOT%"}
    assert physical["region"] == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 2}
    (logical,) = location["logicalLocations"]
    assert (logical["name"], logical["fullyQualifiedName"]) == ("rnn", "main graph/rnn")
    assert logical["properties"] == {"graph": [], "index": 0, "operator": "GRU"}
    assert result["properties"]["target"] == "ort-webgpu"
    assert result["properties"]["data"]["reason"] == "type"
    prints = result["partialFingerprints"]
    assert prints["opscopeFinding/v1"] == found.fingerprint
    assert prints["primaryLocationLineHash"] == f"{found.fingerprint}:1"
    assert "baselineState" not in result
    assert run["invocations"][0]["executionSuccessful"] is True
    assert run["invocations"][0]["exitCode"] == 1
    assert run["artifacts"][0]["hashes"]["sha-256"] == checked.model["sha256"]
    assert run["originalUriBaseIds"].keys() == {"%SRCROOT%"}


def test_findings_that_are_alike_are_numbered_in_each_file() -> None:
    twice = saying("t")
    twice = replace(twice, findings=twice.findings * 2)
    run = log_of(twice, replace(twice, path="n.onnx"))
    hashes = [r["partialFingerprints"]["primaryLocationLineHash"] for r in run["results"]]
    assert hashes == [f"{'0' * 32}:1", f"{'0' * 32}:2"] * 2


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["models/a.onnx"], "opscope/ort-webgpu/models"),
        (["models/a.onnx", "models/b.onnx"], "opscope/ort-webgpu/models"),
        (["models/x/a.onnx", "models/y/b.onnx"], "opscope/ort-webgpu/models"),
        (["models/a.onnx", "b.onnx"], "opscope/ort-webgpu"),
        (["größe/a.onnx"], "opscope/ort-webgpu/gr%C3%B6%C3%9Fe"),
        ([], "opscope/none"),
    ],
)
def test_a_call_s_category_is_what_it_checks_for_and_where(
    here: Path, paths: list[str], expected: str
) -> None:
    run = log_of(*(replace(saying("t"), path=path) for path in paths))
    assert run["automationDetails"]["id"] == f"{expected}/"


def test_calls_for_other_targets_are_of_another_category(here: Path) -> None:
    both = replace(saying("t"), targets=("opscope", "ort-cpu"))
    assert sarif.category([both, both]) == "opscope/opscope+ort-cpu"
    # A file that could not be read was checked for nothing, and changes nothing.
    bad = failed(Request("bad.onnx"), "bad.onnx: it is empty", 2)
    assert sarif.category([bad, both]) == "opscope/opscope+ort-cpu"


def test_severities_are_sarif_s_levels(here: Path) -> None:
    checked = saying("t")
    levels = {"error": "error", "warning": "warning", "info": "note"}
    for severity, level in levels.items():
        d = replace(checked.findings[0].diagnostic, severity=Severity(severity))
        run = log_of(replace(checked, findings=(Found(d, "0", ""),)))
        assert run["results"][0]["level"] == level


def test_every_code_is_a_rule_with_what_github_asks_for(here: Path) -> None:
    checked = half(here)
    driver = log_of(checked)["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("Opscope", version("opscope"))
    rules = {r["id"]: r for r in driver["rules"]}
    assert rules.keys() == CODES.keys()
    for code, rule in rules.items():
        assert rule["shortDescription"]["text"]
        assert rule["fullDescription"]["text"]
        assert rule["help"]["text"]
        worst = CODES[code].severities[0]
        assert rule["defaultConfiguration"]["level"] == sarif.LEVELS[worst]
        assert rule["properties"]["problem.severity"] == sarif.PROBLEMS[worst]
        assert rule["properties"]["precision"] in ("very-high", "high", "medium", "low")


def test_a_code_that_was_found_brings_its_page(here: Path) -> None:
    checked = half(here)
    used = {f.diagnostic.code for f in checked.findings}
    for rule in log_of(checked)["tool"]["driver"]["rules"]:
        if rule["id"] in used:
            assert rule["help"]["markdown"].startswith(f"# {rule['id']}")
        else:
            assert f"opscope explain {rule['id']}" in rule["help"]["text"]
            assert "markdown" not in rule["help"]


def test_a_code_that_no_list_has_is_a_rule_too(here: Path) -> None:
    checked = saying("t")
    d = replace(checked.findings[0].diagnostic, code="brand-new")
    run = log_of(replace(checked, findings=(Found(d, "0", ""),)))
    rule = run["tool"]["driver"]["rules"][run["results"][0]["ruleIndex"]]
    assert rule["id"] == "brand-new"


def test_rules_link_to_their_pages_where_the_package_says_where_they_are(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sarif, "project_url", lambda label: f"https://example.org/{label}")
    driver = log_of(saying("t"))["tool"]["driver"]
    uris = {r["helpUri"] for r in driver["rules"]}
    assert "https://example.org/Documentation/checks/host-node.md" in uris
    monkeypatch.setattr(sarif, "project_url", lambda label: "")
    driver = log_of(saying("t"))["tool"]["driver"]
    assert not any("helpUri" in r for r in driver["rules"])


def test_an_address_is_read_from_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    class Metadata:
        def get_all(self, _: str) -> list[str]:
            return ["Homepage, https://a.org", "documentation, https://b.org/docs/"]

    monkeypatch.setattr(sarif, "metadata", lambda _: Metadata())
    assert sarif.project_url("Documentation") == "https://b.org/docs"
    assert sarif.project_url("Issues") == ""


def test_with_a_baseline_each_finding_is_new(here: Path) -> None:
    states = {r["baselineState"] for r in log_of(half(here), compared=True)["results"]}
    assert states == {"new"}


def test_an_unreadable_file_is_a_notification_and_the_run_no_success(here: Path) -> None:
    bad = failed(Request("bad file.onnx"), "bad file.onnx: it is empty", 2)
    run = log_of(half(here), bad, exit_code=2)
    (invocation,) = run["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "bad file.onnx: it is empty"
    assert notification["level"] == "error"
    where = notification["locations"][0]["physicalLocation"]["artifactLocation"]
    assert where["uri"] == "bad%20file.onnx"
    assert run["results"]  # the other file's stay


def test_an_ort_that_cannot_be_asked_is_a_notification(here: Path) -> None:
    table = LiveTable("ort-webgpu", unavailable="no adapter")
    run = log_of(replace(half(here), live=(table,)))
    assert run["invocations"][0]["executionSuccessful"] is False
    told = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert "no adapter" in told


@pytest.mark.parametrize(
    ("name", "uri"),
    [
        ("a b.onnx", "a%20b.onnx"),
        ("größe/模型.onnx", "gr%C3%B6%C3%9Fe/%E6%A8%A1%E5%9E%8B.onnx"),
        ("100%#?.onnx", "100%25%23%3F.onnx"),
        ("./x/../m.onnx", "m.onnx"),
        ("c:m.onnx", "c%3Am.onnx"),
        ("bad\udce9.onnx", "bad%E9.onnx"),
    ],
)
def test_a_path_is_a_uri_reference(here: Path, name: str, uri: str) -> None:
    assert artifact_location(name) == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    log_of(replace(saying("t"), path=name))


def test_a_path_is_from_the_repository_s_root_with_links_resolved(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".git").mkdir()
    (here / "sub/models").mkdir(parents=True)
    (here / "sub/link").symlink_to("models")
    monkeypatch.chdir(here / "sub")
    for name in ("models/m.onnx", "link/m.onnx", str(here / "sub/link/m.onnx")):
        assert artifact_location(name)["uri"] == "sub/models/m.onnx"
    # One that leads out of the repository is where the repository has it.
    (here / "sub/out").symlink_to(here.parent)
    assert artifact_location("out/m.onnx")["uri"] == "sub/out/m.onnx"


def test_a_file_outside_the_folder_has_its_whole_uri(here: Path) -> None:
    inside = here / "inside"
    assert artifact_location(str(inside / "m.onnx")) == {
        "uri": "inside/m.onnx",
        "uriBaseId": "%SRCROOT%",
    }
    location = artifact_location("../other/m.onnx")
    assert location.keys() == {"uri"}
    assert unquote(location["uri"]) == f"file://{here.parent}/other/m.onnx"


def test_names_from_a_file_are_no_links_and_no_placeholders(here: Path) -> None:
    name = "[click](https://example.org) {0} \x1b[31m\u202e"
    run = log_of(saying("shape [1, 3]", node=NodeId((), 0), name=name, op="Relu"))
    text = run["results"][0]["message"]["text"]
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "{{0}}" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "shape [1, 3]" in text


@pytest.mark.parametrize("model_id", ["derived.dfn3_enc_fp16", "silero.silero_vad"])
def test_a_real_model_gives_a_valid_log(model_id: str) -> None:
    checked = check_model(testdata.model_path(model_id))
    assert len(log_of(checked)["results"]) == len(checked.findings)
