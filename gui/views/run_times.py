"""The times of the run as a whole, and what the plan takes on the device."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel

from ...engine.report.model import CANNOT_RUN
from ...engine.results import ENGINE_NAME
from ...engine.units import counted, mebibytes
from ..document import Document
from ..format import MISSING, sentence_text, time_text
from .section import Section, label
from .times_text import source_text

_ROWS = (
    ("wall", "Wall", "numpy in to numpy out"),
    ("gpu", "GPU", "the sum of the kernels' times"),
    ("encode", "Encode", "recording the commands, on the CPU"),
    ("upload", "Upload", "inputs to the device"),
    ("download", "Wait, read", "waiting for the GPU, and outputs from the device"),
    ("host", "CPU nodes", "nodes that run on the CPU"),
)
_FOREMOST = 2  # rows that are set in bold
_COLUMNS = {
    "p50": "Median of the warm runs",
    "min": "Fastest warm run",
    "p95": "95 of 100 warm runs are faster",
    "first": "The run that also made pipelines and buffers",
}


class TimesSection(Section):
    """A grid of times, with how they were taken below it."""

    def __init__(self) -> None:
        super().__init__(f"Times: {ENGINE_NAME}")
        self._cells: dict[tuple[str, str], QLabel] = {}
        self._about = label("Nothing was run yet.", "muted")
        self._memory = label("", "muted")
        self.add_layout(self._make_grid())
        self.add(self._about)
        self.add(self._memory)

    @property
    def about(self) -> str:
        """How the times were taken, or why there are none."""
        return self._about.text()

    def show_times(self, document: Document) -> None:
        """Show the times of the document's runs."""
        for part, spread in document.samples.parts().items():
            values = (spread.p50_ns, spread.min_ns, spread.p95_ns, spread.first_ns)
            for column, value in zip(_COLUMNS, values, strict=True):
                self._cells[part, column].setText(time_text(value))
        self._about.setText(_about(document))
        self._memory.setText(_memory(document))

    def _make_grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(0, 1)
        for at, (title, tip) in enumerate(_COLUMNS.items(), start=1):
            grid.addWidget(_number(title, "heading", tip), 0, at)
        for line, (part, title, tip) in enumerate(_ROWS, start=1):
            foremost = line <= _FOREMOST
            name = label(title, "strong" if foremost else "", selectable=False)
            name.setToolTip(tip)
            grid.addWidget(name, line, 0)
            for at, column in enumerate(_COLUMNS, start=1):
                cell = _number(MISSING, "strong" if foremost and at == 1 else "", tip)
                grid.addWidget(cell, line, at)
                self._cells[part, column] = cell
        return grid


def _about(document: Document) -> str:
    if document.reported is not None:
        return f"{sentence_text(CANNOT_RUN)}."
    last = document.parts.last if document.parts is not None else None
    if last is None:
        return "Nothing was run yet."
    samples = document.samples
    first = "the first run apart" if samples.runs > samples.warm_runs else "no first run"
    runs = counted(samples.warm_runs, "warm run")
    return f"{runs}, {first}. {source_text(last.timing_source)}."


def _memory(document: Document) -> str:
    if (plan := document.plan) is None:
        return ""
    weights = sum(s.size_bytes for s in plan.storages if s.constant is not None)
    return (
        f"{counted(len(plan.dispatches), 'dispatch', 'dispatches')}; on the device "
        f"weights {mebibytes(weights)}, arena {mebibytes(sum(plan.arena))}."
    )


def _number(text: str, tone: str, tip: str) -> QLabel:
    made = label(text, tone)
    made.setWordWrap(False)
    made.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    made.setToolTip(tip)
    return made
