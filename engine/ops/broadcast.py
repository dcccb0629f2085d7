"""Shapes and strides that kernels share: broadcasting, axes, merging of axes.

Strides count elements and may be zero (a repeated axis) or negative (a reversed one).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from .use import OpUse

Shape = tuple[int, ...]


def broadcast(use: OpUse, *shapes: Sequence[int]) -> Shape:
    """The shape that ``shapes`` broadcast to by numpy's rules; NodeError if they do not."""
    rank = max((len(s) for s in shapes), default=0)
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        wide = {d for d in sizes if d != 1}
        if len(wide) > 1:
            text = " and ".join(str(tuple(s)) for s in shapes)
            raise use.error(f"the shapes {text} do not broadcast: {sizes} on one axis")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def strides_of(shape: Sequence[int]) -> Shape:
    """Row-major strides of ``shape``."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def broadcast_strides(shape: Sequence[int], target: Sequence[int]) -> Shape:
    """Strides that read a tensor of ``shape`` as if it had the shape ``target``."""
    lead = len(target) - len(shape)
    own = strides_of(shape)
    return tuple(
        0 if axis < lead or shape[axis - lead] == 1 else own[axis - lead]
        for axis in range(len(target))
    )


def merge_axes(shape: Sequence[int], *strides: Sequence[int]) -> tuple[Shape, tuple[Shape, ...]]:
    """The same walk over memory with the fewest axes.

    Axes of extent 1 go; neighbours merge where every operand steps through both as through one.

    Returns:
        the merged shape (empty for a single element) and each operand's strides.
    """
    dims: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        here = [s[axis] for s in strides]
        if dims and all(s[-1] == h * extent for s, h in zip(steps, here, strict=True)):
            dims[-1] *= extent
            for s, h in zip(steps, here, strict=True):
                s[-1] = h
        else:
            dims.append(extent)
            for s, h in zip(steps, here, strict=True):
                s.append(h)
    return tuple(dims), tuple(map(tuple, steps))


def axis_of(use: OpUse, axis: int, rank: int, *, extra: int = 0) -> int:
    """``axis`` counted from the front; NodeError if it is outside of ``-rank .. rank-1+extra``."""
    if not -rank <= axis < rank + extra:
        raise use.error(f"axis {axis} is outside of a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def axes_of(use: OpUse, axes: Iterable[int], rank: int) -> tuple[int, ...]:
    """Every axis counted from the front, sorted; NodeError on a repeated one."""
    found = sorted(axis_of(use, int(a), rank) for a in axes)
    if len(set(found)) != len(found):
        raise use.error(f"the axes {found} name one axis twice")
    return tuple(found)


def split_at(shape: Sequence[int], axis: int) -> tuple[int, int, int]:
    """(elements before, extent of, elements after) ``axis``: a tensor seen as three axes."""
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def host_ints(use: OpUse, index: int) -> tuple[int, ...]:
    """The integers of input ``index``, whose value the plan needs; NodeError if not known."""
    value = use.value(index)
    if value is None:
        raise use.error(f"the value of input {index} is not known while planning")
    return tuple(int(v) for v in value.reshape(-1))
