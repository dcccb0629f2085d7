"""The weights of a node: statistics and a histogram each, computed on a worker."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from ...engine.errors import ModelFileError
from ...engine.ir.model import Graph, Node, Weight
from ...engine.units import counted, mebibytes
from ..format import number_text, type_text
from ..jobs import Job, JobTracker
from ..theme import Theme
from ..weights import WeightStats, weight_stats
from .histogram import Histogram
from .section import clear_layout, label

WEIGHTS = "weights"  # the jobs' subject
UNASKED_BYTES = 64 << 20  # more is read only when the user asks


def weights_of(node: Node, graph: Graph) -> tuple[tuple[str, Weight], ...]:
    """(what it is called, the weight) of each constant input and tensor attribute, each once.

    An input is constant if it is an initializer or what a Constant node gives.
    """
    found: list[tuple[str, Weight]] = []
    for name in dict.fromkeys(node.inputs):
        producer = graph.producers.get(name)
        if name in graph.initializers:
            found.append((name, graph.initializers[name]))
        elif producer is not None and producer.op == "Constant":
            found += [(name, v) for v in producer.attributes.values() if isinstance(v, Weight)]
    found += [(k, v) for k, v in node.attributes.items() if isinstance(v, Weight)]
    return tuple(found)


class WeightView(QWidget):
    """Shows the weights of one node at a time."""

    def __init__(self, jobs: JobTracker, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self._jobs = jobs
        self._weights: tuple[tuple[str, Weight], ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def show_weights(self, weights: Sequence[tuple[str, Weight]]) -> None:
        """Show ``weights``; an older request's results are dropped."""
        self._jobs.cancel(WEIGHTS)
        self._weights = tuple(weights)
        clear_layout(self._column)
        size = sum(w.size_bytes for _, w in self._weights)
        if not self._weights:
            return
        if size <= UNASKED_BYTES:
            self._compute()
            return
        button = QPushButton(f"Read {mebibytes(size)} of weights")
        button.clicked.connect(self._compute)
        self._column.addWidget(button)

    def _compute(self) -> None:
        clear_layout(self._column)
        self._column.addWidget(label("Reading the weights ...", "muted"))
        weights = self._weights

        def work(job: Job) -> list[WeightStats | Exception]:
            return [_describe(weight, job) for _, weight in weights]

        self._jobs.start(WEIGHTS, work, self._show, self._fail, title="Reading weights")

    def _show(self, found: list[WeightStats | Exception]) -> None:
        clear_layout(self._column)
        for (name, weight), stats in zip(self._weights, found, strict=True):
            self._column.addWidget(label(f"{name}   {type_text(weight.type)}", "strong"))
            if isinstance(stats, Exception):
                self._column.addWidget(label(f"cannot be read: {stats}"))
                continue
            self._column.addWidget(label(stats_text(stats)))
            if stats.counts is not None and stats.count > 1:
                self._column.addWidget(
                    Histogram(stats.counts, stats.minimum, stats.maximum, self.theme)
                )
            if stats.count <= 16 or stats.counts is None:
                self._column.addWidget(label(f"values: {stats.values or 'none'}", "muted"))

    def _fail(self, error: Exception) -> None:
        clear_layout(self._column)
        self._column.addWidget(label(f"The weights cannot be read: {error}"))


def stats_text(stats: WeightStats) -> str:
    """The statistics as one sentence."""
    text = counted(stats.count, "value")
    if stats.counts is not None:
        text += f", from {number_text(stats.minimum)} to {number_text(stats.maximum)}"
        text += f", mean {number_text(stats.mean)}, deviation {number_text(stats.deviation)}"
    for number, word in ((stats.zeros, "zero"), (stats.nan, "NaN"), (stats.inf, "Inf")):
        if number:
            text += f", {number:,} {word}"
    return text


def _describe(weight: Weight, job: Job) -> WeightStats | Exception:
    """The statistics, or the reason why this one weight cannot be read."""
    try:
        return weight_stats(weight, job.check)
    except (ModelFileError, OSError, ValueError) as error:
        return error
