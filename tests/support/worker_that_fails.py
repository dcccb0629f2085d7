"""A child of ``guard.batch`` whose answer depends on the file's name; run as a script."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from opscope.engine.guard.checking import Request, failed
from opscope.engine.guard.results import Checked
from opscope.engine.guard.worker import pickled, serve


def check(request: Request) -> Checked:
    """Crash, hang, fail, or say which process this is."""
    if "crash" in request.path:
        print("last words", file=sys.stderr, flush=True)
        os.abort()
    if "leave" in request.path:
        os._exit(7)
    if "hang" in request.path:
        Path(request.path).write_text(str(os.getpid()))
        time.sleep(600)
    if "eat" in request.path:
        kept = bytearray(2 << 30)
        time.sleep(600)
        del kept
    if "defect" in request.path:
        raise RuntimeError("no such thing")
    if "memory" in request.path:
        raise MemoryError("9 GiB")
    return failed(request, str(os.getpid()), 2)


if __name__ == "__main__":
    serve(pickled(sys.stdin.buffer), sys.stdout.buffer, check)
