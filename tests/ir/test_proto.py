"""Nodes back to protobuf: what onnx's reference operators are given."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import opscope_testdata as testdata
import pytest
from onnx.reference import ReferenceEvaluator
from opscope.engine.ir.dtypes import bits, dtype_code, dtype_name, dtype_of, numpy_dtype
from opscope.engine.ir.load import load_model
from opscope.engine.ir.model import AttributeReference, TensorType, captured_inputs
from opscope.engine.ir.node_model import input_name, node_model, output_name
from opscope.engine.ir.writer import Writer
from opscope.engine.ops.use import OpUse


def f32(*shape):
    return TensorType("float32", shape)


def run(model, *arrays):
    feeds = {input_name(i): a for i, a in enumerate(arrays) if a is not None}
    return ReferenceEvaluator(model).run(None, feeds)


def test_absent_inputs_stay_absent():
    model = node_model(OpUse("Clip", "", 13, (f32(3), None, f32()), opset=17))
    assert list(model.graph.node[0].input) == [input_name(0), "", input_name(2)]
    (y,) = run(model, np.array([1, 2, 3], np.float32), None, np.array(2, np.float32))
    assert y.tolist() == [1, 2, 2]


def test_outputs_that_nobody_wants_are_left_out():
    use = OpUse("TopK", "", 11, (f32(3), TensorType("int64", (1,))), (None, f32()), opset=17)
    assert [o.name for o in node_model(use).graph.output] == [output_name(1)]
    assert len(node_model(use, output_count=2).graph.output) == 2


@pytest.mark.parametrize(
    ("attributes", "op", "expected"),
    [
        ({"value_ints": (1, 2)}, "Constant", np.array([1, 2])),
        ({"value_ints": ()}, "Constant", np.array([], np.int64)),
        ({"value_floats": ()}, "Constant", np.array([], np.float32)),
        ({"value_float": 0.5}, "Constant", np.array(0.5, np.float32)),
        ({"value_float": 2}, "Constant", np.array(2, np.float32)),
        ({"value_string": "d\u00e9"}, "Constant", np.array("d\u00e9")),
        ({"value": np.arange(4, dtype=np.float16)}, "Constant", np.arange(4, dtype=np.float16)),
    ],
)
def test_attributes(attributes, op, expected):
    model = node_model(OpUse(op, "", 13, (), attributes=attributes, opset=17))
    (y,) = run(model)
    np.testing.assert_array_equal(np.asarray(y).astype(expected.dtype), expected)


def test_an_attribute_of_no_onnx_type_is_a_type_error():
    with pytest.raises(TypeError, match="dict is no attribute value"):
        node_model(OpUse("Relu", "", 14, (f32(2),), attributes={"a": {}}))


def test_a_branch_with_captured_values_and_functions_runs():
    case = testdata.load_case("S03")
    model = load_model(case.model)
    node = next(n for n in model.graph.nodes if n.op_type == "If")
    use = OpUse("If", "", 16, (TensorType("bool", ()),), attributes=node.attributes, opset=17)
    captured = {n: f32(*case.feeds["x"].shape) for n in captured_inputs(node) if n == "x"}
    proto = node_model(use, captured=captured, functions=model.functions.values())
    feeds = {input_name(0): case.feeds["flag"], "x": case.feeds["x"]}
    (y,) = ReferenceEvaluator(proto).run(None, feeds)
    assert y.shape == case.feeds["x"].shape


@pytest.mark.parametrize(
    "model_id", ["synth.local_functions_nested", "silero.silero_vad", "dfn3.enc"]
)
def test_a_graph_written_back_is_the_graph(model_id):
    path = testdata.model_path(model_id)
    model, original = load_model(path), onnx.load(path)
    proto = Writer(model.opset_imports).graph(model.graph)
    assert [n.op_type for n in model.graph.sorted_nodes] == [n.op_type for n in proto.node]
    ours = {n.output[0]: n for n in proto.node}
    for node in original.graph.node:
        written = ours[node.output[0]]
        assert list(written.input) == list(node.input)
        found = {a.name: a.type for a in written.attribute}
        assert found == {a.name: a.type for a in node.attribute}
    for tensor in original.graph.initializer:
        written = next(t for t in proto.initializer if t.name == tensor.name)
        expected = onnx.numpy_helper.to_array(tensor)
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(written), expected)


def test_references_keep_their_name_and_type():
    writer = Writer({"": 17})
    node = writer.node("LeakyRelu", "", ["x"], ["y"], {"alpha": AttributeReference("slope")})
    (attribute,) = node.attribute
    assert (attribute.ref_attr_name, attribute.type) == ("slope", onnx.AttributeProto.FLOAT)
    bound = Writer({"": 17}, {"slope": 0.5}).node(
        "LeakyRelu", "", [], [], {"alpha": AttributeReference("slope")}
    )
    assert bound.attribute[0].f == 0.5


def test_element_types_have_one_name_each():
    names = [dtype_name(code) for code in range(29)]
    assert len(set(names)) == len(names)
    for code, name in enumerate(names):
        assert dtype_code(name) == code
    assert dtype_name(99) is None
    assert names[1:3] == ["float32", "uint8"]
    assert (bits("float16"), bits("int4"), bits("string")) == (16, 4, 0)


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.zeros(1, np.float32), "float32"),
        (np.zeros(1, np.int64), "int64"),
        (np.zeros(1, bool), "bool"),
        (np.zeros(1, ml_dtypes.bfloat16), "bfloat16"),
        (np.zeros(1, ml_dtypes.float8_e4m3fn), "float8e4m3fn"),
        (np.array(["a"], object), "string"),
    ],
)
def test_element_types_of_arrays(array, name):
    assert dtype_of(array) == name
    assert numpy_dtype(name) == (object if name == "string" else array.dtype)


def test_what_is_no_element_type():
    with pytest.raises(ValueError, match=r"'\?' is no element type"):
        numpy_dtype("?")
    with pytest.raises(ValueError, match="'float7' is no ONNX element type"):
        dtype_code("float7")
