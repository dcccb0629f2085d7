"""The text, as a person reads it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from guard_models import elus, gru, write
from onnx import TensorProto, helper, numpy_helper
from opscope.engine.cli import main


def choosing(path: Path, *names: str) -> str:
    """An If with two branches for each name."""
    end = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["t"])], "b", [], [end])
    value = numpy_helper.from_array(np.array(True))
    nodes = [helper.make_node("Constant", [], ["c"], value=value)]
    for i, name in enumerate(names):
        branches = {"then_branch": branch, "else_branch": branch}
        nodes.append(helper.make_node("If", ["c"], [f"y{i}"], name=name, **branches))
    return write(path, *nodes, outputs=("y0",))


def test_the_answer_comes_first_then_the_findings_then_the_details(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = elus(tmp_path / "m.onnx", ["a"], shape=["n", 1, 6])
    assert main(["check", path, "--fail-on", "warning"]) == 1
    out = capsys.readouterr().out
    head, findings, fixes, table, verdict = out.removesuffix("\n").split("\n\n")
    assert head.splitlines()[0] == f"{path}: fails: 0 errors, 1 warning, 0 info"
    assert [line.split("  ")[0] for line in head.splitlines()[1:5]] == [
        "model", "Opscope", "ORT WebGPU 0.4.0", "assumed",
    ]  # fmt: skip
    assert "ORT WebGPU 0.4.0  CPU 1\n" in head
    assert "opset ai.onnx 22  1 node\n" in head
    assert findings.startswith("warning: [opset-gate] ")
    assert fixes.startswith("fix: opscope fix ")
    assert " ".join(table.splitlines()[-1].split()) == "Elu 1 GPU 1 CPU (schema version) 1"
    assert verdict == "fails: 0 errors, 1 warning, 0 info"


def test_subgraphs_are_listed_with_their_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", choosing(tmp_path / "m.onnx", "choose")])
    out = capsys.readouterr().out
    assert "then_branch  'choose' (If)" in out
    assert [line.split()[:2] for line in out.splitlines() if line.startswith("Neg")] == [
        ["Neg", "2"]
    ]


def test_many_findings_of_one_kind_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"n{i}" for i in range(41)]

    def told(count: int, *options: str) -> list[str]:
        main(["check", elus(tmp_path / "m.onnx", names[:count]), *options])
        return [s for s in capsys.readouterr().out.splitlines() if "[opset-gate]" in s]

    (line,) = told(41)
    assert line.startswith("warning: [opset-gate] ort-webgpu: 41 nodes (Elu): ")
    assert len(told(41, "--verbose")) == 41
    (line,) = told(2)
    assert line.startswith("warning: [opset-gate] ort-webgpu: 2 nodes (Elu): ")
    (line,) = told(1)
    assert line.startswith("warning: [opset-gate] ort-webgpu: 'n0' (Elu): ")


def test_a_few_warnings_that_say_the_same_are_one_line_with_every_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"n{i}" for i in range(40)]
    main(["check", elus(tmp_path / "m.onnx", names), "--target", "ort-webgpu"])
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if "[opset-gate]" in line]) == 1
    assert "    nodes: " + ", ".join(f"'{name}'" for name in names) in lines


def test_each_error_has_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = elus(tmp_path / "m.onnx", [f"n{i}" for i in range(40)])
    main(["check", path, "--target", "ort-webgpu", "--require", "Elu"])
    out = capsys.readouterr().out
    assert sum(line.startswith("error: [required-op] ") for line in out.splitlines()) == 40


def test_the_target_is_not_told_twice(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", half, "--target", "ort-webgpu"])
    out = capsys.readouterr().out
    assert "error: [f16-recurrent-on-cpu] ort-webgpu: " in out
    assert "affects: ORT WebGPU" not in out


def test_many_subgraphs_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = choosing(tmp_path / "m.onnx", *(f"i{i}" for i in range(6)))
    main(["check", path])
    out = capsys.readouterr().out
    assert "7 nodes in the main graph, 12 in 12 subgraphs (--verbose lists them)\n" in out
    assert "then_branch" not in out
    main(["check", path, "--verbose"])
    assert "then_branch  'i5' (If)" in capsys.readouterr().out


def test_files_of_one_name_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [gru(tmp_path / folder / "model.onnx") for folder in ("a", "b")]
    main(["check", *paths])
    out = capsys.readouterr().out
    assert all(f"{path}: fine: " in out for path in paths)


def test_a_group_has_the_first_names_and_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["check", elus(tmp_path / "m.onnx", [f"n{i}" for i in range(41)])])
    out = capsys.readouterr().out
    assert "    nodes: 'n0', 'n1', 'n2', 'n3', 'n4', ... (--verbose shows each)\n" in out
    assert out.count("    remedy: export the model at opset") == 1
    assert "fine: 0 errors, 41 warnings, 0 info\n" in out


def test_names_of_a_model_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil = "\x1b[2J\u202egnp"
    for count in (1, 41):
        main(["check", elus(tmp_path / "m.onnx", [f"{evil}{i}" for i in range(count)])])
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert r"\x1b[2J" in out


def test_what_a_model_costs_on_the_web_is_told(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "opscope.toml").write_text('[limits]\ndownload = "100 b"\n')
    assert main(["check", fine]) == 1
    out = capsys.readouterr().out
    assert sum(line.startswith("download  ") for line in out.splitlines()) == 1
    assert "GPU memory        Opscope: " in out
    assert "GPU memory        ORT WebGPU 0.4.0: " in out
    assert "error: [web-budget] " in out
    assert main(["check", fine, "--format", "json"]) == 1
    entry = json.loads(capsys.readouterr().out)["files"][0]
    assert [b["download_bytes"] for b in entry["budget"]] == [Path(fine).stat().st_size] * 2
