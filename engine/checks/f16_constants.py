"""Constants that f16 cannot hold: a -1e9 mask becomes -inf, small steps become zero."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ..diagnostics import Diagnostic, Severity
from ..errors import ModelFileError
from ..ir.dtypes import dtype_code
from ..ir.model import Node, Weight
from ..units import counted
from .context import Context, finding

OVERFLOW = "f16-constant-overflow"
VANISH = "f16-constant-vanishes"
LARGEST_READ = 16 << 20  # bytes of one weight that this reads: masks and scales are smaller


def check(context: Context) -> Iterator[Diagnostic]:
    """Infinite f16 constants, and f32 constants that a Cast to f16 loses."""
    for graph in context.model.graphs():
        weights: dict[str, Weight] = dict(graph.initializers)
        for node in graph.nodes:
            value = node.attributes.get("value")
            if node.op == "Constant" and node.outputs and (found := _constant(node)) is not None:
                weights[node.outputs[0]] = found
            elif node.op == "ConstantOfShape" and isinstance(value, Weight):
                array = _read(value)
                if array is not None and value.dtype == "float16":
                    yield from _infinite(node, "value", array)
        for name, weight in weights.items():
            readers = graph.consumers.get(name, ())
            casts = [node for node in readers if _casts_to_f16(node)]
            wanted = casts or (readers and weight.dtype == "float16")
            array = _read(weight) if wanted else None
            if array is None:
                continue
            if weight.dtype == "float16":
                yield from _infinite(readers[0], name, array)
            else:
                for node in casts:
                    yield from _lost(node, name, array)


def _constant(node: Node) -> Weight | None:
    """The value of a Constant node that holds floats."""
    value = node.attributes.get("value")
    if isinstance(value, Weight):
        return value
    for attribute in ("value_float", "value_floats"):
        value = node.attributes.get(attribute)
        if isinstance(value, float | tuple):
            array = np.array(value, np.float32)
            return Weight("", "float32", array.shape, array.nbytes, read=partial(np.copy, array))
    return None


def _casts_to_f16(node: Node) -> bool:
    return node.op == "Cast" and node.attributes.get("to") == dtype_code("float16")


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
            f"its f16 constant '{name}' is infinite in {_part(count, array)}; f16 ends at 65504, "
            "so a larger number (a -1e9 mask) was probably cut",
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
            f"the constant '{name}' is cast to f16, where {_part(over, array)} {_become(over)} "
            f"infinite (such as {worst:g}; f16 ends at 65504)",
            "use a number that f16 holds, such as -65504 or -1e4",
            data={"value": name, "infinite": over},
        )
    if gone:
        yield finding(
            VANISH,
            Severity.WARNING,
            node,
            f"the constant '{name}' is cast to f16, where {_part(gone, array)} {_become(gone)} "
            "zero (f16 begins at 6e-8)",
            "keep the node in f32, or scale the numbers",
            data={"value": name, "zero": gone},
        )


def _part(count: int, array: np.ndarray) -> str:
    return f"{count:,} of {counted(array.size, 'value')}"


def _become(count: int) -> str:
    return "becomes" if count == 1 else "become"
