"""int64 arithmetic: exact or on the host with us, the low 32 bits alone with some others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node
from ..ops.use import OpUse
from ..providers.support import Status
from .context import ORT_WEBGPU, Context, finding

CODE = "int64-narrowing"
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
            else:
                text += (
                    "ORT WebGPU leaves that to the CPU, or with enableInt64=1 uses the low 32 bits "
                    "alone (ours is exact, on the host)"
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
