"""Laying out in a child process: the engine holds Python's lock while it works, and never stops.

Call it from a worker thread. ``check`` is asked often and cancels by raising: the child is then
killed, whatever it is doing.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO

from .types import LayoutError, LayoutRequest, LayoutResult, Progress
from .worker import WORKER_FLAG

_POLL_S = 0.03
_LAST_WORDS_S = 2.0  # for what a dead child still has in its pipe


def worker_command() -> list[str]:
    """How to start the child; a frozen application starts itself with ``WORKER_FLAG``."""
    if getattr(sys, "frozen", False):
        return [sys.executable, WORKER_FLAG]
    # -P: no module of the folder that the user happens to be in is ever imported.
    return [sys.executable, "-P", "-m", "opscope.gui.layout.worker"]


def lay_out_in_child(
    request: LayoutRequest, check: Callable[[], None], progress: Progress
) -> LayoutResult:
    """Lay out ``request`` in a child process, which is gone when this returns or raises.

    Args:
        request: what to lay out.
        check: raises to cancel.
        progress: hears fractions from 0 to 1.

    Raises:
        LayoutError: the layout failed, or the child ended without an answer.
    """
    child = subprocess.Popen(
        worker_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",  # what a library prints may be of any encoding
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows: no console flashes
    )
    messages: queue.Queue[str | None] = queue.Queue()
    pumps = [
        threading.Thread(target=_send, args=(child.stdin, request.to_json() + "\n"), daemon=True),
        threading.Thread(target=_receive, args=(child.stdout, messages), daemon=True),
    ]
    errors: list[str] = []
    pumps.append(threading.Thread(target=_collect, args=(child.stderr, errors), daemon=True))
    for pump in pumps:
        pump.start()
    try:
        while True:
            check()
            try:
                line = messages.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if line is None:
                code = child.wait()
                pumps[-1].join(_LAST_WORDS_S)
                raise LayoutError(_obituary(code, errors))
            message = json.loads(line)
            if "progress" in message:
                progress(message["progress"])
            elif "error" in message:
                raise LayoutError(message["error"])
            else:
                return LayoutResult.from_json(message["result"])
    finally:
        child.kill()
        child.wait()
        for pump in pumps:
            pump.join()
        for stream in (child.stdin, child.stdout, child.stderr):
            _close(stream)


def _send(stream: IO[str], text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:  # the child is gone; its silence on the other pipe tells why
        return


def _receive(stream: IO[str], messages: queue.Queue[str | None]) -> None:
    for line in stream:
        messages.put(line)
    messages.put(None)


def _collect(stream: IO[str], errors: list[str]) -> None:
    errors.append(stream.read())


def _close(stream: IO[str] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except BrokenPipeError:  # what was still unsent is for a process that is gone
        return


def _obituary(code: int, errors: list[str]) -> str:
    lines = "".join(errors).strip().splitlines()
    reason = f": {lines[-1]}" if lines else ""
    return f"the layout process ended with code {code}{reason}"
