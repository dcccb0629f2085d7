"""Opening a file: read, judged and checked on a worker, shown part by part as each arrives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ..engine.device.profile import DeviceProfile
from ..engine.errors import ModelFileError, UsageError
from ..engine.ir.model import Model
from ..engine.report.model import ReportedModel
from .copies import NO_COPIES, Copies, copies_of
from .document import Document
from .jobs import Job, JobTracker
from .parts import Parts, Verdicts
from .services import Services, Types

if TYPE_CHECKING:
    from ..engine.ir.infer import Inference
    from ..engine.live.answer import LivePlacement

OPEN = "open"
REFINE = "refine"  # for the shapes of a run
JUDGE = "judge"  # for another target
PLACE = "place"  # the targets that nobody has chosen yet


@dataclass(frozen=True)
class _Placed:
    """The verdicts of one target, from static types."""

    target: str
    verdicts: Verdicts = field(repr=False)


@dataclass(frozen=True)
class _Copied:
    """What crosses between GPU and CPU for one target."""

    target: str
    copies: Copies = field(repr=False)


class Opener(QObject):
    """Reads files into the document, and judges the open model for one target after another.

    A file that cannot be read leaves the open document as it is. Reading, types, first verdicts
    and the judgement are one job; each part is shown as soon as it is there.

    Signals:
        opened: Model: it is in the document, its parts are on their way.
        finished: every part of the opened file is there.
        not_opened: Exception: a file could not be read, or a later part of it failed.
        failed: Exception: the open model could not be judged for another target.
    """

    opened = Signal(object)
    finished = Signal()
    not_opened = Signal(object)
    failed = Signal(object)

    def __init__(
        self, document: Document, jobs: JobTracker, services: Services, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._jobs = jobs
        self._services = services
        self._shapes: Mapping[str, tuple[int, ...]] = {}
        self._profile: DeviceProfile | None = None
        self._limits: DeviceProfile | None = None

    def open(self, path: str, targets: Callable[[], Sequence[str]]) -> None:
        """Open ``path``; an opening that is still going on is dropped.

        Args:
            path: the file.
            targets: ids of those that the model is judged for; called on a worker.
        """
        self._jobs.start(
            OPEN,
            lambda job: self._work(job, path, targets),
            self._finish,
            self.not_opened.emit,
            title=f"Opening {path}",
        )

    def judge(self, targets: Sequence[str]) -> None:
        """Judge the open model for more targets, for the shapes of the last judgement by ``open``.

        Findings of other targets stay. A report says what it says: nothing is judged anew.
        """
        model, chosen = self._document.model, tuple(targets)
        if model is None or not chosen or isinstance(model, ReportedModel):
            return
        shapes, limits = self._shapes, self._limits or self._profile
        self._jobs.start(
            JUDGE,
            lambda job: self._judge(job, model, shapes, limits, chosen),
            lambda _: None,
            self.failed.emit,
            title=f"Judging for {', '.join(chosen)}",
        )

    def refine(
        self,
        shapes: Mapping[str, tuple[int, ...]],
        profile: DeviceProfile | None,
        targets: Sequence[str],
    ) -> None:
        """Judge the open model again, for the shapes and the adapter of a run.

        It is judged for ``targets`` and for those that it was judged for before.
        """
        parts = self._document.parts
        if parts is None:
            return
        self._shapes, self._profile = dict(shapes), profile
        self._judge_again(parts.model, (*targets, *sorted(parts.judged)))

    def set_limits(self, limits: DeviceProfile | None) -> None:
        """Judge by these limits from now on, and anew what was judged by others.

        Args:
            limits: None for those of the adapter of the last run; before any run none count.
        """
        self._limits = limits
        parts = self._document.parts
        if parts is not None and parts.judged:
            self._judge_again(parts.model, sorted(parts.judged))

    def _judge_again(self, model: Model, targets: Iterable[str]) -> None:
        chosen, shapes = tuple(dict.fromkeys(targets)), self._shapes
        limits = self._limits or self._profile
        self._jobs.cancel(JUDGE)
        self._jobs.start(
            REFINE,
            lambda job: self._judge(job, model, shapes, limits, chosen),
            lambda _: None,
            self.failed.emit,
        )

    def place_rest(self, targets: Sequence[str]) -> None:
        """Place the open model for those of ``targets`` that have no verdicts yet, one by one.

        It can be cancelled: each target's verdicts are shown when they are there.
        """
        parts = self._document.parts
        if parts is None or isinstance(parts.model, ReportedModel):
            return
        waiting = [t for t in targets if t not in parts.verdicts]
        if not waiting:
            return
        self._jobs.start(
            PLACE,
            lambda job: self._place(job, parts, waiting),
            lambda _: None,
            self.failed.emit,
            title="Placing for the other targets",
        )

    # ------------------------------------------------------------------ on a worker thread

    def _work(
        self, job: Job, path: str, wanted: Callable[[], Sequence[str]]
    ) -> DeviceProfile | None:
        """Read, place and judge; the limits that it was judged by."""
        try:
            model = self._services.load(path)
        except OSError as error:
            raise ModelFileError(f"{path}: {error.strerror or error}") from error
        job.post(self._show, model)
        job.check()
        if isinstance(model, ReportedModel):
            self._take(job, model)
            return self._limits
        inference = self._services.infer(model)
        job.post(self._typed, inference)
        targets = wanted()
        for target in targets:
            job.check()
            verdicts = self._services.place(model, target, inference.types, None)
            job.post(self._placed, _Placed(target, verdicts))
        job.check()
        limits = self._limits
        self._judge(job, model, {}, limits, targets)
        return limits

    def _take(self, job: Job, model: ReportedModel) -> None:
        """A report brings its types, verdicts, copies and live answers along."""
        from ..engine.ir.infer import Inference

        job.post(self._typed, Inference(model.types))
        for name, stated in model.verdicts.items():
            job.post(self._placed, _Placed(name, stated))
            if name in model.copies:
                copies = copies_of(model.copies[name], {})
            else:  # of an older version of Opscope, which did not keep them
                copies = self._copies(model, name, stated, model.types, {})
            job.post(self._copied, _Copied(name, copies))
        for live in model.live.values():
            job.post(self._answered, live)

    def _judge(
        self,
        job: Job,
        model: Model,
        shapes: Mapping[str, tuple[int, ...]],
        profile: DeviceProfile | None,
        targets: Sequence[str],
    ) -> None:
        judged = self._services.judge(model, shapes, profile, targets)
        job.post(lambda found: self._document.set_judgement(found, targets), judged)
        for target in targets:
            job.check()
            verdicts = judged.verdicts[target]
            copies = self._copies(model, target, verdicts, judged.types, judged.assumed)
            job.post(self._copied, _Copied(target, copies))

    def _place(self, job: Job, parts: Parts, targets: Sequence[str]) -> None:
        for number, target in enumerate(targets):
            job.check()
            job.report(number, len(targets))
            verdicts = self._services.place(parts.model, target, parts.types, parts.concrete)
            job.post(self._placed_late, _Placed(target, verdicts))

    def _copies(
        self,
        model: Model,
        target: str,
        verdicts: Verdicts,
        types: Types,
        assumed: Mapping[str, int],
    ) -> Copies:
        try:
            found = self._services.crossings(model, target, verdicts, types)
        except UsageError:  # a report may speak of a target that this version does not know
            return NO_COPIES
        return copies_of(found, assumed)

    # ------------------------------------------------------------------ in the GUI thread

    def _show(self, model: Model) -> None:
        for subject in (JUDGE, PLACE, REFINE):  # of the model before
            self._jobs.cancel(subject)
        self._shapes, self._profile = {}, None
        self._document.open(model)
        self.opened.emit(model)

    def _finish(self, judged_by: DeviceProfile | None) -> None:
        self.finished.emit()
        if judged_by is not self._limits:  # they were chosen meanwhile
            self.set_limits(self._limits)

    def _typed(self, inference: Inference) -> None:
        self._document.set_types(inference)

    def _placed(self, placed: _Placed) -> None:
        self._document.set_verdicts(placed.target, placed.verdicts)

    def _placed_late(self, placed: _Placed) -> None:
        """Verdicts of a target that was chosen meanwhile are there already, and better."""
        parts = self._document.parts
        if parts is not None and placed.target not in parts.judged:
            self._placed(placed)

    def _answered(self, live: LivePlacement) -> None:
        self._document.set_live(live, ())  # what differs is among the report's findings

    def _copied(self, copied: _Copied) -> None:
        self._document.set_copies(copied.target, copied.copies)
