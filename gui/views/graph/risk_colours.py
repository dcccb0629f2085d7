"""Colours by risk: the worst finding of each node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....engine.diagnostics import Diagnostic, Severity, worst
from ....engine.ir.model import NodeId
from ....engine.units import counted
from .colouring import Class, Colouring, Mode, Paint, entries_of


def by_risk(diagnostics: Mapping[NodeId, Sequence[Diagnostic]]) -> Colouring:
    """Colour by the worst finding of each node."""
    paints: dict[NodeId, Paint] = {}
    groups: dict[Class, list[NodeId]] = {severity: [] for severity in Severity}
    for node, found in diagnostics.items():
        severity = worst(found)
        if severity is not None:
            paints[node] = Paint(severity, _count(found), _codes(found))
            groups[severity].append(node)
    legend = entries_of(groups, {severity: severity.value.capitalize() for severity in Severity})
    total = sum(len(diagnostics[node]) for node in paints)
    summary = f"{counted(total, 'finding')} on {counted(len(paints), 'node')}"
    return Colouring(Mode.RISK, "Risk: findings of the checks", paints, legend, summary=summary)


def _count(found: Sequence[Diagnostic]) -> str:
    return str(len(found)) if len(found) > 1 else ""


def _codes(found: Sequence[Diagnostic]) -> str:
    """Each code once, the worst first."""
    return ", ".join(dict.fromkeys(d.code for d in sorted(found, key=lambda d: d.severity.rank)))
