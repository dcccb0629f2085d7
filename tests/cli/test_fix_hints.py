"""What ``opscope check`` says of ``opscope fix``: a command that can be run as it stands."""

from __future__ import annotations

import shlex
from pathlib import Path

import onnx
import pytest
from guard_models import elus
from opscope.engine.cli.fix import DEFAULT_TARGET
from opscope.engine.cli.fix_hints import FIX_DEFAULT, fix_hints
from opscope.engine.cli.main import main
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.guard.results import Checked, Found
from opscope.engine.ir.model import NodeId
from opscope.resources.samples.examples import EXAMPLES


def checked(path: str, *findings: tuple[str, str]) -> Checked:
    """A file with findings of (code, target)."""
    found = (Diagnostic(c, Severity.WARNING, "", target=t) for c, t in findings)
    return Checked(path, findings=tuple(map(Found, found)))


def test_the_command_of_the_text_mends_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = elus(tmp_path / "a model.onnx", ["a", "b"])
    main(["check", path, "--target", "ort-webgpu"])
    (line,) = [s for s in capsys.readouterr().out.splitlines() if s.startswith("fix: ")]
    command, mended = line.removeprefix("fix: ").split("  ")
    assert mended == "may mend 2 findings"
    words = shlex.split(command)
    assert words[:5] == ["opscope", "fix", path, "--rule", "lower-opset"]
    assert main([*words[1:], "--no-compare"]) == 0
    capsys.readouterr()
    copy = str(tmp_path / "a model-fixed.onnx")
    assert onnx.load(copy).opset_import[0].version < onnx.load(path).opset_import[0].version
    main(["check", copy, "--target", "ort-webgpu"])
    out = capsys.readouterr().out
    assert "opset-gate" not in out
    assert "fix: " not in out


def test_targets_are_named_where_they_are_not_the_default() -> None:
    assert FIX_DEFAULT == DEFAULT_TARGET
    gate = "opset-gate"
    (line,) = fix_hints(checked("m.onnx", (gate, "ort-cuda"), (gate, "ort-web"), (gate, "opscope")))
    assert line == (
        "fix: opscope fix m.onnx --rule lower-opset --target ort-cuda --target ort-web "
        "-o m-fixed.onnx  may mend 2 findings"
    )
    assert fix_hints(checked("m.onnx", (gate, "opscope"), ("copies", "ort-web"))) == []


def test_all_rules_are_one_command_because_each_would_write_the_same_file() -> None:
    (line,) = fix_hints(
        checked(
            "m.onnx",
            ("int64-narrowing", "ort-webgpu"),
            ("opset-gate", "ort-webgpu"),
            ("opset-gate", "ort-webgpu"),
        )
    )
    assert line == (
        "fix: opscope fix m.onnx --rule lower-opset,int64-to-int32 -o m-fixed.onnx  "
        "may mend 3 findings"
    )


def test_a_rule_that_has_to_be_told_more_has_its_own_line() -> None:
    first, second = fix_hints(
        checked(
            "m.onnx",
            ("not-planned", "opscope"),
            ("f16-recurrent-on-cpu", "ort-webgpu"),
            ("f16-recurrent-on-cpu", "ort-webgpu"),
        )
    )
    assert first.startswith("fix: opscope fix m.onnx --rule cast-f32 -o ")
    assert "--rule fix-shapes --shape NAME=2,3 -o m-fixed.onnx  may mend 1 finding" in second


def test_nodes_that_run_on_the_gpu_are_named_or_the_rule_would_leave_them_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "m.onnx")
    Path(path).write_bytes(EXAMPLES["f16-index-loss"].model_bytes())
    main(["check", path, "--target", "ort-webgpu"])
    (line,) = [s for s in capsys.readouterr().out.splitlines() if s.startswith("fix: ")]
    command, mended = line.removeprefix("fix: ").split("  ")
    assert (mended, "--node 0" in command) == ("may mend 1 finding", True)
    assert main([*shlex.split(command)[1:], "--no-compare"]) == 0
    capsys.readouterr()
    main(["check", str(tmp_path / "m-fixed.onnx"), "--target", "ort-webgpu"])
    assert "f16-index-loss" not in capsys.readouterr().out


def test_very_many_nodes_are_the_users_to_choose() -> None:
    found = (
        Diagnostic("f16-long-sum", Severity.WARNING, "", node=NodeId((), n), target="ort-webgpu")
        for n in range(9)
    )
    (line,) = fix_hints(Checked("m.onnx", findings=tuple(map(Found, found))))
    assert "--rule cast-f32 --node NAME -o m-fixed.onnx  may mend 9 findings" in line


def test_shapes_do_not_mend_what_a_node_keeps_from_being_planned() -> None:
    found = Diagnostic("not-planned", Severity.INFO, "", node=NodeId((), 0), target="opscope")
    assert fix_hints(Checked("m.onnx", findings=(Found(found),))) == []


def test_a_path_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (line,) = fix_hints(checked("a\x1b[2J\nb.onnx", ("opset-gate", "ort-webgpu")))
    assert "\x1b" not in line
    assert "\n" not in line
