"""The kernels table: one row per timed node, with its distribution over the runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject

from ...engine.ir.model import NodeId
from ...engine.profiling.stats import NodeSummary, Spread
from ...engine.results import ENGINE_NAME
from ..document import Document
from ..format import share_text, time_text
from .table import Column, TableModel


@dataclass(frozen=True, slots=True)
class KernelRow:
    """A timed node.

    Attributes:
        source: the node of the file that a click selects.
        name: its name, or operator and index.
        order: place in the order of execution.
    """

    source: NodeId
    name: str
    order: int
    summary: NodeSummary


def kernel_rows(document: Document) -> tuple[KernelRow, ...]:
    """A row for each node that the document's runs have timed, in order of execution."""
    rows = zip(document.summary, document.timed, strict=True)
    return tuple(KernelRow(w.source, w.name, i, row) for i, (row, w) in enumerate(rows))


_FIRST = "The run that also made pipelines and buffers"


def _time_column(
    title: str, time_ns: Callable[[Spread], float | None], tip: str
) -> Column[KernelRow]:
    def value(row: KernelRow) -> float | None:
        return time_ns(row.summary.time)

    return Column(
        title, value, lambda row: time_text(value(row)), tip=f"{tip} ({ENGINE_NAME})", numeric=True
    )


COLUMNS: tuple[Column[KernelRow], ...] = (
    Column("#", lambda r: r.order, tip="Order of execution", numeric=True, width=6),
    Column("Node", lambda r: r.name, width=20),
    Column("Operator", lambda r: r.summary.op, width=15),
    Column("Kernel", lambda r: r.summary.kernel, tip="Shader and variant", width=24),
    Column(
        "Dispatches",
        lambda r: r.summary.dispatches,
        tip="GPU dispatches in one run",
        numeric=True,
        width=12,
    ),
    Column(
        "n",
        lambda r: r.summary.time.n,
        tip="Warm runs that these times are from; the first run is apart",
        numeric=True,
        width=6,
    ),
    _time_column("Min", lambda time: time.min_ns, "Fastest warm run"),
    _time_column("p50", lambda time: time.p50_ns, "Median of the warm runs"),
    _time_column("p95", lambda time: time.p95_ns, "95 of 100 warm runs are faster"),
    Column(
        "Share",
        lambda r: r.summary.share,
        lambda r: share_text(r.summary.share),
        tip="Part of the sum of all nodes' medians",
        numeric=True,
        bar=lambda r: r.summary.share,
        width=12,
    ),
    _time_column("First run", lambda time: time.first_ns, _FIRST),
)
KERNEL_COLUMN = next(i for i, c in enumerate(COLUMNS) if c.title == "Kernel")
SHARE_COLUMN = next(i for i, c in enumerate(COLUMNS) if c.title == "Share")


class KernelsModel(TableModel[KernelRow]):
    """The kernels table."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, lambda row: row.summary.node, parent)
