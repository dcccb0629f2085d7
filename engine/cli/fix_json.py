"""What a fix did, or would do, as JSON data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..fixes.comparing import Compared
from ..fixes.pipeline import Fix, Placements, Step
from ..fixes.saving import Saved
from ..ir.model import NodeId
from ..ir.summary import model_json
from ..live import LivePlacement
from ..providers.support import Status


def fix_json(fix: Fix, placed: Iterable[Placements], saved: Saved | None) -> dict[str, Any]:
    """All of it; a preview has no ``saved``."""
    compared = (saved.compared if saved else None) or Compared("", ())
    return {
        "schema": 1,
        "model": model_json(fix.before.model),
        "output": saved.path if saved else None,
        "bytes": len(fix.after.data),
        "changes": fix.changes,
        "rules": [_step_json(step) for step in fix.steps],
        "placement": {p.target: _placement_json(p) for p in placed},
        "inputs": compared.inputs,
        "comparisons": [
            {
                "by": c.by,
                "compared": not c.skipped,
                "exact": c.exact,
                "outputs": c.outputs,
                "elements": c.elements,
                "rel_l2": c.rel_l2,
                "max_abs": c.max_abs,
                "worst": c.worst,
                "allowed": c.allowed,
                "healed": c.healed,
                "text": c.text,
            }
            for c in compared.comparisons
        ],
        "live": {
            live.target: {
                "before": live_counts(live.before) if live.before else None,
                "after": live_counts(live.after) if live.after else None,
            }
            for live in compared.live
        },
        "checker": saved.checker if saved else None,
        "copies": [Path(name).name for name in saved.copies] if saved else [],
    }


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "rule": step.rule,
        "summary": step.proposal.summary,
        "changed": step.changed,
        "exact": step.proposal.exact,
        "notes": [
            {
                "node": _node_json(n.node, n.label),
                "op": n.op,
                "changed": n.changed,
                "text": n.text,
            }
            for n in step.proposal.notes
        ],
    }


def _node_json(node: NodeId | None, label: str) -> dict[str, Any]:
    if node is None:
        return {"graph": [], "index": None, "name": label}
    return {"graph": list(node.graph), "index": node.index, "name": label}


def _placement_json(p: Placements) -> dict[str, Any]:
    return {
        "before": dict(p.before),
        "after": dict(p.after),
        "added": p.added,
        "dropped": p.dropped,
        "moved": [
            {
                "node": _node_json(m.node.id, m.node.name),
                "op": m.node.op,
                "before": m.before.status.value,
                "after": m.after.status.value,
                "detail": m.after.detail,
            }
            for m in p.moved
        ],
    }


def live_counts(live: LivePlacement) -> Mapping[str, int]:
    """How many nodes the installed ORT has in each status."""
    found = [n.status.value for n in live.nodes.values()]
    return {s.value: found.count(s.value) for s in Status if s.value in found}
