"""Pairs of quantizers that do nothing: ORT takes them out (level 1, and after layouts).

Sources: double_qdq_pairs_remover.cc in onnxruntime/core/optimizer, and the end of
onnx_transpose_optimization.cc in its folder transpose_optimization.
"""

from __future__ import annotations

import numpy as np

from .graph import Work
from .left import Left
from .removals import STEP as DROPPED

STEP = "equal quantizers"
DETAIL = "ORT makes one pair of two in a row"
Q, DQ = "QuantizeLinear", "DequantizeLinear"
TYPES = frozenset(("uint8", "int8", "uint16", "int16"))


def doubled(work: Work) -> None:
    """Of quantize, dequantize, quantize, dequantize the first and the last are left."""
    for left in work.of(Q):
        first = work.get(left.id)
        if first is None or work.type(first.outputs[0]).dtype not in TYPES:
            continue
        back = work.only_reader(first)
        if back is None or back.op != DQ or not _same(work, first, back):
            continue
        second = work.only_reader(back)
        if second is None or second.op != Q or work.is_end(second.outputs[0]):
            continue
        last = work.readers(second.outputs[0])
        alike = work.type(second.outputs[0]).dtype == work.type(first.outputs[0]).dtype
        if last and alike and all(r.op == DQ and _same(work, second, r) for r in last):
            _into(work, first, back, second)


def empty(work: Work) -> None:
    """A dequantizer with nothing but the same quantizer behind it."""
    for second in work.of(Q):
        back = work.maker(second.input(0))
        if back is None or back.op != DQ or work.only_reader(back) != second:
            continue
        if not _matches(work, back, second):
            continue
        first, end = work.maker(back.input(0)), work.is_end(second.outputs[0])
        readers = work.readers(second.outputs[0])
        if end and (readers or first is None or work.only_reader(first) != back):
            continue
        if not end and len(readers) != 1:
            continue
        if first is not None and first.op == Q:
            _into(work, first, back, second)
        else:
            detail = "ORT drops it: quantizing again what was dequantized changes nothing"
            work.drop(second, back.input(0), detail, DROPPED)
            work.discard(back, detail, DROPPED)


def _into(work: Work, first: Left, back: Left, second: Left) -> None:
    """Take ``back`` and ``second`` out; ``first`` gives what they gave."""
    work.merge(back, first, {}, DETAIL, STEP)
    if work.is_end(second.outputs[0]):
        work.retarget(second, first, DETAIL, STEP)
    else:
        work.merge(second, first, {second.outputs[0]: first.outputs[0]}, DETAIL, STEP)


def _same(work: Work, one: Left, other: Left) -> bool:
    """Whether both have the same scale and zero point, each one constant number."""
    for index in (1, 2):
        a, b = work.constant(one.input(index)), work.constant(other.input(index))
        if a is None or b is None or a.size != 1 or b.size != 1 or a.dtype != b.dtype:
            return False
        if a.reshape(-1)[0] != b.reshape(-1)[0]:
            return False
    return True


def _matches(work: Work, back: Left, second: Left) -> bool:
    """Whether they have the same types, scale and zero point."""
    before, after = work.type(back.input(0)).dtype, work.type(second.outputs[0]).dtype
    if before == "?" or before != after:
        return False
    if back.input(1) != second.input(1):
        scales = [work.constant(n.input(1)) for n in (back, second)]
        if any(s is None for s in scales) or not np.array_equal(scales[0], scales[1]):  # type: ignore[arg-type]
            return False
    if back.input(2) == second.input(2):
        return True
    points = [work.constant(n.input(2)) for n in (back, second) if n.input(2)]
    if any(p is None for p in points):
        return False
    if len(points) == 2:
        return np.array_equal(points[0], points[1])  # type: ignore[arg-type]
    return points[0] is not None and not points[0].any()
