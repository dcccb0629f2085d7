"""Edits touch what they name: everything else of the file stays, byte for byte."""

import numpy as np
import onnx
import pytest
from fix_case import info, proto
from google.protobuf.message import EncodeError
from onnx import external_data_helper, helper, numpy_helper
from opscope.engine.errors import ModelFileError
from opscope.engine.ir.edit_file import rewrite, serialized
from opscope.engine.ir.edits import Edits, NewNode
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import NodeId

F = "float32"
UNKNOWN = bytes([0xBA, 0x3E, 0x02]) + b"hi"  # field 999, which no version of onnx has


def n(op, ins, outs, name="", **attributes):
    return helper.make_node(op, ins.split(), outs.split(), name=name or op, **attributes)


def rich():
    """A model with a bit of everything that a fix has no business with."""
    inner = helper.make_graph([n("Neg", "a", "t", "inner")], "t", [], [info("t", F, (4,))])
    other = helper.make_graph([n("Abs", "a", "e", "other")], "e", [], [info("e", F, (4,))])
    nodes = [
        n("Relu", "x", "a"),
        n("Add", "a f", "b"),
        helper.make_node("If", ["k"], ["y"], name="if", then_branch=inner, else_branch=other),
        n("Twice", "b", "z", domain="local"),
    ]
    body = helper.make_function(
        "local", "Twice", ["p"], ["q"], [n("Add", "p p", "q", "add")], [helper.make_opsetid("", 18)]
    )
    made = proto(
        nodes,
        {"x": (F, (4,)), "k": ("bool", ())},
        {"y": (F, (4,)), "z": (F, (4,))},
        {"raw": np.float32([np.nan, -0.0, 1e-42])},
        21,
        [body],
        {"local": 1, "custom": 3},
    )
    floats = made.graph.initializer.add(name="f", data_type=1, dims=[4], doc_string="typed data")
    floats.float_data.extend([1, 2, 3, 4])
    sparse = made.graph.sparse_initializer.add(dims=[10])
    sparse.values.CopyFrom(numpy_helper.from_array(np.float32([1, 2]), "sparse"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([3, 7]), "indices"))
    made.producer_name, made.doc_string, made.model_version = "someone", "words", 9
    made.metadata_props.add(key="author", value="me")
    made.graph.metadata_props.add(key="graph", value="too")
    made.graph.doc_string = "of the graph"
    made.graph.node[0].doc_string = "of a node"
    made.graph.node[0].metadata_props.add(key="node", value="x")
    made.graph.value_info.append(info("a", F, (4,)))
    made.training_info.add().algorithm.name = "step"
    made.graph.quantization_annotation.add(tensor_name="a")
    for message in (made, made.graph, made.graph.node[1], made.graph.initializer[0], body,
                    made.graph.input[0], made.graph.node[2].attribute[0].g.node[0]):  # fmt: skip
        message.MergeFromString(UNKNOWN)
    made.functions[0].CopyFrom(body)
    return made


def edited(model, edits):
    made = rewrite(model.SerializeToString(), edits, "the model")
    return onnx.load_model_from_string(made.data), made.origins


def without(model, *parts):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for part in parts:
        copy.graph.ClearField(part)
    return copy.SerializeToString(deterministic=True)


def test_no_edit_changes_nothing():
    model = rich()
    made, origins = edited(model, Edits())
    assert made.SerializeToString(deterministic=True) == model.SerializeToString(deterministic=True)
    assert origins == {i: i for i in load_bytes(model.SerializeToString()).nodes}
    assert model.SerializeToString().count(UNKNOWN) == 7


def test_an_edit_of_the_nodes_leaves_the_rest():
    model = rich()
    edits = Edits(
        removed=frozenset({NodeId((), 1)}),
        inputs={NodeId((), 3): {0: "a"}},
        before={NodeId((), 0): (NewNode("Identity", ("x",), ("x2",), "new"),)},
        after={NodeId((), 2): (NewNode("Cast", ("y",), ("y2",), "cast", {"to": 10}),)},
    )
    made, _ = edited(model, edits)
    assert without(made, "node") == without(model, "node")
    assert [m.name for m in made.graph.node] == ["new", "Relu", "if", "cast", "Twice"]
    assert made.graph.node[1] == model.graph.node[0]
    kept = made.graph.node[2].SerializeToString(deterministic=True)
    assert kept == model.graph.node[2].SerializeToString(deterministic=True)
    assert UNKNOWN in kept


def test_origins_follow_the_nodes_into_subgraphs():
    model = rich()
    edits = Edits(
        before={NodeId((), 0): (NewNode("Identity", ("x",), ("x2",)),)},
        after={NodeId(("2.then_branch",), 0): (NewNode("Neg", ("t",), ("t2",)),)},
        removed=frozenset({NodeId((), 1)}),
    )
    made, origins = edited(model, edits)
    after = load_bytes(made.SerializeToString())
    before = load_bytes(model.SerializeToString())
    assert after.graph.nodes[2].name == "if"
    named = {after.nodes[new].name: before.nodes[old].name for new, old in origins.items()}
    assert named == {k: k for k in ("Relu", "if", "inner", "other", "Twice", "add")}
    assert NodeId(("2.then_branch",), 1) not in origins


