"""Constant folding: what depends on no input is computed while the session is made (level 1).

Source: onnxruntime/core/optimizer/constant_folding.cc. DequantizeLinear stays, so that later passes
see quantized units; a Shape folds where ORT knows every dimension, and takes what is read for
nothing else along; an If whose condition is constant is replaced by the branch that it takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .branches import forget, open_branch
from .graph import ONNX, Work
from .left import Left

STEP = "constant folding"
RANDOM = frozenset(
    ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial")
)
ONLY_SHAPE = "only its shape was read, which ORT knows: it drops the node"
LARGEST = 1 << 30
"""Bytes: ORT folds no node whose outputs take more."""

Able = Callable[[Left], bool]


def constants(work: Work) -> None:
    """Constant nodes are initializers as soon as ORT has read the model."""
    for left in work.of("Constant"):
        work.fold(left, "ORT makes it an initializer", STEP)


def apply(work: Work, able: Able) -> None:
    """One pass over the graph.

    Args:
        work: the graph.
        able: whether ORT's CPU provider has a kernel for a node, which is what computes it.
    """
    for left in work:
        if work.changed:
            work.infer(left)
        if left.op == "If":
            _if(work, left)
        elif left.op == "Shape":
            if work.dims(left.input(0)) is not None or work.is_constant(left.input(0)):
                work.fold(left, "ORT knows the shape of its input, so it folds the node", STEP)
                work.prune(left.input(0), ONLY_SHAPE, STEP)
        elif _foldable(work, left) and able(left):
            work.fold(left, "ORT folds it: all inputs are constants", STEP)


def _foldable(work: Work, left: Left) -> bool:
    if not left.sound or left.use.domain not in ONNX or left.op in RANDOM or left.node.subgraphs:
        return False
    if not all(work.is_constant(n) for n in left.inputs if n):
        return False
    if left.op == "DequantizeLinear" and not _quantized_again(work, left):
        return False
    kinds = [work.type(n) for n in left.outputs if n]
    if any(k.kind != "tensor" for k in kinds):
        return False
    sizes = [math.prod(k.known_dims) for k in kinds if k.known_dims is not None]
    return sum(sizes) * 4 <= LARGEST


def _quantized_again(work: Work, left: Left) -> bool:
    """Dequantized, through one node, and quantized: the whole unit can be folded."""
    middle = work.only_reader(left)
    if middle is None or len(middle.inputs) != 1 or len(middle.outputs) != 1:
        return False
    last = work.only_reader(middle)
    return last is not None and last.op == "QuantizeLinear"


def _if(work: Work, left: Left) -> None:
    condition = work.constant(left.input(0))
    if condition is None or condition.size != 1:
        return
    taken = bool(condition.reshape(-1)[0])
    branches = dict(left.node.subgraphs)
    kept = branches.get("then_branch" if taken else "else_branch")
    lost = branches.get("else_branch" if taken else "then_branch")
    if kept is None:
        return
    detail = f"its condition is always {str(taken).lower()}: ORT puts that branch in its place"
    open_branch(work, left, kept, detail, STEP)
    if lost is not None:
        forget(work, lost, "a branch that is never taken: ORT leaves it out", STEP)
