"""Many files in one call: folders, crashes, progress, names of any bytes, time that is up."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from guard_models import elus, gru
from opscope.engine.child import Child
from opscope.engine.cli import check, check_in_time, main
from opscope.engine.cli.check_progress import shown
from opscope.engine.guard import checking


def test_one_unreadable_file_does_not_stop_the_rest(
    tmp_path: Path, half: str, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.onnx"
    empty.write_bytes(b"")
    assert main(["check", half, str(empty), fine]) == 2
    said = capsys.readouterr()
    assert "half.onnx" in said.out
    assert "fine.onnx" in said.out
    sums = "3 files: 1 fine, 1 failed, 1 not checked; 1 error, 0 warnings, 0 info\n"
    assert said.out.endswith(f"\n{sums}")
    assert said.err.startswith("opscope: error: ")
    assert "empty.onnx" in said.err
    assert said.err.count("\n") == 1


def test_folders_and_patterns_are_opened_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("models/b.onnx", "models/deep/a.onnx"):
        gru(tmp_path / name)
    assert main(["check", "models", "--target", "opscope"]) == 0
    out = capsys.readouterr().out
    assert out.index("b.onnx") < out.index("a.onnx")
    assert "2 files: 2 fine, 0 failed; 0 errors" in out
    (tmp_path / "empty").mkdir()
    assert main(["check", "empty"]) == 2
    assert "no .onnx file is below" in capsys.readouterr().err


def test_a_crash_of_one_child_is_that_file_s_error(
    fine: str, half: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    child = str(Path(__file__).parents[2] / "support/worker_that_fails.py")

    def batch(requests: Any, **options: Any) -> Any:
        return checking_batch(requests, command=[sys.executable, "-P", child], **options)

    checking_batch = check.check_files
    monkeypatch.setattr(check, "check_files", batch)
    assert main(["check", "crash.onnx", fine, "--jobs", "1"]) == 4
    err = capsys.readouterr().err.splitlines()
    assert err[0].startswith("opscope: error: crash.onnx: the check's process ended by signal")
    assert len(err) == 2


def test_progress_is_one_line_on_a_terminal_and_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()

    def interrupted() -> None:
        with shown(terminal) as progress:
            assert progress is not None
            progress(1, 1_200, "models/\x1b[31m" + "long" * 20 + ".onnx")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    written = terminal.getvalue()
    assert "checked 1 of 1,200: " in written
    assert "\n" not in written
    assert "\x1b" not in written
    assert all(len(part) <= 39 for part in written.split("\r"))
    assert written.split("\r")[-2:] == [" " * 39, ""]
    with shown(io.StringIO()) as progress:
        assert progress is None


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
@pytest.mark.parametrize("form", ["text", "json", "sarif", "junit"])
def test_file_names_of_any_bytes_in_any_locale(tmp_path: Path, form: str) -> None:
    names = [b"gr\xc3\xb6\xc3\x9fe.onnx", b"latin\xe9.onnx", b"a b#?%.onnx"]
    for name in names:
        elus(Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)), ["\u6a21"])
    code = "import sys; from opscope.engine.cli import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "check", *names[:1], "--format", form],
        cwd=tmp_path,
        env=os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0"},
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    arguments = ["check", *map(os.fsdecode, names[1:]), "--target", "ort-webgpu", "--format", form]
    assert main([*arguments, "-o", "out"]) == 0
    told = {"text": r"latin\udce9", "json": r"latin\udce9", "sarif": "latin%E9"}
    assert told.get(form, r"latin\udce9") in (tmp_path / "out").read_text(encoding="utf-8")


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["front", "background"])
def job(request: pytest.FixtureRequest) -> Iterator[None]:
    """A job of a shell: those in the background ignore SIGINT."""
    before = signal.signal(signal.SIGINT, request.param)
    yield
    assert signal.signal(signal.SIGINT, before) is request.param


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("more", [[], ["--debug"]])
@pytest.mark.parametrize("seconds", ["0.1", "1e-06"])
def test_a_file_alone_is_ended_when_its_time_is_up(
    fine: str,
    seconds: str,
    more: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def hangs(request: checking.Request) -> None:
        for _ in range(1_000):
            time.sleep(0.01)
        pytest.fail("it was not ended")

    monkeypatch.setattr(check_in_time, "check_or_error", hangs)
    assert main(["check", fine, "--timeout", seconds, *more]) == 4
    said = f"{fine}: it took more than {seconds} s, so its check was ended"
    assert said in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a wait for the system is not broken")
@pytest.mark.usefixtures("job")
def test_a_file_alone_is_ended_while_a_process_is_waited_for(
    fine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hangs(request: checking.Request) -> None:
        with Child([sys.executable, "-c", "import time; time.sleep(60)"], "it") as child:
            child.ask(b"", 10)

    monkeypatch.setattr(check_in_time, "check_or_error", hangs)
    start = time.monotonic()
    assert main(["check", fine, "--timeout", "0.5"]) == 4
    assert "it took more than 0.5 s, so its check was ended" in capsys.readouterr().err
    assert time.monotonic() - start < 8


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "1e308"])
def test_a_timeout_is_a_time_that_can_be_waited(fine: str, seconds: str) -> None:
    assert main(["check", fine, "--timeout", seconds]) == 2
