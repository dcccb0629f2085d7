"""The nodes on which two targets differ, with both verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject

from ...engine.ir.model import NodeId
from ...engine.providers.support import Support
from ..difference import Difference, difference
from ..document import Document
from ..format import MISSING, sentence_text
from ..services import Target
from ..verdict import WORDS, Sign, reason_text, sign_of, step_text
from .table import Column, TableModel

_ORDER = {kind: place for place, kind in enumerate(Difference)}
KIND_COLUMN = 0
FIRST_COLUMN, SECOND_COLUMN = 3, 4
_WIDEST_TARGET = 28  # characters; a target with many options has a longer label


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One node, and what each of the two targets does with it."""

    node: NodeId
    place: int
    label: str
    op: str
    kind: Difference
    first: Support
    second: Support

    @property
    def reason(self) -> str:
        """Why it is not on the GPU where only one has it there; both reasons elsewhere."""
        if self.kind is Difference.ONLY_FIRST:
            return sentence_text(reason_text(self.second))
        if self.kind is Difference.ONLY_SECOND:
            return sentence_text(reason_text(self.first))
        texts = (reason_text(self.first), reason_text(self.second))
        return sentence_text("; ".join(dict.fromkeys(filter(None, texts))))


def difference_rows(
    document: Document, first: Target | None, second: Target | None
) -> tuple[DifferenceRow, ...]:
    """A row per node that the two targets place differently, in the file's order."""
    model = document.model
    if model is None or first is None or second is None:
        return ()
    one, other = document.verdicts(first.id), document.verdicts(second.id)
    rows = []
    for place, (identity, node) in enumerate(model.nodes.items()):
        a, b = one.get(identity), other.get(identity)
        if a is None or b is None:
            continue
        kind = difference(a, b)
        if kind is not Difference.SAME:
            rows.append(DifferenceRow(identity, place, node.label, node.op, kind, a, b))
    return tuple(rows)


def _verdict_column(title: str, which: str) -> Column[DifferenceRow]:
    def verdict(row: DifferenceRow) -> Support:
        found: Support = getattr(row, which)
        return found

    def sign(row: DifferenceRow) -> Sign:
        return sign_of(verdict(row))

    def text(row: DifferenceRow) -> str:
        step = step_text(verdict(row))
        return WORDS[sign(row)] + (f", {step}" if step else "")

    return Column(
        title,
        lambda row: WORDS[sign(row)],
        text,
        tip=f"Where {title} runs it; the step that decided",
        detail=lambda row: sentence_text(reason_text(verdict(row))) or text(row),
        look=sign,
        width=min(max(23, len(title) - 2), _WIDEST_TARGET),
    )


def columns(first: Target | None, second: Target | None) -> tuple[Column[DifferenceRow], ...]:
    """The table's columns, two of them for the targets."""
    names = (first.label if first else MISSING, second.label if second else MISSING)
    kinds = {
        Difference.ONLY_FIRST: f"GPU only in {names[0]}",
        Difference.ONLY_SECOND: f"GPU only in {names[1]}",
        Difference.OTHERWISE: "differ otherwise",
    }
    return (
        Column(
            "",
            lambda row: _ORDER[row.kind],
            lambda row: "",
            tip="How they differ",
            detail=lambda row: sentence_text(kinds.get(row.kind, row.kind.value)),
            look=lambda row: row.kind,
            width=2,
        ),
        Column("Node", lambda row: row.label, width=22),
        Column("Operator", lambda row: row.op, width=15),
        _verdict_column(names[0], "first"),
        _verdict_column(names[1], "second"),
        Column("Why", lambda row: row.reason, width=50),
    )


class DifferencesModel(TableModel[DifferenceRow]):
    """The nodes that differ."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(columns(None, None), lambda row: row.node, parent)
