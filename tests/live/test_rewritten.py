"""A graph as ORT saved it: copies and casts seen through, and what the copies tell."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper
from opscope.engine.ir.model import Node
from opscope.engine.live.rewritten import NHWC, Rewritten
from small_model import model, node

X = {"x": ("float32", (2, 3))}


def saved(*nodes: Any, **weights: np.ndarray) -> tuple[Rewritten, dict[str, Node]]:
    made = model(nodes, X, "y", weights, domains=[NHWC])
    return Rewritten(made), {n.name: n for n in made.nodes.values()}


def test_copies_are_seen_through() -> None:
    found, nodes = saved(
        node("Exp", "x", "a", "exp"),
        node("MemcpyToHost", "a", "b", "down"),
        node("Det", "b", "y", "det"),
    )
    assert found.source("b") == "a"
    assert found.producer("b") == nodes["exp"]


def test_a_cast_that_ort_put_in_gives_nothing_by_itself() -> None:
    """ORT's cast of a cast: whose value it is cannot be told."""
    cast = helper.make_node("Cast", [], ["a"], "InsertedPrecisionFreeCast_a", to=1)
    found, _ = saved(cast, node("Exp", "a", "y", "exp"))
    assert found.producer("a") is None


def test_a_float32_value_stands_for_the_float16_one_where_orts_casts_are_gone() -> None:
    wide = "InsertedPrecisionFreeCast_a"
    found, nodes = saved(
        helper.make_node("Exp", ["x"], [wide], "exp"), helper.make_node("Det", [wide], ["y"], "det")
    )
    assert found.source(wide) == "a"
    assert found.producer("a") == nodes["exp"]


def test_a_transpose_for_a_layout_is_not_one_that_moved() -> None:
    relu, turn = node("Relu", "x", "a", "relu"), node("Transpose", "a", "b", "Transpose_token_1")
    moved, nodes = saved(relu, turn, node("Det", "b", "y", "det"))
    assert moved.next_transpose([nodes["relu"]]) == nodes["Transpose_token_1"]
    size = [node("Shape", "a", "s", "size"), node("Cast", "s", "c", "cast", to=1)]
    numbers, nodes = saved(relu, *size, node("Transpose", "c", "y", "Transpose_token_1"))
    assert numbers.next_transpose([nodes["relu"]]) is None
    laid, nodes = saved(relu, turn, node("Conv", "b", "y", "conv", domain=NHWC))
    assert laid.next_transpose([nodes["relu"]]) is None


def test_a_name_that_several_graphs_define_is_known_where_they_agree() -> None:
    def branch(op: str) -> Any:
        ends = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
        return helper.make_graph([node(op, "x", "t", op)], op, [], ends)

    def chosen(then: str, other: str) -> Rewritten:
        made = node("If", "c", "y", then_branch=branch(then), else_branch=branch(other))
        return saved(made, c=np.array(True))[0]

    same = chosen("Exp", "Exp").producer("t")
    assert same is not None
    assert same.op_type == "Exp"
    assert chosen("Exp", "Log").producer("t") is None


def test_a_constant_of_an_opened_body_is_found_by_its_inner_name() -> None:
    found, _ = saved(
        node("Exp", "x", "y"), _if_then_branch_k=np.ones(1), other_k=np.ones(1), n=np.ones(1)
    )
    assert found.is_opened_constant("k")
    assert not found.is_opened_constant("n")


def test_a_transpose_behind_another_layout_belongs_to_it() -> None:
    found, nodes = saved(
        node("Relu", "x", "a", "relu"),
        node("Conv", "a w", "b", "conv", domain=NHWC),
        helper.make_node("Transpose", ["b"], ["y"], "Transpose_token_1"),
    )
    assert found.next_transpose([nodes["relu"]]) is None
    found, nodes = saved(
        node("Relu", "x", "a", "relu"),
        node("Exp", "a", "b", "exp"),
        helper.make_node("Transpose", ["b"], ["y"], "Transpose_token_1"),
    )
    assert found.next_transpose([nodes["relu"]]) == nodes["Transpose_token_1"]
    found, nodes = saved(node("Relu", "x", "a", "relu"), node("Transpose", "a", "y", "users"))
    assert found.next_transpose([nodes["relu"]]) is None


def test_the_copies_around_a_node_tell_its_side() -> None:
    found, nodes = saved(
        node("Exp", "x", "a", "gpu"),
        node("MemcpyToHost", "a", "b", "down"),
        node("Det", "b", "c", "cpu"),
        node("MemcpyFromHost", "c", "d", "up"),
        node("Log", "d", "y", "again"),
    )

    def nobody(_: Node) -> None:
        return None

    sides = [found.is_on_cpu(nodes[n], nobody) for n in ("gpu", "cpu", "again")]
    assert sides == [False, True, False]


def test_a_node_that_no_copy_touches_is_where_its_neighbour_is() -> None:
    found, nodes = saved(
        node("Shape", "x", "s", "size"), node("Exp", "s", "a", "exp"), node("Log", "a", "y", "log")
    )
    known = {"log": True}
    assert found.is_on_cpu(nodes["exp"], lambda n: known.get(n.name)) is True
    # What a Shape gives may be in host memory wherever the Shape is.
    assert found.is_on_cpu(nodes["exp"], lambda n: {"size": False}.get(n.name)) is None
    assert found.is_on_cpu(nodes["log"], lambda n: {"exp": False}.get(n.name)) is False


def test_a_second_input_may_be_in_host_memory_on_either_side() -> None:
    found, nodes = saved(node("Exp", "x", "a", "exp"), node("Tile", "x a", "y", "tile"))
    assert found.is_on_cpu(nodes["exp"], lambda n: {"tile": False}.get(n.name)) is None


def test_copies_for_a_subgraph_are_made_inside_it() -> None:
    ends = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
    inner = helper.make_graph([node("MemcpyToHost", "a", "t", "down")], "inner", [], ends)
    found, nodes = saved(
        node("Exp", "x", "a", "exp"),
        node("If", "c", "y", "if", then_branch=inner, else_branch=inner),
        c=np.array(True),
    )
    assert found.is_on_cpu(nodes["exp"], lambda _: None) is None
