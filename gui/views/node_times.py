"""The times of one node, updated in place while a loop runs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ...engine.profiling.stats import NodeSummary
from ...engine.units import counted
from ..format import share_text, time_text
from .section import label
from .times_text import source_text


class NodeTimes(QWidget):
    """Three lines per timed node of the flattened graph: warm runs, first run, what ran."""

    def __init__(self) -> None:
        super().__init__()
        self._warm = label("", "strong")
        self._first = label("")
        self._about = label("", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for line in (self._warm, self._first, self._about):
            column.addWidget(line)

    def show_rows(self, rows: Sequence[NodeSummary], source: str) -> None:
        """Show the statistics; ``source`` is how the last run was timed."""
        warm = [f"p50 {time_text(r.time.p50_ns)}   n = {r.time.n:,}" for r in rows if r.time.n]
        self._warm.setText("\n".join(warm))
        self._warm.setVisible(bool(warm))
        self._first.setText("\n".join(_spread_text(r) for r in rows))
        about = [
            f"{share_text(r.share)} of all nodes, "
            f"{counted(r.dispatches, 'dispatch', 'dispatches')} of {r.kernel}"
            for r in rows
        ]
        self._about.setText("\n".join([*about, f"{source_text(source)}."]))


def _spread_text(row: NodeSummary) -> str:
    parts = []
    if row.time.n:
        parts += [f"min {time_text(row.time.min_ns)}", f"p95 {time_text(row.time.p95_ns)}"]
    if row.time.first_ns is not None:
        parts.append(f"first run {time_text(row.time.first_ns)}")
    return "   ".join(parts)
