"""What the installed ONNX Runtime says beside the prediction: ``check --live``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Model, NodeId
from ..live.answer import LiveNode, LivePlacement
from ..live.differences import differences, live_text, place_of, predicted_text
from ..providers.support import Status, Support
from .context import finding

DIFFERS = "table-differs"
AGREES = "live-agrees"

_OTHER_VERSION = (
    "predict with a table of the installed ORT's version: choose it as the target, or record a "
    "table of it (opscope providers --record); what still differs then is a defect of Opscope"
)
_REMEDY = (
    "trust the installed ORT; the table or a rule of Opscope is wrong here: report it with this "
    "line, or record a table of the installed version (opscope providers --record)"
)


@dataclass(frozen=True, slots=True)
class Row:
    """One node, predicted and live.

    Attributes:
        agrees: None where either side does not know.
    """

    node: NodeId
    label: str
    op: str
    predicted: str
    live: str
    agrees: bool | None

    def to_json(self) -> dict[str, Any]:
        """The row as plain JSON data."""
        node = {"graph": list(self.node.graph), "index": self.node.index, "name": self.label}
        return {
            "node": node,
            "op": self.op,
            "predicted": self.predicted,
            "live": self.live,
            "agrees": self.agrees,
        }


def live_findings(
    model: Model, target_id: str, verdicts: Mapping[NodeId, Support], live: LivePlacement
) -> tuple[Diagnostic, ...]:
    """An error for each node where the installed ORT differs, and a line on what agreed.

    Args:
        model: the model.
        target_id: the target that was predicted and asked.
        verdicts: that target's verdict of each node.
        live: what the installed ORT answered.
    """
    found = [
        finding(
            DIFFERS,
            Severity.ERROR,
            model.nodes.get(d.node) if d.node is not None else None,
            "; ".join((d.text, *live.notes)),
            _OTHER_VERSION if live.notes else _REMEDY,
            target=target_id,
            data={
                "predicted": d.predicted.status.value,
                "step": d.predicted.data.get("step", ""),
                "live": d.live.status.value,
                "provider": d.live.provider,
                "how": d.live.how,
                "versions": dict(live.versions),
            },
        )
        for d in differences(model, verdicts, live)
    ]
    rows = side_by_side(model, verdicts, live)
    agree, differ = (sum(r.agrees is state for r in rows) for state in (True, False))
    text = f"the installed {live.installed}: {agree:,} of {len(rows):,} nodes as predicted"
    if live.error:
        text = f"the installed {live.installed} makes no session: {live.error}"
    elif len(rows) > agree:
        text += f", {differ:,} differ, {len(rows) - agree - differ:,} cannot be compared"
    text = "; ".join((text, *live.notes))
    data = {"nodes": len(rows), "agree": agree, "differ": differ, "error": live.error}
    return (*found, finding(AGREES, Severity.INFO, None, text, target=target_id, data=data))


def side_by_side(
    model: Model, verdicts: Mapping[NodeId, Support], live: LivePlacement
) -> tuple[Row, ...]:
    """Every node with what was predicted and what the installed ORT does, in the model's order.

    Where no session could be made there is nothing to set beside, and no row.
    """
    rows = []
    for node_id, node in model.nodes.items():
        actual = live.nodes.get(node_id)
        verdict = verdicts.get(node_id, Support(Status.UNKNOWN))
        if actual is None:
            continue
        rows.append(
            Row(
                node_id,
                node.label,
                node.op,
                predicted_text(verdict),
                live_text(actual),
                agrees(verdict, actual),
            )
        )
    return tuple(rows)


def agrees(verdict: Support, actual: LiveNode) -> bool | None:
    """Whether both say that the work is done at the same place; None where either cannot tell."""
    predicted = place_of(verdict)
    if not predicted or not actual.place:
        return None
    return predicted == actual.place
