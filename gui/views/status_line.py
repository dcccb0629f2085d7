"""The status bar: what goes on, with Cancel; the findings; the adapter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QStatusBar,
    QToolButton,
    QWidget,
)

from ...engine.device.profile import DeviceProfile
from ...engine.diagnostics import Severity
from ..format import severity_count
from ..jobs import Job
from .short_label import ShortLabel


class StatusLine(QObject):
    """Fills a status bar.

    Signals:
        cancelled: str: the user asked to cancel the job of this subject, which is shown.
    """

    cancelled = Signal(str)

    def __init__(self, bar: QStatusBar) -> None:
        super().__init__(bar)
        self._bar = bar
        self._work = QLabel()
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setFixedWidth(120)
        self._cancel = QToolButton()
        self._cancel.setText("Cancel")
        self._cancel.setAutoRaise(True)
        self._subject = ""
        self._cancel.clicked.connect(lambda: self.cancelled.emit(self._subject))
        self._steps = ShortLabel()
        self._problems = QLabel()
        self._limits = QLabel()
        self._limits.setToolTip("By whose limits findings are made (menu Problems)")
        self._adapter = QLabel()
        self._adapter.setToolTip("The adapter that Opscope's runs are on")
        # In one widget: a bar that shows an action's tip hides that, and what is shown in it later.
        passing = QWidget()
        row = QHBoxLayout(passing)
        row.setContentsMargins(6, 0, 0, 0)
        for widget in (self._work, self._progress, self._cancel):
            row.addWidget(widget)
        row.addWidget(self._steps, 1)
        bar.addWidget(passing, 1)
        for widget in (self._problems, self._limits, self._adapter):
            widget.setContentsMargins(12, 0, 12, 0)
            bar.addPermanentWidget(widget)
        self.show_jobs(())

    def show_jobs(self, jobs: Sequence[Job]) -> None:
        """Show the oldest job that has a title."""
        shown = next((job for job in jobs if job.title), None)
        if shown is not None:
            self._subject = shown.subject
            self._work.setText(shown.title)
            # A bar in sight is painted at once, with all of the window that waits: fill it before.
            self._progress.setRange(0, shown.total)
            self._progress.setValue(shown.done)
        # Else the line grows with the button, and all of the window moves as work begins and ends.
        self._steps.setMinimumHeight(self._cancel.sizeHint().height())
        for widget in (self._work, self._progress, self._cancel):
            widget.setVisible(shown is not None)

    def show_problems(self, counts: Mapping[Severity, int]) -> None:
        """Show how many findings there are of each severity."""
        texts = [severity_count(severity, n) for severity, n in counts.items() if n]
        self._problems.setText(", ".join(texts))

    def show_adapter(self, profile: DeviceProfile) -> None:
        """Show the adapter that runs are on."""
        self._adapter.setText(f"{profile.name} ({profile.backend})")
        self._adapter.setToolTip(f"driver {profile.driver}" if profile.driver else profile.name)

    def show_limits(self, whose: str) -> None:
        """Show by whose limits findings are made; "" where they are the adapter's of a run."""
        self._limits.setText(f"Limits: {whose}" if whose else "")

    @property
    def limits_text(self) -> str:
        """What :meth:`show_limits` shows."""
        return self._limits.text()

    def show_step(self, text: str) -> None:
        """Show where a step along the offending or differing nodes led, until it is of no use."""
        self._steps.show_text(text)

    @property
    def step_text(self) -> str:
        """What :meth:`show_step` shows."""
        return self._steps.whole_text

    def say(self, text: str) -> None:
        """A short notice that goes away by itself."""
        self._bar.showMessage(text, 4000)
