"""The list of findings, and the filter by severity, code and text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject

from ...engine.diagnostics import Diagnostic, Severity
from ..document import Document
from ..format import sentence_text
from ..services import Target
from .table import Column, TableModel


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """A finding, its place in the list, and what the user calls its node."""

    order: int
    diagnostic: Diagnostic
    where: str
    target: str

    @property
    def key(self) -> tuple[object, ...]:
        """What tells the finding from others, also when they are made anew."""
        found = self.diagnostic
        return found.code, found.severity, found.node, found.target, found.text


COLUMNS: tuple[Column[ProblemRow], ...] = (
    Column(
        "Severity",
        lambda r: r.diagnostic.severity.rank,
        lambda r: r.diagnostic.severity.value,
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
    places, found = document.places, []
    for one in document.diagnostics:
        source = document.source(one.node) if one.node is not None else None
        place = -1 if source is None else places.get(source, len(places))
        found.append((one.severity.rank, place, source, one))
    found.sort(key=lambda item: item[:2])
    rows = []
    for order, (_, _, source, one) in enumerate(found):
        where = one.name
        if not where:
            node = document.node(source)
            where = node.label if node is not None else "the whole model"
        rows.append(ProblemRow(order, one, where, labels.get(one.target, one.target)))
    return tuple(rows)


class ProblemsModel(TableModel[ProblemRow]):
    """The findings of chosen severities, target, code and words.

    At first errors come first, then the order of the nodes.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, lambda row: row.key, parent)
        self._all: tuple[ProblemRow, ...] = ()
        self._severities = frozenset(Severity)
        self._code = ""
        self._target: str | None = None
        self._words: tuple[str, ...] = ()

    @property
    def severities(self) -> frozenset[Severity]:
        """The severities shown."""
        return self._severities

    def set_findings(self, rows: Sequence[ProblemRow]) -> None:
        """Other findings; those that pass are shown."""
        self._all = tuple(rows)
        self._filter()

    def set_severities(self, severities: Iterable[Severity]) -> None:
        """Show these severities alone."""
        self._severities = frozenset(severities)
        self._filter()

    def set_code(self, code: str) -> None:
        """Show one code alone; "" shows every code."""
        if code != self._code:
            self._code = code
            self._filter()

    def set_target(self, target: str | None) -> None:
        """Show what concerns one target (its id) alone; None shows all, "" the model's own."""
        if target != self._target:
            self._target = target
            self._filter()

    def set_text(self, text: str) -> None:
        """Show findings whose node, operator, text or code hold every word of ``text``."""
        self._words = tuple(text.casefold().split())
        self._filter()

    def _filter(self) -> None:
        self.set_rows([row for row in self._all if self._passes(row)])

    def _passes(self, row: ProblemRow) -> bool:
        found = row.diagnostic
        if found.severity not in self._severities or (self._code and found.code != self._code):
            return False
        if self._target is not None and found.target != self._target:
            return False
        if not self._words:
            return True
        text = f"{row.where} {found.op} {found.text} {found.code} {row.target}".casefold()
        return all(word in text for word in self._words)
