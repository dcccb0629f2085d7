"""Chains of GPU nodes that a node on the CPU breaks: the GPU waits until the CPU is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..diagnostics import Diagnostic, Severity
from ..ir.model import NodeId
from ..providers.chains import Split, splits
from ..providers.support import Support
from ..units import counted, mebibytes
from .context import Context, finding

CODE = "splits-gpu"
LISTED = 20
FEW = 10
"""So many GPU nodes on the smaller side make a break worth a warning."""


def check(context: Context) -> Iterator[Diagnostic]:
    """One finding per island of CPU nodes between GPU nodes, and target."""
    for name in context.verdicts:
        flow, crossings = context.flow(name)
        for split in splits(context.model, flow, crossings):
            yield _told(context, name, split)


def _told(context: Context, target: str, split: Split) -> Diagnostic:
    first = context.model.nodes[_cause(context.verdicts[target], split)]
    more = len(split.nodes) - 1
    subject = f"this {first.op}"
    if more:
        subject += f" and {counted(more, 'CPU node')} that it exchanges values with"
    total = split.before + split.after
    text = (
        f"{subject} {'split' if more else 'splits'} {total:,} GPU nodes in two: "
        f"{counted(split.before, 'runs', 'run')} before it, "
        f"{counted(split.after, 'waits', 'wait')} for it"
    )
    if split.in_kernel:
        text += "; its kernel takes in CPU memory what the GPU has made"
    else:
        text += "" if split.alone else ", and for other CPU nodes as well"
    text += f". It has {counted(split.copies, 'value')} copied"
    text += f", {mebibytes(split.copied_bytes)}" if split.copied_bytes else ""
    text += f", {split.unknown:,} of unknown size" if split.unknown else ""
    remedy = "give it a kernel on the GPU (its finding says how), or move it to the graph's end"
    if split.in_kernel:
        remedy = "make that input a constant, or compute it from shapes alone"
    severity = Severity.WARNING if min(split.before, split.after) >= FEW else Severity.INFO
    return finding(
        CODE,
        severity,
        first,
        text,
        remedy,
        target=target,
        data={
            "before": split.before,
            "after": split.after,
            "alone": split.alone,
            "copies": split.copies,
            "bytes": split.copied_bytes,
            "unknown": split.unknown,
            "nodes": [str(node) for node in split.nodes[:LISTED]],
        },
    )


def _cause(verdicts: Mapping[NodeId, Support], split: Split) -> NodeId:
    """The first node of an island that should be on the GPU: not shape arithmetic beside it."""
    for node in split.nodes:
        verdict = verdicts.get(node)
        if verdict is not None and not verdict.data.get("host_values_only"):
            return node
    return split.nodes[0]
