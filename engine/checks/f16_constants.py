"""Constants that f16 cannot hold: a -1e9 mask becomes -inf, small steps become zero."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..errors import ModelFileError
from ..ir.model import Node, Weight
from .context import Context, finding

OVERFLOW = "f16-constant-overflow"
VANISH = "f16-constant-vanishes"
LARGEST_READ = 64 << 20  # bytes of one weight that a check reads
F16_MAX = float(np.finfo(np.float16).max)


def check(context: Context) -> Iterator[Diagnostic]:
    """Infinite f16 constants, and f32 constants that a Cast to f16 loses."""
    for graph in context.model.graphs():
        weights: dict[str, Weight] = dict(graph.initializers)
        for node in graph.nodes:
            value = node.attributes.get("value")
            if node.op == "Constant" and isinstance(value, Weight) and node.outputs:
                weights[node.outputs[0]] = value
        for name, weight in weights.items():
            readers = graph.consumers.get(name, ())
            array = _read(weight)
            if array is None or not readers:
                continue
            if weight.dtype == "float16":
                yield from _infinite(readers[0], name, array)
            for node in readers:
                if node.op == "Cast" and _target(node) == "float16" and array.dtype.kind == "f":
                    yield from _lost(node, name, array)


def _target(node: Node) -> str:
    return {10: "float16"}.get(node.attributes.get("to", 0), "")


def _read(weight: Weight) -> np.ndarray | None:
    if weight.dtype not in ("float16", "float32", "float64") or weight.size_bytes > LARGEST_READ:
        return None
    try:
        return weight.numpy()
    except ModelFileError:
        return None  # the reader has said why the file's data cannot be had


def _infinite(node: Node, name: str, array: np.ndarray) -> Iterator[Diagnostic]:
    count = int(np.isinf(array).sum())
    if count:
        yield finding(
            OVERFLOW,
            Severity.WARNING,
            node,
            f"its f16 constant '{name}' holds {count:,} infinite value(s) of {array.size:,}; f16 "
            "ends at 65504, so a larger number (a -1e9 mask) was probably cut",
            "use a number that f16 holds, such as -65504 or -1e4",
            data={"value": name, "infinite": count},
        )


def _lost(node: Node, name: str, array: np.ndarray) -> Iterator[Diagnostic]:
    exact = array.astype(np.float64)
    with np.errstate(over="ignore"):
        half = array.astype(np.float16)
    over = int((np.isinf(half) & np.isfinite(exact)).sum())
    gone = int(((half == 0) & (exact != 0)).sum())
    if over:
        worst = float(exact.flat[int(np.argmax(np.where(np.isfinite(exact), np.abs(exact), 0)))])
        yield finding(
            OVERFLOW,
            Severity.WARNING,
            node,
            f"the constant '{name}' is cast to f16, where {over:,} of {array.size:,} values become "
            f"infinite (such as {worst:g}; f16 ends at 65504)",
            "use a number that f16 holds, such as -65504 or -1e4",
            data={"value": name, "infinite": over},
        )
    if gone:
        yield finding(
            VANISH,
            Severity.WARNING,
            node,
            f"the constant '{name}' is cast to f16, where {gone:,} of {array.size:,} values become "
            "zero (f16 begins at 6e-8)",
            "keep the node in f32, or scale the numbers",
            data={"value": name, "zero": gone},
        )
