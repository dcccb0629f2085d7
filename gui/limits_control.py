"""By whose limits the open model is judged: those of a browser, of an adapter, or saved ones."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from ..engine.device.profile import DeviceProfile
from .jobs import JobTracker
from .opening import Opener
from .services import Services

_SUBJECT = "limits"


class Limits(StrEnum):
    """What the user can choose; the values are what the command line calls them."""

    RUN = ""
    BROWSER = "browser"
    ADAPTER = "adapter"
    FILE = "file"


class LimitsControl(QObject):
    """Reads limits in a job, and has the model judged by them.

    Signals:
        chosen: other limits count.
        failed: Exception: they could not be read; those before count still.
    """

    chosen = Signal()
    failed = Signal(object)

    def __init__(
        self, opener: Opener, jobs: JobTracker, services: Services, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._opener = opener
        self._jobs = jobs
        self._services = services
        self.which = Limits.RUN
        self.profile: DeviceProfile | None = None

    @property
    def label(self) -> str:
        """Whose limits count, in a word or two; "" for those of a run."""
        if self.which is Limits.BROWSER:
            return "a browser's"
        return self.profile.name if self.profile is not None else ""

    def choose(self, which: Limits, path: str = "") -> None:
        """Let these limits count; those of a run are its adapter's, known when there was one.

        Args:
            which: whose.
            path: of a file of ``opscope devices --json``, for ``FILE``.
        """
        if which is Limits.RUN:
            self._take(which, None)
            return
        name = path if which is Limits.FILE else which.value
        self._jobs.start(
            _SUBJECT,
            lambda _: self._services.limits(name),
            lambda profile: self._take(which, profile),
            self._fail,
            title="Reading limits",
        )

    def _take(self, which: Limits, profile: DeviceProfile | None) -> None:
        self.which, self.profile = which, profile
        self._opener.set_limits(profile)
        self.chosen.emit()

    def _fail(self, error: Exception) -> None:
        self.failed.emit(error)
        self.chosen.emit()  # of what is ticked: those before
