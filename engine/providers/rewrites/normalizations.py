"""Layer normalization and Gelu spelt out: one node from the opset that has the operator (level 1).

Sources: layer_norm_fusion.cc and gelu_fusion.cc in onnxruntime/core/optimizer. At lower opsets ORT
does the same after placing, for the providers with a kernel of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...ir.schema import schema
from .graph import Work
from .left import Left

LAYER_NORM_OPSET, GELU_OPSET = 17, 20


Together = Callable[[tuple[Left, ...]], bool]


def apply(work: Work) -> None:
    """One pass over the graph, before placing."""
    _all(work, LAYER_NORM_OPSET, GELU_OPSET, lambda _: True)


def apply_late(work: Work, together: Together) -> None:
    """One pass after placing, of nodes that ``together`` finds on one provider with the kernel."""
    _all(work, 0, 0, together)


def _all(work: Work, layer_norm: int, gelu: int, together: Together) -> None:
    for left in work.of("ReduceMean"):
        if left.use.opset >= layer_norm and (again := work.get(left.id)) is not None:
            _layer_norm(work, again, together)
    for left in work.of("Div", "Mul"):
        if left.use.opset >= gelu and (again := work.get(left.id)) is not None:
            _gelu(work, again, together)


def _after(work: Work, left: Left | None, op: str) -> Left | None:
    """The one reader of ``left``, if it is of ``op``."""
    reader = work.only_reader(left) if left is not None else None
    return reader if reader is not None and reader.op == op else None


def _other(left: Left, name: str) -> str:
    return next((n for n in left.inputs if n != name), "")


def _layer_norm(work: Work, mean: Left, together: Together) -> None:
    """ReduceMean, Sub, Pow 2, ReduceMean, Add, Sqrt, Div, Mul, Add."""
    source = mean.input(0)
    subs = [r for r in work.readers(mean.outputs[0]) if r.op == "Sub"]
    if not subs or len(subs) != len(work.readers(mean.outputs[0])) or work.is_end(mean.outputs[0]):
        return
    difference = subs[0]
    if len(subs) != 1 or difference.inputs != (source, mean.outputs[0]):
        return
    readers = work.readers(difference.outputs[0])
    power = next((r for r in readers if r.op == "Pow"), None)
    division = next((r for r in readers if r.op == "Div"), None)
    if power is None or division is None or len(readers) != 2:
        return
    if work.scalar(power.input(1)) != 2 or division.inputs[0] != difference.outputs[0]:
        return
    variance = _after(work, power, "ReduceMean")
    added = _after(work, variance, "Add")
    root = _after(work, added, "Sqrt")
    if variance is None or added is None or root is None or _after(work, root, "Div") != division:
        return
    if work.scalar(_other(added, variance.outputs[0])) is None:
        return
    scale = _after(work, division, "Mul")
    bias = _after(work, scale, "Add")
    if scale is None or bias is None:
        return
    weights = (_other(scale, division.outputs[0]), _other(bias, scale.outputs[0]))
    if not all(work.is_constant(n) and n for n in weights):
        return
    parts = (mean, difference, power, variance, added, root, division, scale)
    detail = "ORT makes one LayerNormalization of the nodes that spell it out"
    if together((*parts, bias)):
        _one(work, parts, bias, "LayerNormalization", (source, *weights), detail)


def _gelu(work: Work, first: Left, together: Together) -> None:
    """X / sqrt(2), Erf, Add 1, Mul x, Mul 0.5; the half may come first."""
    factor = math.sqrt(2) if first.op == "Div" else math.sqrt(0.5)
    given = work.scalar(first.input(1))
    if given is None or not math.isclose(given, factor, rel_tol=1e-3):
        return
    source = first.input(0)
    erf = _after(work, first, "Erf")
    one = _after(work, erf, "Add")
    if erf is None or one is None or work.scalar(_other(one, erf.outputs[0])) != 1:
        return
    product = _after(work, one, "Mul")
    if product is None:
        return
    other = _other(product, one.outputs[0])
    detail = "ORT makes one Gelu of the nodes that spell it out"
    if other == source:
        last = _after(work, product, "Mul")
        if last is None or work.scalar(_other(last, product.outputs[0])) != 0.5:
            return
        if together((first, erf, one, product, last)):
            _one(work, (first, erf, one, product), last, "Gelu", (source,), detail)
        return
    half = work.maker(other)
    if half is not None and half.op == "Mul" and source in half.inputs:
        if work.scalar(_other(half, source)) != 0.5 or work.only_reader(half) is None:
            return
        if together((first, erf, one, half, product)):
            _one(work, (first, erf, one, half), product, "Gelu", (source,), detail)


def _one(
    work: Work, parts: Sequence[Left], last: Left, op: str, inputs: tuple[str, ...], detail: str
) -> None:
    found = schema("", op, last.use.opset)
    version = found.since_version if found else 0  # an operator of ORT's own before
    use = replace(last.use, op_type=op, since_version=version, attributes={}, values={})
    work.absorb(parts, last, use, inputs, detail, f"fused: {op}")
