"""The operator summary: how often each operator occurs, who runs it, what it takes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject

from ...engine.ir.model import NodeId
from ...engine.providers.support import Status
from ..document import Document
from ..format import MISSING, share_text, time_text
from ..parts import Verdicts
from ..services import Target
from ..verdict import WORDS, WORST_FIRST, Home, Sign, sign_of
from .table import Column, TableModel

_FINE = frozenset((Status.GPU, Status.FUSED, Status.FOLDED, Home.CPU))


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One operator.

    Attributes:
        nodes: its nodes in the file's order, over all graphs.
        statuses: target id -> how many nodes have each status.
        reasons: target id -> distinct sentences why nodes are not on the GPU.
        time_ns: sum of its nodes' typical times, None while none of them was timed.
        share: part of all nodes' times.
    """

    op: str
    nodes: tuple[NodeId, ...]
    statuses: Mapping[str, Mapping[Sign, int]] = field(default_factory=dict)
    reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    time_ns: float | None = None
    share: float = 0.0

    def worst(self, target: str) -> Sign | None:
        """The worst status of its nodes for ``target``; None while unknown."""
        found = self.statuses.get(target, {})
        return next((s for s in WORST_FIRST if found.get(s)), None)

    def off_gpu(self, target: str) -> int | None:
        """How many nodes ``target`` does not run on the GPU; None while unknown."""
        found = self.statuses.get(target)
        if found is None:
            return None
        return sum(n for status, n in found.items() if status not in _FINE)


@dataclass(frozen=True)
class Tally:
    """How one target takes the operators.

    Attributes:
        statuses: operator -> how many of its nodes have each status.
        reasons: operator -> distinct sentences why nodes are not on the GPU.
    """

    statuses: Mapping[str, Mapping[Sign, int]]
    reasons: Mapping[str, tuple[str, ...]]


def operator_nodes(document: Document) -> dict[str, tuple[NodeId, ...]]:
    """Operator -> its nodes in the file's order, over all graphs."""
    found: dict[str, list[NodeId]] = defaultdict(list)
    for node in document.model.nodes.values() if document.model is not None else ():
        found[node.op].append(node.id)
    return {op: tuple(ids) for op, ids in found.items()}


def tally(nodes: Mapping[str, Sequence[NodeId]], verdicts: Verdicts) -> Tally:
    """Count the verdicts of one target."""
    statuses: dict[str, Mapping[Sign, int]] = {}
    reasons: dict[str, tuple[str, ...]] = {}
    for op, ids in nodes.items():
        known = [verdict for i in ids if (verdict := verdicts.get(i)) is not None]
        if known:
            statuses[op] = Counter(map(sign_of, known))
            reasons[op] = tuple(dict.fromkeys(s.detail for s in known if s.detail))
    return Tally(statuses, reasons)


def operator_rows(
    nodes: Mapping[str, tuple[NodeId, ...]], tallies: Mapping[str, Tally]
) -> tuple[OperatorRow, ...]:
    """A row per operator, the most frequent first, without times.

    Args:
        nodes: of :func:`operator_nodes`.
        tallies: target id -> how it takes them.
    """
    rows = []
    for op, ids in nodes.items():
        statuses = {t: found.statuses[op] for t, found in tallies.items() if op in found.statuses}
        reasons = {t: found.reasons[op] for t, found in tallies.items() if op in found.reasons}
        rows.append(OperatorRow(op, ids, statuses, reasons))
    return tuple(sorted(rows, key=lambda r: (-len(r.nodes), r.op)))


def with_times(rows: Sequence[OperatorRow], document: Document) -> tuple[OperatorRow, ...]:
    """The rows with the times of the document's runs."""
    times: dict[str, float] = defaultdict(float)
    shares: dict[str, float] = defaultdict(float)
    for row in document.summary:
        times[row.op] += row.time.typical_ns
        shares[row.op] += row.share
    return tuple(
        replace(row, time_ns=times.get(row.op), share=shares.get(row.op, 0.0)) for row in rows
    )


OPERATOR_WIDTH = 15  # characters; the panel makes more room for longer names
TIME_COLUMNS = ("Time",)  # empty before any run
_WIDEST_TARGET = 22  # characters; a target with many options has a longer label


def columns(targets: Sequence[Target]) -> tuple[Column[OperatorRow], ...]:
    """The table's columns, one of them for each target."""
    return (
        Column("Operator", lambda r: r.op, width=OPERATOR_WIDTH),
        Column("Nodes", lambda r: len(r.nodes), numeric=True, width=6),
        *(_target_column(target) for target in targets),
        Column(
            "Time",
            lambda r: r.time_ns,
            lambda r: time_text(r.time_ns),
            tip="Sum of its nodes' medians in one run (Opscope on wgpu); the bar is its share",
            numeric=True,
            detail=_time_detail,
            bar=lambda r: r.share,
            width=11,
        ),
    )


def _time_detail(row: OperatorRow) -> str:
    if row.time_ns is None:  # the column is only seen after a run
        return "No dispatch of its own: another node's kernel does the work, or none is left to do"
    return f"{share_text(row.share)} of all nodes"


def _target_column(target: Target) -> Column[OperatorRow]:
    def text(row: OperatorRow) -> str:
        found = row.statuses.get(target.id)
        if found is None:
            return MISSING
        there = [status for status in WORST_FIRST if found.get(status)]
        if len(there) == 1:
            return WORDS[there[0]]
        return ", ".join(f"{found[status]} {WORDS[status]}" for status in there)

    def detail(row: OperatorRow) -> str:
        return "\n".join(row.reasons.get(target.id, ())) or text(row)

    return Column(
        target.label,
        lambda row: row.off_gpu(target.id),
        text,
        tip=f"Where {target.label} runs its nodes; sorts by nodes off the GPU",
        detail=detail,
        look=lambda row: row.worst(target.id),
        width=min(max(11, len(target.label) - 3), _WIDEST_TARGET),
    )


class OperatorsModel(TableModel[OperatorRow]):
    """The operator summary."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(columns(()), lambda row: row.op, parent)
