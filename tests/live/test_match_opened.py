"""Nodes told by values: of branches that ORT opened, and around its layout transformation.

The names of opened nodes and values are those that ORT 1.32 gives: it was asked about such models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from opscope.engine.ir.model import Model
from opscope.engine.live.answer import LiveNode
from opscope.engine.live.assignments import Assigned, token
from opscope.engine.live.match import match
from opscope.engine.providers.support import Status
from small_model import model, node

GPU, CPU = "WebGpuExecutionProvider", "CPUExecutionProvider"
X = {"x": ("float32", (2, 3))}


def on(provider: str, op: str, name: str) -> Assigned:
    return Assigned(provider, "", op, name)


def made(nodes: list[Any], **weights: np.ndarray) -> Model:
    return model(nodes, X, "y", weights)


def branch(nodes: list[Any], end: str, **weights: np.ndarray) -> Any:
    ends = [helper.make_tensor_value_info(end, TensorProto.FLOAT, None)]
    stored = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    return helper.make_graph(nodes, end, [], ends, stored)


def by_label(model: Model, *given: Any) -> dict[str, LiveNode]:
    return {model.nodes[i].name: found for i, found in match(model, *given).items()}


def choice(then: Any, other: Any, *more: Any) -> Model:
    chosen = node("If", "c", "a", "if", then_branch=then, else_branch=other)
    return made([chosen, *more], c=np.array(True))


def test_the_branch_that_an_if_takes_is_opened() -> None:
    then = branch([node("Exp", "x", "s", "exp"), node("Relu", "s", "t", "relu")], "t")
    other = branch([node("Relu", "x", "u", "unused")], "u")
    asked = choice(then, other, node("Abs", "a", "y", "abs"))
    opened = [
        helper.make_node("Exp", ["x"], ["_if_then_branch_s"], "_if_then_branch_Exp"),
        helper.make_node("Relu", ["_if_then_branch_s"], ["a"], "_if_then_branch_Relu"),
        node("Abs", "a", "y", token(1)),
    ]
    assigned = [
        on(GPU, "Exp", "_if_then_branch_Exp"),
        on(CPU, "Relu", "_if_then_branch_Relu"),
        on(GPU, "Abs", token(1)),
    ]
    found = by_label(asked, assigned, made(opened), None)
    assert found["if"] == LiveNode(
        Status.FOLDED, "", "the branch that it takes is put in its place"
    )
    assert (found["exp"].status, found["relu"].status) == (Status.GPU, Status.HOST)
    assert found["unused"].status is Status.FOLDED
    assert "within 'if' (If), of which nothing is left" in found["unused"].how


def test_a_constant_of_an_opened_branch_is_folded() -> None:
    ones = np.ones(3, np.float32)
    then = branch([node("Exp", "k", "s", "exp"), node("Mul", "s x", "t", "mul")], "t", k=ones)
    asked = choice(then, branch([node("Log", "x", "u", "log")], "u"), node("Abs", "a", "y", "abs"))
    opened = [
        helper.make_node("Mul", ["_if_then_branch_s", "x"], ["a"], "_if_then_branch_Mul"),
        node("Abs", "a", "y", token(1)),
    ]
    assigned = [on(GPU, "Mul", "_if_then_branch_Mul"), on(GPU, "Abs", token(1))]
    before = made(opened, _if_then_branch_s=ones)
    assert by_label(asked, assigned, before, None)["exp"] == LiveNode(Status.FOLDED, "", "folded")


def test_a_subgraph_that_stays_is_not_opened() -> None:
    then = branch([node("Identity", "x", "t", "same")], "t")
    asked = choice(then, branch([node("Log", "x", "u", "log")], "u"), node("Abs", "a", "y", "abs"))
    kept = node(
        "If",
        "c",
        "a",
        token(0),
        then_branch=branch([node("Dropout", "x", "t", "z")], "t"),
        else_branch=branch([node("Log", "x", "u", token(2))], "u"),
    )
    before = made([kept, node("Abs", "a", "y", token(1))], c=np.array(True))
    assigned = [on(CPU, "If", token(0)), on(GPU, "Abs", token(1)), on(CPU, "Log", token(2))]
    found = by_label(asked, assigned, before, None)
    assert (found["if"].status, found["log"].status) == (Status.HOST, Status.HOST)
    assert "within" not in found["same"].how


def test_a_value_of_a_branch_that_stays_is_none_of_an_opened_one_s_of_the_same_name() -> None:
    def body(end: str) -> Any:
        return branch([node("Exp", "x", "s", f"exp {end}"), node("Relu", "s", end)], end)

    other = branch([node("Abs", "x", "u")], "u")
    asked = made(
        [
            node("If", "c", "a", "opened", then_branch=body("t"), else_branch=other),
            node("If", "d", "y", "stays", then_branch=body("v"), else_branch=other),
        ],
        c=np.array(True),
    )
    numbers = {n.name: token(k) for k, n in enumerate(asked.nodes.values())}
    rewritten = [
        helper.make_node("Exp", ["x"], ["_if_then_branch_s"], "_if_then_branch_Exp"),
        helper.make_node("Relu", ["_if_then_branch_s"], ["a"], "_if_then_branch_Relu"),
        node("If", "d", "y", numbers["stays"], then_branch=other, else_branch=other),
    ]
    assigned = [on(GPU, "Exp", "_if_then_branch_Exp"), on(CPU, "If", numbers["stays"])]
    found = by_label(asked, assigned, made(rewritten), None)
    assert found["exp t"].status is Status.GPU
    assert found["exp v"].status is not Status.GPU


def test_what_reads_an_opened_value_is_itself_still() -> None:
    nodes = [
        node("HardSwish", "x", "a", "swish"),
        node("Conv", "a w", "b", "conv"),
        node("BatchNormalization", "b s s s s", "y", "norm"),
    ]
    before = [
        helper.make_node("HardSigmoid", ["x"], ["_inlfunc_HardSwish_h"]),
        helper.make_node("Mul", ["x", "_inlfunc_HardSwish_h"], ["_inlfunc_HardSwish_a"]),
        helper.make_node("Conv", ["_inlfunc_HardSwish_a", "w"], ["y"], token(1)),
    ]
    assigned = [on(GPU, "Conv", token(1)), on(GPU, "Mul", ""), on(GPU, "HardSigmoid", "")]
    found = by_label(made(nodes), assigned, made(before), None)
    assert found["norm"] == LiveNode(Status.FUSED, GPU, "fused into 'conv' (Conv)")


# -- the layout transformation ---------------------------------------------------------------------


def test_a_node_that_ort_runs_but_did_not_record() -> None:
    asked = made([node("Exp", "x", "y", "exp")])
    plain = made([node("Exp", "x", "y", token(0))])
    found = by_label(asked, [], plain, plain)["exp"]
    assert found == LiveNode(Status.UNKNOWN, "", "there, but this ORT recorded no provider for it")


def test_a_mover_that_is_gone_after_placing_is_dropped() -> None:
    nodes = [("Reshape", "x s", "a"), ("Relu", "a", "y")]
    asked = made([node(*n, name) for n, name in zip(nodes, ("shape", "relu"), strict=True)])
    before = made([node(*n, token(k)) for k, n in enumerate(nodes)])
    after = made([node("Relu", "x", "y", token(1))])
    found = by_label(asked, [on(GPU, "Relu", token(1))], before, after)
    assert found["shape"] == LiveNode(Status.FOLDED, "", "dropped by the layout transformation")


def test_what_is_a_constant_after_placing_is_folded() -> None:
    nodes = [("Exp", "k", "e"), ("Add", "x e", "y")]
    ones = np.ones(3, np.float32)
    asked = made([node(*n, name) for n, name in zip(nodes, ("exp", "add"), strict=True)], k=ones)
    before = made([node(*n, token(k)) for k, n in enumerate(nodes)], k=ones)
    after = made([node("Add", "x e", "y", token(1))], e=ones)
    found = by_label(asked, [on(GPU, "Add", token(1))], before, after)
    assert found["exp"].how == "folded after the layout transformation"
    assert found["exp"].status is Status.FOLDED


def test_a_node_that_is_put_anew_while_placing() -> None:
    nodes = [("Slice", "x b", "a"), ("Relu", "a", "y")]
    asked = made([node(*n, name) for n, name in zip(nodes, ("slice", "relu"), strict=True)])
    before = made([node(*n, token(k)) for k, n in enumerate(nodes)])
    for op, status in (("Slice", Status.FUSED), ("Pad", Status.UNKNOWN)):
        after = made([node(op, "x b", "n", "new"), node("Relu", "n", "y", token(1))])
        assigned = [on(CPU, op, "new"), on(GPU, "Relu", token(1))]
        found = by_label(asked, assigned, before, after)["slice"]
        assert (found.status, found.place) == (status, "cpu" if status is Status.FUSED else "")


def test_a_mover_in_the_place_of_a_mover() -> None:
    asked = made([node("Relu", "x", "a", "relu"), node("Reshape", "a s", "y", "shape")])
    before = made([node("Relu", "x", "a", token(0)), node("Squeeze", "a", "y", "other")])
    found = by_label(asked, [on(GPU, "Relu", token(0))], before, None)
    assert found["shape"] == LiveNode(Status.FOLDED, "", "dropped by the layout transformation")


def test_a_transpose_behind_what_took_the_node_in() -> None:
    nodes = [node("Conv", "x w", "a", "conv"), node("BatchNormalization", "a s s s s", "y", "norm")]
    before = made([node("Conv", "x w", "t", token(0)), node("Transpose", "t", "y", "Transpose")])
    found = by_label(made(nodes), [on(GPU, "Conv", token(0))], before, None)
    assert found["norm"] == LiveNode(Status.FUSED, GPU, "fused into 'conv' (Conv)")
