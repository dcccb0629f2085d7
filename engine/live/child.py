"""The child process: lines of JSON over pipes, a timeout, and what is known when it dies."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

_LAST_WORDS_S = 2.0  # for what a dead child still has in its pipe
_LINES_KEPT = 40
_LINE_CHARS = 400


class ChildDied(Exception):  # noqa: N818 - what happened, not what is wrong with the call
    """The child ended, or was ended, without an answer; the text says how, and its last words."""


def worker_command() -> list[str]:
    """How to start the child."""
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
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._words: deque[str] = deque(maxlen=_LINES_KEPT)
        self._pumps: list[threading.Thread] = []
        self._next_id = 0

    @property
    def is_alive(self) -> bool:
        """Whether a child waits for requests."""
        return self._process is not None and self._process.poll() is None

    @property
    def words(self) -> tuple[str, ...]:
        """The last lines that the child has printed to standard error."""
        return tuple(self._words)

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
        assert process.stdin is not None
        self._next_id += 1
        try:
            process.stdin.write(json.dumps({**request, "id": self._next_id}) + "\n")
            process.stdin.flush()
        except OSError:
            raise ChildDied(self._obituary()) from None
        while True:
            try:
                line = self._answers.get(timeout=timeout_s)
            except queue.Empty:
                self.close()
                raise ChildDied(
                    f"ORT gave no answer within {timeout_s:g} s and was ended"
                ) from None
            if line is None:
                raise ChildDied(self._obituary())
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._next_id:
                return answer

    def close(self) -> None:
        """End the child; nothing of it is left."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pump in self._pumps:
            pump.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            _close(stream)

    def _start(self) -> None:
        self._answers = queue.Queue()
        self._words.clear()
        self._process = process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=self._environment,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows: no console flashes
        )
        self._pumps = [
            threading.Thread(target=_receive, args=(process.stdout, self._answers), daemon=True),
            threading.Thread(target=_listen, args=(process.stderr, self._words), daemon=True),
        ]
        for pump in self._pumps:
            pump.start()

    def _obituary(self) -> str:
        assert self._process is not None
        try:
            code = self._process.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:  # it closed its pipe and lives on
            self._process.kill()
            code = self._process.wait()
        self._pumps[-1].join(_LAST_WORDS_S)
        self.close()
        how = f"signal {-code} ({_signal_name(-code)})" if code < 0 else f"exit code {code}"
        words = [line for line in self._words if line.strip()]
        last = f"; its last words: {words[-1]}" if words else ""
        return f"ORT aborted: {how}{last}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


def _receive(stream: IO[str], answers: queue.Queue[str | None]) -> None:
    for line in stream:
        answers.put(line)
    answers.put(None)


def _listen(stream: IO[str], words: deque[str]) -> None:
    # Always drained, or a child that prints much would stop; only the end is kept.
    for line in stream:
        words.append(" ".join(line.split())[:_LINE_CHARS])


def _close(stream: IO[str] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except BrokenPipeError:  # what was still unsent is for a process that is gone
        return
