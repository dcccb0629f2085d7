"""cast-f32: where the Casts go, what keeps its type, what is refused."""

import numpy as np
import onnx
import pytest
from fix_case import changed, feeds_for, ops, outputs, propose, proto, texts
from onnx import helper, numpy_helper
from opscope.engine.fixes.rule import RefusedError

H, F = "float16", "float32"
RNG = np.random.default_rng(3)


def half(*shape):
    return (RNG.standard_normal(shape) / 4).astype(np.float16)


WEIGHTS = {"w": half(1, 6, 3), "r": half(1, 6, 2), "b": half(1, 12)}


def gru(inputs, outs, name):
    return helper.make_node("GRU", inputs.split(" "), outs.split(" "), name=name, hidden_size=2)


def model(nodes=None, ends=None, weights=None, **more):
    nodes = nodes or [gru("x w r b", "y", "gru")]
    ends = ends or {"y": (H, (4, 1, 1, 2))}
    return proto(nodes, {"x": (H, (4, 1, 3))}, ends, {**WEIGHTS, **(weights or {})}, **more)


def dtype_of(made, name):
    (tensor,) = (t for t in made.graph.initializer if t.name == name)
    return numpy_helper.to_array(tensor).dtype.name


def close(old, new):
    feeds = feeds_for(old)
    before, after = outputs(old, feeds), outputs(new, feeds)
    for name, value in before.items():
        assert after[name].dtype == value.dtype
        np.testing.assert_allclose(
            after[name].astype(np.float32), value.astype(np.float32), atol=2e-3
        )


def test_a_gru_runs_in_f32():
    old = model()
    new = changed("cast-f32", old)
    assert ops(new) == ["Cast", "GRU", "Cast"]
    assert [n.name for n in new.graph.node] == ["Cast:x_float32", "gru", "Cast:y"]
    assert list(new.graph.node[1].input) == ["x_float32", "w", "r", "b"]
    assert [dtype_of(new, n) for n in "wrb"] == [F] * 3
    assert new.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
    close(old, new)


def test_the_gru_is_on_the_gpu_afterwards():
    given, proposal = propose("cast-f32", model())
    after, origins = given.after(proposal.edits)
    (old,) = given.verdicts["ort-webgpu"].values()
    placed = {origins.get(i): v for i, v in after.verdicts["ort-webgpu"].items()}
    (gru_id,) = given.model.nodes
    assert not old.on_gpu
    assert placed[gru_id].on_gpu
    assert texts(proposal, "gru") == [
        "inputs 0, 1, 2, 3 and outputs 0 are float32 instead of float16"
    ]


def test_an_initializer_of_others_keeps_its_type():
    add = helper.make_node("Mul", ["b", "b"], ["z"], name="mul")
    old = model([gru("x w r b", "y", "gru"), add], {"y": (H, (4, 1, 1, 2)), "z": (H, (1, 12))})
    new = changed("cast-f32", old)
    assert [dtype_of(new, n) for n in "wrb"] == [F, F, H]
    assert "b_float32" in new.graph.node[2].input
    close(old, new)


def test_an_initializer_that_callers_may_replace_keeps_its_type():
    old = model()
    old.graph.input.append(helper.make_tensor_value_info("b", onnx.TensorProto.FLOAT16, (1, 12)))
    new = changed("cast-f32", old)
    assert dtype_of(new, "b") == H


def test_a_value_between_two_of_them_needs_no_cast():
    """And one that both read is cast once."""
    second = gru("s w r b", "y2", "second")
    squeeze = helper.make_node("Squeeze", ["y", "one"], ["s"], name="squeeze")
    third = gru("x w r b", "y3", "third")
    weights = {"one": np.array([1]), "w": half(1, 6, 3)}
    ends = {"y2": (H, (4, 1, 1, 2)), "y3": (H, (4, 1, 1, 2))}
    widen = helper.make_node("Concat", ["s0", "x1"], ["s"], name="concat", axis=2)
    squeeze.output[0] = "s0"
    weights["x1"] = half(4, 1, 1)
    nodes = [gru("x w r b", "y", "gru"), squeeze, widen, second, third]
    old = model(nodes, ends, weights)
    new = changed("cast-f32", old, nodes=("gru", "squeeze", "concat", "second", "third"))
    assert ops(new) == ["Cast", "GRU", "Squeeze", "Concat", "GRU", "Cast", "GRU", "Cast"]
    assert dtype_of(new, "x1") == F
    close(old, new)


def test_an_output_of_the_model_is_cast_back_and_read_directly():
    relu = helper.make_node("Relu", ["y"], ["z"], name="relu")
    nodes, ends = [gru("x w r b", "y", "gru"), relu], {"y": (H, (4, 1, 1, 2)), "z": (H, None)}
    old = model(nodes, ends)
    new = changed("cast-f32", old, nodes=("gru", "relu"))
    (relu_after,) = (n for n in new.graph.node if n.name == "relu")
    assert list(relu_after.input) == ["y_float32"]
    assert [p.name for p in new.graph.output] == ["y", "z"]
    close(old, new)


def test_a_new_name_that_is_taken_is_not_used():
    relu = helper.make_node("Relu", ["x"], ["x_float32"], name="Cast:y")
    old = model(
        [relu, gru("x w r b", "y", "gru")], {"y": (H, (4, 1, 1, 2)), "x_float32": (H, None)}
    )
    new = changed("cast-f32", old)
    names = [n for node in new.graph.node for n in node.output]
    assert len(names) == len(set(names))
    assert len({n.name for n in new.graph.node}) == len(new.graph.node)
    close(old, new)


