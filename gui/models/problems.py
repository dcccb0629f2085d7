"""The list of findings, and the filter by severity, code and text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSortFilterProxyModel

from ...engine.diagnostics import Diagnostic, Severity
from ..document import Document
from ..format import sentence_text, severity_text
from ..services import Target
from .table import Column, Index, Role, TableModel


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """A finding, its place in the list, and what the user calls its node."""

    order: int
    diagnostic: Diagnostic
    where: str
    target: str


COLUMNS: tuple[Column[ProblemRow], ...] = (
    Column(
        "Severity",
        lambda r: r.diagnostic.severity.rank,
        lambda r: severity_text(r.diagnostic.severity),
        look=lambda r: r.diagnostic.severity,
        width=12,
    ),
    Column("Node", lambda r: r.where, width=18),
    Column("Operator", lambda r: r.diagnostic.op, width=13),
    Column("Concerns", lambda r: r.target, tip="The engine that it is about", width=22),
    Column("Finding", lambda r: sentence_text(r.diagnostic.text), width=62),
    Column("Code", lambda r: r.diagnostic.code, width=18),
)


def problem_rows(document: Document, targets: Sequence[Target]) -> tuple[ProblemRow, ...]:
    """The document's findings: errors first, then in the order of graphs and nodes."""
    labels = {t.id: t.label for t in targets}
    places = {n: i for i, n in enumerate(document.model.nodes)} if document.model else {}

    def place(found: Diagnostic) -> tuple[int, int]:
        source = document.source(found.node) if found.node is not None else None
        return found.severity.rank, -1 if source is None else places.get(source, len(places))

    rows = []
    for order, found in enumerate(sorted(document.diagnostics, key=place)):
        node = document.node(document.source(found.node)) if found.node is not None else None
        where = found.name or (node.label if node else "the whole model")
        rows.append(ProblemRow(order, found, where, labels.get(found.target, found.target)))
    return tuple(rows)


class ProblemsModel(TableModel[ProblemRow]):
    """Every finding, errors first, in the order of the nodes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, lambda row: row.order, parent)


class ProblemsFilter(QSortFilterProxyModel):
    """Findings of chosen severities, target, code and text; sorts by raw values."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._severities = frozenset(Severity)
        self._code = ""
        self._target: str | None = None
        self._words: tuple[str, ...] = ()
        self.setSortRole(Role.SORT)

    @property
    def severities(self) -> frozenset[Severity]:
        """The severities shown."""
        return self._severities

    def set_severities(self, severities: Iterable[Severity]) -> None:
        """Show these severities alone."""
        self._severities = frozenset(severities)
        self.invalidate()

    def set_code(self, code: str) -> None:
        """Show one code alone; "" shows every code."""
        self._code = code
        self.invalidate()

    def set_target(self, target: str | None) -> None:
        """Show what concerns one target (its id) alone; None shows all, "" the model's own."""
        self._target = target
        self.invalidate()

    def set_text(self, text: str) -> None:
        """Show findings whose node, operator, text or code hold every word of ``text``."""
        self._words = tuple(text.casefold().split())
        self.invalidate()

    def filterAcceptsRow(self, source_row: int, source_parent: Index) -> bool:  # noqa: N802
        """Whether a row passes."""
        index = self.sourceModel().index(source_row, 0, source_parent)
        row: ProblemRow = index.data(Role.ROW)
        found = row.diagnostic
        if found.severity not in self._severities or (self._code and found.code != self._code):
            return False
        if self._target is not None and found.target != self._target:
            return False
        text = f"{row.where} {found.op} {found.text} {found.code} {row.target}".casefold()
        return all(word in text for word in self._words)

    def shown(self) -> Sequence[ProblemRow]:
        """The rows that pass, in the order shown."""
        return [self.index(i, 0).data(Role.ROW) for i in range(self.rowCount())]
