"""What depends on no input."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import numpy_helper

from .parts import Edge, V, edge, op, ramp


def models() -> Iterator[Edge]:
    """All of them."""
    yield edge(
        "constants_fold",
        [
            op("Constant", "", "k", value=numpy_helper.from_array(ramp(6))),
            op("Exp", "k", "a"),
            op("Add", "a k", "b"),
            op("Mul", "x b", "y"),
        ],
        V,
    )
    yield edge(
        "constants_random_stay",
        [op("RandomNormal", "", "k", shape=[2, 6]), op("Add", "x k", "y")],
        V,
    )
