"""Matrix products with what is around them (level 1).

Sources: matmul_add_fusion.cc, gemm_sum_fusion.cc, gemm_transpose_fusion.cc and matmul_bn_fusion.cc
in onnxruntime/core/optimizer.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import TensorType
from ...ir.schema import schema
from ...ops.use import OpUse
from .graph import Left, Work

GEMM_TYPES = frozenset(("float32", "float16", "float64", "bfloat16"))


def apply_rules(work: Work) -> None:
    """The rewrite rules: Gemm with the Transpose or Sum beside it."""
    for left in work.of("Gemm"):
        if (again := work.get(left.id)) is not None:
            _transposed(work, again)


def apply(work: Work) -> None:
    """MatMul and Add become one Gemm."""
    for left in work.of("MatMul"):
        if (again := work.get(left.id)) is not None:
            _matmul_add(work, again)


def gemm_use(left: Left, opset: int, kinds: tuple[TensorType | None, ...]) -> OpUse:
    """A Gemm in place of ``left``."""
    found = schema("", "Gemm", opset)
    return replace(
        left.use,
        op_type="Gemm",
        domain="",
        since_version=found.since_version if found else 0,
        inputs=kinds,
        attributes={},
        values={},
    )


def _matmul_add(work: Work, matmul: Left) -> None:
    add = work.only_reader(matmul)
    if add is None or add.op != "Add":
        return
    a, b = matmul.inputs
    bias = next((n for n in add.inputs if n != matmul.outputs[0]), "")
    left, right = work.type(a), work.type(b)
    if left.dtype not in GEMM_TYPES or left.shape is None or right.shape is None or not bias:
        return
    columns = right.shape[-1] if right.shape else None
    if len(right.shape) != 2 or not isinstance(columns, int):
        return
    added = work.type(bias)
    if added.shape is None:
        return
    if not _fits(work, matmul, added, columns):
        return
    reshaped = len(left.shape) != 2
    detail = "ORT makes one Gemm of MatMul and Add"
    if reshaped:
        detail += ", between two Reshapes"
    use = gemm_use(add, matmul.use.opset, (left, right, added))
    made = work.absorb((matmul,), add, use, (a, b, bias), detail, "fused: MatMul and Add")
    del made


def _fits(work: Work, matmul: Left, added: TensorType, columns: int) -> bool:
    left = work.type(matmul.inputs[0]).shape
    if left is None or added.shape is None:
        return False
    if len(left) == 2:
        rows = left[0]
        shape = added.shape
        if len(shape) == 1:
            return shape[0] == columns
        if len(shape) == 2:
            return shape[1] == columns and (shape[0] == 1 or (shape[0] == rows and rows is not None))
        return False
    if len(left) < 3 or any(not isinstance(d, int) for d in left):
        return False
    return len(added.shape) == 1 and added.shape[0] == columns


def _transposed(work: Work, gemm: Left) -> None:
    """A Transpose of an operand of a Gemm becomes transA or transB."""
    for index in (0, 1):
        maker = work.maker(gemm.input(index))
        if maker is None or maker.op != "Transpose" or tuple(maker.attr("perm", (1, 0))) != (1, 0):
            continue
        if work.is_end(maker.outputs[0]) or work.rank(maker.input(0)) != 2:
            continue
        if len(work.readers(maker.outputs[0])) != 1:
            inputs = list(gemm.inputs)
            inputs[index] = maker.input(0)
            gemm = work.set_inputs(gemm, inputs, _flipped(gemm, index))
            continue
        detail = f"ORT sets a flag of '{gemm.node.label}' (Gemm) instead"
        source, output = maker.input(0), maker.outputs[0]
        work.merge(maker, gemm, {output: source}, detail, "fused: Transpose and Gemm")
        again = work.get(gemm.id)
        if again is None:
            return
        gemm = work.set_inputs(again, again.inputs, _flipped(again, index))


def _flipped(gemm: Left, index: int) -> OpUse:
    flag = ("transA", "transB")[index]
    attributes = {**gemm.use.attributes, flag: 0 if gemm.attr(flag, 0) else 1}
    return replace(gemm.use, attributes=attributes)
