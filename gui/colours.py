"""What the graph wears, from what the document knows: colours, badges, copies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ..engine.diagnostics import Diagnostic
from ..engine.ir.model import NodeId
from ..engine.units import counted
from .document import Document
from .services import Target
from .views.graph.colouring import PLAIN, Colouring, Mode
from .views.graph.dress import Dress
from .views.graph.risk_colours import by_risk
from .views.graph.time_colours import by_time
from .views.graph.verdict_colours import by_difference, by_provider, with_copies

Findings = Mapping[NodeId, Sequence[Diagnostic]]


def findings_by_node(document: Document, target: Target | None) -> dict[NodeId, list[Diagnostic]]:
    """Node of the file -> its findings: of the model itself and of ``target``, not of others."""
    found: dict[NodeId, list[Diagnostic]] = defaultdict(list)
    for one in document.diagnostics:
        if one.node is not None and one.target in ("", target.id if target else ""):
            found[document.source(one.node)].append(one)
    return dict(found)


def dress_maker(
    document: Document,
    mode: Mode,
    target: Target | None,
    against: Target | None = None,
    *,
    copies: bool = True,
) -> Callable[[], Dress]:
    """What makes the graph's dress of the document's parts as they are now, on any thread.

    Args:
        document: what is shown.
        mode: which colouring.
        target: whose verdicts and findings count.
        against: whom it is compared with, for the difference.
        copies: whether the values that are copied between GPU and CPU are shown.
    """
    findings = findings_by_node(document, target)
    made = _colouring(document, mode, target, against, findings)
    if mode is not Mode.PROVIDER or target is None or not copies:
        return lambda: Dress.of(made(), findings)
    copied = document.copies(target.id)
    return lambda: Dress.of(with_copies(made(), copied), findings, copied)


def _colouring(
    document: Document,
    mode: Mode,
    target: Target | None,
    against: Target | None,
    findings: Findings,
) -> Callable[[], Colouring]:
    model = document.model
    if model is None or target is None:
        return lambda: PLAIN
    if mode is Mode.PROVIDER:
        return partial(by_provider, model, document.verdicts(target.id), target.label)
    if mode is Mode.TIME:
        warm = document.warm_runs
        statistic = f"median of {counted(warm, 'warm run')}" if warm else "the first run"
        return partial(
            by_time, model, document.times(), total_ns=document.total_ns, statistic=statistic
        )
    if mode is Mode.DIFFERENCE and against is not None:
        verdicts = (document.verdicts(target.id), document.verdicts(against.id))
        return partial(by_difference, model, *verdicts, (target.label, against.label))
    return partial(by_risk, findings) if mode is Mode.RISK else lambda: PLAIN
