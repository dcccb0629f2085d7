"""Many files in processes of their own: one that crashes or hangs costs its own file alone.

A child is a fresh interpreter (nothing is forked), checks one file after the other, and is replaced
when it dies or takes more memory than is good for the machine. What comes back is plain data: the
models stay, and end, in the child.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
from collections.abc import Callable, Sequence

from ..child import Child, ChildGone
from ..process_memory import memory_for_one
from .checking import Request, failed
from .results import Checked
from .worker import DEFECT, FLAG

TIMEOUT_S = 600.0
START_S = 120.0  # for a child to load what it needs, from a cold disk
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
    number = max(1, min(jobs or default_jobs(), len(requests)))
    children = [_checker(command) for _ in range(number)]
    waiting: queue.SimpleQueue[tuple[int, Request]] = queue.SimpleQueue()
    for item in enumerate(requests):
        waiting.put(item)
    answers: queue.Queue[tuple[int, Checked | BaseException]] = queue.Queue()
    threads = [
        threading.Thread(target=_work, args=(child, waiting, timeout_s, answers), daemon=True)
        for child in children
    ]
    found: dict[int, Checked] = {}
    try:
        for thread in threads:
            thread.start()
        while len(found) < len(requests):
            try:
                index, answer = answers.get(timeout=_POLL_S)
            except queue.Empty:
                continue
            if isinstance(answer, BaseException):
                raise answer
            found[index] = answer
            if progress is not None:
                progress(len(found), len(requests), answer.path)
    finally:  # also where the user has interrupted the wait
        for child in children:
            child.stop()  # for what still waits there is no other then
        for thread in threads:
            thread.join()
    return tuple(found[i] for i in range(len(requests)))


def _checker(command: Sequence[str] | None) -> Child:
    """A child that checks; what it starts itself, such as ORT's process, ends with it."""
    return Child(command or worker_command(), "the check's process", leads_group=True)


def _work(
    child: Child,
    waiting: queue.SimpleQueue[tuple[int, Request]],
    timeout_s: float,
    answers: queue.Queue[tuple[int, Checked | BaseException]],
) -> None:
    """One thread's part: a child, and requests until none are left."""
    try:
        with child:
            while True:
                try:
                    index, request = waiting.get_nowait()
                except queue.Empty:
                    return
                answers.put((index, _answer(child, request, timeout_s)))
    except BaseException as error:  # the thread that waits for answers raises it
        answers.put((-1, error))


def _answer(child: Child, request: Request, timeout_s: float) -> Checked:
    most = memory_for_one()
    try:
        if not child.is_alive:
            child.ask(b"", START_S, most)  # its greeting: what it has to load is no file's time
        return Checked.from_json(child.ask(pickle.dumps(request), timeout_s, most))
    except ChildGone as gone:
        return failed(request, f"{request.path}: {gone}", DEFECT)
