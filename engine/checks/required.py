"""Operators that must be covered: what ``check --require`` and ``--strict`` add."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node
from ..ops.use import OpUse
from ..providers.provider import RECURRENT
from ..providers.support import Status, Support
from ..providers.targets import targets_of
from ..providers.uses import model_uses
from ..words import status_word
from .context import ORT_CPU, finding, runs_where_it_should
from .judge import Judgement

REQUIRED = "required-op"
ABSENT = "required-op-absent"
STRICT = "strict-placement"


def is_covered(target: str, verdict: Support) -> bool:
    """True if ``target`` does a node's work where it should: on its GPU, or on ort-cpu's CPU."""
    if verdict.status is Status.FUSED:
        on_cpu = bool(targets_of(ORT_CPU, (target,)))
        return on_cpu or verdict.data.get("provider", "gpu") == "gpu"
    if verdict.status in (Status.GPU, Status.FOLDED):
        return True
    return runs_where_it_should(target, verdict)


def required(
    judged: Judgement, operators: Sequence[str] | Mapping[str, Sequence[str]]
) -> Iterator[Diagnostic]:
    """An error for each node of ``operators`` that a target does not cover.

    Args:
        judged: the model and the verdicts.
        operators: "GRU" or "domain::Op", of every target, or by target.
    """
    per_target = operators if isinstance(operators, Mapping) else {}
    everywhere = () if isinstance(operators, Mapping) else operators
    named = (*everywhere, *(op for ops in per_target.values() for op in ops))
    present = {node.op for node in judged.model.nodes.values()}
    for op in dict.fromkeys(named):
        if op not in present:
            text = f"the operator {op} is required, and no node of the model has it"
            yield finding(ABSENT, Severity.WARNING, None, text, "correct the name", op=op)
    for target in judged.verdicts:
        wanted = frozenset((*everywhere, *per_target.get(target, ())))
        yield from _gaps(judged, target, REQUIRED, wanted)


def strict(judged: Judgement) -> Iterator[Diagnostic]:
    """An error for each recurrent node that a target does not cover."""
    for target in judged.verdicts:
        yield from _gaps(judged, target, STRICT, RECURRENT)


def _gaps(
    judged: Judgement, target: str, code: str, operators: Collection[str]
) -> Iterator[Diagnostic]:
    open_nodes = {
        node_id: verdict
        for node_id, verdict in judged.verdicts[target].items()
        if judged.model.nodes[node_id].op in operators and not is_covered(target, verdict)
    }
    if not open_nodes:
        return  # what the nodes read is made out for nothing else here, and takes a while
    for node, use in model_uses(judged.model, judged.types):
        if node.id in open_nodes:
            yield _gap(code, target, node, use, open_nodes[node.id])


def _gap(code: str, target: str, node: Node, use: OpUse, verdict: Support) -> Diagnostic:
    types = ", ".join(str(t) for t in use.inputs[:1] if t is not None)
    told = ", ".join(filter(None, (status_word(verdict.status.value), verdict.reason.value)))
    data = {"status": verdict.status.value, "reason": verdict.reason.value, **verdict.data}
    return finding(
        code,
        Severity.ERROR,
        node,
        f"{node.op} of {types or 'unknown type'} is not covered ({told}): {verdict.detail}",
        target=target,
        data=data,
    )
