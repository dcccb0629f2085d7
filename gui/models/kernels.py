"""The kernels table: one row per timed node, with its distribution over the runs."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject

from ...engine.ir.model import NodeId
from ...engine.profiling.stats import NodeSummary
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
    Column(
        "Min",
        lambda r: r.summary.time.min_ns,
        lambda r: time_text(r.summary.time.min_ns),
        tip=f"Fastest warm run ({ENGINE_NAME})",
        numeric=True,
    ),
    Column(
        "p50",
        lambda r: r.summary.time.p50_ns,
        lambda r: time_text(r.summary.time.p50_ns),
        tip=f"Median of the warm runs ({ENGINE_NAME})",
        numeric=True,
    ),
    Column(
        "p95",
        lambda r: r.summary.time.p95_ns,
        lambda r: time_text(r.summary.time.p95_ns),
        tip=f"95 of 100 warm runs are faster ({ENGINE_NAME})",
        numeric=True,
    ),
    Column(
        "Share",
        lambda r: r.summary.share,
        lambda r: share_text(r.summary.share),
        tip="Part of the sum of all nodes' medians",
        numeric=True,
        bar=lambda r: r.summary.share,
        width=12,
    ),
    Column(
        "First run",
        lambda r: r.summary.time.first_ns,
        lambda r: time_text(r.summary.time.first_ns),
        tip=f"The run that also made pipelines and buffers ({ENGINE_NAME})",
        numeric=True,
    ),
)
KERNEL_COLUMN = next(i for i, c in enumerate(COLUMNS) if c.title == "Kernel")
SHARE_COLUMN = next(i for i, c in enumerate(COLUMNS) if c.title == "Share")


class KernelsModel(TableModel[KernelRow]):
    """The kernels table."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, lambda row: row.summary.node, parent)
