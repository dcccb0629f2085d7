"""Calls of local functions: inputs left out, attributes that reach into branches, bad calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from opscope.engine.errors import NodeError
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model
from opscope.engine.session import Session

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def function(
    name: str, inputs: list[str], outputs: list[str], nodes: list[Any], attributes: list[str]
) -> Any:
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    return helper.make_function("local", name, inputs, outputs, nodes, imports, attributes)


def calls(node: Any, functions: list[Any], weights: dict[str, np.ndarray]) -> Model:
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 4])],
        [onnx.ValueInfoProto(name=name) for name in node.output],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    proto = helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=9)
    return load_bytes(proto.SerializeToString())


def referring(node: Any, attribute: str, outer: str) -> Any:
    """``node`` with ``attribute`` taken from the attribute ``outer`` of the function around it."""
    added = node.attribute.add()
    added.name, added.ref_attr_name = attribute, outer
    added.type = onnx.AttributeProto.FLOAT
    return node


@pytest.mark.parametrize(
    ("inputs", "low", "high"),
    [
        (["x"], -np.inf, np.inf),
        (["x", ""], -np.inf, np.inf),
        (["x", "", "w"], -np.inf, 0.5),
        (["x", "w"], 0.5, np.inf),
    ],
)
def test_an_input_that_a_call_leaves_out_is_absent_inside(
    session: Session, inputs: list[str], low: float, high: float
) -> None:
    clip = helper.make_node("Clip", ["a", "low", "high"], ["o"])
    inner = function("Inner", ["a", "low", "high"], ["o"], [clip], [])
    again = helper.make_node("Inner", ["a", "low", "high"], ["o"], domain="local")
    outer = function("Outer", ["a", "low", "high"], ["o"], [again], [])
    node = helper.make_node("Outer", inputs, ["y"], domain="local")
    model = calls(node, [inner, outer], {"w": np.array(0.5, np.float32)})
    outputs = session.run(model, {"x": X}, fallback="error").outputs
    np.testing.assert_array_equal(outputs["y"], np.clip(X, low, high))


def test_an_attribute_of_a_call_reaches_the_branch_of_a_call_within(session: Session) -> None:
    leaky = referring(helper.make_node("LeakyRelu", ["a"], ["q"]), "alpha", "slope")
    out = helper.make_tensor_value_info("q", TensorProto.FLOAT, None)
    branch = helper.make_graph([leaky], "then", [], [out])
    other = helper.make_graph([helper.make_node("Neg", ["a"], ["q"])], "else", [], [out])
    yes = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.array(True)))
    choice = helper.make_node("If", ["c"], ["o"], then_branch=branch, else_branch=other)
    inner = function("Inner", ["a"], ["o"], [yes, choice], ["slope"])
    call = referring(helper.make_node("Inner", ["a"], ["o"], domain="local"), "slope", "steep")
    outer = function("Outer", ["a"], ["o"], [call], ["steep"])
    node = helper.make_node("Outer", ["x"], ["y"], domain="local", steep=0.25)
    outputs = session.run(calls(node, [inner, outer], {}), {"x": X}, fallback="error").outputs
    np.testing.assert_array_equal(outputs["y"], np.where(X < 0, X * np.float32(0.25), X))


def test_a_call_with_too_many_inputs_or_without_end_is_refused(session: Session) -> None:
    negate = function("Negate", ["a"], ["o"], [helper.make_node("Neg", ["a"], ["o"])], [])
    node = helper.make_node("Negate", ["x", "x"], ["y"], domain="local", name="call")
    with pytest.raises(NodeError, match="2 inputs are given; local::Negate has 1"):
        session.plan(calls(node, [negate], {}), {"x": X})
    again = helper.make_node("Endless", ["a"], ["o"], domain="local")
    endless = function("Endless", ["a"], ["o"], [again], [])
    node = helper.make_node("Endless", ["x"], ["y"], domain="local")
    with pytest.raises(NodeError, match="calls itself"):
        session.plan(calls(node, [endless], {}), {"x": X})


def test_calls_that_stand_for_billions_of_nodes_are_refused_at_once(session: Session) -> None:
    def body(called: str) -> list[Any]:
        ends = (("a", "c"), ("c", "o"))
        return [helper.make_node(called, [a], [b], domain="local") for a, b in ends]

    functions = [function("F0", ["a"], ["o"], [helper.make_node("Neg", ["a"], ["o"])], [])]
    functions += [function(f"F{i}", ["a"], ["o"], body(f"F{i - 1}"), []) for i in range(1, 31)]
    node = helper.make_node("F30", ["x"], ["y"], domain="local", name="top")
    # 2^30 Negs; 2^31 - 1 calls in the bodies and the one in the graph: 2^30 + 2^31 - 1.
    with pytest.raises(NodeError, match=r"'top' .* has 3,221,225,471 nodes; at most 200,000"):
        session.plan(calls(node, functions, {}), {"x": X})
