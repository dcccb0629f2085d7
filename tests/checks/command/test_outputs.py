"""Where the answer goes, and what happens to standard output on the way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opscope.engine.cli import check_in_time, main


@pytest.mark.parametrize("option", ["-o", "--write-baseline"])
@pytest.mark.parametrize("way", ["same", "link", "below a folder"])
def test_no_output_goes_over_a_model(
    tmp_path: Path, fine: str, option: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before, out = Path(fine).read_bytes(), fine
    if way == "link":
        out = str(tmp_path / "link")
        Path(out).symlink_to(fine)
    named = str(tmp_path) if way == "below a folder" else fine
    assert main(["check", named, option, out]) == 2
    assert Path(fine).read_bytes() == before
    err = capsys.readouterr().err
    assert err == f"opscope: error: {option}: {out} is a model that is to be checked; " + (
        "give another file\n"
    )


def test_no_output_goes_over_another_file_of_the_call(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known, policy = str(tmp_path / "known.json"), tmp_path / "opscope.toml"
    assert main(["check", half, "--write-baseline", known]) == 0
    saved = Path(known).read_bytes()
    assert main(["check", half, "--baseline", known, "-o", known]) == 2
    assert main(["check", half, "--write-baseline", known, "-o", known]) == 2
    assert main(["check", half, "--baseline", known, "--write-baseline", known]) == 0
    assert Path(known).read_bytes() == saved
    policy.write_text("strict = true\n")
    for option in ("-o", "--write-baseline"):
        assert main(["check", half, "--config", str(policy), option, str(policy)]) == 2
    assert policy.read_text() == "strict = true\n"
    assert "the file with the project's demands" in capsys.readouterr().err


def test_an_output_without_a_folder_is_told_before_anything_is_checked(
    tmp_path: Path, fine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        check_in_time, "check_or_error", lambda request: pytest.fail("it was checked")
    )
    assert main(["check", fine, "-o", str(tmp_path / "none" / "out.txt")]) == 2
    assert main(["check", fine, "--write-baseline", str(tmp_path)]) == 2


def in_a_child(arguments: list[str], stdout: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    code = "import sys; from opscope.engine.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "check", *arguments]
    return subprocess.run(
        command, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False, **more
    )


def test_a_reader_that_stops_early_changes_no_exit_code(half: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = in_a_child([half, "--format", "json"], writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_full_disk_is_no_defect(half: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = in_a_child([half], full)
    assert done.returncode == 2
    assert done.stderr.startswith("opscope: error: standard output cannot be written: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX closes it")
def test_a_closed_standard_output_changes_no_exit_code(half: str, fine: str) -> None:
    code = "import sys; from opscope.engine.cli import main; sys.exit(main(sys.argv[1:]))"
    for streams in (">&-", ">&- 2>&-"):
        shell = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-c", code]
        done = subprocess.run(
            [*shell, "check", half, fine], capture_output=True, timeout=120, check=False
        )
        assert (done.returncode, done.stderr) == (1, b"")
