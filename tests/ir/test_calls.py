"""Calls of functions: order, size when expanded, and what all calls of a function agree on."""

import onnx
import pytest
from fix_case import info
from onnx import helper
from opscope.engine.ir.calls import callers_first, expanded_nodes
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.load import load_bytes

F = "float32"


def function(name, *nodes, attributes=()):
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("me", 1)]
    return helper.make_function("me", name, ["a"], ["b"], nodes, imports, attributes=attributes)


def call(name, source="a", target="b", **attributes):
    return helper.make_node(name, [source], [target], domain="me", **attributes)


def model(functions, calls=None):
    nodes = calls or [call("Top", "x", "y")]
    ends = [info(node.output[0], F) for node in nodes]
    graph = helper.make_graph(nodes, "g", [info("x", F, (2, 3, 4))], ends)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("me", 1)]
    made = helper.make_model(graph, opset_imports=imports, functions=functions)
    return load_bytes(made.SerializeToString())


def relu(source="a", target="b"):
    return helper.make_node("Relu", [source], [target])


def test_callers_come_first_whatever_the_order_of_the_file():
    made = model([function("Leaf", relu()), function("Mid", call("Leaf")),
                  function("Top", call("Mid"))])  # fmt: skip
    assert [f.name for f in callers_first(made)] == ["Top", "Mid", "Leaf"]


def test_functions_that_call_each_other_are_left_out():
    made = model([function("Top", call("Ring")), function("Ring", call("Back")),
                  function("Back", call("Ring"))])  # fmt: skip
    assert [f.name for f in callers_first(made)] == ["Top"]


def test_what_expanded_calls_come_to():
    """Each call stands for itself and for what it calls: 1 + (2 + 2 * 1) and one more Relu."""
    top = function("Top", call("Leaf", "a", "m"), call("Leaf", "m"))
    made = model([function("Leaf", relu()), top], [call("Top", "x", "y"), relu("x", "z")])
    assert expanded_nodes(made, callers_first(made)) == 6


@pytest.mark.parametrize(("second", "shape"), [(1, (2, 12)), (2, None)])
def test_an_attribute_counts_where_all_calls_give_the_same(second, shape):
    """Flatten at axis 1 and at axis 2 give other shapes; only together they are unknown."""
    flatten = helper.make_node("Flatten", ["a"], ["m"])
    flatten.attribute.append(
        onnx.AttributeProto(name="axis", ref_attr_name="k", type=onnx.AttributeProto.INT)
    )
    body = function("Fn", flatten, relu("m"), attributes=["k"])
    made = model([body], [call("Fn", "x", "y", k=1), call("Fn", "x", "z", k=second)])
    found = infer_types(made).get((("me::Fn",), "m"))
    assert (found.shape if found else None) == shape
