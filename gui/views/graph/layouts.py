"""The drawings of one model's graphs: laid out off the GUI thread when wanted, and kept."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from ....engine.ir.model import Graph, GraphPath, Model
from ...jobs import Job, JobTracker
from ...layout.process import lay_out_in_child
from ...layout.scene import LaidOut, Types
from ...layout.scene_builder import build_scene, graph_index, layout_request
from .drawing import Drawing

_SUBJECT = "layout"
_STEPS = 1000  # of a layout's progress


class Layouts(QObject):
    """Lays out one graph at a time; a newer wish replaces the one under way.

    Signals:
        ready: GraphPath, Drawing: the drawing that was wanted.
        failed: Exception: why there is none.
    """

    ready = Signal(object, object)
    failed = Signal(object)

    def __init__(self, jobs: JobTracker, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._model: Model | None = None
        self._types: Types = {}
        self._graphs: Mapping[GraphPath, Graph] = {}
        self._drawings: dict[GraphPath, Drawing] = {}

    def set_model(self, model: Model | None, types: Types) -> None:
        """Another model, or other types of its values: drawings are to be made anew."""
        self.cancel()
        if model is not self._model:
            self._drawings.clear()
            self._graphs = graph_index(model) if model is not None else {}
        self._model, self._types = model, types

    def graph(self, path: GraphPath) -> Graph | None:
        """The model's graph at ``path``, if it has one there."""
        return self._graphs.get(path)

    def known(self, path: GraphPath) -> Drawing | None:
        """The last drawing of a graph; the types on it may be out of date."""
        return self._drawings.get(path)

    def current(self, path: GraphPath) -> Drawing | None:
        """The drawing of a graph with the types as they are now, if it was made."""
        drawing = self._drawings.get(path)
        return drawing if drawing is not None and drawing.types is self._types else None

    def make(self, path: GraphPath) -> None:
        """Lay out a graph of the model; :attr:`ready` or :attr:`failed` follows."""
        model, types = self._model, self._types
        if model is None:
            raise RuntimeError("there is no model to lay out")
        self._jobs.start(
            _SUBJECT,
            lambda job: _lay_out(job, model, path, types),
            lambda drawing: self._made(path, drawing),
            self.failed.emit,
            title="Laying out the graph",
        )

    def cancel(self) -> None:
        """Stop laying out; the child process is ended."""
        self._jobs.cancel(_SUBJECT)

    @property
    def is_busy(self) -> bool:
        """Whether a layout is under way."""
        return self._jobs.is_running(_SUBJECT)

    @property
    def progress(self) -> tuple[int, int]:
        """Steps done, and how many there are; (0, 0) before the first."""
        return next(
            ((job.done, job.total) for job in self._jobs.running if job.subject == _SUBJECT), (0, 0)
        )

    def _made(self, path: GraphPath, drawing: Drawing) -> None:
        self._drawings[path] = drawing
        self.ready.emit(path, drawing)


def _lay_out(job: Job, model: Model, path: GraphPath, types: Types) -> Drawing:
    """On a worker thread: scene, layout in a child process, arrays."""
    scene = build_scene(model, path, types)
    job.check()
    layout = lay_out_in_child(
        layout_request(scene), job.check, lambda done: job.report(round(done * _STEPS), _STEPS)
    )
    drawing = Drawing(LaidOut(scene, layout), types)
    drawing.prepare()
    return drawing
