"""The rows of the node panel's matrix: every target's verdict on one node, grouped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...engine.ir.model import NodeId
from ...engine.providers.support import Status, Support
from ..document import OPSCOPE, Document
from ..format import sentence_text
from ..look import Look
from ..services import Target
from ..theme import Theme
from ..verdict import WORDS, Home, Sign, into, live_text, reason_text, sign_of, step_text
from .graph.looks import look_of
from .matrix_layout import MatrixGroup, MatrixRow

if TYPE_CHECKING:
    from ...engine.live.answer import LiveNode

NOT_JUDGED = "not judged"
NO_SESSION = "no session"
DIFFERS = "table-differs"  # the engine's code for it


def matrix_groups(
    document: Document, node: NodeId, targets: Sequence[Target], theme: Theme
) -> tuple[MatrixGroup, ...]:
    """The matrix of ``node``: Opscope and each family's newest, then other versions.

    A report shows the targets that it speaks of.
    """
    shown = targets
    if document.reported is not None:
        shown = [t for t in targets if node in document.verdicts(t.id)]
    rows = {t.id: _row(document, node, t, theme) for t in shown}
    newest = tuple(rows[t.id] for t in shown if t.is_newest)
    older = tuple(rows[t.id] for t in shown if not t.is_newest)
    groups = (MatrixGroup("", newest), MatrixGroup("Other versions", older))
    return tuple(group for group in groups if group.rows)


def _row(document: Document, node: NodeId, target: Target, theme: Theme) -> MatrixRow:
    verdict = document.verdicts(target.id).get(node)
    live = document.live(target.id)
    found = live.nodes.get(node) if live is not None else None
    look, word = _live_look(found, verdict, theme)
    told = live_text(live, node) if live is not None else ""
    if live is not None and live.error:
        look, word = None, NO_SESSION  # of the whole model, through one node at most
        if live.failed_node == node:
            look, word = theme.status[Status.FAILS], WORDS[Status.FAILS]
    if verdict is None:
        return MatrixRow(target, None, NOT_JUDGED, live=word, live_look=look, live_text=told)
    sign = sign_of(verdict)
    return MatrixRow(
        target,
        look_of(theme, sign),
        WORDS[sign],
        step_text(verdict),
        _reason(verdict),
        word,
        look,
        _differs(document, node, target),
        told,
        _goes_into(document, node, target, verdict),
    )


def _reason(verdict: Support) -> str:
    text = sentence_text(reason_text(verdict))
    when = verdict.data.get("when")
    if verdict.status is Status.FAILS and when:
        return f"Fails at {when}. {text}"
    return text


def _goes_into(
    document: Document, node: NodeId, target: Target, verdict: Support
) -> tuple[NodeId, str] | None:
    model = document.model
    found = into(verdict, model.nodes) if model is not None else None
    if found is None and target.id == OPSCOPE:
        placed = (p.fused_into for p in document.placements(node))
        inside = next((p for p in placed if p is not None), None)
        found = document.source(inside) if inside is not None else None
    if found is None:
        return None
    known = document.node(found)
    return found, known.label if known is not None else str(found)


# -- the installed runtime's answer ---------------------------------------------------------------


def _live_look(
    found: LiveNode | None, verdict: Support | None, theme: Theme
) -> tuple[Look | None, str]:
    """Its sign and word; a node that is at home on the CPU is so live too."""
    if found is None:
        return None, ""
    sign: Sign = found.status
    if found.status is Status.HOST and verdict is not None and sign_of(verdict) is Home.CPU:
        sign = Home.CPU
    return look_of(theme, sign), WORDS[sign]


def _differs(document: Document, node: NodeId, target: Target) -> bool:
    """Whether the engine found that the installed runtime does something else."""
    if (parts := document.parts) is None:
        return False
    found = parts.model.diagnostics if document.reported is not None else parts.live_findings
    return any(d.code == DIFFERS and d.node == node and d.target == target.id for d in found)
