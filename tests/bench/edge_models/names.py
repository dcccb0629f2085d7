"""Nodes by name and number: nameless, of one name, equal, dead."""

from __future__ import annotations

from collections.abc import Iterator

from .parts import Edge, V, edge, op


def models() -> Iterator[Edge]:
    """All of them."""
    yield edge("names_empty", [op("Relu", "x", "a"), op("Relu", "a", "b"), op("Exp", "b", "y")], V)
    yield edge(
        "names_repeated",
        [op("Exp", "x", "a", "same"), op("Log", "a", "b", "same"), op("Det", "b", "y", "same")],
        {"x": ("float32", (3, 3))},
    )
    yield edge(
        "equal_nodes",
        [
            op("Exp", "x", "a"),
            op("Exp", "x", "b"),
            op("Add", "a b", "c"),
            op("Neg", "a", "d"),
            op("Neg", "b", "e"),
            op("Mul", "d e", "f"),
            op("Add", "c f", "y"),
        ],
        V,
    )
    yield edge(
        "dead_nodes",
        [op("Exp", "x", "y"), op("Log", "x", "a"), op("Det", "a", "b")],
        {"x": ("float32", (3, 3))},
    )
