"""Placement over graphs, and the borders between GPU and host."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper
from opscope.engine.checks.judge import Judgement, judge
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.model import Model, NodeId
from opscope.engine.providers import Reason, Status, Support
from opscope.engine.providers.borders import Crossing, crossings
from opscope.engine.providers.placement import place
from opscope.engine.providers.targets import targets
from small_model import findings, model, node, only, verdict

X = {"x": ("float32", (2, 6))}
GPU, HOST, FOLDED = Support(Status.GPU), Support(Status.HOST), Support(Status.FOLDED)


def branch(name: str, nodes: list[onnx.NodeProto], output: str) -> onnx.GraphProto:
    end = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [end])


def cross(subject: Model, sides: dict[str, Support], host_inputs: dict[str, int] | None = None):
    verdicts = {i: sides[n.name] for i, n in subject.nodes.items()}
    wanted = host_inputs or {}
    ports = lambda n: frozenset([wanted[n.name]] if n.name in wanted else [])  # noqa: E731
    types = judge(subject, ["ort-webgpu"]).types
    return crossings(subject, verdicts, types, ports)


def test_every_table_is_a_target_after_our_own() -> None:
    assert [t.id for t in targets()] == ["opscope", "ort-webgpu"]
    assert targets()[1].label == "ORT WebGPU 0.4.0"


def test_our_placement_folds_shapes_and_constants_without_a_plan() -> None:
    subject = model(
        [
            node("Shape", "x", "s", "shape"),
            node("Gather", "s i", "g", "pick"),
            node("Relu", "x", "r", "relu"),
            node("NonZero", "r", "y", "nonzero"),
        ],
        {"x": ("float32", ("n", 6))},
        "y g",
        {"i": np.array([0])},
    )
    verdicts = place(subject, "opscope", infer_types(subject))
    by_name = {subject.nodes[i].name: v.status for i, v in verdicts.items()}
    assert by_name == {
        "shape": Status.FOLDED,
        "pick": Status.FOLDED,
        "relu": Status.GPU,
        "nonzero": Status.HOST,
    }


def test_a_loops_body_is_on_our_host_with_it() -> None:
    body = helper.make_graph(
        [node("Identity", "c", "d", "keep"), node("Relu", "v", "w", "inside")],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("v", TensorProto.FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("d", TensorProto.BOOL, []),
            helper.make_tensor_value_info("w", TensorProto.FLOAT, None),
        ],
    )
    loop = node("Loop", "m _ x", "y", "loop", body=body)
    judged = judge(model([loop], X, "y", {"m": np.array(2)}))
    inside = verdict(judged, "inside", "opscope")
    assert (inside.status, inside.reason) == (Status.HOST, Reason.NO_KERNEL)
    assert "'loop' (Loop)" in inside.detail
    assert verdict(judged, "inside", "ort-webgpu").status is Status.GPU


def test_a_value_crosses_once_per_direction_whoever_many_read_it() -> None:
    subject = model(
        [
            node("Relu", "x", "a", "made"),
            node("Neg", "a", "b", "one"),
            node("Abs", "a", "c", "two"),
            node("Add", "b c", "y", "back"),
        ],
        X,
        "y",
    )
    found = cross(subject, {"made": GPU, "one": HOST, "two": HOST, "back": GPU})
    assert found == (
        Crossing((), "a", False, 48),
        Crossing((), "b", True, 48),
        Crossing((), "c", True, 48),
    )


def test_inputs_outputs_and_folded_values_do_not_count() -> None:
    subject = model(
        [node("Relu", "x", "a", "one"), node("Add", "a w", "y", "two")],
        X,
        "y",
        {"w": np.ones(6, np.float32)},
    )
    assert cross(subject, {"one": HOST, "two": HOST}) == ()
    assert cross(subject, {"one": FOLDED, "two": GPU}) == ()


def test_a_kernels_host_input_is_copied_back() -> None:
    subject = model(
        [
            node("Relu", "x", "a", "made"),
            node("Cast", "k", "t", "cast", to=TensorProto.INT64),
            node("Reshape", "a t", "y", "reshape"),
        ],
        {**X, "k": ("float32", (2,))},
        "y",
    )
    sides = dict.fromkeys(("made", "cast", "reshape"), GPU)
    assert cross(subject, sides) == ()
    assert cross(subject, sides, {"reshape": 1}) == (Crossing((), "t", False, 16),)


def conditional() -> Model:
    then = branch("then", [node("Neg", "a", "t", "inside")], "t")
    other = branch("other", [node("Abs", "a", "e", "beside")], "e")
    return model(
        [
            node("Relu", "x", "a", "made"),
            node("If", "c", "b", "if", then_branch=then, else_branch=other),
            node("Exp", "b", "y", "after"),
        ],
        {**X, "c": ("bool", ())},
        "y",
    )


def test_a_subgraph_reads_outer_values_across_the_border() -> None:
    sides = {"made": GPU, "if": GPU, "inside": HOST, "beside": GPU, "after": GPU}
    found = {(c.graph, c.value, c.to_gpu) for c in cross(conditional(), sides)}
    assert found == {((), "a", False), (("1.then_branch",), "t", True)}


def test_an_opened_ifs_outputs_come_from_its_branches() -> None:
    sides = {"made": GPU, "if": FOLDED, "inside": HOST, "beside": GPU, "after": GPU}
    found = {(c.graph, c.value, c.to_gpu) for c in cross(conditional(), sides)}
    assert found == {((), "a", False), (("1.then_branch",), "t", True)}
    assert cross(conditional(), sides | {"inside": GPU}) == ()


def test_copies_are_reported_with_their_bytes_per_target() -> None:
    subject = model(
        [
            node("Relu", "x", "a", "relu"),
            node("Mish", "a", "b", "mish"),
            node("Neg", "b", "y", "neg"),
        ],
        X,
        "y",
        opset=18,
    )
    told = only(subject, "copies", "ort-webgpu")
    assert told.data["count"] == 2
    assert told.data["bytes"] == 96
    assert "2 values cross" in told.text
    assert "1 up, 1 down): 96 bytes" in told.text


def test_unknown_sizes_are_counted_as_unknown() -> None:
    subject = model(
        [node("Relu", "x", "a", "relu"), node("Mish", "a", "y", "mish")],
        {"x": ("float32", None)},
        "y",
        opset=18,
    )
    told = only(subject, "copies", "ort-webgpu")
    assert (told.data["bytes"], told.data["unknown"]) == (0, 1)


def test_no_border_no_finding() -> None:
    judged: Judgement = judge(model([node("Relu", "x", "y", "relu")], X, "y"))
    assert findings(judged, "copies") == []
    assert set(judged.verdicts["opscope"]) == {NodeId((), 0)}
