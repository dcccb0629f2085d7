"""Which nodes forceCpuNodeNames reaches; each case was run on the 0.4.0 plugin."""

from __future__ import annotations

import numpy as np
from onnx import helper
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.model import Model
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Status, Support
from small_model import model, node

V = {"x": ("float32", (2, 6))}
GEMM = {"w": np.ones((6, 5), np.float32), "b": np.ones(5, np.float32)}
IMAGE = {"x": ("float32", (1, 4, 8, 8))}


def forced(made: Model, name: str) -> dict[str, Support]:
    found = place(made, f"ort-webgpu,forceCpuNodeNames={name}", infer_types(made))
    return {made.nodes[i].name: v for i, v in found.items()}


def gemm() -> Model:
    return model([node("MatMul", "x w", "a", "mm"), node("Add", "a b", "y", "add")], V, "y", GEMM)


def test_what_ort_makes_anew_has_another_name() -> None:
    for name in ("mm", "add"):
        found = forced(gemm(), name)
        assert found["add"].status is Status.GPU
        assert found["mm"].data["provider"] == "gpu"
        assert "forceCpuNodeNames does not reach it" in found[name].detail


def test_a_gemm_that_takes_a_transpose_over_has_another_name() -> None:
    nodes = [node("Transpose", "x", "a", "turn", perm=[1, 0]), node("Gemm", "a z", "y", "gemm")]
    made = model(nodes, {**V, "z": ("float32", (2, 5))}, "y")
    assert forced(made, "gemm")["gemm"].status is Status.GPU


def test_a_convolution_keeps_its_name_whatever_it_takes_over() -> None:
    nodes = [
        node("Conv", "x w", "a", "conv"),
        node("BatchNormalization", "a s s s s", "y", "norm"),
    ]
    made = model(nodes, IMAGE, "y", {"w": np.ones((4, 4, 3, 3), np.float32), "s": np.ones(4, "f4")})
    found = forced(made, "conv")
    assert found["conv"].data["step"] == "forceCpuNodeNames"
    assert found["norm"].data["provider"] == "cpu"
    found = forced(made, "norm")
    assert found["conv"].status is Status.GPU
    assert found["norm"].data["provider"] == "gpu"


def test_nodes_of_functions_and_of_opened_branches_have_other_names() -> None:
    body = helper.make_function(
        "own",
        "Soft",
        ["x"],
        ["y"],
        [node("Exp", "x", "a", "inner"), node("Log", "a", "y", "last")],
        [helper.make_opsetid("", 17)],
    )
    call = helper.make_node("Soft", ["x"], ["y"], domain="own")
    made = model([call], V, "y", functions=[body], domains=["own"])
    assert forced(made, "inner")["inner"].status is Status.GPU


def test_a_branch_stays_within_reach_unless_it_is_opened() -> None:
    def switch(constant: bool) -> Model:
        ends = [helper.make_tensor_value_info(n, 1, (2, 6)) for n in ("t", "e")]
        bodies = {
            "then_branch": helper.make_graph([node("Exp", "x", "t", "then")], "t", [], [ends[0]]),
            "else_branch": helper.make_graph([node("Log", "x", "e", "else")], "e", [], [ends[1]]),
        }
        inputs = V if constant else {**V, "c": ("bool", ())}
        weights = {"c": np.array(True)} if constant else {}
        return model([node("If", "c", "y", "if", **bodies)], inputs, "y", weights)

    assert forced(switch(False), "then")["then"].status is Status.HOST
    assert forced(switch(True), "then")["then"].status is Status.GPU


def test_a_node_without_a_kernel_says_so_though_it_is_named() -> None:
    made = model([node("Det", "x", "y", "det")], {"x": ("float32", (3, 3))}, "y")
    assert forced(made, "det")["det"].data["step"] == "kernel look-up"
