"""Arithmetic with shapes, of fixed and of free dimensions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import F32, FREE, Edge, V, X, edge, ints, op


def models() -> Iterator[Edge]:
    """All of them."""
    flatten = [
        op("Shape", "x", "s"),
        op("Gather", "s zero", "n", axis=0),
        op("Unsqueeze", "n ax", "u"),
        op("Concat", "u minus", "t", axis=0),
        op("Reshape", "x t", "a"),
        op("Exp", "a", "y"),
    ]
    weights = {"zero": np.array(0), "ax": ints(0), "minus": ints(-1)}
    yield edge("shape_flatten_fixed", flatten, X, **weights)
    yield edge("shape_flatten_free", flatten, FREE, **weights)
    double = [
        op("Shape", "x", "s"),
        op("Slice", "s b e", "h"),
        op("Mul", "h two", "d"),
        op("Cast", "d", "f", to=1),
        op("Cast", "f", "g", to=7),
        op("Expand", "one g", "a"),
        op("Neg", "a", "y"),
    ]
    numbers = {"b": ints(2), "e": ints(4), "two": ints(2), "one": np.ones((1, 1), F32)}
    yield edge("shape_chain_free", double, FREE, **numbers)
    yield edge("shape_chain_fixed", double, X, **numbers)
    yield edge(
        "shape_ends_as_output", [op("Shape", "x", "s"), op("Mul", "s two", "y")], FREE, two=ints(2)
    )
    yield edge(
        "shape_constant_of_shape",
        [op("Shape", "x", "s"), op("ConstantOfShape", "s", "a"), op("Add", "a x", "y")],
        FREE,
    )
    yield edge(
        "shape_range_free",
        [
            op("Size", "x", "n"),
            op("Range", "zero n one", "a"),
            op("Cast", "a", "b", to=1),
            op("Exp", "b", "y"),
        ],
        FREE,
        zero=np.array(0),
        one=np.array(1),
    )
    yield edge(
        "shape_of_a_slice",
        [
            op("Slice", "x b e", "a"),
            op("Shape", "a", "s"),
            op("Expand", "one s", "t"),
            op("Exp", "t", "y"),
        ],
        X,
        b=ints(0),
        e=ints(1),
        one=np.ones(1, F32),
    )
    yield edge(
        "shape_expand_nothing", [op("Expand", "x s", "a"), op("Exp", "a", "y")], V, s=ints(2, 6)
    )
