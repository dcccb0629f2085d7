"""Nodes that a target does not run on its GPU, with the reason and what would change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node, NodeId
from ..ops.use import OpUse
from ..providers.ort import OrtProvider
from ..providers.provider import RECURRENT
from ..providers.support import Reason, Status, Support
from ..providers.targets import Target, target
from ..units import counted
from .context import OPSCOPE, Context, finding, runs_where_it_should

OPSET_GATE = "opset-gate"
LAYOUT_RANGE = "outside-layout-range"
HOST_NODE = "host-node"
F16_RECURRENT = "f16-recurrent-on-cpu"
REJECTED = "rejected-at-session"
FAILS_AT_RUN = "fails-at-run"
UNSUPPORTED = "unsupported-node"
UNKNOWN = "unknown-placement"

# The matching rule of kernel versions, as its users met it.
VERSION_RULE_LINK = "https://github.com/microsoft/onnxruntime/issues/27231"

REMEDIES = {
    Reason.TYPE: "put a Cast to a type with a kernel around the node",
    Reason.NO_KERNEL: "replace the operator by ones with a kernel, or keep its neighbours on the "
    "CPU as well",
    Reason.ATTRIBUTE: "change the attribute, or replace the operator",
    Reason.SHAPE: "change the shape, or replace the operator",
}
FIXED_SHAPES = "fixed shapes"
"""The step that leaves a node because a dimension is open: the node itself needs no change."""
FIX_SHAPES = (
    "fix the model's input shapes (opscope fix --rule fix-shapes), or say them to the session "
    "(freeDimensionOverrides)"
)


def check(context: Context) -> Iterator[Diagnostic]:
    """One finding per node and target; what is on the host on purpose is information."""
    for name in context.verdicts:
        yield from target_findings(context, target(name))


def target_findings(context: Context, asked: Target) -> Iterator[Diagnostic]:
    """The findings about one of the targets of ``context.verdicts``."""
    verdicts = context.verdicts[asked.id]
    label = asked.label if asked.id != OPSCOPE else ""
    for of_the_model in (_refused_model, _outside_layout_range):
        if (found := of_the_model(asked, verdicts)) is not None:
            yield replace(found, versions=label)
    for node, use in context.uses:
        verdict = verdicts.get(node.id)
        if verdict is not None and (found := _judge(asked, node, use, verdict)) is not None:
            yield replace(found, versions=label)


def _refused_model(asked: Target, verdicts: Mapping[NodeId, Support]) -> Diagnostic | None:
    """One finding for all the nodes of a model that ORT refuses for a version that it states."""
    refused = next((v for v in verdicts.values() if "whole_model" in v.data), None)
    if refused is None:
        return None
    remedy = refused.data["whole_model"]
    return finding(REJECTED, Severity.ERROR, None, refused.detail, remedy, target=asked.id)


def _outside_layout_range(asked: Target, verdicts: Mapping[NodeId, Support]) -> Diagnostic | None:
    """One finding for all the nodes that the provider leaves because of the model's opset."""
    gated = [v for v in verdicts.values() if _is_gated(v)]
    if not gated or not isinstance(asked.provider, OrtProvider):
        return None
    if asked.provider.table.opsets is None:
        return None
    lowest, highest = asked.provider.table.opsets
    opset = gated[0].data.get("opset", 0)
    remedy = f"export the model at opset {highest}" if opset > highest else ""
    remedy = remedy or f"convert the model to opset {lowest} or later"
    if "preferredLayout" in asked.provider.table.options:
        remedy += "; with the provider option preferredLayout=NCHW there is no such range"
    nodes = f"{counted(len(gated), 'node')} {'falls' if len(gated) == 1 else 'fall'}"
    return finding(
        LAYOUT_RANGE,
        Severity.ERROR,
        None,
        f"{gated[0].detail}: {nodes} to the CPU",
        remedy,
        target=asked.id,
        data={"opset": opset, "lowest": lowest, "highest": highest, "nodes": len(gated)},
    )


