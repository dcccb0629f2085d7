"""The project's file and the baseline."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from guard_models import chain, elus
from opscope.engine.cli import main


def test_the_project_s_file_is_found_and_options_win(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "opscope.toml").write_text('targets = ["opscope"]\nfail-on = "warning"\n')
    path = elus(tmp_path / "m.onnx", ["a"])
    assert main(["check", path]) == 0
    said = capsys.readouterr().out
    assert "opscope.toml" in said
    assert "ORT WebGPU" not in said
    assert main(["check", path, "--target", "ort-webgpu"]) == 1
    assert main(["check", path, "--target", "ort-webgpu", "--fail-on", "error"]) == 0
    assert main(["check", path, "--no-config"]) == 0
    (tmp_path / "other.toml").write_text('[target.ort-webgpu]\nallow-host = ["Relu"]\n')
    assert main(["check", path, "--config", "other.toml"]) == 1
    capsys.readouterr()
    (tmp_path / "opscope.toml").write_text("failon = 1\n")
    assert main(["check", path]) == 2
    err = capsys.readouterr().err
    assert err == ("opscope: error: opscope.toml: failon: unknown key; did you mean 'fail-on'?\n")


def test_ignored_findings_are_counted_with_their_reason_and_stale_rules_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = '[[rule]]\nseverity = "ignore"\nreason = "measured"\ncode = "opset-gate"\n'
    stale = '[[rule]]\nseverity = "info"\nop = "Softmax"\n'
    (tmp_path / "opscope.toml").write_text(rule + stale)
    assert main(["check", elus(tmp_path / "m.onnx", ["a", "b"]), "--fail-on", "warning"]) == 0
    out = capsys.readouterr().out
    assert "2 ignored: measured" in out
    assert "rule 2 of " in out
    assert "matches nothing: op 'Softmax'" in out
    assert "rule 1 of" not in out


def test_strict_and_required_add_to_the_file(tmp_path: Path, half: str) -> None:
    (tmp_path / "opscope.toml").write_text('require = ["Conv"]\nstrict = false\n')
    arguments = ["check", half, "--format", "json", "-o", "out.json"]
    main([*arguments, "--require", "GRU, ,GRU", "--strict"])
    data = json.loads((tmp_path / "out.json").read_text())
    codes = [d["code"] for d in data["files"][0]["diagnostics"]]
    assert sorted(c for c in codes if c.startswith(("req", "str"))) == [
        "required-op",
        "strict-placement",
    ]
    assert data["files"][0]["uncovered"] == 2
    assert data["policy"] == "opscope.toml"


def test_an_operator_that_the_file_requires_and_no_model_has_is_told(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "opscope.toml").write_text('require = ["GRU", "GRUU"]\n')
    assert main(["check", fine, "--fail-on", "warning"]) == 0
    assert "require of opscope.toml: no model has the operator GRUU\n" in capsys.readouterr().out
    assert main(["check", fine, "--fail-on", "warning", "--require", "LSTM"]) == 1
    assert "[required-op-absent]" in capsys.readouterr().out


def test_a_baseline_shows_what_is_new_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = elus(tmp_path / "m.onnx", ["a", "b"])
    strict = ["check", path, "--fail-on", "warning"]
    assert main(strict) == 1
    assert main([*strict, "--write-baseline", "known.json"]) == 0
    assert "known.json: " in capsys.readouterr().err
    assert main([*strict, "--baseline", "known.json"]) == 0
    out = capsys.readouterr().out
    assert "[opset-gate]" not in out
    assert "known findings not shown" in out
    elus(tmp_path / "m.onnx", ["b"])
    assert main([*strict, "--baseline", "known.json"]) == 0
    assert "gone (--write-baseline forgets them)" in capsys.readouterr().out
    chain(tmp_path / "m.onnx", [("Relu", "r"), ("Elu", "b"), ("Elu", "c"), ("Elu", "a")])
    assert main([*strict, "--baseline", "known.json"]) == 1
    shown_lines = [s for s in capsys.readouterr().out.splitlines() if "[opset-gate]" in s]
    assert len(shown_lines) == 1
    assert "'c' (Elu)" in shown_lines[0]
    for form in ("sarif", "junit", "json"):
        assert main([*strict, "--baseline", "known.json", "--format", form]) == 1
        assert "'a'" not in capsys.readouterr().out
    both = ["--baseline", "known.json", "--write-baseline", "known.json"]
    assert main([*strict, *both]) == 0
    assert main([*strict, "--baseline", "known.json"]) == 0


def test_a_baseline_is_not_written_past_an_unreadable_file(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", fine, "missing.onnx", "--write-baseline", "known.json"]) == 2
    assert not (tmp_path / "known.json").exists()
    said = capsys.readouterr()
    assert "fine.onnx" in said.out
    first, second = said.err.splitlines()
    assert "missing.onnx" in first
    assert second == "opscope: error: known.json is not written: missing.onnx could not be checked"
