"""The child process: its answers, its death, its silence. Its part is played by small scripts."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from opscope.engine.live.child import Child, ChildDied, worker_command
from opscope.engine.live.worker import FLAG

ECHO = """
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    {body}
    print(json.dumps({{"id": request["id"], "said": request["do"]}}), flush=True)
"""


def child(body: str = "pass") -> Child:
    return Child([sys.executable, "-c", ECHO.format(body=body)])


def test_answers_belong_to_their_requests() -> None:
    made = child("print(json.dumps({'id': -1, 'said': 'of another'}), flush=True)")
    try:
        assert made.ask({"do": "one"}, 20)["said"] == "one"
        assert made.ask({"do": "two"}, 20)["said"] == "two"
    finally:
        made.close()


def test_an_abort_is_told_with_its_signal_and_last_words() -> None:
    made = child("sys.stderr.write('first\\nit all went wrong\\n'); import os; os.abort()")
    with pytest.raises(ChildDied, match=r"signal 6 \(SIGABRT\).*last words: it all went wrong"):
        made.ask({"do": "die"}, 20)
    assert not made.is_alive


def test_an_exit_without_a_word() -> None:
    with pytest.raises(ChildDied, match=r"^ORT aborted: exit code 3$"):
        child("sys.exit(3)").ask({"do": "leave"}, 20)


def test_silence_ends_with_the_timeout() -> None:
    made = child("import time; time.sleep(60)")
    start = time.monotonic()
    with pytest.raises(ChildDied, match=r"no answer within 0\.5 s"):
        made.ask({"do": "wait"}, 0.5)
    assert time.monotonic() - start < 20
    assert not made.is_alive


def test_a_child_that_reads_nothing_ends_with_the_timeout() -> None:
    made = Child([sys.executable, "-c", "import time; time.sleep(60)"])
    with pytest.raises(ChildDied, match=r"no answer within 0\.5 s"):
        made.ask({"do": "x" * 1_000_000}, 0.5)


def test_other_answers_do_not_lengthen_the_wait() -> None:
    made = child("while True: print(json.dumps({'id': -1}), flush=True); time.sleep(0.05)")
    start = time.monotonic()
    with pytest.raises(ChildDied, match=r"no answer within 1 s"):
        made.ask({"do": "wait"}, 1)
    assert time.monotonic() - start < 20


def test_a_death_within_an_answer_is_a_death() -> None:
    made = child('sys.stdout.write(\'{"id": 1, "sa\'); sys.stdout.flush(); import os; os.abort()')
    with pytest.raises(ChildDied, match="SIGABRT"):
        made.ask({"do": "half"}, 20)


def test_what_is_no_answer_is_a_death() -> None:
    with pytest.raises(ChildDied, match="ORT aborted"):
        child("print('Welcome to ORT', flush=True)").ask({"do": "greet"}, 20)


def test_a_dead_child_is_followed_by_another() -> None:
    made = child("sys.exit(1) if request['do'] == 'die' else None")
    try:
        with pytest.raises(ChildDied):
            made.ask({"do": "die"}, 20)
        assert made.ask({"do": "live"}, 20)["said"] == "live"
    finally:
        made.close()


def test_a_child_that_prints_much_does_not_stop() -> None:
    made = child("sys.stderr.write('x' * 100 + '\\n'); sys.stderr.write('y\\n' * 200_000)")
    try:
        assert made.ask({"do": "on"}, 60)["said"] == "on"
        assert len(made.words) < 100
    finally:
        made.close()


def test_a_line_without_an_end_is_not_kept() -> None:
    made = child("for _ in range(300): sys.stderr.write('z' * 100_000)")
    try:
        assert made.ask({"do": "on"}, 60)["said"] == "on"
        assert sum(map(len, made.words)) <= 400
    finally:
        made.close()


def test_a_process_that_the_child_left_behind_does_not_hold_us() -> None:
    body = "import subprocess; subprocess.Popen(['sleep', '30'], stdout=subprocess.DEVNULL)"
    made = child(body)
    made.ask({"do": "fork"}, 20)
    start = time.monotonic()
    made.close()
    assert time.monotonic() - start < 15


def test_how_it_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_command()[:2] == [sys.executable, "-P"]
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command() == [sys.executable, "--ort-worker"]


def test_a_frozen_application_is_the_child_where_it_is_told_to_be() -> None:
    code = "import sys; from opscope.gui.entry import main; sys.exit(main(sys.argv[1:]))"
    made = Child([sys.executable, "-c", code, FLAG])
    try:
        answer = made.ask({"do": "hello", "provider": "NoSuchProvider"}, 120)
    finally:
        made.close()
    assert answer["refused"] in ("missing", "no-provider")


def test_what_a_library_prints_is_no_answer(tmp_path: Path) -> None:
    """The real child, with a stand-in for onnxruntime that writes where answers are written."""
    text = "import os\nos.write(1, b'Welcome\\n')\nraise ImportError('a broken library')\n"
    (tmp_path / "onnxruntime.py").write_text(text)
    made = Child(worker_command(), {"PYTHONPATH": str(tmp_path)})
    try:
        answer = made.ask({"do": "hello", "provider": "CPUExecutionProvider"}, 60)
    finally:
        made.close()
    assert (answer["refused"], "a broken library" in answer["text"]) == ("missing", True)
    assert "Welcome" in made.words


def test_its_environment_has_more_than_ours() -> None:
    body = "import os; request['do'] = os.environ['OPSCOPE_X'] + os.environ['PATH'][:0]"
    made = Child([sys.executable, "-c", ECHO.format(body=body)], {"OPSCOPE_X": "given"})
    try:
        assert made.ask({"do": ""}, 20)["said"] == "given"
    finally:
        made.close()
