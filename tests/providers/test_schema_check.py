"""Nodes that their schema does not allow: ORT refuses the model, and the prediction says so.

What ORT does with each model is asked of the installed one, where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence

import live_ort
import onnx
import pytest
from onnx import TensorProto, helper
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.model import Model
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Reason, Status, Support
from small_model import model, node

TARGETS = ("ort-cpu", "ort-webgpu")
INPUTS = {"x": ("float32", (2, 2)), "s": ("float32", (2,)), "k": ("int64", (1,)), "c": ("bool", ())}


def within(inner: onnx.NodeProto) -> onnx.NodeProto:
    """An If whose branches are one node each that gives "b"."""
    ends = [helper.make_tensor_value_info("b", TensorProto.FLOAT, None)]
    branch = helper.make_graph([inner], "branch", [], ends)
    return node("If", "c", "y", then_branch=branch, else_branch=branch)


def loop() -> onnx.NodeProto:
    """A Loop that carries a float32 and an int64, which its one parameter takes."""
    kinds = {"i": TensorProto.INT64, "on": TensorProto.BOOL}
    kinds |= {"a": TensorProto.FLOAT, "b": TensorProto.INT64}
    ports = [helper.make_tensor_value_info(n, t, None) for n, t in kinds.items()]
    ends = [helper.make_tensor_value_info(f"{n}_", t, None) for n, t in list(kinds.items())[1:]]
    inner = [helper.make_node("Identity", [n], [f"{n}_"]) for n in ("on", "a", "b")]
    return node("Loop", "k c x k", "y z", body=helper.make_graph(inner, "body", ports, ends))


REFUSED = {
    "too many inputs": (
        [node("Relu", "x x x", "y")],
        (Reason.SCHEMA_VERSION, "it has 3 inputs; Relu takes 1"),
    ),
    "an absent one counts": (
        [node("Relu", "x _", "y")],
        (Reason.SCHEMA_VERSION, "it has 2 inputs; Relu takes 1"),
    ),
    "too few inputs": (
        [node("MatMul", "x", "y")],
        (Reason.SCHEMA_VERSION, "it has 1 input; MatMul takes 2"),
    ),
    "none of many": (
        [node("Concat", "", "y", axis=0)],
        (Reason.SCHEMA_VERSION, "it has 0 inputs; Concat takes 1 to 2147483647"),
    ),
    "a required input is empty": (
        [node("MatMul", "x _", "y")],
        (Reason.SCHEMA_VERSION, "MatMul lacks the input 'B', which ONNX requires"),
    ),
    "too many outputs": (
        [node("Relu", "x", "y z")],
        (Reason.SCHEMA_VERSION, "it has 2 outputs; Relu takes 1"),
    ),
    "too few outputs": (
        [node("TopK", "x k", "y")],
        (Reason.SCHEMA_VERSION, "it has 1 output; TopK takes 2"),
    ),
    "an attribute of nobody": (
        [node("Relu", "x", "y", zorp=1)],
        (Reason.ATTRIBUTE, "Relu has no attribute 'zorp' at opset 17"),
    ),
    "an input of a later opset": (
        [node("ReduceMax", "x k", "y", keepdims=1)],
        (Reason.SCHEMA_VERSION, "it has 2 inputs; ReduceMax takes 1"),
    ),
    "an attribute of another kind": (
        [node("LeakyRelu", "x", "y", alpha="much")],
        (Reason.ATTRIBUTE, "LeakyRelu has the attribute 'alpha' = 'much', which ONNX has as FLOAT"),
    ),
    "a required attribute is missing": (
        [node("Concat", "x x", "y")],
        (Reason.ATTRIBUTE, "Concat lacks the attribute 'axis', which ONNX requires"),
    ),
    "an operator that is no more": (
        [node("Upsample", "x s", "y")],
        (Reason.SCHEMA_VERSION, "Upsample is deprecated at opset 17"),
    ),
    "two types for one": (
        [node("Add", "x k", "y")],
        (Reason.TYPE, "inputs of Add are float32 and int64, where its schema has one type"),
    ),
    "a type that it excludes": (
        [node("Sin", "k", "y")],
        (Reason.TYPE, "input 'input' of Sin is int64, which its schema excludes"),
    ),
    "in a branch": (
        [within(node("Relu", "x x", "b"))],
        (Reason.SCHEMA_VERSION, "it has 2 inputs; Relu takes 1"),
    ),
}
ACCEPTED = {
    "an absent optional input": [node("Clip", "x _ _", "y")],
    "an internal attribute": [node("Relu", "x", "y", __mine=1)],
    "types that need not agree": [node("Where", "c x x", "y")],
    "many inputs of several types": [loop()],
    "many inputs of one": [node("Max", "x x x x", "y")],
    "in a branch": [within(node("Relu", "x", "b"))],
}


def made(nodes: Sequence[onnx.NodeProto]) -> Model:
    """A model of these nodes."""
    return model(nodes, INPUTS, "y")


def refusals(subject: Model, target: str) -> list[Support]:
    """The verdicts that this check gave."""
    found = place(subject, target, infer_types(subject)).values()
    return [v for v in found if v.data.get("step") == "schema check"]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", REFUSED)
def test_a_node_that_its_schema_does_not_allow_costs_the_session(case: str, target: str) -> None:
    nodes, (reason, text) = REFUSED[case]
    found = refusals(made(nodes), target)
    assert found
    for verdict in found:
        assert (verdict.status, verdict.reason) == (Status.FAILS, reason)
        assert verdict.detail == f"ORT refuses the model while it loads it: {text}"
        assert verdict.data["when"] == "session creation"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", ACCEPTED)
def test_what_the_schema_allows_is_placed(case: str, target: str) -> None:
    assert refusals(made(ACCEPTED[case]), target) == []


def test_a_function_body_is_judged_where_it_is_called() -> None:
    body = helper.make_function(
        "own",
        "Leaky",
        ["a"],
        ["b"],
        [helper.make_node("LeakyRelu", ["a"], ["b"])],
        [helper.make_opsetid("", 17)],
        ["alpha"],
    )
    referring = body.node[0].attribute.add()
    referring.name, referring.ref_attr_name, referring.type = "alpha", "alpha", 1
    call = helper.make_node("Leaky", ["x"], ["y"], domain="own", alpha=0.5)
    subject = model([call], INPUTS, "y", functions=[body], domains=["own"])
    assert refusals(subject, "ort-cpu") == []


@pytest.mark.parametrize("case", REFUSED)
def test_onnx_runtime_refuses_it(case: str) -> None:
    with live_ort.session("ort-cpu") as live:
        assert live.ask(made(REFUSED[case][0]), "ort-cpu").error


@pytest.mark.parametrize("case", ACCEPTED)
def test_onnx_runtime_takes_it(case: str) -> None:
    with live_ort.session("ort-cpu") as live:
        assert not live.ask(made(ACCEPTED[case]), "ort-cpu").error
