"""Which nodes compute the same, and which compute with shapes alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from opscope.engine.live.equals import Equals
from small_model import model, node

X = {"x": ("float32", (2, 3))}


def groups(*nodes: Any, **weights: np.ndarray) -> list[set[str]]:
    made = model(nodes, X, "y", weights)
    equals = Equals(made)
    found = [{n.name for n in equals.of(node)} for node in made.nodes.values()]
    return [group for k, group in enumerate(found) if len(group) > 1 and group not in found[:k]]


def two(op: str, first: str, second: str, **attributes: tuple[Any, Any]) -> list[Any]:
    """Two nodes ``a`` and ``b``, and their sum."""
    a = {k: v[0] for k, v in attributes.items()}
    b = {k: v[1] for k, v in attributes.items()}
    return [
        node(op, first, "p", "a", **a),
        node(op, second, "q", "b", **b),
        node("Add", "p q", "y"),
    ]


def test_the_same_operator_on_the_same_value() -> None:
    assert groups(*two("Exp", "x", "x")) == [{"a", "b"}]
    assert groups(*two("Elu", "x", "x", alpha=(1.0, 2.0))) == []


def test_constants_are_compared_by_value_where_they_are_small() -> None:
    k, m = np.float32([1, 2, 3]), np.float32([1, 2, 4])
    assert groups(*two("Mul", "x k", "x l"), k=k, l=k.copy()) == [{"a", "b"}]
    assert groups(*two("Mul", "x k", "x l"), k=k, l=m) == []
    large = np.zeros((300, 2, 3), np.float32)
    assert groups(*two("Mul", "x k", "x l"), k=large, l=large.copy()) == []


@pytest.mark.parametrize(("name", "equal"), [("axis", True), ("keepdims", False)])
def test_what_a_layout_changes_does_not_part_them(name: str, equal: bool) -> None:
    attributes: dict[str, Any] = {name: (0, 1)}
    assert groups(*two("ArgMax", "x", "x", **attributes)) == ([{"a", "b"}] if equal else [])


def test_layouts_are_seen_through() -> None:
    turned = node("Transpose", "x", "t", "turn", perm=[1, 0])
    assert groups(turned, *two("Exp", "x", "t")) == [{"a", "b"}]
    assert groups(node("Neg", "x", "t", "neg"), *two("Exp", "x", "t")) == []


@pytest.mark.parametrize("op", ["Shape", "Size"])
def test_a_shape_is_followed_through_another_order_but_not_through_other_dimensions(
    op: str,
) -> None:
    turned = node("Transpose", "x", "t", "turn", perm=[1, 0])
    assert groups(turned, *two(op, "x", "t")) == [{"a", "b"}]
    flat = node("Reshape", "x k", "t", "flat")
    assert groups(flat, *two(op, "x", "t"), k=np.array([6])) == []
    assert groups(flat, *two(op, "t", "t"), k=np.array([6])) == [{"a", "b"}]


def test_what_computes_with_shapes_and_constants_alone() -> None:
    end = [helper.make_tensor_value_info("t", TensorProto.INT64, None)]
    inner = helper.make_graph([node("Cast", "x", "t", to=7)], "inner", [], end)
    made = model(
        [
            node("Shape", "x", "s", "size"),
            node("Gather", "s i", "g", "gather"),
            node("Expand", "x g", "e", "expand"),
            node("If", "c", "z", "if", then_branch=inner, else_branch=inner),
            node("Add", "e z", "y", "add"),
        ],
        X,
        "y",
        {"i": np.array([0]), "c": np.array(True)},
    )
    equals = Equals(made)
    found = {n.name for n in made.nodes.values() if equals.is_arithmetic(n)}
    assert found - {""} == {"size", "gather"}
