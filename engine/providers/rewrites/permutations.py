"""Permutations of axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...ir.model import TensorType

Perm = tuple[int, ...]


def inverse(perm: Perm) -> Perm:
    """The Transpose that undoes ``perm``."""
    found = [0] * len(perm)
    for index, axis in enumerate(perm):
        found[axis] = index
    return tuple(found)


def compose(first: Perm, second: Perm) -> Perm:
    """Of two Transposes in a row, the one that does the same."""
    return tuple(first[axis] for axis in second)


def permuted(kind: TensorType, perm: Perm) -> TensorType:
    """The type after a Transpose; the same where the ranks differ."""
    if kind.shape is None or len(kind.shape) != len(perm):
        return kind
    return replace(kind, shape=tuple(kind.shape[axis] for axis in perm))


def valid_axes(axes: Sequence[int], rank: int) -> tuple[int, ...] | None:
    """The axes from 0 on; None where they are not valid for ``rank``."""
    found = tuple(a + rank if a < 0 else a for a in axes)
    valid = all(0 <= a < rank for a in found) and len(set(found)) == len(found)
    return found if valid else None


def squeezed(perm: Perm, axes: Sequence[int]) -> Perm:
    """``perm`` without the axes ``axes`` of what it permutes."""
    kept = [p for p in perm if p not in axes]
    order = sorted(kept)
    return tuple(order.index(p) for p in kept)
