"""The layout's child process: answers, errors, cancelling, and no orphan."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from opscope.engine.errors import CancelledError
from opscope.gui.layout import process
from opscope.gui.layout.layout import lay_out
from opscope.gui.layout.process import lay_out_in_child, worker_command
from opscope.gui.layout.types import LayoutError, LayoutRequest, LayoutResult

SMALL = LayoutRequest(((84.0, 24.0),) * 3, ((0, 1), (1, 2)), (30.0, 0.0), (90.0, 90.0), (0, 1))


def slow(count=6000):
    """Two interleaved chains: no cut, seconds of work for the engine."""
    edges = tuple((i, i + 2) for i in range(count - 2)) + tuple(
        (i, i + 3) for i in range(0, count - 3, 7)
    )
    none = (0.0,) * len(edges)
    return LayoutRequest(((84.0, 24.0),) * count, edges, none, none, tuple(range(len(edges))))


def ignore(*_):
    return None


def test_the_child_answers_as_the_parent_would():
    heard = []
    result = lay_out_in_child(SMALL, ignore, heard.append)
    assert result == LayoutResult.from_json(lay_out(SMALL).to_json())
    assert heard[-1] == pytest.approx(1.0)


def test_the_child_imports_nothing_from_the_folder_it_starts_in(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    (tmp_path / "graphlay.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert lay_out_in_child(SMALL, ignore, ignore).centres


def test_cancelling_kills_the_child_at_once():
    start = time.monotonic()

    def check():
        if time.monotonic() - start > 0.6:  # the engine is deep in native code by now
            raise CancelledError("enough")

    with pytest.raises(CancelledError):
        lay_out_in_child(slow(), check, ignore)
    assert time.monotonic() - start < 3.0


def test_a_child_that_dies_is_an_error_with_its_last_words(monkeypatch):
    words = "import sys; sys.stdin.readline(); print('no luck', file=sys.stderr); sys.exit(3)"
    monkeypatch.setattr(process, "worker_command", lambda: [sys.executable, "-c", words])
    with pytest.raises(LayoutError, match="the layout process ended with code 3: no luck"):
        lay_out_in_child(SMALL, ignore, ignore)


def test_an_engine_error_comes_through():
    broken = LayoutRequest(((float("nan"), 24.0),) * 2, ((0, 1),), (0.0,), (0.0,), (0,))
    with pytest.raises(LayoutError, match="2 boxes, 1 edges"):
        lay_out_in_child(broken, ignore, ignore)


def test_the_child_imports_neither_qt_nor_the_engine():
    code = (
        "import sys, opscope.gui.layout.worker; "
        "print([m for m in sys.modules if m.split('.')[0] in ('PySide6', 'numpy', 'onnx')"
        " or m.startswith('opscope.engine')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")
def test_no_orphan_when_the_parent_is_killed(tmp_path):
    """A parent that is killed without warning takes the child with it."""
    request = tmp_path / "request.json"
    request.write_text(slow().to_json() + "\n")
    code = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen({worker_command()!r}, stdin=subprocess.PIPE, "
        "stdout=subprocess.DEVNULL, text=True)\n"
        "print(child.pid, flush=True)\n"
        f"child.stdin.write(open({str(request)!r}).read()); child.stdin.flush()\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    time.sleep(0.5)
    assert _alive(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 15
    while _alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _alive(pid)


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = f"/proc/{pid}/stat"
    if os.path.exists(status):  # a zombie that init has not reaped yet is dead
        with open(status) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    return True
