"""What onnx-ir refuses or only logs becomes a finding, and the model opens."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, SparseTensorProto, TensorProto, helper, numpy_helper
from onnx_bytes import message
from opscope.engine.diagnostics import Severity
from opscope.engine.errors import ModelFileError
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import TensorType


def info(name, shape=(2,), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(nodes, inputs=("x",), outputs=("y",), initializers=(), **more):
    graph = helper.make_graph(
        nodes, "g", [info(n) for n in inputs], [info(n) for n in outputs], list(initializers)
    )
    more.setdefault("opset_imports", [helper.make_opsetid("", 17)])
    return helper.make_model(graph, **more)


def load(model):
    return load_bytes(model.SerializeToString())


def only(model):
    (found,) = model.diagnostics
    assert found.text
    assert "\n" not in found.text
    return found


def relu(source, target, name=""):
    return helper.make_node("Relu", [source], [target], name=name)


def test_a_sound_model_has_no_findings(caplog):
    assert load(model_of([relu("x", "y")])).diagnostics == ()
    assert not caplog.records


def test_value_defined_twice_by_nodes():
    model = load(model_of([relu("x", "a", "first"), relu("x", "a", "second"), relu("a", "y")]))
    found = only(model)
    assert (found.code, found.severity) == ("value-defined-twice", Severity.ERROR)
    assert "defined twice: by node 'first' and by node 'second'" in found.text
    assert found.node == model.graph.nodes[1].id
    assert [n.outputs for n in model.graph.nodes] == [("a",), ("a (2)",), ("y",)]
    assert model.graph.producers["a"].name == "first"


def test_value_defined_twice_by_an_input_and_a_node():
    model = load(model_of([relu("x", "x"), relu("x", "y")]))
    assert only(model).data["renamed"] == "x (2)"


def test_a_new_name_is_never_one_that_is_read():
    nodes = [relu("x", "a"), relu("x", "a"), relu("x", "a (2)"), relu("a (2)", "y")]
    model = load(model_of(nodes))
    assert [n.outputs[0] for n in model.graph.nodes] == ["a", "a (3)", "a (2)", "y"]


def test_inputs_and_initializers_defined_twice():
    weights = [numpy_helper.from_array(np.full(2, v, np.float32), "w") for v in (1, 2)]
    add = helper.make_node("Add", ["x", "w"], ["y"])
    model = load(model_of([add], inputs=("x", "x"), initializers=weights))
    assert [d.code for d in model.diagnostics] == ["value-defined-twice"] * 2
    assert [p.name for p in model.graph.inputs] == ["x", "x (2)"]
    assert model.graph.initializers["w"].numpy().tolist() == [1, 1]
    assert model.graph.initializers["w (2)"].numpy().tolist() == [2, 2]


def test_many_definitions_of_one_value_take_no_quadratic_time():
    model = load(model_of([relu("x", "a") for _ in range(3000)], outputs=("a",)))
    assert len(model.diagnostics) == 2999
    assert len(model.graph.producers) == 3000


def test_an_initializer_that_is_also_an_input_is_no_input():
    weight = numpy_helper.from_array(np.ones(2, np.float32), "w")
    add = helper.make_node("Add", ["x", "w"], ["y"])
    model = load(model_of([add], inputs=("x", "w"), initializers=[weight]))
    assert [p.name for p in model.graph.inputs] == ["x"]
    assert list(model.graph.initializers) == ["w"]
    assert not model.diagnostics


def test_an_unnamed_initializer_is_left_out():
    weight = numpy_helper.from_array(np.ones(2, np.float32))
    model = load(model_of([relu("x", "y")], initializers=[weight]))
    assert only(model).code == "unnamed-initializer"
    assert not model.graph.initializers


def test_unknown_element_type_of_a_value():
    proto = model_of([relu("x", "y")])
    proto.graph.value_info.append(info("x"))
    proto.graph.input[0].type.tensor_type.elem_type = 99
    found = only(load(proto))
    assert (found.code, found.data["element_type"]) == ("unknown-element-type", 99)
    assert load(proto).graph.inputs[0].type == TensorType("?", (2,))


@pytest.mark.parametrize("external", [False, True])
def test_unknown_element_type_of_an_initializer(external):
    weight = TensorProto(name="w", dims=[2], data_type=99, raw_data=b"12345678")
    if external:
        weight.data_location = TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="w.bin")
    add = helper.make_node("Add", ["x", "w"], ["y"])
    model = load(model_of([add], initializers=[weight]))
    found = only(model)
    assert found.code == "unknown-element-type"
    assert "initializer 'w': its element type 99 is unknown" in found.text
    assert model.graph.initializers["w"].dtype == "?"
    with pytest.raises(ModelFileError, match="tensor 'w': its element type 99 is unknown"):
        model.graph.initializers["w"].numpy()


def test_unknown_element_type_of_a_constant():
    node = helper.make_node("Constant", [], ["y"], name="c")
    tensor = TensorProto(name="t", dims=[1], data_type=77, raw_data=b"1")
    node.attribute.append(helper.make_attribute("value", tensor))
    model = load(model_of([node]))
    assert only(model).code == "unknown-element-type"
    with pytest.raises(ModelFileError, match="element type 77 is unknown"):
        model.graph.nodes[0].attributes["value"].numpy()


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (TensorProto(dims=[-2], data_type=1), "its shape [-2] is negative"),
        (TensorProto(dims=[2], data_type=1), "float32[2] takes 2 values, but 0 are stored"),
        (TensorProto(dims=[1 << 40], data_type=1), "but 0 are stored"),
        (TensorProto(dims=[2], data_type=1, raw_data=b"123"), "takes 8 bytes, but 3 are stored"),
        (TensorProto(dims=[2], data_type=1, float_data=[1]), "takes 2 values, but 1 are stored"),
        (TensorProto(dims=[2], data_type=1, int64_data=[1, 2]), "was not read"),
        (TensorProto(dims=[2], data_type=0), "its element type 0 cannot be read"),
        (TensorProto(dims=[1], data_type=8, string_data=[b"\xff"]), "string 0 is not valid UTF-8"),
    ],
)
def test_damaged_tensors_say_what_is_wrong(tensor, expected):
    tensor.name = "w"
    add = helper.make_node("Add", ["x", "w"], ["y"])
    model = load(model_of([add], initializers=[tensor]))
    with pytest.raises(ModelFileError, match="tensor 'w'") as caught:
        model.graph.initializers["w"].numpy()
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float16).reshape(2, 3),
        np.array(3, np.int64),
        np.array([1 + 2j], np.complex64),
        np.zeros((0, 3), np.float64),
        np.array([["a", "bc"], ["", "d\u00e9"]], object),
    ],
)
def test_stored_tensors_keep_type_shape_and_values(array):
    weight = numpy_helper.from_array(array, "w")
    model = load(model_of([relu("x", "y")], initializers=[weight]))
    read = model.graph.initializers["w"].numpy()
    assert (read.dtype, read.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(read, array)


def test_stored_4_bit_integers():
    weight = helper.make_tensor("w", TensorProto.INT4, [3], [-8, 7, 1])
    model = load(model_of([relu("x", "y")], initializers=[weight]))
    assert model.graph.initializers["w"].dtype == "int4"
    assert model.graph.initializers["w"].numpy().astype(int).tolist() == [-8, 7, 1]


def sparse(name, indices, dims=(2, 3)):
    values = numpy_helper.from_array(np.array([5, 7], np.float32), name)
    return SparseTensorProto(
        values=values, indices=numpy_helper.from_array(np.array(indices, np.int64)), dims=dims
    )


@pytest.mark.parametrize("indices", [[1, 5], [[0, 1], [1, 2]]])
def test_sparse_initializers_are_dense(indices):
    add = helper.make_node("Add", ["x", "w"], ["y"])
    proto = model_of([add])
    proto.graph.sparse_initializer.append(sparse("w", indices))
    model = load(proto)
    assert only(model).code == "sparse-tensor"
    assert model.graph.initializers["w"].numpy().tolist() == [[0, 5, 0], [0, 0, 7]]


@pytest.mark.parametrize(
    ("indices", "dims", "expected"),
    [
        ([1, 6], (2, 3), "was not read"),
        ([1, 5], (1 << 30, 1 << 30), "would take 4,611,686,018,427,387,904 bytes when dense"),
        ([1, 5], (-2, 3), "its shape [-2, 3] is negative"),
    ],
)
def test_broken_sparse_tensors(indices, dims, expected):
    node = helper.make_node("Constant", [], ["y"], sparse_value=sparse("v", indices, dims))
    model = load(model_of([node]))
    assert only(model).code == "sparse-tensor"
    with pytest.raises(ModelFileError, match="not read") as caught:
        model.graph.nodes[0].attributes["sparse_value"].numpy()
    assert expected in str(caught.value)


def test_sequences_of_maps_and_types_without_elements():
    proto = model_of([relu("x", "y")])
    proto.graph.output[0].type.Clear()
    inner = proto.graph.output[0].type.sequence_type.elem_type.map_type
    inner.key_type = TensorProto.STRING
    inner.value_type.tensor_type.elem_type = TensorProto.FLOAT
    model = load(proto)
    assert only(model).code == "map-type"
    assert model.graph.outputs[0].type == TensorType("float32", None, "map")

    proto.graph.output[0].type.Clear()
    proto.graph.output[0].type.sequence_type.SetInParent()
    model = load(proto)
    assert only(model).code == "incomplete-type"
    assert model.graph.outputs[0].type == TensorType("?", None, "sequence")


def test_attributes_of_the_oldest_models_get_their_type():
    node = relu("x", "y")
    node.attribute.append(AttributeProto(name="axes", ints=[0, 1]))
    node.attribute.append(AttributeProto(name="alpha", f=0.5))
    node.attribute.append(AttributeProto(name="nothing"))
    model = load(model_of([node]))
    assert model.graph.nodes[0].attributes == {"axes": (0, 1), "alpha": 0.5}
    found = only(model)
    assert found.code == "attribute-without-type"
    assert "attribute 'nothing' of node 'Relu #0'" in found.text


def test_attribute_given_twice():
    node = helper.make_node("LeakyRelu", ["x"], ["y"], alpha=0.5)
    node.attribute.append(helper.make_attribute("alpha", 0.75))
    model = load(model_of([node]))
    assert only(model).code == "attribute-given-twice"
    assert model.graph.nodes[0].attributes == {"alpha": 0.5}


@pytest.mark.parametrize(
    ("value", "kept"), [(b"\xff\x00", b"\xff\x00"), ([b"a", b"\xfe"], ("a", b"\xfe"))]
)
def test_attribute_strings_that_are_not_text_stay_bytes(value, kept):
    node = helper.make_node("Custom", ["x"], ["y"], domain="my", blob=value)
    model = load(model_of([node]))
    assert model.graph.nodes[0].attributes["blob"] == kept
    assert (only(model).code, only(model).severity) == ("invalid-utf8", Severity.INFO)


def test_names_that_are_not_utf8_keep_their_edges():
    data = model_of([relu("x", "mid?"), relu("mid?", "y")]).SerializeToString()
    model = load_bytes(data.replace(b"mid?", b"mid\xff"))
    first, second = model.graph.nodes
    assert first.outputs == second.inputs == (r"mid\xff",)
    assert [d.code for d in model.diagnostics] == ["invalid-utf8"] * 2


def test_texts_of_the_model_and_graph_that_are_not_utf8():
    proto = model_of([relu("x", "y")], producer_name="who?")
    proto.graph.name = "graph?"
    proto.metadata_props.add(key="key?", value="v")
    data = proto.SerializeToString()
    for text in (b"who", b"graph", b"key"):
        data = data.replace(text + b"?", text + b"\xe9")
    model = load_bytes(data)
    assert model.producer == r"who\xe9"
    assert model.graph.name == r"graph\xe9"
    assert dict(model.metadata) == {r"key\xe9": "v"}
    assert [d.code for d in model.diagnostics] == ["invalid-utf8"] * 3


def function(name="F", output="b", nodes=None, **more):
    nodes = [relu("a", "b")] if nodes is None else nodes
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_function("my", name, ["a"], [output], nodes, opsets, **more)


def with_functions(*functions):
    call = helper.make_node("F", ["x"], ["y"], domain="my")
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    return load(model_of([call], functions=functions, opset_imports=opsets))


def test_function_defined_twice():
    model = with_functions(function(), function(nodes=[]))
    assert only(model).code == "function-defined-twice"
    assert len(model.functions["my", "F", ""].graph.nodes) == 1


def test_a_function_that_misses_an_output():
    model = with_functions(function(output="nothing"))
    found = only(model)
    assert found.code == "missing-output"
    assert "'nothing' of my::F" in found.text
    assert [p.name for p in model.functions["my", "F", ""].graph.outputs] == ["nothing"]


def test_function_attributes_with_and_without_default():
    defaults = [helper.make_attribute("alpha", 0.25)]
    model = with_functions(function(attributes=["beta"], attribute_protos=defaults))
    found = model.functions["my", "F", ""]
    assert sorted(found.attributes) == ["alpha", "beta"]
    assert found.attribute_defaults == {"alpha": 0.25}
    assert found.opset_imports == {"": 17}


def test_findings_within_subgraphs_name_the_graph():
    branch = helper.make_graph([relu("x", "t"), relu("x", "t")], "b", [], [info("t")])
    other = helper.make_graph([relu("x", "t")], "b", [], [info("t")])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=other)
    model = load(model_of([node], inputs=("x", "c")))
    assert only(model).node.graph == ("0.then_branch",)


def test_the_domain_ai_onnx_is_onnx_own():
    node = helper.make_node("Relu", ["x"], ["y"], domain="ai.onnx")
    model = load(model_of([node], opset_imports=[helper.make_opsetid("ai.onnx", 17)]))
    assert (model.graph.nodes[0].domain, model.graph.nodes[0].op) == ("", "Relu")
    assert model.opset(model.graph.nodes[0]) == 17


def test_unknown_fields_of_a_newer_onnx_are_passed_over():
    data = model_of([relu("x", "y")]).SerializeToString() + message(500, b"later")
    assert onnx.ModelProto.FromString(data).graph.node
    assert load_bytes(data).diagnostics == ()
