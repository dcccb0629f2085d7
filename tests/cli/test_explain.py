"""``opscope explain``: pages, the list, examples that are never written over a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from closed_folder import close_folder
from opscope.engine.checks.codes import CODES
from opscope.engine.checks.pages import page
from opscope.engine.cli.main import main
from opscope.engine.ir.load import load_model


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on standard error; nothing may be on standard output."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("opscope: error: ")
    assert err.count("\n") == 1
    return err


def test_a_page_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "opset-gate"]) == 0
    out = capsys.readouterr().out
    assert out == page("opset-gate")
    headings = [line for line in out.splitlines() if line.startswith("#")]
    assert headings == [
        "# opset-gate",
        "## What it means",
        "## What it costs",
        "## An example",
        "## What `opscope check` prints",
        "## How to mend it",
        "## Public issues",
        "## Since",
    ]


def test_without_a_code_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert set(rows) == set(CODES)
    for name, code in CODES.items():
        assert code.title in rows[name]
        assert all(severity in rows[name] for severity in code.severities)


@pytest.mark.parametrize(
    ("name", "near"), [("opset-gte", "opset-gate"), ("recurrent", "f16-recurrent-on-cpu")]
)
def test_an_unknown_code_is_one_line_with_the_nearest(
    name: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 2
    assert near in told(capsys)


def test_a_name_with_terminal_codes_is_shown_printable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "\x1b[31m"]) == 2
    assert "\x1b" not in told(capsys)


def test_the_example_is_written_and_says_how_to_see_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "with space.onnx"
    assert main(["explain", "rejected-at-session", "--example", str(path)]) == 0
    out = capsys.readouterr().out
    assert "node 'gru'" in out
    assert f"opscope check '{path}' --target ort-webgpu" in out
    assert [n.name for n in load_model(str(path)).graph.nodes] == ["gru"]
    assert main(["check", str(path), "--target", "ort-webgpu"]) == 1
    assert "[rejected-at-session]" in capsys.readouterr().out


def test_what_lies_beside_the_example_is_written_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    assert main(["explain", "limits-below-default", "--example", str(path)]) == 0
    limits = tmp_path / "small.json"
    assert f"--limits {limits}" in capsys.readouterr().out
    assert limits.is_file()


@pytest.mark.parametrize("taken", ["m.onnx", "weights.bin"])
def test_no_file_is_written_over(
    taken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / taken).write_bytes(b"mine")
    command = ["explain", "external-data-size", "--example", str(tmp_path / "m.onnx")]
    assert main(command) == 2
    assert f"{taken} is there already" in told(capsys)
    assert [p.name for p in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_bytes() == b"mine"


def test_a_link_to_nowhere_is_no_free_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").symlink_to(tmp_path / "elsewhere.onnx")
    assert main(["explain", "opset-gate", "--example", str(tmp_path / "m.onnx")]) == 2
    assert "is there already" in told(capsys)
    assert not (tmp_path / "elsewhere.onnx").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--example", "m.onnx"], "needs a code"),
        (
            ["table-differs", "--example", "m.onnx"],
            "table-differs has no example: what has it shows",
        ),
        (["opset-gate", "--example", "no/such/folder/m.onnx"], "cannot be written: No such file"),
    ],
)
def test_what_cannot_be_done_is_told(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explain", *arguments]) == 2
    assert words in told(capsys)
    assert list(tmp_path.iterdir()) == []


def test_a_closed_folder_takes_no_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.onnx"
    close_folder(tmp_path, monkeypatch)
    assert main(["explain", "opset-gate", "--example", str(path)]) == 2
    assert told(capsys) == f"opscope: error: {path} cannot be written: Permission denied\n"
