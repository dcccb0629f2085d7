"""The child that has onnxruntime in it: how it is started, and that it ends with its parent."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from opscope.engine.live.child import OrtChild, worker_command
from opscope.engine.live.worker import FLAG
from processes import exit_code_without_parent

HELLO = {"do": "hello", "provider": "CPUExecutionProvider"}
# Stands in for onnxruntime.
BROKEN = "import os\nos.write(1, b'Welcome\\n')\nraise ImportError('a broken library')\n"
SLOW = "import pathlib, time\npathlib.Path({flag!r}).touch()\ntime.sleep(600)\n"


def test_how_it_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_command()[:2] == [sys.executable, "-P"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command() == [sys.executable, "--ort-worker"]


def test_a_frozen_application_is_the_child_where_it_is_told_to_be() -> None:
    code = "import sys; from opscope.gui.entry import main; sys.exit(main(sys.argv[1:]))"
    with OrtChild([sys.executable, "-c", code, FLAG]) as made:
        answer = made.request({"do": "hello", "provider": "NoSuchProvider"}, 120)
    assert answer["refused"] in ("missing", "no-provider")


def test_what_a_library_prints_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "onnxruntime.py").write_text(BROKEN)
    with OrtChild(environment={"PYTHONPATH": str(tmp_path)}) as made:
        answer = made.request(HELLO, 60)
    assert (answer["refused"], "a broken library" in answer["text"]) == ("missing", True)
    assert "Welcome" in made.words


def test_it_ends_with_its_parent_whatever_it_is_busy_with(tmp_path: Path) -> None:
    busy = tmp_path / "busy"
    (tmp_path / "onnxruntime.py").write_text(SLOW.format(flag=str(busy)))
    request = json.dumps(HELLO).encode() + b"\n"
    environment = {"PYTHONPATH": str(tmp_path)}
    assert exit_code_without_parent(worker_command(), request, busy, environment) == 0
