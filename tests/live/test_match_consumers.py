"""Nodes whose value is gone: told by what their readers read instead, and by who gives it now."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from onnx import TensorProto, helper
from opscope.engine.ir.model import Model
from opscope.engine.live.answer import LiveNode
from opscope.engine.live.assignments import Assigned, token
from opscope.engine.live.match import match
from opscope.engine.providers.support import Status
from small_model import model, node

GPU, CPU = "WebGpuExecutionProvider", "CPUExecutionProvider"
X = {"x": ("float32", (2, 3))}
DROPPED = LiveNode(Status.FOLDED, "", "dropped")


def on(provider: str, op: str, name: str) -> Assigned:
    return Assigned(provider, "", op, name)


def made(*nodes: Any, **weights: np.ndarray) -> Model:
    return model(nodes, X, "y", weights)


def by_label(model: Model, assigned: list[Assigned], before: Model) -> dict[str, LiveNode]:
    return {model.nodes[i].name: found for i, found in match(model, assigned, before, None).items()}


# -- who gives its value now -----------------------------------------------------------------------


def test_an_equal_node_that_gives_the_value_under_its_name() -> None:
    asked = made(
        node("Exp", "x", "a", "first"), node("Exp", "x", "b", "second"), node("Add", "a b", "y")
    )
    before = made(node("Exp", "x", "a", token(1)), node("Add", "a a", "y", token(2)))
    found = by_label(asked, [on(GPU, "Exp", token(1)), on(CPU, "Add", token(2))], before)
    assert found["first"] == LiveNode(Status.FUSED, GPU, "one with its equal, 'second'")


def test_an_equal_node_is_believed_more_than_a_stranger() -> None:
    asked = made(
        node("Exp", "x", "a", "first"), node("Exp", "x", "b", "second"), node("Add", "a b", "y")
    )
    before = made(
        node("Exp", "x", "b", token(1)),
        node("Sum", "b", "a", "stranger"),
        node("Add", "a b", "y", token(2)),
    )
    assigned = [
        on(GPU, "Exp", token(1)),
        on(CPU, "Sum", "stranger"),
        on(GPU, "Add", token(2)),
    ]
    assert by_label(asked, assigned, before)["first"].place == "gpu"


def test_equal_nodes_on_several_providers_tell_nothing() -> None:
    names = ("a", "b", "c")
    asked = made(*(node("Exp", "x", n, n) for n in names), node("Sum", "a b c", "y", "sum"))
    before = made(
        node("Exp", "x", "b", token(1)),
        node("Exp", "x", "c", token(2)),
        node("Add", "b c", "y", "stranger"),
    )
    found = by_label(asked, [on(GPU, "Exp", token(1)), on(CPU, "Exp", token(2))], before)
    assert (found["a"].status, found["sum"].status) == (Status.UNKNOWN, Status.UNKNOWN)


def test_a_multiplication_by_one_is_dropped_where_its_input_is_passed_on() -> None:
    asked = made(node("Relu", "x", "a", "relu"), node("Mul", "a k", "y", "mul"), k=np.ones(1))
    before = made(node("Relu", "x", "y", token(0)))
    assert by_label(asked, [on(GPU, "Relu", token(0))], before)["mul"] == DROPPED


# -- what its readers read instead -----------------------------------------------------------------


def test_a_value_that_only_a_subgraph_reads() -> None:
    end = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
    then = helper.make_graph([node("Relu", "e", "t", "relu")], "then", [], end)
    asked = made(
        node("Exp", "k", "e", "exp"),
        node("Log", "x", "u", "unread"),
        node("If", "c", "y", "if", then_branch=then, else_branch=then),
        k=np.ones(3, np.float32),
        c=np.array(True),
    )
    found = by_label(asked, [], made(node("Relu", "k", "y", "stranger")))
    assert found["exp"].how == "folded"
    assert found["unread"].how == "dropped: nobody reads it"


def test_an_identity_is_never_a_part_of_a_product() -> None:
    for op, expected in (
        ("Identity", DROPPED),
        ("Reshape", LiveNode(Status.FUSED, GPU, "fused into Gemm")),
    ):
        asked = made(
            node(op, "x", "a", "mover"),
            node("MatMul", "a w", "m", "product"),
            node("Add", "m b", "y", "sum"),
        )
        fused = f"{token(1)}/MatMulAddFusion"
        before = made(node("Gemm", "x w b", "y", fused))
        assert by_label(asked, [on(GPU, "Gemm", fused)], before)["mover"] == expected


def test_a_reshape_is_no_part_of_what_takes_no_layouts() -> None:
    asked = made(node("Reshape", "x s", "a", "shape"), node("Exp", "a", "y", "exp"))
    fused = f"{token(1)}/Other"
    before = made(node("Gelu", "x", "y", fused))
    found = by_label(asked, [on(GPU, "Gelu", fused)], before)
    assert (found["shape"], found["exp"].status) == (DROPPED, Status.FUSED)


def test_a_node_that_changed_places_with_a_transpose() -> None:
    asked = made(node("Exp", "x", "a", "exp"), node("Transpose", "a", "y", "turn", perm=[1, 0]))
    before = made(node("Transpose", "x", "t", "Transpose"), node("Exp", "t", "y", "anew"))
    found = by_label(asked, [on(CPU, "Transpose", "Transpose"), on(GPU, "Exp", "anew")], before)
    assert found["exp"] == LiveNode(Status.FUSED, GPU, "put anew")


def test_a_node_of_which_only_the_shape_is_read() -> None:
    asked = made(
        node("Exp", "x", "a", "exp"), node("Shape", "a", "s", "size"), node("Expand", "x s", "y")
    )
    before = made(node("Expand", "x s", "y", token(2)), s=np.array([2, 3]))
    found = by_label(asked, [on(GPU, "Expand", token(2))], before)
    assert found["exp"] == LiveNode(Status.FOLDED, "", "dropped: only its shape is read")


def test_a_pad_goes_into_the_convolution_behind_what_was_dropped() -> None:
    asked = made(
        node("Pad", "x p", "a", "pad"),
        node("Identity", "a", "b", "same"),
        node("Conv", "b w", "y", "conv"),
    )
    before = made(node("Conv", "x w", "y", token(2)))
    found = by_label(asked, [on(GPU, "Conv", token(2))], before)
    assert found["same"] == DROPPED
    assert found["pad"] == LiveNode(Status.FUSED, GPU, "fused into 'conv' (Conv)")


def test_a_reader_that_reads_what_came_before() -> None:
    asked = made(
        node("MatMul", "x w", "m", "product"),
        node("Add", "m b", "a", "sum"),
        node("Mul", "a k", "c", "mul"),
        node("Exp", "c", "y", "exp"),
        k=np.ones(1, np.float32),
    )
    fused = f"{token(0)}/MatMulAddFusion"
    before = made(node("Gemm", "x w b", "a", fused), node("Exp", "a", "y", token(3)))
    found = by_label(asked, [on(GPU, "Gemm", fused), on(GPU, "Exp", token(3))], before)
    assert found["mul"] == DROPPED


def test_a_cast_like_that_became_a_cast_is_there_still() -> None:
    asked = made(node("CastLike", "x k", "b", "cast"), node("Relu", "b", "y", "relu"))
    before = made(
        helper.make_node("Cast", ["x"], ["_inlfunc_CastLike_b"], to=1),
        helper.make_node("Relu", ["_inlfunc_CastLike_b"], ["y"], token(1)),
    )
    found = by_label(asked, [on(CPU, "Cast", ""), on(GPU, "Relu", token(1))], before)
    assert found["cast"] == LiveNode(Status.FUSED, CPU, "fused into Cast")


def test_a_branch_of_which_there_is_no_trace() -> None:
    end = [helper.make_tensor_value_info("t", TensorProto.FLOAT, None)]
    then = helper.make_graph([node("Relu", "x", "t", "inner")], "then", [], end)
    asked = made(
        node("If", "c", "a", "if", then_branch=then, else_branch=then),
        node("Det", "a", "y", "det"),
        c=np.array(True),
    )
    found = by_label(asked, [], made(node("Sum", "x", "y", "stranger")))
    assert found["det"].status is Status.UNKNOWN
    assert found["inner"].how == "nothing of it is left where 'if' (If) was opened"


def test_a_long_chain_of_dropped_nodes_is_walked_once() -> None:
    count = 3000
    for op in ("Identity", "Transpose"):
        nodes = [node(op, f"v{i}", f"v{i + 1}") for i in range(count)]
        asked = model([*nodes, node("Exp", f"v{count}", "y")], {"v0": ("float32", (2,))}, "y")
        before = model([node("Exp", "v0", "y", token(count))], {"v0": ("float32", (2,))}, "y")
        start = time.process_time()
        found = match(asked, [on(GPU, "Exp", token(count))], before, before)
        assert time.process_time() - start < 10  # a minute where each is walked from
        assert sum(n == DROPPED for n in found.values()) == count
