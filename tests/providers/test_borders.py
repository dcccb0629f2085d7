"""The borders between GPU and host: which values cross, who makes and who reads them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from opscope.engine.checks.judge import Judgement, judge
from opscope.engine.ir.model import Model, NodeId, TensorType
from opscope.engine.providers import Status, Support
from opscope.engine.providers.borders import Crossing, crossings, model_crossings, value_bytes
from small_model import findings, model, node, only

X = {"x": ("float32", (2, 6))}
GPU, HOST, FOLDED = Support(Status.GPU), Support(Status.HOST), Support(Status.FOLDED)


def branch(name: str, nodes: list[onnx.NodeProto], output: str) -> onnx.GraphProto:
    end = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    return helper.make_graph(nodes, name, [], [end])


def cross(subject: Model, sides: dict[str, Support], host_inputs: dict[str, int] | None = None):
    verdicts = {i: sides[n.name] for i, n in subject.nodes.items() if n.name in sides}
    wanted = host_inputs or {}
    ports = lambda n: frozenset([wanted[n.name]] if n.name in wanted else [])  # noqa: E731
    types = judge(subject, ["ort-webgpu"]).types
    return crossings(subject, verdicts, types, ports)


def at(index: int, *graph: str) -> NodeId:
    return NodeId(graph, index)


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
        Crossing((), "a", False, 48, at(0), (at(1), at(2))),
        Crossing((), "b", True, 48, at(1), (at(3),)),
        Crossing((), "c", True, 48, at(2), (at(3),)),
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
    assert cross(subject, sides, {"reshape": 1}) == (Crossing((), "t", False, 16, at(1), (at(2),)),)


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
            node("Hardmax", "a", "b", "hardmax"),
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
        [node("Relu", "x", "a", "relu"), node("Hardmax", "a", "y", "hardmax")],
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


def called(body: list[onnx.NodeProto], inputs: str, outputs: str) -> onnx.FunctionProto:
    return helper.make_function(
        "d", "F", inputs.split(), outputs.split(), body, [helper.make_opsetid("", 17)]
    )


def calling(body: list[onnx.NodeProto], outputs: str = "r") -> Model:
    return model(
        [
            node("Relu", "x", "a", "made"),
            node("F", "a", "b", "call", domain="d"),
            node("Exp", "b", "y", "after"),
        ],
        X,
        "y",
        functions=[called(body, "p", outputs)],
        domains=["d"],
    )


def test_an_argument_crosses_where_a_functions_body_reads_it() -> None:
    subject = calling([node("Neg", "p", "q", "inside"), node("Abs", "q", "r", "last")])
    sides = dict.fromkeys(("made", "inside", "last", "after"), GPU)
    assert cross(subject, sides) == ()
    assert cross(subject, sides | {"inside": HOST}) == (
        Crossing(("d::F",), "q", True, 48, at(0, "d::F"), (at(1, "d::F"),)),
        Crossing((), "a", False, 48, at(0), (at(1),)),
    )


def test_a_result_crosses_from_where_a_functions_body_makes_it() -> None:
    subject = calling([node("Neg", "p", "q", "inside"), node("Abs", "q", "r", "last")])
    sides = {"made": GPU, "inside": GPU, "last": HOST, "after": GPU}
    assert cross(subject, sides) == (
        Crossing(("d::F",), "q", False, 48, at(0, "d::F"), (at(1, "d::F"),)),
        Crossing((), "b", True, 48, at(1), (at(2),)),
    )


def test_an_argument_that_a_function_hands_back_crosses_once() -> None:
    subject = model(
        [
            node("Relu", "x", "a", "made"),
            node("F", "a", "b c", "call", domain="d"),
            node("Exp", "b", "u", "after"),
            node("Add", "u c", "y", "sum"),
        ],
        X,
        "y",
        functions=[called([node("Neg", "p", "r", "inside")], "p", "p r")],
        domains=["d"],
    )
    found = cross(subject, {"made": GPU, "inside": GPU, "after": HOST, "sum": GPU})
    assert found == (
        Crossing((), "a", False, 48, at(0), (at(2),)),
        Crossing((), "u", True, 48, at(2), (at(3),)),
    )


@pytest.mark.parametrize("step", ["dropped", "Transposes moved"])
def test_a_dropped_node_hands_its_input_through(step: str) -> None:
    dropped = Support(Status.FOLDED, data={"step": step})
    subject = model(
        [
            node("Relu", "x", "a", "made"),
            node("Dropout", "a", "b", "drop"),
            node("Neg", "b", "y", "end"),
        ],
        X,
        "y",
    )
    sides = {"made": GPU, "drop": dropped, "end": HOST}
    assert cross(subject, sides) == (Crossing((), "a", False, 48, at(0), (at(2),)),)


def test_of_equal_nodes_one_is_copied() -> None:
    same = Support(Status.FUSED, data={"step": "equal nodes", "into": "1", "provider": "cpu"})
    subject = model(
        [
            node("Relu", "x", "a", "made"),
            node("Hardmax", "a", "b", "kept"),
            node("Hardmax", "a", "c", "again"),
            node("Add", "b c", "y", "sum"),
        ],
        X,
        "y",
    )
    assert cross(subject, {"made": GPU, "kept": HOST, "again": same, "sum": GPU}) == (
        Crossing((), "a", False, 48, at(0), (at(1),)),
        Crossing((), "b", True, 48, at(1), (at(3),)),
    )


def test_what_is_fused_is_where_its_kernel_is() -> None:
    on_cpu = Support(Status.FUSED, data={"provider": "cpu", "into": "0"})
    subject = model(
        [node("Conv", "x w", "a", "conv"), node("Relu", "a", "b", "relu"), node("Exp", "b", "y")],
        {"x": ("float32", (1, 1, 4))},
        "y",
        {"w": np.ones((1, 1, 1), np.float32)},
    )
    sides = {"conv": HOST, "relu": on_cpu, "": GPU}
    assert cross(subject, sides) == (Crossing((), "b", True, 16, at(1), (at(2),)),)


def test_a_long_chain_of_opened_ifs_is_walked_once() -> None:
    nodes = [node("Relu", "x", "v0", "made")]
    for i in range(40):  # each branch hands the value before it on: 2**40 ways back
        then = branch(f"t{i}", [], f"v{i}")
        other = branch(f"e{i}", [], f"v{i}")
        nodes.append(node("If", "c", f"v{i + 1}", "if", then_branch=then, else_branch=other))
    nodes.append(node("Neg", "v40", "y", "end"))
    subject = model(nodes, {**X, "c": ("bool", ())}, "y")
    verdicts = {i: {"made": GPU, "end": HOST}.get(n.name, FOLDED) for i, n in subject.nodes.items()}
    (found,) = crossings(subject, verdicts, {})
    assert (found.value, found.readers) == ("v0", (at(41),))


def test_a_targets_own_host_inputs_count() -> None:
    subject = model(
        [
            node("Relu", "x", "a", "relu"),
            node("Relu", "k", "l", "computed"),
            node("Cast", "l", "t", "cast", to=TensorProto.INT64),
            node("Reshape", "a t", "y", "reshape"),
        ],
        {**X, "k": ("float32", (2,))},
        "y",
    )
    judged = judge(subject)
    for name in ("opscope", "ort-webgpu"):
        found = model_crossings(subject, name, judged.verdicts[name], judged.types)
        assert {c.value for c in found} == ({"t"} if name == "ort-webgpu" else set()), name


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        (TensorType("float32", (2, 3)), 24),
        (TensorType("float16", (3,)), 6),
        (TensorType("int64", ()), 8),
        (TensorType("bool", (5,)), 5),
        (TensorType("float8e4m3fn", (5,)), 5),
        (TensorType("int4", (5,)), 3),
        (TensorType("float32", (0, 3)), 0),
        (TensorType("float32", ("n", 3)), None),
        (TensorType("?", (3,)), None),
        (TensorType("string", (3,)), None),
        (TensorType("float32", (3,), "sequence"), None),
        (None, None),
    ],
)
def test_bytes_of_a_value(kind: TensorType | None, size: int | None) -> None:
    assert value_bytes(kind) == size