def test_values_that_subgraphs_read_keep_their_type():
    inner = helper.make_node("Relu", ["y"], ["t"], name="inner")
    then = helper.make_graph(
        [inner], "t", [], [helper.make_tensor_value_info("t", 10, (4, 1, 1, 2))]
    )
    other = helper.make_node("Neg", ["y"], ["e"], name="other")
    orelse = helper.make_graph(
        [other], "e", [], [helper.make_tensor_value_info("e", 10, (4, 1, 1, 2))]
    )
    node = helper.make_node("If", ["c"], ["z"], name="if", then_branch=then, else_branch=orelse)
    old = model([gru("x w r b", "y", "gru"), node], {"z": (H, (4, 1, 1, 2))})
    old.graph.input.append(helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, ()))
    new = changed("cast-f32", old)
    assert ops(new) == ["Cast", "GRU", "Cast", "If"]
    close(old, new)


@pytest.mark.parametrize(
    ("node", "reason"),
    [
        (helper.make_node("EyeLike", ["m"], ["y"], name="n", dtype=10), "by an attribute"),
        (helper.make_node("Mystery", ["h"], ["y"], name="n", domain="custom"), "not one of ONNX"),
        (helper.make_node("Relu", ["m"], ["y"], name="n"), "no value of float16"),
    ],
)
def test_what_cannot_be_cast_is_left_with_a_reason(node, reason):
    ends = {"y": (F if node.op_type == "Relu" else H, (2, 2))}
    old = proto([node], {"m": (F, (2, 2)), "h": (H, (2, 2))}, ends, domains={"custom": 1})
    _, proposal = propose("cast-f32", old, nodes=("n",))
    assert not proposal.edits
    (text,) = texts(proposal, "n")
    assert reason in text


def test_what_stays_on_the_cpu_for_other_reasons_is_not_chosen():
    """Det has no kernel, and no GRU of opset 22 has one, whatever the type."""
    node = helper.make_node("Det", ["x"], ["y"], name="n")
    for old in (proto([node], {"x": (H, (2, 2))}, {"y": (H, ())}), model(opset=22)):
        _, proposal = propose("cast-f32", old)
        assert not proposal.edits
        assert not proposal.notes
        assert proposal.summary == "no node gains from float32"


def test_a_node_that_does_not_exist_is_refused():
    with pytest.raises(RefusedError, match="'nobody': no node"):
        propose("cast-f32", model(), nodes=("nobody",))
    twins = [gru("x w r b", "y", "gru"), gru("x w r b", "z", "gru")]
    old = model(twins, {"y": (H, (4, 1, 1, 2)), "z": (H, (4, 1, 1, 2))})
    with pytest.raises(RefusedError, match="give one of 0, 1"):
        propose("cast-f32", old, nodes=("gru",))
    assert ops(changed("cast-f32", old, nodes=("1",))).count("Cast") == 5


def test_a_function_that_is_always_called_with_f16():
    body = gru("a w r", "o", "inner")
    function = helper.make_function(
        "local", "Block", ["a", "w", "r"], ["o"], [body], [helper.make_opsetid("", 21)]
    )
    call = helper.make_node("Block", ["x", "w", "r"], ["y"], name="call", domain="local")
    old = model([call], functions=[function], domains={"local": 1})
    new = changed("cast-f32", old)
    assert [n.op_type for n in new.functions[0].node] == ["Cast"] * 3 + ["GRU", "Cast"]
    assert [dtype_of(new, n) for n in "wr"] == [H, H]
    close(old, new)


def test_a_sparse_initializer_is_replaced_not_doubled():
    values = numpy_helper.from_array(np.array([1, 2], np.float16), "w")
    places = numpy_helper.from_array(np.array([0, 3], np.int64), "w_idx")
    old = proto([helper.make_node("Add", ["x", "w"], ["y"], name="add")], {"x": ("float16", (4,))},
                {"y": ("float16", (4,))})  # fmt: skip
    old.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4]))
    new = changed("cast-f32", old, nodes=("add",))
    assert not new.graph.sparse_initializer
    assert [numpy_helper.to_array(t).tolist() for t in new.graph.initializer] == [[1, 0, 0, 2]]


@pytest.mark.parametrize("targets", [("ort-webgpu",), ("ort-webgpu", "opscope")])
def test_a_node_that_would_not_gain_keeps_its_type_beside_one_that_does(targets):
    """In f32 ORT's WebGPU refuses its activation; what other targets do already is no gain."""
    nodes = [gru("x w r b", "y", "good"), gru("x w r b", "z", "bad")]
    nodes[1].attribute.append(helper.make_attribute("activations", ["Elu", "Tanh"]))
    old = model(nodes, {"y": (H, (4, 1, 1, 2)), "z": (H, (4, 1, 1, 2))})
    given, proposal = propose("cast-f32", old, targets=targets)
    (text,) = texts(proposal, "bad")
    assert text.startswith("in float32 it would not run on the GPU either: ")
    assert [note.label for note in proposal.notes if note.changed] == ["good"]
    assert set(proposal.edits.inputs) == {given.model.graph.nodes[0].id}
    after, _ = given.after(proposal.edits)
    assert after.inferred[(), "z"].dtype == H
