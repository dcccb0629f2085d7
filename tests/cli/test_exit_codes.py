"""The exit codes that each command's help names: every one of them, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from guard_models import elus, gru, write
from onnx import helper
from opscope.engine.cli import devices, main
from opscope.engine.cli.main import COMMANDS
from opscope.engine.providers.record import OrtMissingError, RecordError

CASES = {
    ("run", 0): "run fine.onnx",
    ("run", 1): "run host.onnx --fallback error",
    ("run", 2): "run empty.onnx",
    ("run", 3): "run fine.onnx --adapter nonesuch",
    ("run", 4): "run wrong.onnx",
    ("plan", 0): "plan fine.onnx",
    ("plan", 2): "plan fine.onnx --shape z=1",
    ("plan", 3): "plan fine.onnx --limits adapter:nonesuch",
    ("plan", 4): "plan wrong.onnx",
    ("check", 0): "check fine.onnx",
    ("check", 1): "check half.onnx",
    ("check", 2): "check empty.onnx",
    ("check", 3): "check fine.onnx --limits adapter:nonesuch",
    ("check", 4): "check fine.onnx",
    ("devices", 0): "devices",
    ("devices", 2): "devices --json .",
    ("devices", 3): "devices",
    ("providers", 0): "providers",
    ("providers", 2): "providers --force",
    ("providers", 3): "providers --record ort-cpu",
    ("providers", 4): "providers --record ort-cpu",
    ("fix", 0): "fix newer.onnx --rule lower-opset",
    ("fix", 1): "fix newer.onnx --rule lower-opset --opset 1",
    ("fix", 2): "fix empty.onnx --rule lower-opset",
    ("explain", 0): "explain opset-gate",
    ("explain", 2): "explain opset-gated",
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    gru(tmp_path / "fine.onnx")
    gru(tmp_path / "half.onnx", "float16")
    elus(tmp_path / "newer.onnx", ["elu"])
    write(tmp_path / "host.onnx", helper.make_node("NonZero", ["x"], ["y"]))
    write(tmp_path / "wrong.onnx", helper.make_node("MatMul", ["x", "w"], ["y"]))
    (tmp_path / "empty.onnx").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_names_the_codes_that_are_tested(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    told = " ".join(capsys.readouterr().out.split()).partition("exit codes: ")[2]
    named = {int(found) for found in re.findall(r"(?:^|; )(\d) ", told)}
    assert named == {code for name, code in CASES if name == command}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("case", "call"), CASES.items(), ids=[f"{c}-{n}" for c, n in CASES])
def test_each_code(
    case: tuple[str, int],
    call: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if case == ("check", 4):
        monkeypatch.setattr("opscope.engine.guard.checking.judge", defect)
    if case == ("devices", 3):
        monkeypatch.setattr(devices, "list_adapters", list)
    if case == ("providers", 3):
        monkeypatch.setattr("opscope.engine.cli.providers.record", without_onnxruntime)
    if case == ("providers", 4):
        monkeypatch.setattr("opscope.engine.cli.providers.record", without_a_list)
    assert main(call.split()) == case[1]
    err = capsys.readouterr().err
    if case[1] > 1:
        assert err.startswith("opscope: error: ")
        assert err.count("\n") == 1


def defect(*_: object, **__: object) -> None:
    raise RuntimeError("no such thing")


def without_onnxruntime(*_: object) -> None:
    raise OrtMissingError("no onnxruntime")


def without_a_list(*_: object) -> None:
    raise RecordError("it crashed")