def test_stamps_of_the_model_and_of_functions():
    made, _ = edited(rich(), Edits(opsets={(): 20}))
    assert {o.domain: o.version for o in made.opset_import} == {"": 20, "local": 1, "custom": 3}
    assert made.functions[0].opset_import[0].version == 18
    made, _ = edited(rich(), Edits(opsets={("local::Twice",): 17}))
    assert made.functions[0].opset_import[0].version == 17
    assert UNKNOWN in made.functions[0].SerializeToString()


def test_a_weight_with_new_values_keeps_what_else_it_has():
    model = rich()
    made, _ = edited(model, Edits(weights={((), "f"): np.float16([1, 2, 3, 4])}))
    old, new = model.graph.initializer, made.graph.initializer
    assert (new[1].name, new[1].doc_string, new[1].data_type) == ("f", "typed data", 10)
    assert not new[1].float_data
    assert numpy_helper.to_array(new[1]).tolist() == [1, 2, 3, 4]
    assert new[0].SerializeToString() == old[0].SerializeToString()


def test_dropping_sparse_and_plain_initializers():
    made, _ = edited(rich(), Edits(dropped=frozenset({((), "sparse"), ((), "raw")})))
    assert not made.graph.sparse_initializer
    assert [t.name for t in made.graph.initializer] == ["f"]


def test_declared_types_and_shapes():
    value = ((), "a")
    made, _ = edited(rich(), Edits(dtypes={value: "float16"}, shapes={value: ("n", None, 3)}))
    kind = made.graph.value_info[0].type.tensor_type
    assert kind.elem_type == onnx.TensorProto.FLOAT16
    dims = [(d.WhichOneof("value"), d.dim_param or d.dim_value) for d in kind.shape.dim]
    assert dims == [("dim_param", "n"), (None, 0), ("dim_value", 3)]


def test_types_of_lost_values_go_and_others_stay():
    model = rich()
    model.graph.value_info.append(info("b", F, (4,)))
    model.graph.value_info.append(info("stray", F, (4,)))
    removed = Edits(removed=frozenset({NodeId((), 1)}))
    made, _ = edited(model, removed)
    assert [v.name for v in made.graph.value_info] == ["a", "stray"]


@pytest.mark.parametrize("value", [3, "word", None])
def test_attributes(value):
    node = n("Softmax", "x", "y", "n", axis=1)
    model = proto([node], {"x": (F, (2, 3))}, {"y": (F, (2, 3))})
    made, _ = edited(model, Edits(attributes={NodeId((), 0): {"axis": value, "new": 7}}))
    found = {a.name: helper.get_attribute_value(a) for a in made.graph.node[0].attribute}
    expected = {"new": 7} | ({} if value is None else {"axis": value})
    assert found == {k: v.encode() if isinstance(v, str) else v for k, v in expected.items()}


def test_a_function_declares_no_value_that_it_lost():
    made = rich()
    (function,) = made.functions
    function.node.insert(0, n("Neg", "p", "unread", "dead"))
    function.value_info.extend([info("unread", F, (4,)), info("q", F, (4,))])
    (path,) = (f.graph.path for f in load_bytes(made.SerializeToString()).functions.values())
    edits = Edits(removed=frozenset((NodeId(path, 0),)))
    after = onnx.load_model_from_string(rewrite(made.SerializeToString(), edits, "here").data)
    assert [v.name for v in after.functions[0].value_info] == ["q"]


def test_new_values_of_an_external_tensor_are_stored_in_the_model():
    """With nothing left of where the old ones lie."""
    model = proto([n("Add", "x w", "y")], {"x": (F, (2,))}, {"y": (F, (2,))}, {"w": np.ones(2)})
    (tensor,) = model.graph.initializer
    tensor.doc_string = "said of it"
    external_data_helper.set_external_data(tensor, "w.bin", 0, 16)
    tensor.ClearField("raw_data")
    made, _ = edited(model, Edits(weights={((), "w"): np.float32([3, 4])}))
    (tensor,) = made.graph.initializer
    assert numpy_helper.to_array(tensor).tolist() == [3, 4]
    assert (tensor.doc_string, list(tensor.external_data)) == ("said of it", [])
    assert tensor.data_location == onnx.TensorProto.DEFAULT


def test_a_message_that_protobuf_refuses_is_one_line():
    """Over 2 GiB it does so itself, whatever the model."""

    class Huge:
        def SerializeToString(self):  # noqa: N802
            raise EncodeError("Failed to serialize proto")

    with pytest.raises(
        ModelFileError, match=r"^m\.onnx: the changed model cannot be stored: Failed"
    ):
        serialized(Huge(), "m.onnx")
