"""What a graph wears: colours, badges and copies. Data per node, the same in every theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ....engine.diagnostics import Diagnostic, Severity, worst
from ....engine.ir.model import NodeId
from ...copies import NO_COPIES, Copies
from .colouring import PLAIN, Colouring, Mode


@dataclass(frozen=True, slots=True)
class Badge:
    """What hangs at a box's corner: the worst severity, and how many findings."""

    severity: Severity
    count: int


@dataclass(frozen=True)
class Dress:
    """What the graphs of a model wear.

    Attributes:
        colouring: the colouring of the moment.
        badges: the findings per node.
        copies: the values that are copied between GPU and CPU; none where they are not shown.
    """

    colouring: Colouring = PLAIN
    badges: Mapping[NodeId, Badge] = field(default_factory=dict)
    copies: Copies = NO_COPIES

    @classmethod
    def of(
        cls,
        colouring: Colouring,
        findings: Mapping[NodeId, Sequence[Diagnostic]],
        copies: Copies = NO_COPIES,
    ) -> Dress:
        """The dress with a badge for each node that has findings.

        Where the colours tell of findings, badges would say it again.
        """
        badges: dict[NodeId, Badge] = {}
        if colouring.mode is not Mode.RISK:
            for node, found in findings.items():
                severity = worst(found)
                if severity is not None:
                    badges[node] = Badge(severity, len(found))
        return cls(colouring, badges, copies)


UNDRESSED = Dress()
