"""Matrix products with what is around them (level 1).

Sources: matmul_add_fusion.cc, gemm_sum_fusion.cc, gemm_transpose_fusion.cc and matmul_bn_fusion.cc
in onnxruntime/core/optimizer.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import TensorType
from ...ir.schema import schema
from ...ops.use import OpUse
from .graph import Work
from .left import Left

GEMM_TYPES = frozenset(("float32", "float16", "float64", "bfloat16"))


def apply_rules(work: Work) -> None:
    """The rewrite rules: Gemm with the Transpose or Sum beside it."""
    for left in work.of("Gemm"):
        if (again := work.get(left.id)) is not None:
            _transposed(work, again)
        if (again := work.get(left.id)) is not None:
            _before_transpose(work, again)
        if (again := work.get(left.id)) is not None:
            _sum(work, again)
    for left in work.of("MatMul"):
        if (again := work.get(left.id)) is not None:
            _normalized(work, again)


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
    work.absorb((matmul,), add, use, (a, b, bias), detail, "fused: MatMul and Add")


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
            return shape[1] == columns and (
                shape[0] == 1 or (shape[0] == rows and rows is not None)
            )
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


def _before_transpose(work: Work, gemm: Left) -> None:
    """A Transpose after a Gemm without bias: the operands change places."""
    reader = work.only_reader(gemm)
    if reader is None or reader.op != "Transpose" or gemm.input(2):
        return
    if tuple(reader.attr("perm", (1, 0))) != (1, 0):
        return
    detail = "ORT swaps the operands of the Gemm instead of transposing its result"
    use = gemm_use(reader, gemm.use.opset, ())
    flags = {"transA": 1 - gemm.attr("transB", 0), "transB": 1 - gemm.attr("transA", 0)}
    use = replace(use, attributes={**gemm.use.attributes, **flags})
    inputs = (gemm.inputs[1], gemm.inputs[0])
    work.absorb((gemm,), reader, use, inputs, detail, "fused: Gemm and Transpose")


def _sum(work: Work, gemm: Left) -> None:
    """A Sum of a Gemm without bias and one more tensor is its bias."""
    reader = work.only_reader(gemm)
    if reader is None or reader.op != "Sum" or len(reader.inputs) != 2 or gemm.input(2):
        return
    other = next((n for n in reader.inputs if n != gemm.outputs[0]), "")
    added, made = work.type(other).shape, work.type(reader.outputs[0]).shape
    if not other or added is None or made is None or len(made) != 2 or len(added) > 2:
        return
    pairs = zip(reversed(added), reversed(made), strict=False)
    if not all(a == 1 or (a == b and a is not None) for a, b in pairs):
        return
    use = replace(gemm_use(reader, gemm.use.opset, ()), attributes=gemm.use.attributes)
    detail = "ORT makes the Sum the bias of the Gemm"
    work.absorb((gemm,), reader, use, (*gemm.inputs[:2], other), detail, "fused: Gemm and Sum")


def _normalized(work: Work, matmul: Left) -> None:
    """A BatchNormalization after a product with constant weights goes into them."""
    reader = work.only_reader(matmul)
    if reader is None or reader.op != "BatchNormalization" or reader.inputs[0] != matmul.outputs[0]:
        return
    if reader.attr("training_mode", 0) or len([o for o in reader.outputs if o]) > 1:
        return
    if not all(work.is_constant(n) for n in (matmul.inputs[1], *reader.inputs[1:5])):
        return
    if work.rank(matmul.inputs[0]) != 2 or work.rank(matmul.inputs[1]) != 2:
        return
    detail = "ORT makes one Gemm of MatMul and BatchNormalization"
    bias = f"{reader.outputs[0]}/bias"
    work.add_constant(bias, work.type(reader.inputs[1]))
    use = gemm_use(reader, matmul.use.opset, ())
    inputs = (*matmul.inputs, bias)
    work.absorb((matmul,), reader, use, inputs, detail, "fused: MatMul and BatchNormalization")


def _flipped(gemm: Left, index: int) -> OpUse:
    flag = ("transA", "transB")[index]
    attributes = {**gemm.use.attributes, flag: 0 if gemm.attr(flag, 0) else 1}
    return replace(gemm.use, attributes=attributes, name="")  # ORT makes the Gemm anew
