"""Processes that tests start and watch."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LONG_S = 60


def is_alive(pid: int) -> bool:
    """Whether there is such a process, be it one that nobody has waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait, and fail where ``condition`` does not come true within a minute."""
    end = time.monotonic() + LONG_S
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.05)


def exit_code_without_parent(
    command: Sequence[str], request: bytes, busy: Path, environment: Mapping[str, str]
) -> int:
    """How a child ends whose input ends, as a dead parent's does, while it is busy.

    Args:
        command: starts the child.
        request: what it gets to do.
        busy: a file that it makes once it is busy; it never finishes by itself.
        environment: variables that it has besides ours.
    """
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, env={**os.environ, **environment}
    ) as process:
        assert process.stdin is not None
        process.stdin.write(request)
        process.stdin.flush()
        try:
            wait_until(busy.exists)
            process.stdin.close()
            return process.wait(LONG_S)
        finally:
            process.kill()
