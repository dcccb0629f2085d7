"""Nodes that a target does not run on its GPU, with the reason and what would change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node
from ..providers.provider import RECURRENT
from ..providers.support import Reason, Status, Support
from ..providers.targets import target
from .context import OPSCOPE, Context, finding

OPSET_GATE = "opset-gate"
HOST_NODE = "host-node"
FAILS = "fails-on-target"
UNSUPPORTED = "unsupported-node"
UNKNOWN = "unknown-placement"

# The matching rule of kernel versions, as its users met it.
VERSION_RULE_LINK = "https://github.com/microsoft/onnxruntime/issues/27231"

REMEDIES = {
    Reason.TYPE: "put a Cast to a type with a kernel around the node",
    Reason.NO_KERNEL: "replace the operator by ones with a kernel, or keep its neighbours on the "
    "host as well",
    Reason.ATTRIBUTE: "change the attribute, or replace the operator",
    Reason.SHAPE: "change the shape, or replace the operator",
}


def check(context: Context) -> Iterator[Diagnostic]:
    """One finding per node and target; what is on the host on purpose is information."""
    for name, verdicts in context.verdicts.items():
        label = target(name).label if name != OPSCOPE else ""
        for node, _ in context.uses:
            verdict = verdicts.get(node.id)
            if verdict is not None and (found := _judge(name, node, verdict)) is not None:
                yield replace(found, versions=label)


def _judge(name: str, node: Node, verdict: Support) -> Diagnostic | None:
    data = {"reason": verdict.reason.value, **verdict.data}
    if verdict.status is Status.FAILS:
        remedy = "change what it names; nothing falls back here, the session or the run fails"
        return finding(FAILS, Severity.ERROR, node, verdict.detail, remedy, target=name, data=data)
    if verdict.status is Status.UNSUPPORTED:
        remedy = "the graph can be inspected; to run it, replace the operator"
        text = f"nobody can run it: {verdict.detail}"
        return finding(UNSUPPORTED, Severity.ERROR, node, text, remedy, target=name, data=data)
    if verdict.status is Status.UNKNOWN:
        return finding(UNKNOWN, Severity.INFO, node, verdict.detail, target=name, data=data)
    if verdict.status is not Status.HOST:
        return None
    if verdict.reason is Reason.HOST_ON_PURPOSE:
        return finding(HOST_NODE, Severity.INFO, node, verdict.detail, target=name, data=data)
    text = f"it falls to the CPU: {verdict.detail}"
    if verdict.data.get("host_values_only"):
        # Shape arithmetic: all that it reads is in host memory anyway.
        text += "; its inputs are host values there, so this costs no copy"
        return finding(HOST_NODE, Severity.INFO, node, text, target=name, data=data)
    severity = Severity.ERROR if node.op in RECURRENT else Severity.WARNING
    if verdict.reason is not Reason.SCHEMA_VERSION:
        remedy = REMEDIES.get(verdict.reason, "")
        return finding(HOST_NODE, severity, node, text, remedy, target=name, data=data)
    lower = verdict.data.get("opset_that_would_match")
    remedy = "no opset version of the operator has a kernel there"
    if lower:
        remedy = f"export the model at opset {lower}, where the node runs on the GPU"
    links = (VERSION_RULE_LINK,) if name != OPSCOPE else ()
    return finding(OPSET_GATE, severity, node, text, remedy, target=name, data=data, links=links)
