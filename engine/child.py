"""A child process that may crash, hang, flood its pipes or eat memory, and what is known then.

It reads messages from its standard input, and answers each with one line on its standard output
that holds a JSON object. Lines that hold none are skipped: before a child has taken its output for
itself, whatever Python loads at its start may print there.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Self

from .process_memory import taken_memory
from .units import told_apart

_WATCH_S = 0.05  # between two looks at a child's memory, in which it may take some 200 MB more
_LAST_WORDS_S = 2.0  # for what a dead child still has in its pipe
_WORDS_BYTES = 16_384  # of standard error that are kept, however much a library prints
_LINES_KEPT = 40
_LINE_CHARS = 400
_LONGEST_ANSWER = 1 << 30  # bytes


class ChildGone(Exception):  # noqa: N818 - what happened, not what is wrong with the call
    """The child ended, or was ended, without an answer; the text says how, and its last words."""


class Child:
    """One child, started with the first message, and anew where it has ended.

    A context manager: leaving it ends the child. ``ask`` is for one thread at a time, ``stop`` may
    come from any.
    """

    def __init__(
        self,
        command: Sequence[str],
        name: str,
        *,
        environment: Mapping[str, str] | None = None,
        leads_group: bool = False,
    ) -> None:
        """Start nothing yet.

        Args:
            command: how to start it.
            name: what it is called in the text of :class:`ChildGone`.
            environment: variables that it has besides ours.
            leads_group: what it starts itself ends with it (where there are process groups:
                POSIX). Else it ends with our own group, as when a terminal is interrupted.
        """
        self._command = list(command)
        self._name = name
        self._environment = dict(environment or {})
        self._leads_group = leads_group and os.name == "posix"
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._listener: threading.Thread | None = None
        self._words = b""
        self._stopped = False
        self._lock = threading.Lock()  # between starting and stopping it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_alive(self) -> bool:
        """Whether a child waits for messages."""
        return self._process is not None and self._process.poll() is None

    @property
    def words(self) -> tuple[str, ...]:
        """The last lines that the child has printed to standard error."""
        lines = self._words.decode("utf-8", "replace").splitlines()
        return tuple(" ".join(line.split())[:_LINE_CHARS] for line in lines[-_LINES_KEPT:])

    def ask(
        self, message: bytes, timeout_s: float, memory_bytes: int | None = None
    ) -> dict[str, Any]:
        """The child's answer to ``message``; it is started where it does not live.

        Args:
            message: may be empty, for the line that a child says unasked.
            timeout_s: the child is ended after that, and
            memory_bytes: as soon as it takes more (where ``taken_memory`` can tell: Linux).

        Raises:
            ChildGone: it could not be started, died, or was ended.
        """
        if not self.is_alive:
            self.close()
            self._start()
        process = self._process
        assert process is not None
        # One watch for all: a child that reads nothing stops us as much as one that writes nothing.
        try:
            with _Watch(process.pid, timeout_s, memory_bytes, lambda: self._kill(process)) as watch:
                answer = _exchange(process, message)
        except BaseException:  # interrupted: its answer would be taken for that to the next message
            self.close()
            raise
        if answer is not None:
            return answer
        how = watch.reason or self._obituary(process)
        self.close()
        raise ChildGone(f"{self._name} {how}")

    def stop(self) -> None:
        """End the child for good: who waits for its answer, or asks from now on, hears of it."""
        with self._lock:
            self._stopped = True
            process = self._process
        if process is not None:
            self._kill(process)

    def close(self) -> None:
        """End the child; nothing of it is left."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return
        self._kill(process)
        process.wait()
        listener, folder = self._listener, self._folder
        assert listener is not None
        assert folder is not None
        listener.join(_LAST_WORDS_S)
        _close(process.stdin)
        _close(process.stdout)
        if not listener.is_alive():  # else a process of its own making still holds the pipe
            _close(process.stderr)
        folder.cleanup()

    def _start(self) -> None:
        with self._lock:
            if self._stopped:
                raise ChildGone(f"{self._name} was stopped")
            try:
                self._process = self._started()
            except OSError as error:
                raise ChildGone(f"{self._name} could not be started: {error}") from error
        stream = self._process.stderr
        assert stream is not None
        self._words = b""
        self._listener = threading.Thread(target=self._listen, args=(stream,), daemon=True)
        self._listener.start()

    def _started(self) -> subprocess.Popen[bytes]:
        # What a library leaves in the folder for temporary files goes with the child. Windows does
        # not remove a file that a process of the child's own making still holds.
        self._folder = folder = tempfile.TemporaryDirectory(
            prefix="opscope-child-", ignore_cleanup_errors=True
        )
        try:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={
                    **os.environ,
                    **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder.name),
                    **self._environment,
                },
                start_new_session=self._leads_group,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # no console flashes
            )
        except OSError:
            folder.cleanup()
            raise

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        if self._leads_group:
            # Gone with all that it started; or, on macOS, dead but not waited for.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()

    def _obituary(self, process: subprocess.Popen[bytes]) -> str:
        """How it ended by itself, and its last words."""
        try:
            code = process.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            return "gave no answer that can be read, and was ended"
        assert self._listener is not None
        self._listener.join(_LAST_WORDS_S)
        words = [line for line in self.words if line]
        return f"ended {how_it_ended(code)}" + (f"; its last words: {words[-1]}" if words else "")

    def _listen(self, stream: IO[bytes]) -> None:
        # Always drained, or a child that prints much would stop; only the end is kept. By pieces,
        # since a line may have no end.
        while piece := os.read(stream.fileno(), _WORDS_BYTES):
            self._words = (self._words + piece)[-_WORDS_BYTES:]


class _Watch:
    """Ends a process that takes too long or too much memory while the block runs.

    Attributes:
        reason: why it was ended; "" if it was not.
    """

    def __init__(
        self, pid: int, timeout_s: float, memory_bytes: int | None, end: Callable[[], None]
    ) -> None:
        self.reason = ""
        self._pid = pid
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._end = end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        deadline = time.monotonic() + self._timeout_s
        while not self._over.wait(max(0.0, min(_WATCH_S, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                self.reason = f"took more than {self._timeout_s:g} s, and was ended"
            else:
                self.reason = self._too_much()
            if self.reason:
                self._end()
                return

    def _too_much(self) -> str:
        most = self._memory_bytes
        taken = taken_memory(self._pid) if most is not None else None
        if most is None or taken is None or taken <= most:
            return ""
        has, may = told_apart(taken, most)
        return f"took {has} of memory, where it may take {may}, and was ended"


def _exchange(process: subprocess.Popen[bytes], message: bytes) -> dict[str, Any] | None:
    """The answer to ``message``; None where the child ends before it, within it, or babbles."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(message)
        process.stdin.flush()
        while (line := process.stdout.readline(_LONGEST_ANSWER)).endswith(b"\n"):
            if line.startswith(b"{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
    except (OSError, ValueError, RecursionError):  # it is gone, or what it writes is no JSON
        return None
    return None


def how_it_ended(code: int) -> str:
    """An exit code in words; Windows gives what ended a process as a large number."""
    if code >= 0:
        return f"with exit code {code if code < 256 else hex(code)}"
    names = {s.value: s.name for s in signal.Signals}
    return f"by signal {-code} ({names.get(-code, 'unknown')})"


def _close(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError):  # what was still unsent is for a process that is gone
            stream.close()
