"""f16 sums of many terms: an engine that adds in f16 stops growing after 2048 equal terms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node
from ..ops.use import OpUse
from .context import ORT_WEBGPU, Context, finding

CODE = "f16-long-sum"
VERSIONS = "onnxruntime-ep-webgpu 0.4.0"
LONGEST_EXACT = 2048  # f16 has 11 significant bits: 2048 + 1 is 2048
LINK = "https://github.com/microsoft/onnxruntime/issues/26732"
REDUCTIONS = frozenset(
    ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum",
     "ReduceLogSumExp")
)  # fmt: skip


def check(context: Context) -> Iterator[Diagnostic]:
    """A warning where ORT WebGPU runs the node (it adds in f16), information elsewhere."""
    for node, use in context.f16_uses():
        terms = summed_terms(use)
        if terms is None or terms <= LONGEST_EXACT:
            continue
        there = context.on_gpu_of(ORT_WEBGPU, node)
        for target in there:
            yield replace(
                _long_sum(node, terms, "ORT WebGPU adds in f16"),
                severity=Severity.WARNING,
                target=target,
                versions=VERSIONS,
                links=(LINK,),
            )
        if not there:
            yield _long_sum(node, terms, "an engine that adds in f16 loses them")


def _long_sum(node: Node, terms: int, who: str) -> Diagnostic:
    return finding(
        CODE,
        Severity.INFO,
        node,
        f"it sums {terms:,} f16 terms; past {LONGEST_EXACT:,} equal terms an f16 sum stops "
        f"growing ({who}; ours adds in f32)",
        "keep this node in f32 (a Cast before and after it)",
        data={"terms": terms},
    )


def summed_terms(use: OpUse) -> int | None:
    """How many terms one output element adds; None where that is not known or there is no sum."""
    if use.domain not in ("", "ai.onnx"):
        return None
    counters: Mapping[str, Callable[[OpUse], int | None]] = {
        "MatMul": _matmul,
        "Gemm": _gemm,
        "Conv": _conv,
        "ConvTranspose": _conv_transpose,
        "GlobalAveragePool": _global_pool,
        "AveragePool": _pool,
        "InstanceNormalization": _global_pool,
        "Softmax": _axis,
        "LogSoftmax": _axis,
        "LayerNormalization": _from_axis,
    }
    if use.op_type in REDUCTIONS:
        return _reduced(use)
    counter = counters.get(use.op_type)
    return counter(use) if counter is not None else None


def _dims(use: OpUse, index: int) -> tuple[object, ...]:
    kind = use.inputs[index] if use.has(index) else None
    return (kind.shape or ()) if kind is not None else ()


def _product(dims: tuple[object, ...]) -> int | None:
    known = [d for d in dims if isinstance(d, int)]
    return math.prod(known) if known and len(known) == len(dims) else None


def _matmul(use: OpUse) -> int | None:
    return _product(_dims(use, 0)[-1:])


def _gemm(use: OpUse) -> int | None:
    dims = _dims(use, 0)
    return _product(dims[:1] if use.attr("transA", 0) else dims[-1:])


def _conv(use: OpUse) -> int | None:
    return _product(_dims(use, 1)[1:])


def _conv_transpose(use: OpUse) -> int | None:
    weights = _product(_dims(use, 1)[:1] + _dims(use, 1)[2:])
    shared = use.attr("group", 1) * math.prod(use.attr("strides") or (1,))
    return None if weights is None or shared < 1 else -(-weights // shared)


def _pool(use: OpUse) -> int | None:
    return _product(tuple(use.attr("kernel_shape", ())))


def _global_pool(use: OpUse) -> int | None:
    return _product(_dims(use, 0)[2:])


def _axis(use: OpUse) -> int | None:
    dims = _dims(use, 0)
    axis = use.attr("axis", -1 if use.since_version >= 13 else 1)
    if not dims or not -len(dims) <= axis < len(dims):
        return None
    return _product((dims[axis],) if use.since_version >= 13 else dims[axis:])


def _from_axis(use: OpUse) -> int | None:
    return _product(_dims(use, 0)[use.attr("axis", -1) :])


def _reduced(use: OpUse) -> int | None:
    dims = _dims(use, 0)
    axes = use.attr("axes")
    if axes is None and use.has(1):
        value = use.value(1)
        if value is None:
            return None
        axes = [int(a) for a in value.reshape(-1)]
    if not axes:
        return None if use.attr("noop_with_empty_axes", 0) else _product(dims)
    if not dims or any(not -len(dims) <= a < len(dims) for a in axes):
        return None
    return _product(tuple(dims[a] for a in axes))
