"""The child process that lays out one graph: a request on standard input, answers on output.

It imports neither Qt nor the engine. It ends when its work is done, when it is killed (cancelling),
or when the window that asked for it is gone.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading

from .layout import lay_out
from .types import LayoutError, LayoutRequest

WORKER_FLAG = "--layout-worker"  # what a frozen application is started with to become this
_PR_SET_PDEATHSIG = 1


def main() -> int:
    """Read one request, write progress lines and the result. Gives the exit code."""
    _die_with_parent()
    request = LayoutRequest.from_json(sys.stdin.readline())
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    try:
        result = lay_out(request, lambda fraction: _tell({"progress": fraction}))
    except LayoutError as error:
        _tell({"error": str(error)})
        return 1
    _tell({"result": result.to_json()})
    return 0


def _tell(message: dict[str, object]) -> None:
    print(json.dumps(message), flush=True)


def _die_with_parent() -> None:
    """Have Linux end this process with the one that started it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _exit_at_end_of_input() -> None:
    """The parent holds our input open; on every system its end is the parent's end."""
    while sys.stdin.read(1):
        pass
    os._exit(2)


if __name__ == "__main__":
    raise SystemExit(main())
