"""A child process: its answers, its death, its silence, its greed. Small scripts play its part."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from opscope.engine.child import Child, ChildGone, how_it_ended
from processes import LONG_S, is_alive, wait_until

ECHO = """
import json, os, subprocess, sys, time
for line in sys.stdin:
    said = line.strip()
    {body}
    print(json.dumps({{"said": said}}), flush=True)
"""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is taken")
on_posix = pytest.mark.skipif(os.name != "posix", reason="signals and process groups are POSIX's")


def child(body: str = "pass", **more: bool) -> Child:
    return Child([sys.executable, "-c", ECHO.format(body=body)], "the child", **more)


def said(made: Child, message: str = "go") -> str:
    return str(made.ask(f"{message}\n".encode(), LONG_S)["said"])


def test_each_message_has_its_answer() -> None:
    with child() as made:
        assert [said(made, "one"), said(made, "two")] == ["one", "two"]


def test_what_is_printed_before_an_answer_is_skipped() -> None:
    with child("print('Welcome'); print()") as made:
        assert [said(made, "one"), said(made, "two")] == ["one", "two"]


@on_posix
def test_an_abort_is_told_with_its_signal_and_last_words() -> None:
    made = child("sys.stderr.write('first\\nit all went wrong\\n'); os.abort()")
    with pytest.raises(ChildGone) as gone:
        said(made)
    text = "the child ended by signal 6 (SIGABRT); its last words: it all went wrong"
    assert str(gone.value) == text
    assert not made.is_alive


def test_an_exit_without_a_word() -> None:
    with pytest.raises(ChildGone, match=r"^the child ended with exit code 3$"):
        said(child("sys.exit(3)"))


def test_silence_ends_with_the_timeout() -> None:
    made = child("time.sleep(600)")
    start = time.monotonic()
    with pytest.raises(ChildGone, match=r"^the child took more than 0\.5 s, and was ended$"):
        made.ask(b"wait\n", 0.5)
    assert 0.5 <= time.monotonic() - start < 20
    assert not made.is_alive


def test_a_child_that_reads_nothing_ends_with_the_timeout() -> None:
    made = Child([sys.executable, "-c", "import time; time.sleep(600)"], "the child")
    with pytest.raises(ChildGone, match=r"more than 0\.5 s"):
        made.ask(b"x" * 1_000_000, 0.5)


def test_a_flood_that_is_no_answer_ends_with_the_timeout() -> None:
    made = child("while True: print('flood', flush=True)")
    with pytest.raises(ChildGone, match=r"more than 0\.5 s"):
        made.ask(b"go\n", 0.5)


@on_posix
def test_a_death_within_an_answer_is_a_death() -> None:
    made = child("sys.stdout.write('{\"sa'); sys.stdout.flush(); os.abort()")
    with pytest.raises(ChildGone, match="SIGABRT"):
        said(made)


@pytest.mark.parametrize("answer", ["{broken", "{" + '"a":[' * 9_000])
def test_an_answer_that_cannot_be_read_ends_the_child(answer: str) -> None:
    made = child(f"print({answer!r}, flush=True)")
    with pytest.raises(ChildGone, match="gave no answer that can be read, and was ended"):
        said(made)
    assert not made.is_alive


def test_a_dead_child_is_followed_by_another() -> None:
    with child("sys.exit(1) if said == 'die' else None") as made:
        with pytest.raises(ChildGone):
            said(made, "die")
        assert said(made, "live") == "live"


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, also in a job that a shell has put into the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@on_posix
@pytest.mark.usefixtures("interruptible")
def test_an_answer_that_was_not_waited_for_is_not_taken_for_the_next_one() -> None:
    made = child("time.sleep(1) if said == 'late' else None")
    me = threading.get_ident()
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(me, signal.SIGINT))
    with made:
        assert said(made, "first") == "first"
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            said(made, "late")
        assert said(made, "next") == "next"


def test_a_command_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    made = Child(["/no/such/python"], "the child")
    with pytest.raises(ChildGone, match=r"^the child could not be started: \[Errno 2\]"):
        made.ask(b"", LONG_S)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (3, "with exit code 3"),
        (0xC0000409, "with exit code 0xc0000409"),  # Windows
        pytest.param(-9, "by signal 9 (SIGKILL)", marks=on_posix),
        (-99, "by signal 99 (unknown)"),
    ],
)
def test_an_exit_code_in_words(code: int, words: str) -> None:
    assert how_it_ended(code) == words


# -- what it prints --------------------------------------------------------------------------------


def test_a_child_that_prints_much_does_not_stop() -> None:
    with child("sys.stderr.write('x' * 100 + '\\n'); sys.stderr.write('y\\n' * 200_000)") as made:
        assert said(made) == "go"
        assert len(made.words) < 100


def test_a_line_without_an_end_is_not_kept() -> None:
    with child("for _ in range(300): sys.stderr.write('z' * 100_000)") as made:
        assert said(made) == "go"
        assert sum(map(len, made.words)) <= 400


# -- what it takes and leaves ----------------------------------------------------------------------


@on_linux
def test_a_child_that_takes_too_much_memory_is_ended_and_told_with_the_numbers() -> None:
    made = child("kept = bytearray(512 << 20) if said == 'eat' else b''; time.sleep(len(kept))")
    most = 200 << 20
    with made:
        assert made.ask(b"fast\n", LONG_S, most) == {"said": "fast"}
        with pytest.raises(ChildGone) as gone:
            made.ask(b"eat\n", LONG_S, most)
    text = str(gone.value)
    assert text.startswith("the child took ")
    assert text.endswith(" of memory, where it may take 200 MiB, and was ended")
    assert float(text.split()[3].replace(",", "")) > 200


def test_its_temporary_folder_is_its_own_and_goes_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    body = "import tempfile; said = tempfile.mkstemp()[1]"
    with child(body) as made:
        left = Path(said(made))
        assert left.is_file()
        assert left.parent.parent == tmp_path
    assert list(tmp_path.iterdir()) == []


def test_its_environment_has_more_than_ours() -> None:
    body = "said = os.environ['OPSCOPE_X'] + os.environ['PATH'][:0]"
    command = [sys.executable, "-c", ECHO.format(body=body)]
    with Child(command, "the child", environment={"OPSCOPE_X": "given"}) as made:
        assert said(made) == "given"


SPAWN = "said = str(subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL).pid)"


@on_posix
def test_what_the_leader_of_a_group_has_started_ends_with_it() -> None:
    with child(SPAWN, leads_group=True) as made:
        grandchild = int(said(made))
        assert is_alive(grandchild)
    wait_until(lambda: not is_alive(grandchild))  # who is not our child is waited for by another


@on_posix
def test_a_process_that_the_child_left_behind_does_not_hold_us() -> None:
    made = child(SPAWN)
    grandchild = int(said(made))
    start = time.monotonic()
    made.close()
    os.kill(grandchild, 9)
    assert time.monotonic() - start < 15


# -- from another thread ---------------------------------------------------------------------------


def test_stopping_ends_the_wait_of_another_thread_for_good(tmp_path: Path) -> None:
    flag = tmp_path / "waiting"
    made = child(f"open({str(flag)!r}, 'w').close(); time.sleep(600)")
    heard: list[str] = []

    def wait() -> None:
        for _ in range(2):
            try:
                said(made)
            except ChildGone as gone:
                heard.append(str(gone))

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(flag.exists)
    made.stop()
    thread.join(LONG_S)
    assert heard[0].startswith("the child ended")
    assert heard[1] == "the child was stopped"


def test_an_answer_is_json_of_any_text() -> None:
    with child("said = json.loads(said)") as made:
        text = "Größe 模型 😀 { }\n"
        assert said(made, json.dumps(text)) == text
