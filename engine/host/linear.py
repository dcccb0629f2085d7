"""Matrix products: MatMul, Gemm, Einsum, MatMulInteger. 16-bit floats are summed in float32."""

from __future__ import annotations

import numpy as np

from ..ops.use import OpUse
from .dtypes import require_room, widened
from .table import host
from .values import Value

Array = np.ndarray


@host("MatMul", versions=(1, 13))
def matmul(use: OpUse, a: Array, b: Array) -> Value:
    """The product of the last two axes, as numpy's matmul has it."""
    if a.ndim >= 2 and b.ndim >= 2:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        require_room(use, (*batch, a.shape[-2], b.shape[-1]), a.dtype)
    return np.matmul(widened(a), widened(b)).astype(a.dtype)


@host("Gemm", versions=(7, 13), attributes=("alpha", "beta", "transA", "transB"))
def gemm(use: OpUse, a: Array, b: Array, c: Array | None = None) -> Value:
    """The sum alpha * A' * B' + beta * C, with A and B transposed where asked."""
    left, right = widened(a), widened(b)
    product = np.matmul(
        left.T if use.attr("transA", 0) else left, right.T if use.attr("transB", 0) else right
    )
    alpha, beta = use.attr("alpha", 1.0), use.attr("beta", 1.0)
    if alpha != 1:
        product = product * alpha
    if c is not None and beta != 0:
        product = product + (widened(c) if beta == 1 else widened(c) * beta)
    return product.astype(a.dtype)


@host("Einsum", versions=(12, 28), attributes=("equation",))
def einsum(use: OpUse, *operands: Array) -> Array:
    """The sum over the letters that the output lacks, contracted pairwise."""
    equation = use.attr("equation").replace(" ", "")
    result = np.einsum(equation, *map(widened, operands), optimize=True)
    return np.asarray(result).astype(operands[0].dtype)


@host("MatMulInteger", versions=(10, 10))
def matmul_integer(
    use: OpUse,
    a: Array,
    b: Array,
    a_zero_point: Array | None = None,
    b_zero_point: Array | None = None,
) -> Value:
    """(A - zero) * (B - zero) in int32; a vector of zero points is per row of A, column of B."""
    left, right = a.astype(np.int32), b.astype(np.int32)
    if a_zero_point is not None:
        zero = a_zero_point.astype(np.int32)
        left = left - (zero[:, None] if zero.ndim == 1 and zero.size > 1 else zero)
    if b_zero_point is not None:
        right = right - b_zero_point.astype(np.int32)
    # float64 holds every sum of 8-bit products exactly (below 2^53) and uses BLAS.
    return (
        np.matmul(left.astype(np.float64), right.astype(np.float64))
        .astype(np.int64)
        .astype(np.int32)
    )
