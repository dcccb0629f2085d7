"""The times of runs as they stream in, and their statistics, computed now and then."""

from __future__ import annotations

import time
from collections.abc import Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from ..engine.profiling.stats import NodeSummary, Samples
from ..engine.results import RunResult

_SUMMARY_MS = 150
_REST_RATIO = 5  # at most a sixth of the time goes into statistics


class RunTimes(QObject):
    """Samples of one plan's runs, and a summary that is renewed a few times a second at most.

    Signals:
        renewed: a newer summary can be had.
    """

    renewed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.samples = Samples()
        self._summary: tuple[NodeSummary, ...] = ()
        self._is_old = False
        self._rest = QTimer(self, singleShot=True)  # runs after a summary was computed
        self._rest.timeout.connect(self.settle)

    def add(self, results: Iterable[RunResult]) -> None:
        """More runs."""
        for result in results:
            self.samples.add(result)
        self._is_old = True

    def summary(self) -> tuple[NodeSummary, ...]:
        """The statistics of each timed node, perhaps of a moment ago."""
        if self._is_old and not self._rest.isActive():
            start = time.monotonic()
            self._summary = self.samples.summary()
            self._is_old = False
            cost_ms = 1000 * (time.monotonic() - start)
            self._rest.start(max(_SUMMARY_MS, round(_REST_RATIO * cost_ms)))
        return self._summary

    def settle(self) -> None:
        """No more runs come, or the rest is over: tell of what was not told yet."""
        self._rest.stop()
        if self._is_old:
            self.renewed.emit()

    def forget(self) -> None:
        """Begin anew."""
        self.samples = Samples()
        self._summary, self._is_old = (), False
        self._rest.stop()
