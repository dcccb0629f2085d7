"""What the command refuses, and errors in one line each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opscope.engine.cli import check, main
from opscope.engine.errors import LimitError, NodeError
from opscope.engine.guard import checking
from opscope.engine.ir.model import NodeId


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--target", "ort-tpu"], "ort-tpu"),
        (["--target", "ort-webgpu@9"], "ort-webgpu@9"),
        (["--target", "opscope,enableInt64=1"], "opscope has no options"),
        (["--config", "/nowhere.toml"], "/nowhere.toml"),
        (["--config", "a.toml", "--no-config"], "not allowed with argument"),
        (["--baseline", "/nowhere/known.json"], "--write-baseline /nowhere/known.json"),
        (["--write-baseline", "/nowhere/known.json"], "/nowhere/known.json"),
        (["--jobs", "-1"], "--jobs must be at least 1, not -1"),
        (["--timeout", "0"], "--timeout must be more than 0"),
        (["--format", "xml"], "xml"),
        (["--fail-on", "info"], "info"),
        (["--limits", "/nowhere.json"], "nowhere.json"),
        (["-o", "/nowhere/out.txt"], "/nowhere/out.txt"),
        (["--dim", "n"], "SYMBOL=N"),
    ],
)
def test_bad_usage_is_one_line(
    fine: str, arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", fine, *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("opscope: error: ")
    assert named in err
    assert err.count("\n") == 1


def test_a_file_of_limits_that_is_not_there_is_told_with_who_names_it(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text('[limits]\nprofile = "phone.json"\n')
    assert main(["check", fine, "--config", str(policy)]) == 2
    assert f"error: {policy}: limits.profile: " in capsys.readouterr().err
    assert main(["check", fine, "--limits", "none.json"]) == 2
    assert "error: --limits: " in capsys.readouterr().err


def test_with_debug_a_defect_in_one_of_many_files_has_its_traceback(
    fine: str, half: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def judge(*_: Any, **__: Any) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr(checking, "judge", judge)
    assert main(["check", fine, half, "--debug"]) == 4
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "a defect in Opscope, please report it: RuntimeError: no such thing" in err


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the current folder cannot be removed")
def test_a_current_folder_that_is_gone_is_one_line(
    fine: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["check", fine]) == 2
    told = "opscope: error: the current folder cannot be found: No such file or directory\n"
    assert capsys.readouterr().err == told
    monkeypatch.chdir(here)


@pytest.mark.parametrize(
    "error",
    [
        NodeError(NodeId((), 0), "bad\x1bname", "GRU", "no\nsense"),
        LimitError(None, "bad\x1bname", "GRU", "no\nsense", limit="l", needed=2, allowed=1),
    ],
)
def test_an_error_about_a_node_names_file_and_node_in_one_line(
    fine: str,
    error: NodeError,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def judge(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(checking, "judge", judge)
    assert main(["check", fine]) == 4
    err = capsys.readouterr().err
    assert err == f"opscope: error: {fine}: node 'bad\\x1bname' (GRU): no\\nsense\n"


def test_a_command_of_many_models_can_fail_with_a_node_error(
    fine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise NodeError(NodeId((), 0), "n", "GRU", "no sense")

    monkeypatch.setattr(check, "main", fail)
    assert main(["check", fine]) == 4
    assert capsys.readouterr().err == "opscope: error: node 'n' (GRU): no sense\n"


def test_check_loads_no_gpu_library_and_no_onnxruntime(fine: str) -> None:
    code = (
        "import sys; from opscope.engine.cli import main; main(['check', sys.argv[1]]); "
        "print([m for m in ('wgpu', 'onnxruntime', 'PySide6') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, fine], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert done.returncode == 0
