"""Work off the GUI thread: numbered jobs on worker threads, their results posted back.

A job has a *subject* ("open", "weights", "run"). Starting another job of the same subject makes the
older one old: it is asked to stop, and whatever it still posts is dropped, also when it had already
finished. Callbacks run in the thread of the tracker (the GUI's), never in the worker's.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from ..engine.errors import CancelledError

Result = TypeVar("Result")


@dataclass(eq=False)
class Job:
    """One piece of work; the worker's side uses ``post``, ``report`` and ``check`` alone.

    Attributes:
        number: unique and rising.
        subject: a newer job of the same subject replaces this one.
        title: what the user reads while it runs.
        done, total: progress in steps; total is 0 while unknown.
    """

    number: int
    subject: str
    title: str
    _tracker: JobTracker = field(repr=False)
    done: int = 0
    total: int = 0
    _cancel: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def cancelled(self) -> bool:
        """True once nobody wants the result."""
        return self._cancel.is_set()

    def cancel(self) -> None:
        """Ask the worker to stop; it does so at its next ``check``."""
        self._cancel.set()

    def check(self) -> None:
        """For the worker: CancelledError once nobody wants the result."""
        if self.cancelled:
            raise CancelledError(f"{self.title or self.subject} was cancelled")

    def post(self, callback: Callable[[Any], None], value: object) -> None:
        """For the worker: call ``callback(value)`` in the GUI thread while the job is current."""
        self._tracker._posted.emit(self, lambda: callback(value))

    def report(self, done: int, total: int) -> None:
        """For the worker: ``done`` of ``total`` steps are finished."""
        self._tracker._posted.emit(self, lambda: self._tracker._progress(self, done, total))


class JobTracker(QObject):
    """Runs jobs on its own worker threads.

    Signals:
        changed: the set of running jobs, or the progress of one, is another.
    """

    changed = Signal()
    _posted = Signal(object, object)  # the job, and what to call in this thread
    _finished = Signal(object, object)

    def __init__(self, workers: int, name: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix=f"opscope-{name}")
        self._numbers = itertools.count(1)
        self._current: dict[str, Job] = {}
        self._running: list[Job] = []
        self._closed = False
        self._posted.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._finished.connect(self._finish, Qt.ConnectionType.QueuedConnection)

    @property
    def running(self) -> tuple[Job, ...]:
        """Jobs that wait or work and are still wanted, oldest first."""
        return tuple(job for job in self._running if not job.cancelled)

    def is_running(self, subject: str) -> bool:
        """True while a wanted job of ``subject`` waits or works."""
        return any(job.subject == subject for job in self.running)

    def start(
        self,
        subject: str,
        work: Callable[[Job], Result],
        done: Callable[[Result], None],
        failed: Callable[[Exception], None] | None = None,
        *,
        title: str = "",
    ) -> Job:
        """Run ``work(job)`` on a worker thread, then ``done(result)`` or ``failed(error)`` here.

        A job that was cancelled or replaced calls neither. Without ``failed`` an error, which only
        a defect can bring then, is raised here.
        """
        if self._closed:
            raise RuntimeError("the job tracker is closed")
        self.cancel(subject)
        job = Job(next(self._numbers), subject, title, self)
        self._current[subject] = job
        self._running.append(job)
        future = self._pool.submit(_run, job, work)
        future.add_done_callback(
            lambda f: self._finished.emit(job, _outcome(f, done, failed or _raise))
        )
        self.changed.emit()
        return job

    def cancel(self, subject: str | None = None) -> None:
        """Drop the job of ``subject`` (or every job): its results are no longer wanted."""
        for key in [subject] if subject is not None else list(self._current):
            if (job := self._current.pop(key, None)) is not None:
                job.cancel()
        self.changed.emit()

    @property
    def closed(self) -> bool:
        """True once no job can be started any more."""
        return self._closed

    def close(self, last: Callable[[], None] | None = None) -> None:
        """Drop every job and wait until no worker thread is left. Nothing is delivered after.

        Args:
            last: called on a worker thread after the jobs that have begun; its error is raised.
        """
        self._closed = True
        self.cancel()
        end = self._pool.submit(last) if last is not None else None
        self._pool.shutdown(wait=True)  # jobs that have not begun stop at their first check
        self._running.clear()
        if end is not None:
            end.result()

    def _is_current(self, job: Job) -> bool:
        return not self._closed and not job.cancelled and self._current.get(job.subject) is job

    @Slot(object, object)
    def _deliver(self, job: Job, call: Callable[[], None]) -> None:
        if self._is_current(job):
            call()

    @Slot(object, object)
    def _finish(self, job: Job, call: Callable[[], None]) -> None:
        wanted = self._is_current(job)
        if job in self._running:
            self._running.remove(job)
        if wanted:
            del self._current[job.subject]
            call()
        if not self._closed:
            self.changed.emit()

    def _progress(self, job: Job, done: int, total: int) -> None:
        job.done, job.total = done, total
        self.changed.emit()


def _run(job: Job, work: Callable[[Job], Result]) -> Result:
    job.check()
    return work(job)


def _outcome(
    future: Future[Any], done: Callable[[Any], None], failed: Callable[[Exception], None]
) -> Callable[[], None]:
    """What the GUI thread has to call for a future that is done."""
    if future.cancelled():
        return lambda: None
    error = future.exception()
    if error is None:
        result = future.result()
        return lambda: done(result)
    if isinstance(error, CancelledError):
        return lambda: None
    if not isinstance(error, Exception):
        raise error
    return lambda: failed(error)


def _raise(error: Exception) -> None:
    raise error
