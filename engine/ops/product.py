"""Batched matrix products over strided tensors: what MatMul, Gemm and Einsum are made of.

    c[z, m, n] = activation(alpha * sum over k of a[z, m, k] * b[z, k, n] + beta * d[m, n])

A :class:`Product` says where each operand's elements lie; :func:`build_product` picks a kernel:
``matmul_tiled`` in a tile chosen by shape and adapter, or ``matmul_dot``, where results are few or
narrow, with as many invocations sharing a sum as it takes to keep the adapter busy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..providers.support import SUPPORTED, Reason, Support, refused
from . import tiles
from .steps import Groups, StepBuilder, Tensor
from .use import OpUse

_BATCH_AXES = 4  # of the shaders
_WORKGROUP = 256
_BUSY_INVOCATIONS = 131_072
LONGEST_SUM = tiles.MOST_TURNS * _WORKGROUP  # terms that a workgroup can add up
_SHALLOW = 8  # a depth below which a tile is not worth its workgroup memory


@dataclass(frozen=True, slots=True)
class Loop:
    """An index of a product: its extent, and its strides in a, b and c (0: not indexed by it)."""

    extent: int
    a: int = 0
    b: int = 0
    c: int = 0


@dataclass(frozen=True, slots=True)
class Product:
    """A batched product; strides in elements.

    Attributes:
        row: m, indexes a and c.    depth: k, indexes a and b.    column: n, indexes b and c.
        batch: outermost first.
        d: stride of the addend along (row, column).
    """

    row: Loop
    depth: Loop
    column: Loop
    batch: tuple[Loop, ...] = ()
    d: tuple[int, int] = (0, 0)
    alpha: float = 1.0
    beta: float = 0.0

    @property
    def batches(self) -> int:
        """Number of matrices."""
        return math.prod(loop.extent for loop in self.batch)

    @property
    def multiply_adds(self) -> int:
        """The arithmetic."""
        return self.batches * self.row.extent * self.depth.extent * self.column.extent


def merge(loops: Sequence[Loop]) -> tuple[Loop, ...]:
    """``loops`` (outermost first) with neighbours joined that every operand walks as one."""
    merged: list[Loop] = []
    for loop in loops:
        if loop.extent == 1:
            continue
        if merged:
            outer = merged[-1]
            if all(getattr(outer, x) == getattr(loop, x) * loop.extent for x in ("a", "b", "c")):
                merged[-1] = replace(loop, extent=outer.extent * loop.extent)
                continue
        merged.append(loop)
    return tuple(merged)


def sum_support(use: OpUse, depth: int) -> Support:
    """Whether sums of ``depth`` terms are taken; past the limit they could be cut off."""
    if depth <= LONGEST_SUM:
        return SUPPORTED
    detail = f"{use.op} sums {depth:,} terms; the kernel goes to {LONGEST_SUM:,}"
    return refused(Reason.SHAPE, detail, terms=depth, most=LONGEST_SUM)


def build_product(
    product: Product, steps: StepBuilder, a: Tensor, b: Tensor, c: Tensor, d: Tensor | None = None
) -> None:
    """The dispatches of ``product``; without ``d`` its ``beta`` must be 0."""
    nothing = steps.constant(np.zeros(1), c.dtype)
    a, b, d = (t if t is not None and t.size else nothing for t in (a, b, d))  # empty: depth 0
    batch = merge(product.batch)
    outer, inner = batch[:-_BATCH_AXES], batch[-_BATCH_AXES:]
    for index in itertools.product(*(range(loop.extent) for loop in outer)):
        bases = tuple(
            sum(i * int(getattr(loop, x)) for i, loop in zip(index, outer, strict=True))
            for x in ("a", "b", "c")
        )
        _build(replace(product, batch=inner), bases, steps, (a, b, d), c)


def _build(
    product: Product,
    bases: tuple[int, ...],
    steps: StepBuilder,
    reads: tuple[Tensor, ...],
    c: Tensor,
) -> None:
    variables = {"element": c.element, "activation": steps.activation.name}
    m, n, k = product.row.extent, product.column.extent, product.depth.extent
    most = steps.profile.limits.max_compute_workgroups_per_dimension
    tile = tiles.choose_tile(steps.profile, m, n, product.batches) if k >= _SHALLOW else None
    if tile and max(tile.grid(m, n, 1)) <= most and k <= tiles.MOST_TURNS * tile.depth:
        dense = {
            "a_dense": "depth" if product.depth.a == 1 else "row",
            "b_dense": "column" if product.column.b == 1 else "depth",
        }
        grid = tile.grid(m, n, product.batches)
        work = tile.rows * tile.columns * k
        for first, groups in tiles.tile_spans(grid, work, steps.work_limit(), most):
            steps.dispatch(
                "matmul_tiled",
                reads=reads,
                writes=(c,),
                groups=groups,
                params=_params(product, bases, first, steps),
                variables={**variables, **tile.variables, **dense},
                variant=str(tile),
                trusted=tiles.TRUSTED,
            )
        return
    results = product.batches * m * n
    columns = _results_per_workgroup(results, n, k)
    for first_result, count in tiles.spans(results, k, steps.work_limit()):
        steps.dispatch(
            "matmul_dot",
            reads=reads,
            writes=(c,),
            groups=steps.grid(count, columns),
            params=_params(product, bases, (first_result, count, 0), steps),
            variables={**variables, "columns": columns},
            variant=f"{_WORKGROUP // columns} a sum",
        )


def _results_per_workgroup(results: int, columns: int, depth: int) -> int:
    """How many results share a workgroup of 256: fewer when few results have long sums."""
    share = 1
    while share < _WORKGROUP and results * share < _BUSY_INVOCATIONS and depth >= 16 * share:
        share *= 2
    # Keep runs of neighbouring columns together where there are any: their loads then coincide.
    while share > 1 and columns >= 8 and _WORKGROUP // share < 8:
        share //= 2
    while share < _WORKGROUP and depth > tiles.MOST_TURNS * share:
        share *= 2
    return _WORKGROUP // share


def _params(
    product: Product, bases: tuple[int, ...], first: Groups, steps: StepBuilder
) -> tuple[int | float, ...]:
    padding = (Loop(1),) * (_BATCH_AXES - len(product.batch))
    batch = (*padding, *product.batch)
    return (
        *first,
        0,
        *(loop.extent for loop in batch),
        *(loop.a for loop in batch),
        *(loop.b for loop in batch),
        *(loop.c for loop in batch),
        *(product.row.extent, product.column.extent, product.depth.extent),
        *(product.row.a, product.depth.a, product.depth.b, product.column.b),
        *(product.row.c, product.column.c),
        *product.d,
        *bases,
        *(float(product.alpha), float(product.beta)),
        *(float(steps.activation.alpha), float(steps.activation.beta)),
        *(0, 0),
    )
