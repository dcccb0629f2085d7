"""int64 arithmetic: exact or on the host with us, the low 32 bits alone with some others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node
from ..ops.use import OpUse
from ..providers.support import Status
from .context import ORT_WEBGPU, Context, finding
from .placed import HOST_NODE

CODE = "int64-narrowing"
OPTION = "enableInt64=1"
LINK = "https://github.com/microsoft/onnxruntime/issues/29273"
VERSIONS = "onnxruntime-ep-webgpu 0.4.0 with enableInt64=1 (graph capture implies it)"
ARITHMETIC = frozenset(("Add", "Sub", "Mul", "Div", "Min", "Max", "Clip", "Range", "ReduceSum"))
LARGEST_READ = 1 << 16
LIMIT = 2**31


def check(context: Context) -> Iterator[Diagnostic]:
    """Arithmetic on int64 left at run time; a warning where a constant is too large."""
    for node, use in context.uses:
        if node.op not in ARITHMETIC or not _is_int64(use) or _is_shape_arithmetic(context, node):
            continue
        large = _large_constant(use)
        for target in context.targets_of(ORT_WEBGPU):
            text = "it computes with int64; "
            if context.runs_on_gpu(target, node):
                text += "with enableInt64=1 ORT WebGPU uses the low 32 bits alone (ours is exact)"
            elif OPTION in target.split(","):
                continue  # all the same it is on the CPU, which is exact
            else:
                text += (
                    "ORT WebGPU leaves that to the CPU, or with enableInt64=1 uses the low 32 bits "
                    "alone (ours is exact, on the CPU)"
                )
            if large is not None:
                text += f", and its constant {large} does not fit 32 bits"
            yield finding(
                CODE,
                Severity.INFO if large is None else Severity.WARNING,
                node,
                text,
                "use int32 where the values allow it",
                target=target,
                versions=VERSIONS,
                links=(LINK,),
                data={} if large is None else {"constant": large},
            )


def joined(found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """``found``, where ``host-node`` and this rule speak of one node and target: as one finding.

    This rule's stays, for it says when the values change as well; it gets the other's reason. Its
    data have a ``reason`` then, which says that the node is on the CPU.
    """
    every = tuple(found)
    narrow = {(d.node, d.target) for d in every if d.code == CODE}
    hosts = {(d.node, d.target): d for d in every if d.code == HOST_NODE}
    for d in every:
        host = hosts.get((d.node, d.target))
        if d.code == HOST_NODE and (d.node, d.target) in narrow:
            continue
        if d.code != CODE or host is None:
            yield d
            continue
        text = f"{host.text}; with enableInt64=1 ORT WebGPU uses the low 32 bits alone"
        if "constant" in d.data:
            text += f", and its constant {d.data['constant']} does not fit 32 bits"
        severity = min(d.severity, host.severity, key=lambda s: s.rank)
        data = {**host.data, **d.data}
        yield replace(d, severity=severity, text=text, data=data, versions=host.versions)


def _is_shape_arithmetic(context: Context, node: Node) -> bool:
    """True for what is over before the run or stays in host memory, on any target."""
    verdicts = [v[node.id] for v in context.verdicts.values() if node.id in v]
    return any(v.status is Status.FOLDED or v.data.get("host_values_only") for v in verdicts)


def _is_int64(use: OpUse) -> bool:
    return bool(use.inputs) and use.inputs[0] is not None and use.inputs[0].dtype == "int64"


def _large_constant(use: OpUse) -> int | None:
    for index in use.values:
        kind = use.inputs[index] if use.has(index) else None
        if kind is None or kind.dtype != "int64" or int(np.prod(kind.dims)) > LARGEST_READ:
            continue
        value = use.value(index)
        if value is not None and value.size:
            worst = int(value.flat[int(np.argmax(np.abs(value.astype(np.float64))))])
            if not -LIMIT <= worst < LIMIT:
                return worst
    return None
