"""The one thread that owns the device: plans and runs, one after another, streamed to the window.

The session (and with it the wgpu device) is made, used and closed on this thread only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from ..engine.device.profile import DeviceProfile
from ..engine.ir.model import Model
from ..engine.plan.types import Plan
from ..engine.results import RunResult
from .jobs import Job, JobTracker
from .services import PreparedFeeds, Runner, Services

RUN = "run"
DEVICES = "devices"
UPDATE_SECONDS = 0.05  # results are posted at most 20 times a second


@dataclass(frozen=True)
class RunRequest:
    """What to run.

    Attributes:
        prepare: makes the inputs, on the worker thread.
        repeats: warm runs after the first; None runs until stopped.
        device: the adapter, None for the default one.
    """

    model: Model
    prepare: Callable[[], PreparedFeeds]
    repeats: int | None
    device: DeviceProfile | None = None
    stop: threading.Event = field(default_factory=threading.Event, compare=False)


@dataclass(frozen=True)
class RunListener:
    """Who is told, in the GUI thread, what a request brings."""

    prepared: Callable[[PreparedFeeds], None]
    planned: Callable[[Plan], None]
    ran: Callable[[Sequence[RunResult]], None]
    finished: Callable[[], None]
    failed: Callable[[Exception], None]


class EngineWorker(QObject):
    """Runs requests on the device's thread.

    Signals:
        changed: a run began, went on or ended.
        device_changed: DeviceProfile: the adapter that runs are on.
    """

    changed = Signal()
    device_changed = Signal(object)

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._jobs = JobTracker(1, "engine", self)
        self._jobs.changed.connect(self.changed)
        self._runner: Runner | None = None  # touched by the worker thread only
        self._runner_device: DeviceProfile | None = None
        self._request: RunRequest | None = None

    @property
    def busy(self) -> bool:
        """True while a run is wanted and not finished."""
        return self._jobs.is_running(RUN)

    @property
    def idle(self) -> bool:
        """True while nothing is asked of the device's thread."""
        return not self._jobs.running

    @property
    def progress(self) -> tuple[int, int]:
        """Runs done and wanted of the present request; (0, 0) while unknown or looping."""
        for job in self._jobs.running:
            if job.subject == RUN:
                return job.done, job.total
        return 0, 0

    def list_devices(
        self,
        done: Callable[[Sequence[DeviceProfile]], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Ask for the adapters of this machine."""
        self._jobs.start(DEVICES, lambda job: self._services.devices(), done, failed)

    def run(self, request: RunRequest, listener: RunListener) -> None:
        """Start ``request``; one that was running is stopped and its results are dropped."""
        self.abandon()
        self._request = request
        self._jobs.start(
            RUN,
            lambda job: self._work(job, request, listener),
            lambda _: listener.finished(),
            listener.failed,
            title="Running",
        )

    def stop(self) -> None:
        """End after the present run; what was measured is kept."""
        if self._request is not None:
            self._request.stop.set()

    def abandon(self) -> None:
        """End after the present run and drop whatever it brings."""
        self.stop()
        self._jobs.cancel(RUN)

    def close(self) -> None:
        """End everything, close the session on its own thread, and wait for that."""
        self.abandon()
        if not self._jobs.closed:
            self._jobs.close(last=self._close_runner)

    # ------------------------------------------------------------------ on the worker thread

    def _work(self, job: Job, request: RunRequest, listener: RunListener) -> None:
        runner = self._open(request.device)
        job.post(self.device_changed.emit, runner.profile)
        feeds = request.prepare()
        job.post(listener.prepared, feeds)
        job.check()
        job.post(listener.planned, runner.plan(request.model, feeds.arrays))
        total = None if request.repeats is None else request.repeats + 1
        batch: list[RunResult] = []
        done = 0
        posted = time.monotonic()
        taken = threading.Event()  # the window has taken in the batch before
        taken.set()
        while (total is None or done < total) and not request.stop.is_set():
            job.check()
            batch.append(runner.run(request.model, feeds.arrays))
            done += 1
            if time.monotonic() - posted >= UPDATE_SECONDS or done == 1:
                # Runs never get more than a batch ahead of a window that is slower than they are.
                while not taken.wait(UPDATE_SECONDS) and not request.stop.is_set():
                    job.check()
                self._post(job, listener, batch, done, total, taken)
                batch, posted = [], time.monotonic()
        self._post(job, listener, batch, done, total, taken)

    def _post(
        self,
        job: Job,
        listener: RunListener,
        batch: Sequence[RunResult],
        done: int,
        total: int | None,
        taken: threading.Event,
    ) -> None:
        def deliver(results: Sequence[RunResult]) -> None:
            try:
                listener.ran(results)
            finally:
                taken.set()

        taken.clear()
        job.post(deliver, tuple(batch))
        job.report(done, total or 0)

    def _open(self, device: DeviceProfile | None) -> Runner:
        if self._runner is None or self._runner_device != device:
            self._close_runner()
            self._runner = self._services.open_runner(device)
            self._runner_device = device
        return self._runner

    def _close_runner(self) -> None:
        if self._runner is not None:
            runner, self._runner = self._runner, None
            runner.close()
