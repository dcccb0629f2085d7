"""The child process: lines of JSON over pipes, a timeout, and what is known when it dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from .worker import FLAG

_LAST_WORDS_S = 2.0  # for what a dead child still has in its pipe
_WORDS_BYTES = 16_384  # of standard error that are kept, however much a library prints
_LINES_KEPT = 40
_LINE_CHARS = 400


class ChildDied(Exception):  # noqa: N818 - what happened, not what is wrong with the call
    """The child ended, or was ended, without an answer; the text says how, and its last words."""


def worker_command() -> list[str]:
    """How to start the child; a frozen application starts itself with ``worker.FLAG``."""
    if getattr(sys, "frozen", False):
        return [sys.executable, FLAG]
    # By path and with -P: the child loads nothing of Opscope, and no module of the folder that the
    # user happens to be in.
    return [sys.executable, "-P", str(Path(__file__).with_name("worker.py"))]


class Child:
    """One child, started with the first request. Not for use by several threads at once."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._command = list(command)
        self._environment = None if environment is None else {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._words = b""
        self._listener: threading.Thread | None = None
        self._next_id = 0

    @property
    def is_alive(self) -> bool:
        """Whether a child waits for requests."""
        return self._process is not None and self._process.poll() is None

    @property
    def words(self) -> tuple[str, ...]:
        """The last lines that the child has printed to standard error."""
        lines = self._words.decode("utf-8", "replace").splitlines()
        return tuple(" ".join(line.split())[:_LINE_CHARS] for line in lines[-_LINES_KEPT:])

    def ask(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """The child's answer; it is started where it does not live.

        Raises:
            ChildDied: it died, or did not answer within ``timeout_s`` and was ended.
            OSError: it cannot be started.
        """
        if not self.is_alive:
            self.close()
            self._start()
        process = self._process
        assert process is not None
        self._next_id += 1
        late = threading.Event()

        def out_of_time() -> None:
            late.set()
            process.kill()

        # One limit for all: a child that reads nothing stops us as much as one that writes nothing.
        timer = threading.Timer(timeout_s, out_of_time)
        timer.start()
        try:
            answer = self._exchange(process, {**request, "id": self._next_id})
        finally:
            timer.cancel()
        if answer is not None:
            return answer
        if late.is_set():
            self.close()
            raise ChildDied(f"ORT gave no answer within {timeout_s:g} s and was ended")
        raise ChildDied(self._obituary())

    def _exchange(
        self, process: subprocess.Popen[bytes], request: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The answer with the request's id; None where the child ends before it, or within it."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            for line in process.stdout:
                if not line.endswith(b"\n"):
                    return None
                answer: dict[str, Any] = json.loads(line)
                if answer.get("id") == request["id"]:
                    return answer
        except (OSError, ValueError):  # it is gone, or what it writes is no answer
            return None
        return None

    def close(self) -> None:
        """End the child; nothing of it is left."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        listener = self._listener
        assert listener is not None
        listener.join(_LAST_WORDS_S)
        _close(process.stdin)
        _close(process.stdout)
        if not listener.is_alive():  # else a process of its own making still holds the pipe
            _close(process.stderr)

    def _start(self) -> None:
        self._words = b""
        # In our own process group, so that whoever ends us with our group ends it, too.
        self._process = process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows: no console flashes
        )
        assert process.stderr is not None
        self._listener = threading.Thread(target=self._listen, args=(process.stderr,), daemon=True)
        self._listener.start()

    def _obituary(self) -> str:
        assert self._process is not None
        try:
            code = self._process.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:  # it closed its pipe and lives on
            self._process.kill()
            code = self._process.wait()
        self.close()
        how = f"signal {-code} ({_signal_name(-code)})" if code < 0 else f"exit code {code}"
        words = [line for line in self.words if line]
        last = f"; its last words: {words[-1]}" if words else ""
        return f"ORT aborted: {how}{last}"

    def _listen(self, stream: IO[bytes]) -> None:
        # Always drained, or a child that prints much would stop; only the end is kept. By pieces,
        # since a line may have no end.
        while piece := os.read(stream.fileno(), _WORDS_BYTES):
            self._words = (self._words + piece)[-_WORDS_BYTES:]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _close(stream: IO[bytes] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except BrokenPipeError:  # what was still unsent is for a process that is gone
        return
