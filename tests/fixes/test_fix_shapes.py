"""fix-shapes: inputs get fixed shapes, and what the file says of other values follows."""

import numpy as np
import pytest
from fix_case import assert_same_outputs, changed, info, propose, proto, texts
from onnx import helper
from opscope.engine.fixes.rule import RefusedError

F = "float32"


def model():
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], name="relu"),
        helper.make_node("MatMul", ["r", "w"], ["m"], name="matmul"),
        helper.make_node("Reshape", ["m", "s"], ["y"], name="reshape"),
    ]
    made = proto(
        nodes,
        {"x": (F, ("batch", "time", 4)), "z": (F, (None, "time"))},
        {"y": (F, ("batch", "rest"))},
        {"w": np.ones((4, 5), np.float32), "s": np.array([0, -1])},
    )
    made.graph.value_info.extend(
        [info("r", F, ("batch", "time", 4)), info("m", F, ("unk__1", "unk__2", 5))]
    )
    return made


def shapes(made):
    ports = (*made.graph.input, *made.graph.output, *made.graph.value_info)
    return {
        p.name: [d.dim_param or (d.dim_value if d.HasField("dim_value") else None) for d in
                 p.type.tensor_type.shape.dim]
        for p in ports
    }  # fmt: skip


def test_symbols_become_numbers_and_values_follow():
    old = model()
    new = changed("fix-shapes", old, dims={"batch": 2, "time": 3})
    assert shapes(new) == {
        "x": [2, 3, 4],
        "z": [None, 3],
        "y": [2, 15],
        "r": [2, 3, 4],
        "m": [2, 3, 5],
    }
    feeds = {"x": np.ones((2, 3, 4), np.float32), "z": np.ones((1, 3), np.float32)}
    assert_same_outputs(old, new, feeds)


def test_a_symbol_that_stays_keeps_its_name():
    new = changed("fix-shapes", model(), dims={"time": 3})
    assert shapes(new)["x"] == ["batch", 3, 4]
    assert shapes(new)["y"] == ["batch", "rest"]


def test_a_shape_binds_its_symbols_for_the_others():
    new = changed("fix-shapes", model(), shapes={"x": (2, 3, 4)})
    assert shapes(new)["z"] == [None, 3]
    _, proposal = propose("fix-shapes", model(), shapes={"x": (2, 3, 4)})
    assert texts(proposal, "z")[-1] == "its ? stays open: no --dim or --shape says what it is"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "wants shapes"),
        ({"dims": {"nothing": 3}}, "no input has a dimension 'nothing'"),
        ({"shapes": {"nobody": (1,)}}, "there is no input 'nobody'"),
        ({"shapes": {"x": (2, 3)}}, "not of rank 2"),
        ({"shapes": {"x": (2, 3, 5)}}, "axis 2 is 4, not 5"),
        ({"shapes": {"x": (2, 3, 4), "z": (1, 9)}}, "time is 3, not 9"),
        ({"shapes": {"x": (2, 3, 4)}, "dims": {"time": 5}}, "time is 5, not 3"),
    ],
)
def test_what_contradicts_the_model_is_refused(options, reason):
    with pytest.raises(RefusedError, match=reason):
        propose("fix-shapes", model(), **options)


def test_the_symbols_of_subgraphs_are_the_models():
    def branch(op):
        node = helper.make_node(op, ["x"], [f"{op}_out"], name=op)
        return helper.make_graph([node], op, [], [info(f"{op}_out", F, ("n", 4))])

    node = helper.make_node(
        "If", ["c"], ["y"], name="if", then_branch=branch("Neg"), else_branch=branch("Abs")
    )
    old = proto([node], {"x": (F, ("n", 4)), "c": ("bool", ())}, {"y": (F, ("n", 4))})
    new = changed("fix-shapes", old, dims={"n": 3})
    inner = new.graph.node[0].attribute[0].g.output[0].type.tensor_type.shape
    assert [d.dim_value for d in inner.dim] == [3, 4]


def test_shapes_that_are_fixed_already_change_nothing():
    old = changed("fix-shapes", model(), dims={"batch": 2, "time": 3})
    _, proposal = propose("fix-shapes", old, shapes={"x": (2, 3, 4)})
    assert not proposal.edits


def test_the_symbols_of_a_function_are_its_own():
    body = helper.make_node("Neg", ["a"], ["b"], name="inner")
    function = helper.make_function(
        "local", "Block", ["a"], ["b"], [body], [helper.make_opsetid("", 21)]
    )
    function.value_info.append(info("b", F, ("n", 4)))
    call = helper.make_node("Block", ["x"], ["y"], name="call", domain="local")
    old = proto(
        [call], {"x": (F, ("n", 4))}, {"y": (F, ("n", 4))}, None, 21, [function], {"local": 1}
    )
    new = changed("fix-shapes", old, dims={"n": 3})
    assert new.functions[0] == old.functions[0]
    assert shapes(new) == {"x": [3, 4], "y": [3, 4]}


def test_a_stale_declaration_follows_the_input():
    """The file still says [1, 3] of what comes from a free batch: fixed to 2, it is [2, 3]."""
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["y"])]
    old = proto(nodes, {"x": ("float32", ("n", 3))}, {"y": ("float32", (1, 3))})
    old.graph.value_info.append(info("r", "float32", (1, 3)))
    _, proposal = propose("fix-shapes", old, dims={"n": 2})
    assert proposal.edits.shapes[(), "r"] == (2, 3)
    assert texts(proposal, "r") == ["its shape is now known: [2, 3]; the file said [1, 3]"]
    changed("fix-shapes", old, dims={"n": 2})
