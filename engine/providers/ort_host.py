"""Who takes what the provider leaves: the CPU provider, the operator's own body, or nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..ops.use import OpUse
from ..units import counted
from .expansion import parts
from .ort_failures import UNSURE, known_failure
from .ort_steps import kernel_lookup, type_rule, version_rule
from .support import Reason, Status, Support

if TYPE_CHECKING:
    from .ort import OrtProvider


def host_lookup(provider: OrtProvider, use: OpUse, verdict: Support) -> Support:
    """Who takes what the provider leaves: a CPU kernel, the operator's body, or nobody."""
    found = provider.host_kernel(use)
    if found == "kernel":
        failure = None if provider.is_cpu else known_failure(use, provider.host)
        if failure is None:
            return verdict
        detail = f"{verdict.detail}; the CPU provider fails at {failure.when}: {failure.detail}"
        status = Status.UNKNOWN if failure.when == UNSURE else Status.FAILS
        return Support(
            status, failure.reason, detail, {"step": "known failure", "when": failure.when}
        )
    if (expanded := _expanded(provider, use, verdict)) is not None:
        return expanded
    if found == "float32":
        detail = "has it in float32 alone: ORT puts a Cast before it and one after it"
        if provider.is_cpu:
            detail = f"{provider.label} {detail}"
            return Support(Status.HOST, Reason.NONE, detail, {"step": "CPU look-up", "casts": True})
        detail = f"{verdict.detail}; the CPU provider {detail}"
        return replace(verdict, detail=detail, data={**verdict.data, "casts": True})
    detail = f"no provider has a kernel: {verdict.detail}"
    if not provider.is_cpu and provider.cpu is not None:
        detail += f"; {_host_gap(provider.cpu, use)}"
    data = {**verdict.data, "step": "CPU look-up", "when": "session creation"}
    return Support(Status.FAILS, verdict.reason, detail, data)


def _host_gap(cpu: OrtProvider, use: OpUse) -> str:
    """Why the CPU provider does not take a node."""
    for step in (kernel_lookup, version_rule, type_rule):
        if (verdict := step(cpu, use)) is not None:
            return verdict.detail
    return f"{cpu.label} has no kernel that matches"


def _expanded(provider: OrtProvider, use: OpUse, verdict: Support) -> Support | None:
    """The parts of the operator's body, placed one by one."""
    found = [(provider.support(part), ends) for part, ends in parts(use)]
    if not found:
        return None
    count = len(found)
    body = f"ORT puts ONNX's definition of {use.op_type}, {counted(count, 'node')}, in its place"
    failing = next((v for v, _ in found if v.status is Status.FAILS), None)
    failing = failing or next((v for v, _ in found if v.status is Status.UNKNOWN), None)
    data: dict[str, Any] = {"step": "function body", "parts": count}
    if failing is not None:
        data |= {k: v for k, v in failing.data.items() if k == "when"}
        return Support(failing.status, failing.reason, f"{body}; {failing.detail}", data)
    gpu = sum(v.status is Status.GPU for v, _ in found)
    data["expanded"] = {"gpu": gpu, "cpu": count - gpu}
    # The node that gives the output stands for the whole.
    last = next((v for v, ends in reversed(found) if ends), found[-1][0])
    if gpu == count:
        return Support(Status.GPU, Reason.NONE, f"{body}; {provider.label} has all of them", data)
    if provider.is_cpu:
        return Support(Status.HOST, Reason.NONE, f"{body}; the CPU provider has all of them", data)
    where = f"{gpu} on the GPU and {count - gpu} on the CPU" if gpu else "all on the CPU"
    detail = f"{body}, {where}: {verdict.detail}"
    return Support(last.status, Reason.NONE if last.on_gpu else verdict.reason, detail, data)
