"""Element types, those without a kernel among them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import Edge, V, edge, op, ramp


def models() -> Iterator[Edge]:
    """Arithmetic, logic, casts, recurrence and tables."""
    for dtype in ("float16", "float64", "int64", "int32", "uint8", "int8"):
        inputs = {"x": (dtype, (2, 6)), "z": (dtype, (2, 6))}
        nodes = [op("Add", "x z", "a"), op("Mul", "a x", "b"), op("Identity", "b", "y")]
        yield edge(f"type_add_mul_{dtype}", nodes, inputs)
    nodes = [
        op("Greater", "x z", "a"),
        op("Not", "a", "b"),
        op("And", "a b", "c"),
        op("Where", "c x z", "y"),
    ]
    yield edge("type_bool_logic", nodes, {"x": ("float32", (3,)), "z": ("float32", (3,))})
    casts = [
        op("Cast", "x", "a", to=10),
        op("Cast", "a", "b", to=11),
        op("Cast", "b", "c", to=7),
        op("Cast", "c", "d", to=9),
        op("Cast", "d", "y", to=1),
    ]
    yield edge("type_cast_chain", casts, V)
    half = {"x": ("float16", (5, 1, 4))}
    weights = {"w": ramp(1, 18, 4, dtype=np.float16), "r": ramp(1, 18, 6, dtype=np.float16)}
    yield edge(
        "type_gru_float16",
        [op("GRU", "x w r", "a", hidden_size=6), op("Relu", "a", "y")],
        half,
        **weights,
    )
    strings = {"x": ("object", (2,))}
    yield edge("type_string_identity", [op("Equal", "x x", "y")], strings, opset=19)
    nodes = [op("Gather", "t i", "a", axis=0), op("Add", "a a", "y")]
    yield edge("type_gather_int64_table", nodes, {"i": ("int64", (3,))}, t=np.arange(8))
