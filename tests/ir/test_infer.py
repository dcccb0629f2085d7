"""Static types: declared, inferred, in subgraphs and functions; failures are findings."""

from __future__ import annotations

import numpy as np
import opscope_testdata as testdata
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx_bytes import nested_ifs
from opscope.engine.ir import static_types
from opscope.engine.ir.infer import infer, infer_node, infer_types
from opscope.engine.ir.load import load_bytes, load_model
from opscope.engine.ir.model import TensorType
from opscope.engine.ops.use import OpUse


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def load(nodes, inputs, outputs, initializers=(), functions=(), domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", 17), *(helper.make_opsetid(d, 1) for d in domains)]
    proto = helper.make_model(graph, opset_imports=imports, functions=list(functions))
    return load_bytes(proto.SerializeToString())


def f32(*shape):
    return TensorType("float32", shape)


@pytest.mark.parametrize("model_id", testdata.model_ids())
def test_every_model_has_types_and_no_failure(model_id):
    model = load_model(testdata.model_path(model_id))
    found = infer(model)
    assert found.diagnostics == ()
    for port in model.graph.outputs:
        assert found.types[(), port.name].dtype == port.type.dtype


@pytest.mark.parametrize("model_id", ["gtcrn.gtcrn_simple", "onnxwheel.light_resnet50"])
def test_a_model_of_fixed_shapes_is_known_throughout(model_id):
    model = load_model(testdata.model_path(model_id))
    types = infer_types(model)
    outputs = [((), name) for node in model.graph.nodes for name in node.outputs if name]
    assert [key for key in outputs if types[key].known_dims is None] == []


def reshaping():
    """x of [2, 3, 4] to [-1, 3] by its own shape."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "one"], ["c"]),
        helper.make_node("Concat", ["minus", "c"], ["t"], axis=0),
        helper.make_node("Reshape", ["x", "t"], ["y"]),
        helper.make_node("Relu", ["y"], ["z"]),
    ]
    weights = [ints("one", 1), ints("minus", -1)]
    return load(nodes, [info("x", [2, 3, 4])], [info("z", None)], weights)


def test_shapes_follow_small_constants_and_shape_arithmetic():
    types = infer_types(reshaping())
    assert types[(), "t"] == TensorType("int64", (2,))
    assert types[(), "z"] == f32(8, 3)


@pytest.mark.parametrize(("most", "shape"), [(6, (8, 3)), (5, (None, None))])
def test_so_many_elements_are_followed_together_and_no_more(monkeypatch, most, shape):
    """Of Gather's two inputs 3 + 1, of Concat's 1 + 1: six."""
    monkeypatch.setattr(static_types, "MOST_FOLLOWED", most)
    assert infer_types(reshaping())[(), "z"] == f32(*shape)


def test_symbols_stay_and_made_up_ones_do_not():
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("NonZero", ["a"], ["y"])]
    model = load(nodes, [info("x", ["N", 4])], [info("y", None, TensorProto.INT64)])
    types = infer_types(model)
    assert types[(), "a"] == f32("N", 4)
    assert types[(), "y"] == TensorType("int64", (2, None))


def test_nodes_out_of_order_are_inferred_too():
    nodes = [helper.make_node("Relu", ["a"], ["y"]), helper.make_node("Relu", ["x"], ["a"])]
    assert infer_types(load(nodes, [info("x", [5])], [info("y", None)]))[(), "y"] == f32(5)


def test_a_failure_names_the_node_and_the_rest_goes_on():
    nodes = [
        helper.make_node("Foreign", ["x"], ["f"], domain="my"),
        helper.make_node("Add", ["x", "w"], ["bad"], name="sum"),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    inputs = [info("x", [2, 3]), info("w", [4, 5])]
    model = load(nodes, inputs, [info("y", None)], domains=["my"])
    found = infer(model)
    (failed,) = found.diagnostics
    assert failed.code == "shape-inference-failed"
    assert failed.node == model.graph.nodes[1].id
    assert failed.text == (
        "the shapes after node 'sum' (Add) cannot be inferred: Incompatible dimensions"
    )
    assert found.types[(), "y"] == f32(2, 3)
    assert ((), "f") not in found.types


def test_a_subgraph_sees_outer_types():
    branch = helper.make_graph([helper.make_node("Relu", ["a"], ["t"])], "b", [], [info("t", None)])
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
    ]
    inputs = [info("x", [2, 3]), info("c", [], TensorProto.BOOL)]
    types = infer_types(load(nodes, inputs, [info("y", None)]))
    assert types[("1.then_branch",), "t"] == f32(2, 3)
    assert types[("1.else_branch",), "t"] == f32(2, 3)
    assert types[(), "y"] == f32(2, 3)


def test_a_function_body_gets_what_its_callers_agree_on():
    body = [
        helper.make_node("Relu", ["a"], ["t"]),
        helper.make_node("Inner", ["t"], ["b"], domain="my"),
    ]
    inner = [helper.make_node("Transpose", ["a"], ["b"], perm=[1, 0])]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    functions = [
        helper.make_function("my", "Outer", ["a"], ["b"], body, opsets),
        helper.make_function("my", "Inner", ["a"], ["b"], inner, opsets),
    ]
    nodes = [
        helper.make_node("Outer", ["x"], ["u"], domain="my"),
        helper.make_node("Outer", ["z"], ["v"], domain="my"),
    ]
    inputs, outputs = [info("x", [2, 3]), info("z", [4, 3])], [info("u", None), info("v", None)]
    types = infer_types(load(nodes, inputs, outputs, functions=functions, domains=["my"]))
    assert types[(), "u"] == f32(3, 2)
    assert types[(), "v"] == f32(3, 4)
    assert types[("my::Outer",), "t"] == f32(None, 3)
    assert types[("my::Inner",), "b"] == f32(3, None)


def test_functions_that_call_themselves_or_explode_are_left_out():
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("my", 1)]
    nodes = [
        helper.make_node("F0", ["x"], ["y"], domain="my"),
        helper.make_node("Relu", ["x"], ["z"]),
    ]
    outputs = [info("y", None), info("z", None)]

    def model(calls):
        functions = [
            helper.make_function(
                "my",
                name,
                ["a"],
                ["b1"],
                [
                    helper.make_node(c, ["a"], [f"b{i}"], domain="my")
                    for i, c in enumerate(called, 1)
                ],
                opsets,
            )
            for name, called in calls.items()
        ]
        return load(nodes, [info("x", [2])], outputs, functions=functions, domains=["my"])

    loop = infer(model({"F0": ["F0"]}))
    assert "1 function(s) call themselves" in loop.diagnostics[0].text
    assert loop.types[(), "z"] == f32(2)

    doubling = {f"F{i}": [f"F{i + 1}"] * 2 for i in range(40)}
    bomb = infer(model({**doubling, "F40": []}))
    assert "with its functions expanded the model has" in bomb.diagnostics[0].text
    assert bomb.types[(), "z"] == f32(2)


@pytest.mark.timeout(20)
def test_long_tensors_are_not_followed_value_by_value():
    # onnx makes an object for each element of a 1-D tensor: 2^31 would take the machine's memory
    nodes = [
        helper.make_node("Add", ["x", "x"], ["a"]),
        helper.make_node("Unsqueeze", ["a", "axis"], ["u"]),
        helper.make_node("Foo", ["x"], ["unknown"], domain="my"),
        helper.make_node("Shape", ["s"], ["k"]),
        helper.make_node("Gather", ["k", "axis"], ["n"]),
        helper.make_node("Mul", ["n", "n"], ["m"]),
        helper.make_node("Mul", ["m", "n"], ["l"]),
        helper.make_node("Expand", ["one", "l"], ["e"]),
        helper.make_node("Add", ["e", "e"], ["y"]),
    ]
    inputs = [info("x", [2**31 - 1]), info("s", [1000, 5])]
    weights = [ints("axis", 0), ints("one", 1)]
    outputs = [info("y", None, TensorProto.INT64)]
    types = infer_types(load(nodes, inputs, outputs, weights, domains=["my"]))
    assert types[(), "a"] == f32(2**31 - 1)
    assert types[(), "u"] == f32(1, 2**31 - 1)


def test_deep_nesting_is_inferred():
    assert infer(load_bytes(nested_ifs(30))).types == {}


def test_large_weights_are_declared_and_not_read(tmp_path):
    weight = TensorProto(name="w", dims=[3, 2**20], data_type=TensorProto.FLOAT)
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="w.bin")
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", [info("x", [2, 3])], [info("y", None)], [weight])
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    found = infer(load_model(path))
    assert found.types[(), "y"] == f32(2, 2**20)
    assert found.diagnostics == ()


def test_a_small_weight_that_is_damaged_is_a_finding():
    weight = TensorProto(name="s", dims=[2], data_type=TensorProto.INT64, int64_data=[1])
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    found = infer(load([node], [info("x", [2, 3])], [info("y", None)], [weight]))
    assert [d.code for d in found.diagnostics] == ["unreadable-weight"]
    assert "tensor 's': int64[2] takes 2 values, but 1 are stored" in found.diagnostics[0].text


def test_a_file_that_declares_less_than_follows_keeps_both():
    node = helper.make_node("Foo", ["x"], ["y"], domain="my")
    model = load([node], [info("x", [2])], [info("y", [2, "N"])], domains=["my"])
    assert infer_types(model)[(), "y"] == f32(2, "N")


def use(op, *inputs, values=None, opset=17, outputs=1, **attributes):
    return OpUse(
        op,
        since_version=opset,
        opset=opset,
        inputs=inputs,
        outputs=(TensorType("?"),) * outputs,
        attributes=attributes,
        values=values or {},
    )


I2 = TensorType("int64", (2,))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (use("Relu", f32(2, 3)), (f32(2, 3),)),
        (use("Reshape", f32(2, 3), I2, values={1: lambda: np.array([3, -1])}), (f32(3, 2),)),
        (use("Reshape", f32(2, 3), I2), (f32(None, None),)),
        (
            use(
                "TopK",
                f32(2, 9),
                TensorType("int64", (1,)),
                outputs=2,
                values={1: lambda: np.array([4])},
            ),
            (f32(2, 4), TensorType("int64", (2, 4))),
        ),
        (use("NonZero", f32(2, 3)), (TensorType("int64", (2, None)),)),
        (use("Clip", f32(2, 3), None, f32()), (f32(2, 3),)),
        (use("Add", f32(2, 3), f32(4, 5)), (None,)),
        (use("Relu", TensorType("?")), (None,)),
        (use("NoSuchOperator", f32(2)), (None,)),
        (use("ConvTranspose", f32(1, 1, 5), f32(1, 1, 3), auto_pad="SAME_UPPER"), (None,)),
    ],
)
def test_one_node(node, expected):
    assert infer_node(node) == expected


def test_one_node_does_not_read_long_values():
    def never():
        raise AssertionError("read")

    node = use("Add", f32(5000), f32(5000), values={0: never, 1: never})
    assert infer_node(node) == (f32(5000),)


def test_one_node_takes_values_that_are_given():
    node = use("Reshape", f32(2, 3), I2)
    assert infer_node(node, {1: np.array([6, 1])}) == (f32(6, 1),)
