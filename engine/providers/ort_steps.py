"""The steps by which ORT decides on one node, in its order; the first that has a verdict decides.

Sources: kernel_registry.cc (version and types), graph_partitioner.cc, the layout transformation's
opset range, and kernels that were read and run (see the tables).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops.use import OpUse
from .ort_failures import UNSURE, known_failure
from .ort_rows import (
    allowed_types,
    newest_matching_opset,
    registered_versions,
    rows_data,
    type_gap,
)
from .support import Reason, Status, Support

if TYPE_CHECKING:
    from .ort import OrtProvider

MICROSOFT = "com.microsoft"


Step = Callable[["OrtProvider", OpUse], Support | None]


def verdict_of(status: Status, reason: Reason, detail: str, step: str, **data: Any) -> Support:
    """A verdict with its step and more data."""
    return Support(status, reason, detail, {"step": step, **data})


def layout_gate(provider: OrtProvider, use: OpUse) -> Support | None:
    """Outside the layout transformation's opsets the provider takes no node at all."""
    if provider.table.opsets is None or provider.options.preferred_layout != "NHWC":
        return None
    lowest, highest = provider.table.opsets
    if use.domain not in ("", "ai.onnx"):
        return None
    if not use.opset or lowest <= use.opset <= highest:
        return None
    detail = (
        f"the model's opset {use.opset} is outside {lowest}-{highest}, the range of ORT's layout "
        "transformation (preferredLayout NHWC), so the provider takes no node of it"
    )
    return verdict_of(
        Status.HOST,
        Reason.SCHEMA_VERSION,
        detail,
        "layout gate",
        opset=use.opset,
        range=[lowest, highest],
    )


def forced_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """The user named the node in forceCpuNodeNames: asked only where there is a kernel.

    The names are compared as they are, one a line. A name that ORT has changed by then (a node
    that it made of several, or put in from a function or a branch) is not found.
    """
    if not use.name or use.name not in provider.options.force_cpu_node_names:
        return None
    detail = "the option forceCpuNodeNames keeps it on the CPU"
    return verdict_of(Status.HOST, Reason.HOST_ON_PURPOSE, detail, "forceCpuNodeNames")


def kernel_lookup(provider: OrtProvider, use: OpUse) -> Support | None:
    """No row at all: the operator is the CPU provider's."""
    if provider.rows(use):
        return None
    detail = f"{provider.label} registers no kernel for {use.op}"
    return verdict_of(Status.HOST, Reason.NO_KERNEL, detail, "kernel look-up")


def version_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """An open-ended row matches its own schema version alone."""
    rows = provider.rows(use)
    if not use.since_version or any(r.matches(use.since_version) for r in rows):
        return None
    detail = (
        f"{use.op} is stamped with schema version {use.since_version}; {provider.label} registers "
        f"{registered_versions(rows)}"
    )
    lower = newest_matching_opset(use, rows)
    if lower:
        detail += f"; at opset {lower} it would run there"
    return verdict_of(
        Status.HOST,
        Reason.SCHEMA_VERSION,
        detail,
        "version rule",
        version=use.since_version,
        opset_that_would_match=lower,
        rows=rows_data(rows),
    )


def type_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """Every listed parameter must contain the actual type."""
    if provider.matching(use):
        return None
    version, int64 = use.since_version, provider.options.enable_int64
    rows = [r for r in provider.rows(use) if not version or r.matches(version)]
    gaps = [gap for row in rows if (gap := type_gap(row, use, int64=int64))]
    parameter, dtype = gaps[0]
    listed = (allowed_types(r, parameter, int64=int64) or () for r in rows)
    allowed = sorted(set().union(*listed))
    detail = (
        f"{parameter} of {use.op} is {dtype}; {provider.label} registers "
        f"{registered_versions(provider.rows(use))} with {', '.join(allowed)}"
    )
    return verdict_of(
        Status.HOST, Reason.TYPE, detail, "type rule", dtype=dtype, rows=rows_data(tuple(rows))
    )


def selection_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """Nodes with a matching kernel that the provider still leaves to the CPU."""
    reason = None
    if use.op == "com.microsoft::Attention":
        present = [i for i in (3, 4, 6) if use.has(i)]
        if present:
            reason = f"its input {present[0]} is present"
        elif use.wants(1):
            reason = "its output 1 is wanted"
        elif use.attr("past_present_share_buffer", 0):
            reason = "past_present_share_buffer is set"
    elif use.op == "com.microsoft::MatMulBnb4" and not use.attr("transB", 1):
        reason = "transB is 0"
    rows = provider.matching(use)
    if reason is None and rows:
        reason = rows[0].declined(use) or None
    if reason is None:
        return None
    detail = f"{provider.label} leaves {use.op} to the CPU where {reason}"
    return verdict_of(Status.HOST, Reason.ATTRIBUTE, detail, "selection")


def operator_lookup(provider: OrtProvider, use: OpUse) -> Support | None:
    """ORT refuses a model with an operator that it has never heard of."""
    host = provider.host
    if host is None or provider.rows(use) or host.find(use.domain, use.op_type):
        return None
    domains = {domain for domain, _ in host.rows}
    if use.domain in ("", "ai.onnx") and use.since_version:
        return None
    if use.domain in domains and (use.since_version or use.domain == MICROSOFT):
        return None
    detail = f"ORT knows no operator {use.op} at version {use.opset or '?'} of its domain"
    if not use.op_type:
        detail = (
            f"the node '{use.label}' names no operator, and ORT refuses a model with such a node"
        )
    return verdict_of(
        Status.FAILS, Reason.NO_KERNEL, detail, "operator look-up", when="session creation"
    )


def fixed_shapes(provider: OrtProvider, use: OpUse) -> Support | None:
    """WebNN takes no node with a dimension that is not known."""
    if provider.table.id != "webnn":
        return None
    for index, kind in enumerate(use.inputs):
        if kind is not None and kind.shape is not None and kind.known_dims is None:
            detail = f"WebNN takes fixed shapes alone; input {index} is {kind}"
            return verdict_of(Status.HOST, Reason.SHAPE, detail, "fixed shapes")
    return None


def failure_rule(provider: OrtProvider, use: OpUse) -> Support | None:
    """Taken, and then it fails: nothing falls back."""
    failure = known_failure(use, provider.table)
    if failure is None:
        return None
    if failure.when == UNSURE:
        return verdict_of(Status.UNKNOWN, Reason.UNKNOWN, failure.detail, "known failure")
    detail = f"{provider.label} takes the node, then fails at {failure.when}: {failure.detail}"
    return verdict_of(Status.FAILS, failure.reason, detail, "known failure", when=failure.when)


STEPS: tuple[Step, ...] = (
    operator_lookup,
    layout_gate,
    kernel_lookup,
    version_rule,
    type_rule,
    forced_rule,
    fixed_shapes,
    selection_rule,
    failure_rule,
)
