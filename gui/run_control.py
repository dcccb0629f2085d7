"""Run, loop and stop: from the run panel's choices to the engine's thread and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from ..engine.ir.model import Model
from ..engine.plan.types import Plan
from ..engine.results import RunResult
from .document import Document
from .engine_worker import EngineWorker, RunListener, RunRequest
from .services import PreparedFeeds, Services
from .views.run_panel import RunOptions


class RunControl(QObject):
    """Starts runs of the document's model and puts what they bring into the document.

    Signals:
        changed: a run began, went on or ended.
        prepared: PreparedFeeds: the inputs that a run uses.
        failed: Exception: why a run ended.
        finished: a run came to its end.
    """

    changed = Signal()
    prepared = Signal(object)
    failed = Signal(object)
    finished = Signal()

    def __init__(
        self, document: Document, worker: EngineWorker, services: Services, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._document = document
        self._worker = worker
        self._services = services
        self._shapes: Mapping[str, tuple[int, ...]] = {}
        worker.changed.connect(self.changed)

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the inputs of the last run, by name."""
        return self._shapes

    @property
    def busy(self) -> bool:
        """True while a run goes on."""
        return self._worker.busy

    def start(self, options: RunOptions) -> None:
        """Run the open model as ``options`` say; a run that goes on is replaced."""
        model = self._document.model
        if model is None:
            return
        request = RunRequest(
            model, lambda: self._prepare(model, options), options.repeats, options.device
        )
        self._worker.run(
            request,
            RunListener(
                self._prepared,
                self._planned,
                self._ran,
                self._finished,
                self.failed.emit,
            ),
        )

    def stop(self) -> None:
        """Stop after the present run."""
        self._worker.stop()

    def abandon(self) -> None:
        """Drop a run that goes on: another model was opened."""
        self._worker.abandon()

    def _prepare(self, model: Model, options: RunOptions) -> PreparedFeeds:
        if options.file:
            return self._services.file_feeds(options.file, model)
        return self._services.random_feeds(model, options.shapes, options.dims, options.seed)

    def _prepared(self, feeds: PreparedFeeds) -> None:
        self._shapes = {name: array.shape for name, array in feeds.arrays.items()}
        self.prepared.emit(feeds)

    def _planned(self, plan: Plan) -> None:
        self._document.set_plan(plan)

    def _finished(self) -> None:
        self._document.settle()
        self.finished.emit()

    def _ran(self, results: Sequence[RunResult]) -> None:
        self._document.add_runs(results)
