"""Many files in processes of their own: one that crashes or hangs costs its own file alone.

A child is a fresh interpreter (nothing is forked), checks one file after the other, and is replaced
when it dies. What comes back is plain data: the models stay, and end, in the child.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence

from .checking import Request, failed
from .results import Checked
from .worker import DEFECT, FLAG, READY

TIMEOUT_S = 600.0
START_S = 120.0  # for a child to load what it needs, from a cold disk
LAST_WORDS = 4_096  # bytes of a child's standard error that are kept
_POLL_S = 0.2  # Windows cannot interrupt a longer wait

Progress = Callable[[int, int, str], None]
"""Hears how many files are done, how many there are, and which was done last."""


def worker_command() -> list[str]:
    """How to start the child; a frozen application starts itself with ``worker.FLAG``."""
    if getattr(sys, "frozen", False):
        return [sys.executable, FLAG]
    # -P: no module of the folder that the user happens to be in is ever imported.
    return [sys.executable, "-P", "-m", "opscope.engine.guard.worker"]


def default_jobs() -> int:
    """The number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_files(
    requests: Sequence[Request],
    *,
    jobs: int = 0,
    timeout_s: float = TIMEOUT_S,
    progress: Progress | None = None,
    command: Sequence[str] | None = None,
) -> tuple[Checked, ...]:
    """Check each file in a child process; the answers are in the order of the requests.

    Args:
        requests: one per file.
        jobs: children at a time; as many as there are CPUs where 0.
        timeout_s: for one file; its child is then ended, and the file's answer says so.
        progress: called in this thread.
        command: starts a child, ``worker_command()`` where None.

    Returns:
        an answer per request; a file that could not be checked has ``error``.
    """
    batch = _Batch(requests, timeout_s, tuple(command or worker_command()))
    number = max(1, min(jobs or default_jobs(), len(requests)))
    threads = [threading.Thread(target=batch.work, daemon=True) for _ in range(number)]
    answers: dict[int, Checked] = {}
    try:
        for thread in threads:
            thread.start()
        while len(answers) < len(requests):
            try:
                index, answer = batch.answers.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if isinstance(answer, BaseException):
                raise answer
            answers[index] = answer
            if progress is not None:
                progress(len(answers), len(requests), answer.path)
    finally:  # also where the user has interrupted the wait
        batch.stop()
        for thread in threads:
            thread.join()
    return tuple(answers[i] for i in range(len(requests)))


class _ChildGoneError(Exception):
    """The child ended without an answer; the text says why."""


class _Batch:
    """The requests that are left, and the children that work on them."""

    def __init__(
        self, requests: Sequence[Request], timeout_s: float, command: tuple[str, ...]
    ) -> None:
        self.answers: queue.Queue[tuple[int, Checked | BaseException]] = queue.Queue()
        self._waiting: queue.SimpleQueue[tuple[int, Request]] = queue.SimpleQueue()
        for item in enumerate(requests):
            self._waiting.put(item)
        self._timeout_s = timeout_s
        self._command = command
        self._lock = threading.Lock()
        self._children: set[_Child] = set()
        self._stopped = False

    def work(self) -> None:
        """One thread's part: a child, and requests until none are left."""
        child: _Child | None = None
        try:
            while not self._stopped:
                try:
                    index, request = self._waiting.get_nowait()
                except queue.Empty:
                    return
                try:
                    child = child or self._start()
                    answer = child.ask(request, self._timeout_s)
                except _ChildGoneError as gone:
                    if child is not None:
                        self._end(child)
                    child = None
                    answer = failed(request, f"{request.path}: {gone}", DEFECT)
                self.answers.put((index, answer))
        except BaseException as error:  # the waiting thread raises it
            self.answers.put((-1, error))
        finally:
            if child is not None:
                self._end(child)

    def stop(self) -> None:
        """End all children at once; no further request is taken."""
        with self._lock:
            self._stopped = True
            children = tuple(self._children)
        for child in children:
            child.kill()

    def _start(self) -> _Child:
        with self._lock:
            if self._stopped:
                raise _ChildGoneError("it was not checked: the call was interrupted")
            try:
                child = _Child(self._command)
            except OSError as error:
                raise _ChildGoneError(f"no process could be started for it: {error}") from error
            self._children.add(child)
            return child

    def _end(self, child: _Child) -> None:
        child.close()
        with self._lock:
            self._children.discard(child)


class _Child:
    """One child process, in a session of its own so that it ends with all that it started."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._words = b""
        self._ready = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, request: Request, timeout_s: float) -> Checked:
        """The answer to ``request``; _ChildGoneError where there is none."""
        if not self._ready:
            if self._line(START_S, b"") != READY:
                raise _ChildGoneError(self._last_words())
            self._ready = True
        return Checked.from_json(json.loads(self._line(timeout_s, pickle.dumps(request))))

    def _line(self, timeout_s: float, message: bytes) -> bytes:
        """Send ``message`` and wait for a line; _ChildGoneError where none comes."""
        process, late = self._process, threading.Event()
        assert process.stdin is not None
        assert process.stdout is not None

        def out_of_time() -> None:
            late.set()
            self.kill()

        timer = threading.Timer(timeout_s, out_of_time)
        timer.start()
        try:
            process.stdin.write(message)
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # it is gone; ValueError where its pipe is closed
            line = b""
        finally:
            timer.cancel()
        if late.is_set():
            raise _ChildGoneError(f"it took more than {timeout_s:g} s, so its process was ended")
        if not line.endswith(b"\n"):
            raise _ChildGoneError(self._last_words())
        return line

    def kill(self) -> None:
        """End it and all that it started."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def close(self) -> None:
        """End it, wait for it, and close its pipes."""
        self.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was written last may not be taken
                    pipe.close()

    def _last_words(self) -> str:
        code = self._process.wait()
        self._listener.join()
        words = self._words.decode("utf-8", "replace").strip().splitlines()
        how = f"with exit code {code}"
        if code < 0:
            names = {s.value: s.name for s in signal.Signals}
            how = f"by signal {names.get(-code, str(-code))}"
        said = f"; it last said: {words[-1].strip()}" if words else ""
        return f"the process that checked it ended {how}{said}"

    def _listen(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        while chunk := os.read(pipe.fileno(), LAST_WORDS):
            self._words = (self._words + chunk)[-LAST_WORDS:]
