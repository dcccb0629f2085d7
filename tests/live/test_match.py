"""ORT's answers back to the user's nodes, on hand-made graphs; no ORT takes part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper
from opscope.engine.ir.model import Model
from opscope.engine.live.answer import LiveNode
from opscope.engine.live.assignments import Assigned, is_needed, token
from opscope.engine.live.match import match
from opscope.engine.providers.support import Status
from small_model import model, node

GPU, CPU = "WebGpuExecutionProvider", "CPUExecutionProvider"
X = {"x": ("float32", (2, 3))}


def on(provider: str, op: str, name: str, domain: str = "") -> Assigned:
    return Assigned(provider, domain, op, name)


def found(
    made: Model, assigned: list[Assigned], before: Model | None = None, after: Model | None = None
) -> list[LiveNode]:
    return list(match(made, assigned, before, after).values())


def rewritten(nodes: list[Any], outputs: str = "y", **more: Any) -> Model:
    return model(nodes, X, outputs, **more)


def test_the_same_name_is_the_same_node() -> None:
    made = model([node("Relu", "x", "a"), node("Det", "a", "y")], X, "y")
    answers = found(made, [on(GPU, "Relu", token(0)), on(CPU, "Det", token(1))])
    assert answers == [
        LiveNode(Status.GPU, GPU, "same name"),
        LiveNode(Status.HOST, CPU, "same name"),
    ]


def test_a_copy_in_another_layout_is_still_the_node() -> None:
    made = model([node("Conv", "x w", "y")], X, "y", {"w": np.ones((1, 1, 1, 1), np.float32)})
    (answer,) = found(made, [on(GPU, "Conv", f"{token(0)}_token_1", "com.ms.internal.nhwc")])
    assert answer.status is Status.GPU


def test_names_of_other_nodes_are_not_taken_for_it() -> None:
    made = model([node("Relu", "x", f"v{i}") for i in range(12)], X, "v0")
    answers = found(
        made, [on(GPU, "Relu", token(11))], rewritten([node("Relu", "x", "v0", token(11))], "v0")
    )
    assert answers[11].status is Status.GPU
    assert answers[1].how != "same name"


def test_a_constant_is_an_initializer() -> None:
    made = model([node("Constant", "", "k", value_float=1.0), node("Add", "x k", "y")], X, "y")
    assert found(made, [on(GPU, "Add", token(1))])[0].status is Status.FOLDED
    assert not is_needed(made, [on(GPU, "Add", token(1))])


def test_a_folded_value_is_an_initializer_of_the_rewritten_graph() -> None:
    weights = {"k": np.ones(3, np.float32)}
    made = model([node("Exp", "k", "e"), node("Add", "x e", "y")], X, "y", weights)
    assigned = [on(GPU, "Add", token(1))]
    assert is_needed(made, assigned)
    before = rewritten([node("Add", "x e", "y", token(1))], weights={"e": np.ones(3, np.float32)})
    assert found(made, assigned, before)[0] == LiveNode(Status.FOLDED, "", "folded")


def test_matmul_and_add_become_gemm() -> None:
    nodes = [node("MatMul", "x w", "a"), node("Add", "a b", "c"), node("Relu", "c", "y")]
    made = model(nodes, X, "y", {"w": np.ones((3, 3), np.float32), "b": np.ones(3, np.float32)})
    fused = f"{token(0)}/MatMulAddFusion"
    before = rewritten([node("Gemm", "x w b", "c", fused), node("Relu", "c", "y", token(2))])
    answers = found(made, [on(GPU, "Gemm", fused), on(GPU, "Relu", token(2))], before)
    assert [a.status for a in answers] == [Status.FUSED, Status.FUSED, Status.GPU]
    assert answers[1] == LiveNode(Status.FUSED, GPU, "fused into Gemm")


def test_a_normalization_goes_into_the_convolution_before_it() -> None:
    nodes = [node("Conv", "x w", "a", "conv"), node("BatchNormalization", "a s s s s", "y")]
    made = model(nodes, X, "y")
    before = rewritten([node("Conv", "x w2 b2", "y", token(0))])
    answers = found(made, [on(CPU, "Conv", token(0))], before)
    assert answers[1] == LiveNode(Status.FUSED, CPU, "fused into 'conv' (Conv)")


def test_a_product_with_a_constant_goes_into_the_convolution_before_it() -> None:
    """Behind a node that takes no constants in, it is the identity: x * 1."""
    nodes = [node("Conv", "x w", "a", "conv"), node("Mul", "a k", "y")]
    made = model(nodes, X, "y", {"k": np.ones(1, np.float32)})
    before = rewritten([node("Conv", "x w2", "y", token(0))])
    answers = found(made, [on(GPU, "Conv", token(0))], before)
    assert answers[1] == LiveNode(Status.FUSED, GPU, "fused into 'conv' (Conv)")
    nodes[0] = node("Relu", "x", "a", "relu")
    made = model(nodes, X, "y", {"k": np.ones(1, np.float32)})
    before = rewritten([node("Relu", "x", "y", token(0))])
    answers = found(made, [on(GPU, "Relu", token(0))], before)
    assert answers[1] == LiveNode(Status.FOLDED, "", "dropped")


def test_a_pad_goes_into_the_convolution_behind_it() -> None:
    nodes = [node("Pad", "x p", "a"), node("Conv", "a w", "y", "conv")]
    made = model(nodes, X, "y")
    answers = found(
        made, [on(GPU, "Conv", token(1))], rewritten([node("Conv", "x w", "y", token(1))])
    )
    assert answers[0] == LiveNode(Status.FUSED, GPU, "fused into 'conv' (Conv)")


def test_a_cast_that_was_placed_and_undone_is_dropped() -> None:
    nodes = [node("Cast", "x", "h", to=10), node("Sin", "h", "s"), node("Det", "s", "y")]
    made = model(nodes, X, "y")
    assigned = [on(CPU, op, token(at)) for at, op in enumerate(("Cast", "Sin", "Det"))]
    there = [node("Sin", "x", "s", token(1)), node("Det", "s", "y", token(2))]
    cast, sine, _ = found(made, assigned, rewritten(there), rewritten(there))
    assert (cast.status, sine.status) == (Status.FOLDED, Status.HOST)
    fused = [node("Det", "x", "y", token(2))]  # what read it is gone, too: the kernel does both
    cast, *_ = found(made, assigned, rewritten(fused), rewritten(fused))
    assert cast.status is Status.HOST


def test_an_identity_is_dropped_on_either_side() -> None:
    nodes = [node("Identity", "x", "a"), node("Exp", "a", "b"), node("Identity", "b", "y")]
    made = model(nodes, X, "y")
    answers = found(made, [on(GPU, "Exp", token(1))], rewritten([node("Exp", "x", "y", token(1))]))
    assert [a.status for a in answers] == [Status.FOLDED, Status.GPU, Status.FOLDED]
    assert answers[0].how == answers[2].how == "dropped"


def test_of_equal_nodes_one_is_kept() -> None:
    nodes = [
        node("Exp", "x", "a", "first"),
        node("Exp", "x", "b", "second"),
        node("Add", "a b", "y"),
    ]
    made = model(nodes, X, "y")
    before = rewritten([node("Exp", "x", "b", token(1)), node("Add", "b b", "y", token(2))])
    answers = found(made, [on(GPU, "Exp", token(1)), on(CPU, "Add", token(2))], before)
    assert answers[0] == LiveNode(Status.FUSED, GPU, "one with its equal, 'second'")


def test_nodes_that_differ_in_an_attribute_are_not_equal() -> None:
    nodes = [
        node("Elu", "x", "a", alpha=1.0),
        node("Elu", "x", "b", alpha=2.0),
        node("Add", "a b", "y"),
    ]
    made = model(nodes, X, "y")
    before = rewritten([node("Elu", "x", "b", token(1)), node("Sum", "q b", "y", "other")])
    answers = found(made, [on(GPU, "Elu", token(1))], before)
    assert answers[0].status is Status.UNKNOWN


def test_shape_arithmetic_that_became_a_constant() -> None:
    nodes = [node("Shape", "x", "s"), node("Gather", "s i", "n"), node("Reshape", "x n", "y")]
    made = model(nodes, X, "y", {"i": np.array([0])})
    before = rewritten([node("Reshape", "x shape", "y", f"{token(2)}_new_reshape")])
    answers = found(made, [on(GPU, "Reshape", f"{token(2)}_new_reshape")], before)
    assert [a.status for a in answers] == [Status.FOLDED, Status.FOLDED, Status.FUSED]


def test_equal_shape_arithmetic_that_stays_is_not_folded() -> None:
    nodes = [node("Shape", "x", "s"), node("Shape", "x", "t"), node("Add", "s t", "y")]
    made = model(nodes, X, "y")
    before = rewritten([node("Shape", "x", "t", token(1)), node("Add", "t t", "y", token(2))])
    answers = found(made, [on(GPU, "Shape", token(1)), on(CPU, "Add", token(2))], before)
    assert next((a.status, a.provider) for a in answers) == (Status.FUSED, GPU)


def test_a_slice_of_all_is_dropped_though_another_slice_is_before_it() -> None:
    nodes = [node("Slice", "x b e", "a"), node("Slice", "a b f", "c"), node("Exp", "c", "y")]
    made = model(nodes, X, "y")
    before = rewritten([node("Slice", "x b e", "a", token(0)), node("Exp", "a", "y", token(2))])
    answers = found(made, [on(GPU, "Slice", token(0)), on(GPU, "Exp", token(2))], before)
    assert [a.status for a in answers] == [Status.GPU, Status.FOLDED, Status.GPU]


def test_what_nobody_reads_is_dropped() -> None:
    made = model([node("Exp", "x", "y"), node("Log", "x", "a")], X, "y")
    answers = found(made, [on(GPU, "Exp", token(0))], rewritten([node("Exp", "x", "y", token(0))]))
    assert answers[1] == LiveNode(Status.FOLDED, "", "dropped: nobody reads it")


def test_a_transpose_that_moved_is_there_still() -> None:
    nodes = [node("Transpose", "x", "a", perm=[1, 0]), node("Relu", "a", "y")]
    made = model(nodes, X, "y")
    moved = [node("Relu", "x", "r", token(1)), node("Transpose", "r", "y", "Transpose_token_3")]
    assigned = [on(GPU, "Relu", token(1)), on(CPU, "Transpose", "Transpose_token_3")]
    answers = found(made, assigned, rewritten(moved), rewritten(moved))
    assert answers[0] == LiveNode(Status.HOST, CPU, "moved behind its readers")
    gone = rewritten([node("Relu", "x", "y", token(1))])
    assert found(made, assigned[:1], gone, gone)[0].status is Status.FOLDED


def test_a_transpose_that_is_one_with_orts_own_is_there_still() -> None:
    nodes = [node("Transpose", "x", "a", perm=[1, 2, 0]), node("Mul", "a b", "y")]
    inputs = {"x": ("float32", (2, 3, 4)), "b": ("float32", (3, 4, 2))}
    made = model(nodes, inputs, "y")
    orts = node("Transpose", "x", "t", "Transpose_token_3", perm=[1, 0, 2])
    assigned = [on(GPU, "Mul", token(1)), on(GPU, "Transpose", "Transpose_token_3")]
    after = rewritten([orts, after_mul()])
    before = rewritten([after_mul()])
    answers = found(made, assigned, before, after)
    assert answers[0] == LiveNode(Status.GPU, GPU, "one with a Transpose of ORT's own")
    other = rewritten([node("Transpose", "b", "t", "Transpose_token_3"), after_mul()])
    assert found(made, assigned, before, other)[0].status is Status.FOLDED


def after_mul() -> Any:
    return node("Mul", "t b", "y", token(1))


def test_a_definition_is_placed_by_the_node_that_gives_the_output() -> None:
    made = model([node("HardSwish", "x", "y")], X, "y")
    inner = "_inlfunc_HardSwish_HS"
    nodes = [
        helper.make_node("HardSigmoid", ["x"], [inner]),
        helper.make_node("Mul", ["x", inner], ["y"]),
    ]
    answers = found(made, [on(CPU, "HardSigmoid", ""), on(GPU, "Mul", "")], rewritten(nodes))
    assert answers[0].provider == GPU
    assert "definition" in answers[0].how


def test_nodes_without_a_name_are_told_apart_by_the_copies_around_them() -> None:
    made = model(
        [node("CastLike", "x k", "a"), node("CastLike", "a k", "b"), node("Exp", "b", "y")], X, "y"
    )
    nodes = [
        helper.make_node("Cast", ["x"], ["a_"], to=1),
        helper.make_node("MemcpyFromHost", ["a_"], ["a"], "copy"),
        helper.make_node("Cast", ["a"], ["b"], to=1),
        helper.make_node("Exp", ["b"], ["y"], token(2)),
    ]
    before = rewritten(nodes)
    assigned = [on(CPU, "Cast", ""), on(GPU, "Cast", ""), on(GPU, "Exp", token(2))]
    answers = found(made, assigned, before)
    assert [a.provider for a in answers] == [CPU, GPU, GPU]


def test_a_function_called_twice() -> None:
    body = [node("Exp", "a", "b")]
    function = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    calls = [node("F", "x", "m", domain="own"), node("F", "m", "y", domain="own")]
    made = model(calls, X, "y", functions=[function], domains=["own"])
    names = [f"_inlfunc_F_{token(2)}", f"_inlfunc_F_token_0_{token(2)}"]
    same = found(made, [on(GPU, "Exp", n) for n in names])
    assert [a.status for a in same] == [Status.FOLDED, Status.FOLDED, Status.GPU]
    split = found(made, [on(GPU, "Exp", names[0]), on(CPU, "Exp", names[1])])
    assert split[2].status is Status.UNKNOWN
    assert "1 on CPUExecutionProvider" in split[2].how


def test_a_node_that_was_not_recorded_is_not_guessed() -> None:
    made = model([node("Exp", "x", "y")], X, "y")
    plain = rewritten([node("Exp", "x", "y", token(0))])
    assert found(made, [], plain, plain)[0].status is Status.UNKNOWN


def test_without_the_rewritten_graph_it_is_not_guessed() -> None:
    made = model([node("Exp", "x", "a"), node("Log", "a", "y")], X, "y")
    answer = found(made, [on(GPU, "Log", token(1))])[0]
    assert (answer.status, answer.place) == (Status.UNKNOWN, "")
    assert "does not show" in answer.how


@pytest.mark.parametrize(("provider", "place"), [(GPU, "gpu"), (CPU, "cpu"), ("", "")])
def test_the_place_of_a_fused_node_is_its_kernels(provider: str, place: str) -> None:
    assert LiveNode(Status.FUSED, provider, "").place == place
