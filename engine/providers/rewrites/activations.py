"""Fusions after placing (level 2): an activation in its producer's kernel, and nodes spelt out.

Which fusions there are depends on the provider and its version: they are listed for those on which
each was seen. What is fused stays with its provider, so where nothing is listed nothing changes.

Sources: conv_activation_fusion.cc, gemm_activation_fusion.cc, quick_gelu_fusion.cc,
matmul_transpose_fusion.cc and matmul_scale_fusion.cc in onnxruntime/core/optimizer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...ir.model import NodeId
from . import normalizations
from .graph import Work
from .left import Left

Side = Callable[[Left], str]


@dataclass(frozen=True)
class Fusions:
    """What ORT fuses for one provider.

    Attributes:
        convolution: activations that a Conv takes over.
        gemm: activations that a Gemm takes over.
        spelt: whether LayerNormalization and Gelu spelt out, and x * Sigmoid(x), become one node.
        matmul: whether a MatMul takes over Transposes and constant factors beside it.
    """

    convolution: frozenset[str] = frozenset()
    gemm: frozenset[str] = frozenset()
    spelt: bool = False
    matmul: bool = False


_COMMON = frozenset(["Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", "Clip"])
_CPU = Fusions(
    _COMMON, frozenset(["Relu", "Sigmoid", "Tanh", "LeakyRelu"]), spelt=True, matmul=True
)
_WEBGPU = Fusions(_COMMON | {"Elu", "Gelu", "HardSwish"}, spelt=True)

SEEN: Mapping[tuple[str, str], Mapping[str, Fusions]] = {
    ("ort-webgpu", "0.4.0"): {"gpu": _WEBGPU, "cpu": _CPU},
    ("ort-cpu", "1.32.0"): {"cpu": _CPU},
}
"""(family, version) -> side -> what was seen to be fused there."""


def level_two(work: Work, sides: Mapping[NodeId, str], fusions: Mapping[str, Fusions]) -> None:
    """The fusions after placing, each within one provider.

    Args:
        work: the graph, which is edited.
        sides: where each node is: "gpu", "cpu" or "".
        fusions: what is fused on each side.
    """

    def side(left: Left) -> str:
        return sides.get(left.id, "")

    def of(left: Left) -> Fusions:
        return fusions.get(side(left), Fusions())

    for left in list(work):
        current = work.get(left.id)
        if current is None or not current.sound:
            continue
        kind = current.use.op_type
        if kind == "Conv":
            _activation(work, current, side, of(current).convolution)
        elif current.op == "Gemm":
            _activation(work, current, side, of(current).gemm)
        elif current.op == "MatMul" and of(current).matmul:
            _matmul(work, current, side)
        elif current.op == "Sigmoid" and of(current).spelt:
            _quick_gelu(work, current, side)
    spelt = [s for s, found in fusions.items() if found.spelt]
    normalizations.apply_late(work, lambda parts: _together(parts, side, spelt))


def _together(parts: tuple[Left, ...], side: Side, allowed: list[str]) -> bool:
    sides = {side(part) for part in parts}
    return len(sides) == 1 and sides <= set(allowed)


def _activation(work: Work, left: Left, side: Side, known: frozenset[str]) -> None:
    reader = work.only_reader(left)
    if reader is None or reader.op not in known or side(reader) != side(left):
        return
    if reader.inputs[0] != left.outputs[0]:
        return
    if reader.op == "Clip" and any(work.scalar(n) is None for n in reader.inputs[1:] if n):
        return
    detail = f"ORT computes it inside '{left.node.label}' ({left.use.op_type})"
    work.retarget(reader, left, detail, f"fused: {left.use.op_type} and {reader.op}")


def _quick_gelu(work: Work, sigmoid: Left, side: Side) -> None:
    """X * Sigmoid(x), or x * Sigmoid(a * x)."""
    product = work.only_reader(sigmoid)
    if product is None or product.op != "Mul" or side(product) != side(sigmoid):
        return
    other = next((n for n in product.inputs if n != sigmoid.outputs[0]), "")
    parts: tuple[Left, ...] = (sigmoid,)
    if other != sigmoid.input(0):
        scaled = work.maker(sigmoid.input(0))
        if scaled is None or scaled.op != "Mul" or other not in scaled.inputs:
            return
        factor = next((n for n in scaled.inputs if n != other), "")
        if work.scalar(factor) is None or work.only_reader(scaled) != sigmoid:
            return
        if side(scaled) != side(sigmoid):
            return
        parts = (scaled, sigmoid)
    if work.type(other).dtype not in ("float32", "float16"):
        return
    detail = "ORT makes one QuickGelu of the nodes that spell it out"
    work.absorb(parts, product, product.use, (other,), detail, "fused: QuickGelu")


def _matmul(work: Work, left: Left, side: Side) -> None:
    """Transposes of the last two axes, and constant factors, become attributes of the product."""
    if work.type(left.input(0)).dtype != "float32":
        return
    detail = f"ORT makes it part of '{left.node.label}' (MatMul)"
    for name in left.inputs:
        maker = work.maker(name)
        if maker is None or side(maker) != side(left) or work.only_reader(maker) is None:
            continue
        if maker.op == "Transpose" and _swaps_last(maker):
            passed = {maker.outputs[0]: maker.input(0)}
            work.merge(maker, left, passed, detail, "fused: MatMul and Transpose")
        elif maker.op in ("Mul", "Div") and work.scalar(maker.input(1)) is not None:
            passed = {maker.outputs[0]: maker.input(0)}
            work.merge(maker, left, passed, detail, f"fused: MatMul and {maker.op}")
    current = work.get(left.id)
    reader = work.only_reader(current) if current is not None else None
    if current is None or reader is None or reader.op not in ("Mul", "Div"):
        return
    first = reader.inputs[0] == current.outputs[0] and side(reader) == side(current)
    if first and work.scalar(reader.input(1)) is not None:
        work.retarget(reader, current, detail, f"fused: MatMul and {reader.op}")


def _swaps_last(transpose: Left) -> bool:
    perm = tuple(transpose.attr("perm", (1, 0)))
    rank = len(perm)
    return rank >= 2 and perm == (*range(rank - 2), rank - 1, rank - 2)
