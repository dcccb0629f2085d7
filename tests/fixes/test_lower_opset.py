"""lower-opset: which stamps can be lowered, which not and why, and which version is chosen."""

import re
from itertools import pairwise

import numpy as np
import onnx
import opscope_testdata as testdata
import pytest
from fix_case import (
    assert_same_outputs,
    changed,
    feeds_for,
    info,
    propose,
    proto,
    texts,
)
from onnx import helper
from opscope.engine.fixes import lower_opset
from opscope.engine.fixes.rule import Options, RefusedError, Subject
from opscope.engine.fixes.version_facts import REVIEWED
from opscope.engine.ir.edit_schema import history, version_of

F = "float32"


def one(op, inputs, outputs, weights=None, opset=21, ins="x", outs="y", **attributes):
    """A model of one node called 'n'."""
    node = helper.make_node(op, ins.split(" "), outs.split(" "), name="n", **attributes)
    return proto([node], inputs, outputs, weights, opset)


X = {"x": (F, (2, 3, 8, 8))}
Y = {"y": (F, None)}
I64 = np.int64
PADS = np.array([0, 0, 1, 1, 0, 0, 1, 1], I64)
SCALES = np.array([1, 1, 2, 2], np.float32)
NORM = {n: np.linspace(0.5, 1.5, 3).astype(np.float32) for n in ("s", "b", "m", "v")}
GRID = {"g": (F, (2, 4, 4, 2))}

