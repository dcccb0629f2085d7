"""Branches, loops and local functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import onnx
from onnx import helper

from .parts import F32, Edge, Node, Ports, V, body, edge, op

SWITCH: Ports = {**V, "c": ("bool", ())}


def _branches(then: Sequence[Node], other: Sequence[Node]) -> dict[str, onnx.GraphProto]:
    out = {"o": ("float32", None)}
    return {"then_branch": body(then, {}, out, "then"), "else_branch": body(other, {}, out, "else")}


def _own(name: str, *nodes: Node) -> onnx.FunctionProto:
    """A local function of one input a and one output b."""
    return helper.make_function("own", name, ["a"], ["b"], nodes, [helper.make_opsetid("", 17)])


def models() -> Iterator[Edge]:
    """All of them."""
    yield from _ifs()
    yield from _loops()
    yield from _nested()
    yield from _functions()


def _ifs() -> Iterator[Edge]:
    branches = _branches(
        [op("Relu", "x", "o", "n")], [op("Exp", "x", "t", "n"), op("Neg", "t", "o", "n")]
    )
    for opset in (17, 23):
        nodes = [op("If", "c", "a", "if", **branches), op("Sqrt", "a", "y")]
        yield edge(f"graph_if_{opset}", nodes, SWITCH, opset=opset)
    yield edge(
        "graph_if_constant",
        [op("If", "c", "a", **branches), op("Sqrt", "a", "y")],
        V,
        c=np.array(True),
    )


def _loops() -> Iterator[Edge]:
    loop = body(
        [op("Add", "s x", "t"), op("Relu", "t", "u"), op("Identity", "c", "d")],
        {"i": ("int64", ()), "c": ("bool", ()), "s": ("float32", (2, 6))},
        {"d": ("bool", ()), "u": ("float32", (2, 6))},
    )
    yield edge(
        "graph_loop", [op("Loop", "n c x", "y", body=loop)], V, n=np.array(3), c=np.array(True)
    )
    scan = body(
        [op("Add", "s v", "t"), op("Identity", "t", "o")],
        {"s": ("float32", (6,)), "v": ("float32", (6,))},
        {"t": ("float32", (6,)), "o": ("float32", (6,))},
    )
    yield edge(
        "graph_scan",
        [op("Scan", "s x", "f y", body=scan, num_scan_inputs=1)],
        V,
        s=np.zeros(6, F32),
    )


def _nested() -> Iterator[Edge]:
    inner = _branches([op("Relu", "x", "o")], [op("Tanh", "x", "o")])
    outer = {
        "then_branch": body(
            [op("If", "c", "p", **inner), op("Exp", "p", "q")], {}, {"q": ("float32", None)}
        ),
        "else_branch": body([op("Neg", "x", "q")], {}, {"q": ("float32", None)}),
    }
    yield edge("graph_if_nested", [op("If", "c", "y", **outer)], SWITCH)


def _functions() -> Iterator[Edge]:
    clip = _own("Soft", op("Exp", "a", "t"), op("Add", "t t", "u"), op("Log", "u", "b"))
    yield edge("function_once", [op("own::Soft", "x", "y")], V, functions=[clip], domains=["own"])
    yield edge(
        "function_twice",
        [op("own::Soft", "x", "a"), op("own::Soft", "a", "y")],
        V,
        functions=[clip],
        domains=["own"],
    )
    host = _own("Odd", op("Erf", "a", "t"), op("Det", "t", "b"))
    yield edge(
        "function_off_the_gpu",
        [op("own::Odd", "x", "a"), op("Relu", "a", "y")],
        {"x": ("float32", (2, 3, 3))},
        functions=[host],
        domains=["own"],
    )
