"""A check in this process that ends when its time is up, as one in a child would."""

from __future__ import annotations

import _thread
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..guard.checking import Request, check_or_error, failed
from ..guard.results import Checked
from ..guard.worker import DEFECT


def check_in_time(request: Request, timeout_s: float) -> Checked:
    """One file in this process, ended after ``timeout_s`` as a child would be.

    For the main thread. What hangs outside of Python is not ended, except, on POSIX, where it
    waits for the system, such as for the answer of a process.
    """
    late = threading.Event()

    def end() -> None:
        late.set()
        _interrupt_main()

    timer = threading.Timer(timeout_s, end)
    timer.daemon = True
    try:
        with _interruptible(late):
            timer.start()  # within, for an interrupt that is ignored would be lost
            try:
                return check_or_error(request)
            finally:
                timer.cancel()
                timer.join()  # an interrupt that is on its way arrives here, or never
    except KeyboardInterrupt:
        if not late.is_set():
            raise
        text = f"{request.path}: it took more than {timeout_s:g} s, so its check was ended"
        return failed(request, text, DEFECT)


def _interrupt_main() -> None:
    """SIGINT for the main thread, which ends what it waits for.

    Python's own ``interrupt_main`` only leaves a mark, which a thread that waits does not see.
    """
    if os.name == "posix":
        signal.pthread_kill(_ident_of_main(), signal.SIGINT)
    else:
        _thread.interrupt_main()


def _ident_of_main() -> int:
    ident = threading.main_thread().ident
    assert ident is not None  # it has started
    return ident


@contextmanager
def _interruptible(late: threading.Event) -> Iterator[None]:
    """SIGINT counts once ``late`` is set, though it be ignored, as in a shell's background job."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return

    def interrupted(signum: int, frame: FrameType | None) -> None:
        if late.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
