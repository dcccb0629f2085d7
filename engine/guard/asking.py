"""The installed ONNX Runtime, asked about a judged model: its answers beside the prediction."""

from __future__ import annotations

from collections.abc import Iterable

from ..checks.judge import Judgement
from ..checks.live import live_findings, side_by_side
from ..diagnostics import Diagnostic
from ..live import LiveSession, LiveUnavailable
from ..live.providers import IN_A_BROWSER
from ..providers.targets import target
from ..report.model import ReportedModel
from .results import LiveTable

Answer = tuple[LiveTable, tuple[Diagnostic, ...]]


def ask_live(
    judged: Judgement, ids: Iterable[str]
) -> tuple[tuple[LiveTable, ...], tuple[Diagnostic, ...]]:
    """What the installed ORT answers for each target of ORT's, and the findings of it."""
    with LiveSession() as session:  # one process for all of them
        answers = [_answer(session, judged, i) for i in ids if target(i).family != "opscope"]
    return tuple(t for t, _ in answers), tuple(d for _, found in answers for d in found)


def _answer(session: LiveSession, judged: Judgement, name: str) -> Answer:
    if isinstance(judged.model, ReportedModel):
        return LiveTable(name, unavailable="a report holds no model to ask about"), ()
    if target(name).family in IN_A_BROWSER:  # the prediction is all there is
        return LiveTable(name, error="it lives in a browser, so ORT cannot be asked"), ()
    try:
        live = session.ask(judged.model, name)
    except LiveUnavailable as error:
        return LiveTable(name, unavailable=str(error)), ()
    verdicts = judged.verdicts[name]
    rows = tuple(r.to_json() for r in side_by_side(judged.model, verdicts, live))
    table = LiveTable(name, dict(live.versions), rows, live.error)
    return table, live_findings(judged.model, name, verdicts, live)
