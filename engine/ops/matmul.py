"""MatMul (1, 9, 13) and Gemm (7, 9, 11, 13), in f32 and f16, summed in f32.

MatMul follows numpy's ``matmul``: operands of one axis get a second one of extent 1 that the result
lacks, and batch axes broadcast. Gemm is ``alpha * A' @ B' + beta * C`` with C broadcast to the
result. A depth of 0 sums to zero. Declined: integers, sums of too many terms for a workgroup, and
Gemm before version 7, whose broadcast rule is another.
"""

from __future__ import annotations

from types import MappingProxyType

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Support
from .broadcast import broadcast, broadcast_strides, strides_of
from .product import Loop, Product, build_product, sum_support
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder
from .use import OpUse


@kernel("MatMul", since=(1, 9, 13))
class MatMul(Kernel):
    """numpy's matmul over operands of any rank."""

    types = MappingProxyType({"T": TYPES.floats})
    fuses_activation = True

    def check(self, use: OpUse) -> Support:
        """Not too many terms in a sum."""
        a = use.known_dims(0)
        return sum_support(use, a[-1]) if a else SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Broadcast batch axes, then rows and columns as far as the operands have them."""
        a, b = use.dims(0), use.dims(1)
        matrix_a, matrix_b, batch = self._matrices(use)
        rows = matrix_a[-2:-1] if len(a) > 1 else ()
        columns = matrix_b[-1:] if len(b) > 1 else ()
        return (TensorType(use.input(0).dtype, (*batch, *rows, *columns)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A strided product; batches that share the right operand become rows."""
        build_product(self._product(use), steps, steps.input(0), steps.input(1), steps.output())

    def cost(self, use: OpUse) -> Cost:
        """Two operations per multiply-add."""
        return Cost(2 * self._product(use).multiply_adds, super().cost(use).bytes)

    def _matrices(self, use: OpUse) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        a, b = use.dims(0), use.dims(1)
        if not a or not b:
            raise use.error(f"the operands are {list(a)} and {list(b)}; a scalar has no product")
        matrix_a = a if len(a) > 1 else (1, *a)
        matrix_b = b if len(b) > 1 else (*b, 1)
        if matrix_a[-1] != matrix_b[-2]:
            raise use.error(
                f"{list(a)} times {list(b)}: {matrix_a[-1]} columns meet {matrix_b[-2]} rows"
            )
        return matrix_a, matrix_b, broadcast(use, matrix_a[:-2], matrix_b[:-2])

    def _product(self, use: OpUse) -> Product:
        a, b, batch = self._matrices(use)
        (m, k), n = a[-2:], b[-1]
        strides = zip(
            batch,
            (s * m * k for s in broadcast_strides(a[:-2], batch)),
            (s * k * n for s in broadcast_strides(b[:-2], batch)),
            (s * m * n for s in strides_of(batch)),
            strict=True,
        )
        loops = [Loop(*extent_and_strides) for extent_and_strides in strides]
        row = Loop(m, a=k, c=n)
        while loops and loops[-1].b == 0 and (loops[-1].a == row.a * row.extent or m == 1):
            outer = loops.pop()  # one matrix for all: its rows follow one another
            inner = row if row.extent > 1 else Loop(1, a=outer.a, c=outer.c)
            row = Loop(outer.extent * inner.extent, a=inner.a, c=inner.c)
            m = row.extent
        return Product(row, Loop(k, a=1, b=n), Loop(n, b=1, c=1), tuple(loops))


@kernel("Gemm", since=(7, 9, 11, 13))
class Gemm(Kernel):
    """alpha * A' @ B' + beta * C."""

    types = MappingProxyType({"T": TYPES.floats})
    attributes = frozenset(("alpha", "beta", "transA", "transB"))
    fuses_activation = True

    def check(self, use: OpUse) -> Support:
        """Not too many terms in a sum."""
        a = use.known_dims(0)
        if a is None or len(a) != 2:
            return SUPPORTED
        return sum_support(use, a[0] if use.attr("transA", 0) else a[1])

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(M, N)."""
        product = self._product(use)
        return (TensorType(use.input(0).dtype, (product.row.extent, product.column.extent)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One strided product; transposing is a matter of strides."""
        addend = steps.input(2) if use.has(2) else None
        build_product(
            self._product(use), steps, steps.input(0), steps.input(1), steps.output(), addend
        )

    def cost(self, use: OpUse) -> Cost:
        """Two operations per multiply-add, two per result for the addend."""
        product = self._product(use)
        extra = 2 * product.row.extent * product.column.extent if use.has(2) else 0
        return Cost(2 * product.multiply_adds + extra, super().cost(use).bytes)

    def _product(self, use: OpUse) -> Product:
        a, b = use.dims(0), use.dims(1)
        if len(a) != 2 or len(b) != 2:
            raise use.error(f"A is {list(a)} and B is {list(b)}; both must be matrices")
        a_row, a_depth = (1, a[1]) if use.attr("transA", 0) else (a[1], 1)
        b_depth, b_column = (1, b[1]) if use.attr("transB", 0) else (b[1], 1)
        m, k = (a[1], a[0]) if use.attr("transA", 0) else a
        k_of_b, n = (b[1], b[0]) if use.attr("transB", 0) else b
        if k != k_of_b:
            raise use.error(f"A' is [{m}, {k}] but B' is [{k_of_b}, {n}]")
        d = (0, 0)
        if use.has(2):
            c = use.dims(2)
            fits = all(x in (1, y) for x, y in zip(reversed(c), (n, m), strict=False))
            if len(c) > 2 or not fits:
                raise use.error(f"C is {list(c)}, which does not broadcast to [{m}, {n}]")
            row, column = broadcast_strides(c, (m, n))
            d = row, column
        return Product(
            Loop(m, a=a_row, c=n),
            Loop(k, a=a_depth, b=b_depth),
            Loop(n, b=b_column, c=1),
            d=d,
            alpha=float(use.attr("alpha", 1.0)),
            beta=float(use.attr("beta", 1.0)) if use.has(2) else 0.0,
        )
