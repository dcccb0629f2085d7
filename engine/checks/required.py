"""Operators that must be covered: what ``check --require`` and ``--strict`` add."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node
from ..ops.use import OpUse
from ..providers.provider import RECURRENT
from ..providers.support import Status, Support
from ..providers.uses import model_uses
from .context import finding
from .judge import Judgement

REQUIRED = "required-op"
ABSENT = "required-op-absent"
STRICT = "strict-placement"
COVERED = frozenset((Status.GPU, Status.FUSED, Status.FOLDED))


def required(judged: Judgement, operators: Sequence[str]) -> Iterator[Diagnostic]:
    """An error for each node of ``operators`` that a target does not run on its GPU.

    Args:
        judged: the model and the verdicts.
        operators: "GRU" or "domain::Op".
    """
    uses = list(model_uses(judged.model, judged.types))
    for op in operators:
        if not any(node.op == op for node, _ in uses):
            text = f"the operator {op} is required, and no node of the model has it"
            yield finding(ABSENT, Severity.WARNING, None, text, "correct the name", op=op)
    for target, verdicts in judged.verdicts.items():
        for node, use in uses:
            verdict = verdicts.get(node.id)
            if node.op in operators and verdict is not None and verdict.status not in COVERED:
                yield _gap(REQUIRED, target, node, use, verdict)


def strict(judged: Judgement) -> Iterator[Diagnostic]:
    """An error for each recurrent node that a target does not run on its GPU."""
    for target, verdicts in judged.verdicts.items():
        for node, use in model_uses(judged.model, judged.types):
            verdict = verdicts.get(node.id)
            if node.op in RECURRENT and verdict is not None and verdict.status not in COVERED:
                yield _gap(STRICT, target, node, use, verdict)


def _gap(code: str, target: str, node: Node, use: OpUse, verdict: Support) -> Diagnostic:
    types = ", ".join(str(t) for t in use.inputs[:1] if t is not None)
    data = {"status": verdict.status.value, "reason": verdict.reason.value, **verdict.data}
    return finding(
        code,
        Severity.ERROR,
        node,
        f"{node.op} of {types or 'unknown type'} is not covered ({verdict.status.value}, "
        f"{verdict.reason.value or 'no reason'}): {verdict.detail}",
        target=target,
        data=data,
    )
