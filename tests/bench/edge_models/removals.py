"""Nodes that ORT drops or moves until they cancel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import F32, Edge, V, X, edge, ints, op, ramp

CONV = {"w": ramp(4, 4, 3, 3), "s": np.ones(4, F32), "b": ramp(4)}


def models() -> Iterator[Edge]:
    """All of them."""
    yield edge(
        "drop_identity_dropout",
        [
            op("Identity", "x", "a"),
            op("Dropout", "a", "b"),
            op("Exp", "b", "c"),
            op("Identity", "c", "y"),
        ],
        V,
    )
    yield edge(
        "drop_neutral",
        [op("Add", "x z", "a"), op("Mul", "a o", "b"), op("Exp", "b", "y")],
        V,
        z=np.array(0, F32),
        o=np.array(1, F32),
    )
    yield edge(
        "drop_transposes",
        [
            op("Transpose", "x", "a", perm=[0, 2, 3, 1]),
            op("Relu", "a", "b"),
            op("Transpose", "b", "y", perm=[0, 3, 1, 2]),
        ],
        X,
    )
    yield edge(
        "keep_transposes_without_permutation",
        [op("Transpose", "x", "a"), op("Relu", "a", "b"), op("Transpose", "b", "y")],
        V,
    )
    yield edge(
        "drop_casts_around_half",
        [
            op("Cast", "x", "h", to=10),
            op("Sin", "h", "s"),
            op("Cast", "s", "f", to=1),
            op("Exp", "f", "y"),
        ],
        V,
    )
    yield edge(
        "drop_cast_of_a_definition",
        [op("CastLike", "k x", "c"), op("Div", "x c", "d"), op("Sin", "d", "y")],
        {"x": ("float16", (2, 6))},
        k=np.array(2, F32),
    )
    yield edge(
        "layout_conv_between_transposes",
        [
            op("Transpose", "x", "a", perm=[0, 3, 1, 2]),
            op("Conv", "a w", "k"),
            op("Relu", "k", "c"),
            op("Transpose", "c", "y", perm=[0, 2, 3, 1]),
        ],
        {"x": ("float32", (1, 8, 8, 4))},
        **CONV,
    )
    yield edge(
        "drop_reshapes",
        [op("Reshape", "x p", "a"), op("Reshape", "a q", "b"), op("Exp", "b", "y")],
        V,
        p=ints(3, 4),
        q=ints(4, 3),
    )
    yield edge(
        "split_of_gathers",
        [
            op("Gather", "x i", "a", axis=1),
            op("Gather", "x j", "b", axis=1),
            op("Add", "a b", "y"),
        ],
        {"x": ("float32", (3, 2))},
        i=np.array(0),
        j=np.array(1),
    )
    yield edge(
        "clip_after_relu",
        [op("Relu", "x", "a"), op("Clip", "a lo hi", "y")],
        V,
        lo=np.array(0, F32),
        hi=np.array(6, F32),
    )
