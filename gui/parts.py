"""What is known of the opened model: frozen parts, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..engine.diagnostics import Diagnostic
from ..engine.ir.model import Model, NodeId, TensorType
from ..engine.plan.types import Plan, ValueId
from ..engine.providers.support import Support
from ..engine.results import RunResult
from .copies import Copies

if TYPE_CHECKING:
    from ..engine.live.answer import LivePlacement

Verdicts = Mapping[NodeId, Support]


@dataclass(frozen=True)
class Parts:
    """All that is known of the document.

    Attributes:
        types: static types, as far as they can be known without running.
        concrete: types for the shapes of the last judgement; None before the first.
        assumed: dimension -> the number that was assumed for it in ``concrete``.
        unknown: findings of the inference of types.
        verdicts: target -> verdict of each node of the file.
        judged: the targets that the checks were made for.
        checks: findings of the checks.
        copies: target -> the values that are copied between GPU and CPU.
        live: target -> where the installed ONNX Runtime runs each node.
        plan: of the last shapes; None before the first run.
        last: the newest run.
    """

    model: Model
    types: Mapping[ValueId, TensorType] = field(default_factory=dict)
    concrete: Mapping[ValueId, TensorType] | None = None
    assumed: Mapping[str, int] = field(default_factory=dict)
    unknown: tuple[Diagnostic, ...] = ()
    verdicts: Mapping[str, Verdicts] = field(default_factory=dict)
    judged: frozenset[str] = frozenset()
    checks: tuple[Diagnostic, ...] = ()
    copies: Mapping[str, Copies] = field(default_factory=dict)
    live: Mapping[str, LivePlacement] = field(default_factory=dict)
    live_findings: tuple[Diagnostic, ...] = ()
    plan: Plan | None = None
    last: RunResult | None = None

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every finding of the file, the checks, the plan and the last run, each once.

        Where a plan or run repeats a finding of the checks, it is the one with the real shapes.
        """
        final = [*(self.plan.diagnostics if self.plan else ())]
        final += self.last.diagnostics if self.last else ()
        known = {(d.code, d.node, d.target) for d in final if d.node is not None}
        early = (*self.model.diagnostics, *self.unknown, *self.checks, *self.live_findings)
        found = [d for d in early if (d.code, d.node, d.target) not in known] + final
        return tuple(_once(found))

    def with_checks(
        self, checks: Iterable[Diagnostic], targets: Iterable[str]
    ) -> tuple[Diagnostic, ...]:
        """The findings with those of ``targets`` made anew, and the other targets' kept."""
        renewed = frozenset(targets)
        kept = (d for d in self.checks if d.target and d.target not in renewed)
        return tuple(_once((*checks, *kept)))


@dataclass(frozen=True, slots=True)
class TimedNode:
    """A timed node of the flattened graph: the file's node behind it, and what users call it."""

    source: NodeId
    name: str


def _once(found: Iterable[Diagnostic]) -> Iterable[Diagnostic]:
    return {(d.code, d.severity, d.node, d.target, d.text): d for d in found}.values()
