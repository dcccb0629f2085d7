"""Ranks from 0 to 8, and unknown."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import F32, Edge, V, edge, op, ramp


def models() -> Iterator[Edge]:
    """One for each rank that a kernel could miss."""
    yield edge(
        "rank_0_arithmetic", [op("Add", "x x", "a"), op("Sqrt", "a", "y")], {"x": ("float32", ())}
    )
    deep = {"x": ("float32", (1, 2, 1, 2, 1, 2, 1, 2))}
    yield edge("rank_8_reduce", [op("ReduceSum", "x", "a", keepdims=1), op("Exp", "a", "y")], deep)
    yield edge(
        "rank_6_transpose",
        [op("Transpose", "x", "a", perm=[5, 4, 3, 2, 1, 0]), op("Exp", "a", "y")],
        {"x": ("float32", (1, 2, 3, 1, 2, 3))},
    )
    cube = {"x": ("float32", (1, 2, 4, 4, 4))}
    yield edge(
        "rank_5_conv", [op("Conv", "x w", "a"), op("Relu", "a", "y")], cube, w=ramp(2, 2, 3, 3, 3)
    )
    yield edge(
        "rank_3_conv",
        [op("Conv", "x w", "a"), op("Relu", "a", "y")],
        {"x": ("float32", (1, 2, 16))},
        w=ramp(2, 2, 3),
    )
    yield edge(
        "rank_unknown_conv",
        [op("Relu", "x", "a"), op("Sigmoid", "a", "y")],
        {"x": ("float32", None)},
    )
    yield edge(
        "rank_empty_tensor",
        [op("Concat", "x e", "a", axis=0), op("Relu", "a", "y")],
        V,
        e=np.zeros((0, 6), F32),
    )
