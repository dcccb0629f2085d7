"""Findings from the value statistics of a run: the first node with Inf, with NaN, over f16."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Model, NodeId
from ..plan.types import Plan
from ..results import ValueStats

F16_OVERFLOW = "f16-overflow"
INF = "inf-values"
NAN = "nan-values"


def measured_findings(
    model: Model, stats: Sequence[ValueStats], plan: Plan | None = None
) -> tuple[Diagnostic, ...]:
    """The first node, in execution order, where each trouble appears.

    Args:
        model: the model that ran.
        stats: of one run.
        plan: the run's plan, which names nodes of inlined functions.
    """
    return tuple(_first(model, stats, plan))


def _first(model: Model, stats: Sequence[ValueStats], plan: Plan | None) -> Iterator[Diagnostic]:
    infinite = next((s for s in stats if s.inf), None)
    if infinite is not None:
        half = infinite.dtype == "float16"
        text = (
            f"{infinite.inf:,} of {infinite.elements:,} values of its output '{infinite.output}' "
        )
        text += "are infinite: f16 ends at 65504" if half else "are infinite"
        text += "; a later division can hide this, so that the model's outputs look finite"
        remedy = (
            "compute this node and the reduction after it in f32 (a Cast before and after), or "
            "scale its input"
            if half
            else "look for a division by zero or an overflow in its inputs"
        )
        code = F16_OVERFLOW if half else INF
        yield _finding(model, plan, infinite, code, text, remedy)
    nan = next((s for s in stats if s.nan), None)
    if nan is not None:
        text = f"{nan.nan:,} of {nan.elements:,} values of its output '{nan.output}' are NaN"
        remedy = "look at its inputs: 0/0, Inf - Inf, a root or logarithm of a negative number"
        yield _finding(model, plan, nan, NAN, text, remedy)


def _finding(
    model: Model, plan: Plan | None, stats: ValueStats, code: str, text: str, remedy: str
) -> Diagnostic:
    source, name, op = _where(model, plan, stats.node)
    data = {"output": stats.output, "inf": stats.inf, "nan": stats.nan, "elements": stats.elements}
    return Diagnostic(code, Severity.WARNING, text, remedy, source, name, op, "opscope", data)


def _where(model: Model, plan: Plan | None, node_id: NodeId) -> tuple[NodeId, str, str]:
    if plan is not None:
        for placed in plan.placement:
            if placed.node == node_id:
                return placed.source, placed.name, placed.op
    node = model.nodes.get(node_id)
    return node_id, node.name if node else "", node.op if node else ""