def _is_gated(verdict: Support) -> bool:
    return verdict.status is Status.HOST and verdict.data.get("step") == "layout gate"


def _judge(asked: Target, node: Node, use: OpUse, verdict: Support) -> Diagnostic | None:
    name, data = asked.id, {"reason": verdict.reason.value, **verdict.data}
    if "whole_model" in verdict.data:
        return None
    if verdict.status is Status.FAILS:
        code = REJECTED if verdict.data.get("when") == "session creation" else FAILS_AT_RUN
        what = "creating the session" if code == REJECTED else "the run"
        remedy = f"change what it names; nothing falls back here, {what} fails"
        return finding(code, Severity.ERROR, node, verdict.detail, remedy, target=name, data=data)
    if verdict.status is Status.UNSUPPORTED:
        remedy = "the graph can be inspected; to run it, replace the operator"
        text = f"nobody can run it: {verdict.detail}"
        return finding(UNSUPPORTED, Severity.ERROR, node, text, remedy, target=name, data=data)
    if verdict.status is Status.UNKNOWN:
        return finding(UNKNOWN, Severity.INFO, node, verdict.detail, target=name, data=data)
    if verdict.status is not Status.HOST or _is_gated(verdict):
        return None
    if runs_where_it_should(name, verdict):
        return None
    if verdict.reason is Reason.HOST_ON_PURPOSE:
        return finding(HOST_NODE, Severity.INFO, node, verdict.detail, target=name, data=data)
    text = f"it falls to the CPU: {verdict.detail}"
    if verdict.data.get("host_values_only"):
        # Shape arithmetic: all that it reads is in host memory anyway.
        text += "; what it reads is in CPU memory anyway, so this costs no copy"
        return finding(HOST_NODE, Severity.INFO, node, text, target=name, data=data)
    if isinstance(asked.provider, OrtProvider) and _lacks_f16(asked.provider, node, use, verdict):
        remedy = _f16_remedy(verdict)
        return finding(F16_RECURRENT, Severity.ERROR, node, text, remedy, target=name, data=data)
    severity = Severity.ERROR if node.op in RECURRENT else Severity.WARNING
    if verdict.reason is not Reason.SCHEMA_VERSION:
        remedy = REMEDIES.get(verdict.reason, "")
        remedy = FIX_SHAPES if verdict.data.get("step") == FIXED_SHAPES else remedy
        return finding(HOST_NODE, severity, node, text, remedy, target=name, data=data)
    lower = verdict.data.get("opset_that_would_match")
    remedy = "no opset version of the operator has a kernel there"
    if lower:
        remedy = f"export the model at opset {lower}, where the node runs on the GPU"
    links = (VERSION_RULE_LINK,) if name != OPSCOPE else ()
    return finding(OPSET_GATE, severity, node, text, remedy, target=name, data=data, links=links)


def _lacks_f16(provider: OrtProvider, node: Node, use: OpUse, verdict: Support) -> bool:
    """True for a recurrent node in f16 whose kernels, of whatever version, are of other types."""
    kind = use.inputs[0] if use.has(0) else None
    if node.op not in RECURRENT or kind is None or kind.dtype != "float16":
        return False
    if verdict.reason not in (Reason.TYPE, Reason.SCHEMA_VERSION):
        return False
    listed = [row.types.get("T") for row in provider.rows(use)]
    return bool(listed) and all(types is not None and "float16" not in types for types in listed)


def _f16_remedy(verdict: Support) -> str:
    """A Cast pair; where the version does not match either, a lower opset as well."""
    remedy = "put a Cast to float32 before the node and one back to float16 after it"
    if verdict.reason is Reason.TYPE:
        return remedy
    lower = verdict.data.get("opset_that_would_match")
    return f"{remedy}, and export the model at opset {lower}" if lower else ""
