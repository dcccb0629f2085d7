"""Opening a file: read, judged and checked on a worker, shown part by part as each arrives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ..engine.device.profile import DeviceProfile
from ..engine.diagnostics import Diagnostic
from ..engine.errors import ModelFileError
from ..engine.ir.model import Model
from ..engine.plan.types import Plan
from .document import OPSCOPE, Document, Verdicts
from .jobs import Job, JobTracker
from .services import Services, Types

if TYPE_CHECKING:
    from ..engine.ir.infer import Inference

OPEN = "open"
REFINE = "refine"


@dataclass(frozen=True)
class _Judged:
    """The verdicts of one target."""

    target: str
    verdicts: Verdicts = field(repr=False)


class Opener(QObject):
    """Reads files into the document.

    A file that cannot be read leaves the open document as it is. Reading, types, verdicts and
    checks are one job; each part is shown as soon as it is there.
    """

    def __init__(
        self, document: Document, jobs: JobTracker, services: Services, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._jobs = jobs
        self._services = services

    def open(
        self,
        path: str,
        opened: Callable[[Model], None],
        failed: Callable[[Exception], None],
        finished: Callable[[], None],
    ) -> None:
        """Open ``path``; an opening that is still going on is dropped.

        Args:
            path: the file.
            opened: called when the model is in the document.
            failed: called with the error where it cannot be read, or a later part fails.
            finished: called when every part is there.
        """

        def show(model: Model) -> None:
            self._document.open(model)
            opened(model)

        self._jobs.start(
            OPEN,
            lambda job: self._work(job, path, show),
            lambda _: finished(),
            failed,
            title=f"Reading {path}",
        )

    def refine(self, profile: DeviceProfile | None, failed: Callable[[Exception], None]) -> None:
        """Judge and check again with the concrete types of the document's plan."""
        parts = self._document.parts
        if parts is None or parts.plan is None:
            return
        model, plan = parts.model, parts.plan
        types = {**parts.types, **plan.types}
        ours = self._document.verdicts(OPSCOPE)

        def work(job: Job) -> None:
            self._judge(job, model, types, ours, plan, profile)

        self._jobs.start(REFINE, work, lambda _: None, failed)

    def _work(self, job: Job, path: str, show: Callable[[Model], None]) -> None:
        try:
            model = self._services.load(path)
        except OSError as error:
            raise ModelFileError(f"{path}: {error.strerror or error}") from error
        job.post(show, model)
        job.check()
        inference = self._services.infer(model)
        job.post(self._typed, inference)
        self._judge(job, model, inference.types)

    def _judge(
        self,
        job: Job,
        model: Model,
        types: Types,
        ours: Verdicts | None = None,
        plan: Plan | None = None,
        profile: DeviceProfile | None = None,
    ) -> None:
        """On a worker: place the model for every target, then check it."""
        verdicts: dict[str, Verdicts] = {}
        for target in self._services.targets():
            job.check()
            if target.id == OPSCOPE and ours is not None:
                verdicts[target.id] = ours
                continue
            verdicts[target.id] = self._services.place(model, target.id, types)
            job.post(self._judged, _Judged(target.id, verdicts[target.id]))
        job.check()
        job.post(self._checked, self._services.check(model, types, verdicts, plan, profile))

    def _typed(self, inference: Inference) -> None:
        self._document.set_types(inference)

    def _judged(self, judged: _Judged) -> None:
        self._document.set_verdicts(judged.target, judged.verdicts)

    def _checked(self, findings: Sequence[Diagnostic]) -> None:
        self._document.set_checks(findings)
