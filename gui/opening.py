"""Opening a file: read, judged and checked on a worker, shown part by part as each arrives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from ..engine.device.profile import DeviceProfile
from ..engine.errors import ModelFileError
from ..engine.ir.model import Model
from ..engine.report.model import ReportedModel
from .document import Document, Verdicts
from .jobs import Job, JobTracker
from .services import Services

if TYPE_CHECKING:
    from ..engine.checks.judge import Judgement
    from ..engine.ir.infer import Inference

OPEN = "open"
REFINE = "refine"


@dataclass(frozen=True)
class _Placed:
    """The verdicts of one target, from static types."""

    target: str
    verdicts: Verdicts = field(repr=False)


class Opener(QObject):
    """Reads files into the document.

    A file that cannot be read leaves the open document as it is. Reading, types, first verdicts
    and the judgement are one job; each part is shown as soon as it is there.
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

    def refine(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        profile: DeviceProfile | None,
        failed: Callable[[Exception], None],
    ) -> None:
        """Judge the open model again, for the shapes and the adapter of a run."""
        model = self._document.model
        if model is None:
            return
        self._jobs.start(
            REFINE, lambda _: self._services.judge(model, shapes, profile), self._judged, failed
        )

    def _work(self, job: Job, path: str, show: Callable[[Model], None]) -> None:
        try:
            model = self._services.load(path)
        except OSError as error:
            raise ModelFileError(f"{path}: {error.strerror or error}") from error
        job.post(show, model)
        job.check()
        if isinstance(model, ReportedModel):  # it brings its types, verdicts and findings along
            from ..engine.ir.infer import Inference

            job.post(self._typed, Inference(model.types))
            for name, stated in model.verdicts.items():
                job.post(self._placed, _Placed(name, stated))
            return
        inference = self._services.infer(model)
        job.post(self._typed, inference)
        for target in self._services.targets():
            job.check()
            verdicts = self._services.place(model, target.id, inference.types)
            job.post(self._placed, _Placed(target.id, verdicts))
        job.check()
        job.post(self._judged, self._services.judge(model, {}, None))

    def _typed(self, inference: Inference) -> None:
        self._document.set_types(inference)

    def _placed(self, placed: _Placed) -> None:
        self._document.set_verdicts(placed.target, placed.verdicts)

    def _judged(self, judgement: Judgement) -> None:
        for target, verdicts in judgement.verdicts.items():
            self._document.set_verdicts(target, verdicts)
        self._document.set_checks(judgement.diagnostics)
