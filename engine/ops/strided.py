"""Copies between strided views: the engine under Transpose, Slice, Concat, Expand and their kin.

An element is moved, never computed with, so every storage type works. Axes merge before the
shader is chosen; where the innermost axis allows it, elements travel four (or two) at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .broadcast import merge_axes, strides_of
from .steps import StepBuilder, Tensor

TILE = 32
TILE_ROWS = 8  # rows of a tile that a workgroup handles at a time

# storage element -> (elements taken together, the WGSL type that holds them)
WIDE: dict[str, tuple[int, str]] = {
    "f32": (4, "vec4<f32>"),
    "f16": (4, "vec4<f16>"),
    "i32": (4, "vec4<i32>"),
    "u32": (4, "vec4<u32>"),
    "vec2<u32>": (2, "vec4<u32>"),
}


def copy_strided(
    steps: StepBuilder,
    source: Tensor,
    target: Tensor,
    shape: Sequence[int],
    source_strides: Sequence[int],
    target_strides: Sequence[int] | None = None,
    *,
    source_base: int = 0,
    target_base: int = 0,
) -> None:
    """Copy the element at ``base + coordinate . strides`` of ``source`` to that of ``target``.

    Args:
        steps: where the dispatch goes.
        source: read.
        target: written; no element is written twice.
        shape: extent of the walk.
        source_strides: in elements, may be zero or negative.
        target_strides: those of a dense tensor of ``shape`` by default.
        source_base: element of ``source`` at coordinate zero.
        target_base: element of ``target`` at coordinate zero.
    """
    target_steps = strides_of(shape) if target_strides is None else target_strides
    dims, (reading, writing) = merge_axes(shape, source_strides, target_steps)
    if not dims:
        dims, reading, writing = (1,), (1,), (1,)
    if _is_transposed(dims, reading, writing) and not source_base and not target_base:
        _transpose(steps, source, target, dims)
        return
    wide, element = WIDE[source.element]
    bases = (source_base, target_base)
    whole = dims[-1] % wide == 0 and reading[-1] == writing[-1] == 1
    others = (*reading[:-1], *writing[:-1], *bases, source.size, target.size)
    if whole and all(s % wide == 0 for s in others):
        dims = (*dims[:-1], dims[-1] // wide)
        reading = (*(s // wide for s in reading[:-1]), 1)
        writing = (*(s // wide for s in writing[:-1]), 1)
        bases = (source_base // wide, target_base // wide)
    else:
        wide, element = 1, source.element
    count = math.prod(dims)
    axes = (word for walk in zip(dims, reading, writing, strict=True) for word in (*walk, 0))
    steps.dispatch(
        "strided_copy",
        reads=[source],
        writes=[target],
        groups=steps.grid(count),
        params=(count, *bases, 0, *axes),
        variables={"element": element, "rank": len(dims)},
        variant=f"rank {len(dims)}, {element}",
    )


def _is_transposed(dims: Sequence[int], reading: Sequence[int], writing: Sequence[int]) -> bool:
    """True for the swap of the last two axes of a dense (batched) matrix of some size."""
    if len(dims) not in (2, 3) or min(dims[-2:]) < TILE // 2 or tuple(writing) != strides_of(dims):
        return False
    columns, rows = dims[-2], dims[-1]
    return tuple(reading) == (rows * columns, 1, columns)[3 - len(dims) :]


def _transpose(steps: StepBuilder, source: Tensor, target: Tensor, dims: Sequence[int]) -> None:
    """(batch, rows, columns) -> (batch, columns, rows); ``dims`` are the target's."""
    columns, rows = dims[-2], dims[-1]
    batch = dims[0] if len(dims) == 3 else 1
    across, down = -(-columns // TILE), -(-rows // TILE)
    steps.dispatch(
        "transpose_tiled",
        reads=[source],
        writes=[target],
        groups=steps.grid(batch * across * down, 1),
        params=(rows, columns, across, batch * across * down),
        variables={"element": source.element, "tile": TILE, "rows": TILE_ROWS},
        variant=f"tiled, {source.element}",
    )
