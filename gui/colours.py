"""Which colouring the graph wears: provider, time, risk, or the difference of two targets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ..engine.diagnostics import Diagnostic
from ..engine.ir.model import NodeId
from ..engine.units import counted
from .document import Document
from .services import Target
from .views.graph.colouring import (
    PLAIN,
    Colouring,
    Mode,
    by_difference,
    by_provider,
    by_risk,
    by_time,
    with_copies,
)

Findings = Mapping[NodeId, Sequence[Diagnostic]]


def findings_by_node(document: Document, target: Target | None) -> dict[NodeId, list[Diagnostic]]:
    """Node of the file -> its findings: of the model itself and of ``target``, not of others."""
    found: dict[NodeId, list[Diagnostic]] = defaultdict(list)
    for one in document.diagnostics:
        if one.node is not None and one.target in ("", target.id if target else ""):
            found[document.source(one.node)].append(one)
    return dict(found)


def colouring(
    document: Document,
    mode: Mode,
    target: Target | None,
    against: Target | None = None,
    *,
    copies: bool = True,
) -> Colouring:
    """The colouring of the document as far as its parts are there.

    Args:
        document: what is shown.
        mode: which colouring.
        target: whose verdicts count.
        against: whom it is compared with, for the difference.
        copies: whether the values that are copied between GPU and CPU are shown.
    """
    model = document.model
    if model is None or target is None:
        return PLAIN
    if mode is Mode.PROVIDER:
        made = by_provider(model, document.verdicts(target.id), target.label)
        return with_copies(made, document.copies(target.id)) if copies else made
    if mode is Mode.TIME:
        warm = document.warm_runs
        statistic = f"median of {counted(warm, 'warm run')}" if warm else "the first run"
        return by_time(model, document.times(), total_ns=document.total_ns, statistic=statistic)
    if mode is Mode.DIFFERENCE and against is not None:
        verdicts = (document.verdicts(target.id), document.verdicts(against.id))
        return by_difference(model, *verdicts, (target.label, against.label))
    return by_risk(findings_by_node(document, target)) if mode is Mode.RISK else PLAIN