ALIKE = {
    "gru": (
        one(
            "GRU",
            {"x": (F, (4, 1, 3))},
            {"y": (F, None)},
            {"w": np.ones((1, 6, 3), np.float32), "r": np.ones((1, 6, 2), np.float32) / 4},
            22,
            "x w r",
            hidden_size=2,
        ),
        14,
        {},
    ),
    "conv_transpose": (
        one(
            "ConvTranspose",
            X,
            Y,
            {"w": np.ones((3, 2, 3, 3), np.float32)},
            22,
            "x w",
            strides=[2, 2],
        ),
        11,
        {},
    ),
    "reshape": (one("Reshape", X, Y, {"s": np.array([2, -1], I64)}, 14, "x s"), 13, {}),
    "reshape_says_the_default": (
        one("Reshape", X, Y, {"s": np.array([2, -1], I64)}, 14, "x s", allowzero=0),
        13,
        {"allowzero": None},
    ),
    "pad": (one("Pad", X, Y, {"p": PADS}, 24, "x p", mode="edge"), 13, {}),
    "resize": (one("Resize", X, Y, {"s": SCALES}, 19, "x  s", mode="linear"), 13, {}),
    "resize_says_the_default": (
        one("Resize", X, Y, {"s": SCALES}, 19, "x  s", mode="linear", antialias=0),
        13,
        {"antialias": None},
    ),
    "batch_normalization": (one("BatchNormalization", X, Y, NORM, 22, "x s b m v"), 9, {}),
    "softmax_last": (one("Softmax", X, Y, None, 13, axis=3), 12, {"axis": -1}),
    "softmax_default": (one("Softmax", X, Y, None, 21), 11, {"axis": -1}),
    "reduce_all": (one("ReduceMean", X, Y, None, 18, keepdims=0), 13, {}),
    "split": (
        one(
            "Split",
            X,
            {"y": (F, None), "z": (F, None)},
            None,
            18,
            "x",
            "y z",
            axis=2,
            num_outputs=2,
        ),
        13,
        {"num_outputs": None},
    ),
    "grid_sample": (
        one("GridSample", {**X, **GRID}, Y, None, 20, "x g", mode="linear"),
        16,
        {"mode": "bilinear"},
    ),
    "grid_sample_default": (
        one("GridSample", {**X, **GRID}, Y, None, 20, "x g"),
        16,
        {"mode": "bilinear"},
    ),
    "cast": (
        one("Cast", X, {"y": ("float16", None)}, None, 24, to=10, saturate=1),
        13,
        {"saturate": None},
    ),
    "average_pool": (
        one("AveragePool", X, Y, None, 22, kernel_shape=[2, 2], strides=[2, 2]),
        11,
        {},
    ),
    "average_pool_ceil": (
        one("AveragePool", X, Y, None, 22, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        19,
        {},
    ),
    "squeeze_all": (one("Squeeze", {"x": (F, (1, 3, 1))}, Y, None, 25), 13, {}),
    "shape": (one("Shape", X, {"y": ("int64", None)}, None, 25, start=0), 13, {"start": None}),
    "flatten": (one("Flatten", X, Y, None, 25, axis=2), 11, {}),
    "dropout": (one("Dropout", X, Y, None, 22), 12, {}),
    "sin": (one("Sin", X, Y, None, 22), 7, {}),
}


@pytest.mark.parametrize("name", ALIKE)
def test_means_the_same(name):
    model, version, attributes = ALIKE[name]
    made = changed("lower-opset", model, opset=version)
    assert made.opset_import[0].version == version
    (node,) = made.graph.node
    given = {a.name for a in node.attribute}
    for key, value in attributes.items():
        if value is None:
            assert key not in given
        else:
            found = next(helper.get_attribute_value(a) for a in node.attribute if a.name == key)
            assert (found.decode() if isinstance(found, bytes) else found) == value
    if node.op_type != "GridSample":  # the host does not know the older names of the modes
        assert_same_outputs(model, made)


DIFFERENT = {
    "allowzero": (
        one("Reshape", {"x": (F, (0, 3))}, Y, {"s": np.array([3, 0], I64)}, 14, "x s", allowzero=1),
        13, "allowzero = 1 came with version 14"),
    "pad_axes": (
        one("Pad", X, Y, {"p": np.array([1, 1], I64), "a": np.array([2], I64)}, 18, "x p  a"), 17,
        "version 13 has no input 'axes'"),
    "pad_wrap": (one("Pad", X, Y, {"p": PADS}, 19, "x p", mode="wrap"), 18, "mode = 'wrap'"),
    "resize_antialias": (
        one("Resize", X, Y, {"s": SCALES}, 18, "x  s", mode="linear", antialias=1), 17,
        "antialias = 1 came with version 18"),
    "resize_symmetric": (
        one("Resize", X, Y, {"s": SCALES}, 19, "x  s", mode="linear",
            coordinate_transformation_mode="half_pixel_symmetric"), 18, "half_pixel_symmetric"),
    "resize_without_roi": (
        one("Resize", X, Y, {"s": SCALES}, 13, "x  s"), 12, "version 11 demands its input 1"),
    "training": (
        one("BatchNormalization", X, {n: (F, None) for n in "yjk"}, NORM, 15, "x s b m v", "y j k",
            training_mode=1), 13, "training_mode"),
    "two_types_at_once": (
        one("BatchNormalization", {"x": ("float16", (2, 3, 8))}, {"y": ("float16", None)}, NORM, 15,
            "x s b m v"), 13, "of one type"),
    "softmax_inner_axis": (one("Softmax", X, Y, None, 13, axis=1), 12, "axis 1 alone"),
    "reduce_axes": (
        one("ReduceMean", X, Y, {"a": np.array([1], I64)}, 18, "x a"), 17, "axes are an input"),
    "reduce_sum_axes": (
        one("ReduceSum", X, Y, {"a": np.array([1], I64)}, 13, "x a"), 12, "axes are an input"),
    "unsqueeze": (
        one("Unsqueeze", X, Y, {"a": np.array([1], I64)}, 13, "x a"), 12, "axes are an input"),
    "split_unevenly": (
        one("Split", X, {"y": (F, None), "z": (F, None)}, None, 18, "x", "y z", axis=1,
            num_outputs=2), 17, "divides 3 unevenly"),
    "volume": (
        one("GridSample", {"x": (F, (1, 2, 3, 4, 5)), "g": (F, (1, 2, 2, 2, 3))}, Y, None, 20,
            "x g"), 19, "rank 5"),
    "too_new": (
        one("LayerNormalization", X, Y, {"s": np.ones(8, np.float32)}, 17, "x s"), 16,
        "LayerNormalization came with opset 17"),
    "group_scale": (
        one("GroupNormalization", {"x": (F, (2, 4, 8))}, Y,
            {"s": np.ones(4, np.float32), "b": np.ones(4, np.float32)}, 21, "x s b", num_groups=2),
        20, "for each channel"),
    "half_pixel_roi": (
        one("RoiAlign", {**X, "r": (F, (1, 4))}, Y, {"i": np.zeros(1, I64)}, 16, "x r i"), 15,
        "coordinate_transformation_mode = 'half_pixel'"),
    "window_in_padding": (
        one("AveragePool", {"x": (F, (1, 1, 3, 3))}, Y, None, 22, kernel_shape=[1, 1],
            strides=[3, 3], pads=[0, 0, 1, 1], ceil_mode=1), 21, "would start window 1 of axis 2"),
    "windows_of_another_rank": (
        one("MaxPool", {"x": (F, (1, 1, 3))}, {"y": (F, (1, 1, 3))}, None, 22,
            kernel_shape=[2, 2], ceil_mode=1), 21, "its windows do not fit its input"),
    "windows_that_stand": (
        one("MaxPool", {"x": (F, (1, 1, 3))}, {"y": (F, (1, 1, 3))}, None, 22,
            kernel_shape=[2], strides=[0], ceil_mode=1), 21, "its windows do not fit its input"),
    "split_into_nothing": (
        one("Split", X, {"y": (F, (1,))}, None, 18, "x", "y", axis=1, num_outputs=0), 17,
        "num_outputs = 0"),
    "open_ceil": (
        one("MaxPool", {"x": (F, (1, 1, "h", "w"))}, Y, None, 22, kernel_shape=[2, 2],
            strides=[2, 2], ceil_mode=1), 21, "shape that is not known"),
    "scatter_max": (
        one("ScatterND", {"x": (F, (4,)), "u": (F, (1,))}, Y, {"i": np.zeros((1, 1), I64)}, 18,
            "x i u", reduction="max"), 17, "reduction = 'max'"),
    "int8_add": (
        one("Add", {"x": ("int8", (2,))}, {"y": ("int8", None)}, None, 14, "x x"), 13,
        "does not take int8"),
    "dropout_ratio": (
        one("Dropout", X, Y, {"r": np.array(0.5, np.float32)}, 12, "x r"), 11,
        "version 10 has no input 'ratio'"),
    "noop": (
        one("ReduceMax", X, Y, None, 18, noop_with_empty_axes=1), 17, "noop_with_empty_axes"),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_refuses_what_would_mean_something_else(name):
    model, version, reason = DIFFERENT[name]
    with pytest.raises(RefusedError, match=re.escape(reason)) as error:
        propose("lower-opset", model, opset=version)
    assert "node 'n'" in str(error.value)
    assert f"opset {version}" in str(error.value)


@pytest.mark.parametrize(
    ("opset", "wanted", "text"),
    [
        (22, 12, "opset 12: Squeeze 13 is not Squeeze 11 here: version 11 has no input 'axes' "
                 "(there it is an attribute); --opset 13 is as far as every node means the same"),
        (13, 12, "an attribute); opset 13 is the oldest at which every node means the same"),
    ],
)  # fmt: skip
def test_a_refusal_says_how_far_one_can_go(opset, wanted, text):
    axes = {"a": np.array([0], I64)}
    model = one("Squeeze", {"x": (F, (1, 3))}, Y, axes, opset, "x a")
    with pytest.raises(RefusedError) as error:
        propose("lower-opset", model, opset=wanted)
    assert str(error.value).endswith(text)
    if opset == 22:
        assert changed("lower-opset", model, opset=13).opset_import[0].version == 13


def test_a_refusal_counts_the_other_nodes():
    axes = {"a": np.array([0], I64)}
    nodes = [helper.make_node("Squeeze", ["x", "a"], [f"y{i}"], name=f"n{i}") for i in range(3)]
    model = proto(nodes, {"x": (F, (1, 3))}, {f"y{i}": (F, None) for i in range(3)}, axes)
    with pytest.raises(RefusedError, match=r"node 'n0' .* \(and 2 more nodes\); "):
        propose("lower-opset", model, opset=12)


def test_a_cast_of_float8_is_refused():
    target = onnx.TensorProto.FLOAT8E4M3FN
    node = helper.make_node("Cast", ["x"], ["y"], name="n", to=target)
    ends = [helper.make_tensor_value_info("y", target, None)]
    model = proto([node], X, {}, None, 21)
    model.graph.output.extend(ends)
    with pytest.raises(RefusedError, match="float8e4m3fn"):
        propose("lower-opset", model, opset=18)


def test_unknown_types_count_against_it():
    """An element type that nobody can tell may be one that the older version does not take."""
    call = helper.make_node("Mystery", ["x"], ["u"], domain="custom")
    add = helper.make_node("Add", ["u", "u"], ["y"], name="n")
    model = proto([call, add], X, {"y": ("float32", None)}, None, 14, domains={"custom": 1})
    del model.graph.output[0].type.tensor_type.shape.dim[:]
    model.graph.output[0].ClearField("type")
    with pytest.raises(RefusedError, match="is not known"):
        propose("lower-opset", model, opset=13)


def samples(opset=22):
    gru = ALIKE["gru"][0].graph
    conv = ALIKE["conv_transpose"][0].graph
    nodes = [gru.node[0], conv.node[0]]
    nodes[0].name, nodes[1].name = "gru", "up"
    weights = {t.name: onnx.numpy_helper.to_array(t) for t in gru.initializer}
    weights["k"] = onnx.numpy_helper.to_array(conv.initializer[0])
    up = helper.make_node("ConvTranspose", ["image", "k"], ["z"], name="up", strides=[2, 2])
    return proto(
        [nodes[0], up],
        {"x": (F, (4, 1, 3)), "image": (F, (2, 3, 8, 8))},
        {"y": (F, None), "z": (F, None)},
        weights,
        opset,
        domains={"custom": 7},
    )


def test_chooses_the_newest_version_that_serves_the_target():
    given, proposal = propose("lower-opset", samples())
    after, _ = given.after(proposal.edits)
    assert proposal.edits.opsets == {(): 21}
    assert after.model.opset_imports == {"": 21, "custom": 7}
    before = [v.status.value for v in given.verdicts["ort-webgpu"].values()]
    now = [v.status.value for v in after.verdicts["ort-webgpu"].values()]
    assert (before, now) == (["host", "host"], ["gpu", "gpu"])
    assert texts(proposal, "gru") == ["schema version 22 becomes 14, which means the same here"]


def test_leaves_a_model_that_gains_nothing():
    _, proposal = propose("lower-opset", samples(), targets=("opscope",))
    assert not proposal.edits
    assert "opset 22 stays" in proposal.summary
    _, proposal = propose("lower-opset", samples(21))
    assert not proposal.edits


def test_one_node_that_differs_keeps_the_stamp_and_is_named():
    window = one("AveragePool", {"x": (F, (1, 1, 3, 3))}, Y, None, 22, kernel_shape=[1, 1],
                 strides=[3, 3], pads=[0, 0, 1, 1], ceil_mode=1)  # fmt: skip
    model = samples()
    pool = model.graph.node.add()
    pool.CopyFrom(window.graph.node[0])
    pool.name, pool.input[0], pool.output[0] = "pool", "small", "p"
    model.graph.input.append(info("small", F, (1, 1, 3, 3)))
    model.graph.output.append(info("p", F, None))
    _, proposal = propose("lower-opset", model)
    assert not proposal.edits
    (text,) = texts(proposal, "pool")
    assert "AveragePool 22 is not AveragePool 19" in text


def function(opset, *nodes, name="Block", inputs=("a", "w", "r"), outputs=("b",)):
    imports = [helper.make_opsetid("", opset)]
    return helper.make_function("local", name, list(inputs), list(outputs), list(nodes), imports)


@pytest.mark.parametrize(("own", "becomes"), [(22, 21), (18, 18)])
def test_functions_have_stamps_of_their_own(own, becomes):
    body = helper.make_node("GRU", ["a", "w", "r"], ["b"], name="inner", hidden_size=2)
    call = helper.make_node("Block", ["x", "w", "r"], ["z"], name="call", domain="local")
    model = samples()
    model.graph.node.append(call)
    up = model.graph.node[1]
    up.output[0] = "w2"
    model.graph.output[0].CopyFrom(info("w2", F, (2, 2, 17, 17)))
    model.graph.output[1].CopyFrom(info("z", F, (4, 1, 1, 2)))
    model.functions.append(function(own, body))
    model.opset_import.append(helper.make_opsetid("local", 1))
    made = changed("lower-opset", model)
    assert made.opset_import[0].version == 21
    assert made.functions[0].opset_import[0].version == becomes
    assert_same_outputs(model, made)


def test_a_function_newer_than_its_model():
    """Only the function's own stamp keeps its GRU off the GPU."""
    body = helper.make_node("GRU", ["a", "w", "r"], ["b"], name="inner", hidden_size=2)
    call = helper.make_node("Block", ["x", "w", "r"], ["y"], name="call", domain="local")
    weights = {t.name: onnx.numpy_helper.to_array(t) for t in ALIKE["gru"][0].graph.initializer}
    ends = {"y": (F, (4, 1, 1, 2))}
    model = proto(
        [call], {"x": (F, (4, 1, 3))}, ends, weights, 17, [function(22, body)], {"local": 1}
    )
    given, proposal = propose("lower-opset", model)
    assert proposal.edits.opsets == {("local::Block",): 21}
    assert proposal.summary == "opset 22 becomes 21, in 1 function"
    after, _ = given.after(proposal.edits)
    assert after.model.opset_imports[""] == 17


def test_a_function_that_differs_is_named():
    pad = helper.make_node("Pad", ["a", "p"], ["b"], name="inner", mode="wrap")
    call = helper.make_node("Block", ["x", "p"], ["y"], name="call", domain="local")
    model = proto(
        [call], X, Y, {"p": PADS}, 22, [function(19, pad, inputs=("a", "p"))], {"local": 1}
    )
    with pytest.raises(RefusedError, match=r"node 'inner' .*wrap"):
        propose("lower-opset", model, opset=18)


def test_subgraphs_are_judged_too():
    inner = helper.make_node("Reshape", ["x", "s"], ["t"], name="inner", allowzero=1)
    branch = helper.make_graph([inner], "then", [], [info("t", F, (2, 192))])
    other = helper.make_node("Flatten", ["x"], ["e"], name="same")
    orelse = helper.make_graph([other], "else", [], [info("e", F, (2, 192))])
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=branch, else_branch=orelse)
    ends = {"y": (F, (2, "any"))}
    model = proto([node], {**X, "c": ("bool", ())}, ends, {"s": np.array([2, -1], I64)}, 14)
    with pytest.raises(RefusedError, match="node 'inner'"):
        propose("lower-opset", model, opset=13)
    inner.attribute[0].i = 0
    branch.node[0].CopyFrom(inner)
    node = helper.make_node("If", ["c"], ["y"], name="if", then_branch=branch, else_branch=orelse)
    model.graph.node[0].CopyFrom(node)
    made = changed("lower-opset", model, opset=13)
    assert not made.graph.node[0].attribute[1].g.node[0].attribute
    feeds = {**feeds_for(model), "c": np.array(True)}
    assert_same_outputs(model, made, feeds)


@pytest.mark.parametrize("wanted", [22, 23])
def test_an_opset_that_is_not_older_changes_nothing(wanted):
    _, proposal = propose("lower-opset", samples(), opset=wanted)
    assert not proposal.edits


def test_an_opset_below_all_tables_is_refused():
    with pytest.raises(RefusedError, match="below 7"):
        propose("lower-opset", samples(), opset=6)


def test_reviewed_versions_exist():
    newest = onnx.defs.onnx_opset_version()
    for since, judges in REVIEWED.items():
        for op in judges:
            if since <= newest:
                assert version_of(op, since).since == since, (op, since)


def test_every_change_of_words_is_reviewed_or_refused():
    """The table is complete for what exporters use; what is missing is known by name."""
    if not onnx.__version__.startswith("1.23"):
        pytest.skip("the texts were read in onnx 1.23")
    newest = onnx.defs.onnx_opset_version()
    open_changes = set()
    for schema in onnx.defs.get_all_schemas():
        if schema.domain == "" and schema.since_version >= 12:
            versions = history(schema.name, 11, newest) or history(
                schema.name, _first(schema.name), newest
            )
            open_changes |= {
                (schema.name, newer.since)
                for newer, older in pairwise(versions)
                if schema.name not in REVIEWED.get(newer.since, {}) and newer.text != older.text
            }
    assert open_changes == {("Attention", 24), ("Attention", 25), ("DFT", 20)}


def _first(op):
    return min(
        s.since_version
        for s in onnx.defs.get_all_schemas_with_history()
        if s.name == op and s.domain == ""
    )


@pytest.mark.parametrize("model_id", testdata.model_ids())
def test_real_models_are_previewed(model_id):
    path = testdata.model_path(model_id)
    given = Subject.of(path.read_bytes(), str(path), Options())
    proposal = lower_opset.propose(given)
    assert proposal.summary
    assert all(note.text for note in proposal.notes)
    if proposal.edits:
        after, _ = given.after(proposal.edits)
        assert after.model.opset_imports[""] < given.model.opset_imports[""]


def calling(op, inputs, ports, opset, attribute, value):
    """A function of one node whose attribute the caller gives."""
    kind = onnx.AttributeProto.INT if isinstance(value, int) else onnx.AttributeProto.STRING
    inner = helper.make_node(op, inputs, ["out"], name="inner")
    inner.attribute.append(onnx.AttributeProto(name=attribute, ref_attr_name="k", type=kind))
    imports = [helper.make_opsetid("", opset)]
    function = helper.make_function("me", "Fn", inputs, ["out"], [inner], imports, attributes=["k"])
    call = helper.make_node("Fn", inputs, ["y"], name="call", domain="me", k=value)
    return proto([call], ports, Y, {}, opset, [function], {"me": 1})


@pytest.mark.parametrize(
    ("model", "opset", "attribute"),
    [
        (calling("Softmax", ["x"], {"x": (F, (2, 3, 4))}, 20, "axis", 1), 12, "axis"),
        (calling("GridSample", ["x", "g"], {**X, **GRID}, 20, "mode", "nearest"), 19, "mode"),
        (
            calling(
                "ScatterElements", ["x", "i", "u"],
                {"x": (F, (3, 3)), "i": ("int64", (1, 3)), "u": (F, (1, 3))},
                20, "reduction", "max",
            ),
            17,
            "reduction",
        ),
        (calling("MaxPool", ["x"], X, 22, "ceil_mode", 1), 21, "ceil_mode"),
    ],
)  # fmt: skip
def test_what_a_caller_decides_is_not_taken_for_the_default(model, opset, attribute):
    """The attribute refers to the function's: its value differs from call to call."""
    with pytest.raises(RefusedError, match=f"its {attribute} is given by the function's caller"):
        propose("lower-opset", model, opset=opset)
