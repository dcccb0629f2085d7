# ruff: noqa: RUF001
"""What is drawn of a graph: boxes, rows of weights, edges, captured values."""

from __future__ import annotations

import opscope_testdata as testdata
import pytest
from handmade_models import model_of, node, weight
from opscope.engine.ir.load import load_model
from opscope.engine.ir.model import Graph, NodeId, Port, TensorType
from opscope.gui.layout.scene import BoxKind
from opscope.gui.layout.scene_builder import build_scene, graph_index, layout_request
from opscope.gui.layout.text import constant_text, label_text, shape_text, text_width


def titles(scene, kind=BoxKind.NODE):
    return [box.title for box in scene.boxes if box.kind is kind]


def edges(scene):
    return {
        (scene.boxes[e.source].title, scene.boxes[e.target].title, e.label) for e in scene.edges
    }


def test_weights_and_constants_are_rows_of_their_reader(small):
    scene = build_scene(small)
    assert titles(scene) == ["Conv", "Relu", "Mul", "Add"]
    conv, _, mul, _ = (box for box in scene.boxes if box.kind is BoxKind.NODE)
    assert [(row.key, row.text) for row in conv.rows] == [
        ("W", "8×3×3×3"),
        ("B", "[0, 0, 0, 0, 0, 0, 0, 0]"),
    ]
    assert [(row.key, row.text) for row in mul.rows] == [("B", "1.5")]
    # The folded constant is found at its reader.
    assert scene.boxes[scene.box_of[NodeId((), 2)]].title == "Mul"


def test_edges_carry_shapes_and_terminals_types(small):
    scene = build_scene(small)
    assert ("x", "Conv", "1×3×H×32") in edges(scene)
    assert ("x", "Add", "1×3×H×32") in edges(scene)
    assert ("Conv", "Relu", "1×8×H×32") in edges(scene)
    assert ("Relu", "Mul", "") in edges(scene)
    assert ("Add", "y", "1×8×H×32 f16") in edges(scene)
    assert titles(scene, BoxKind.INPUT) == ["x"]
    assert titles(scene, BoxKind.OUTPUT) == ["y"]


def test_known_types_replace_declared_ones(small):
    concrete = {((), "c"): TensorType("float32", (1, 8, 32, 32))}
    assert ("Conv", "Relu", "1×8×32×32") in edges(build_scene(small, (), concrete))


def test_a_constant_that_is_an_output_stays_a_box():
    graph = Graph(
        (),
        nodes=(node(0, "Constant", (), ("k",), value_int=3),),
        outputs=(Port("k"), Port("w")),
        initializers={"w": weight("w", (2, 2))},
    )
    scene = build_scene(model_of(graph))
    assert titles(scene) == ["Constant"]
    assert {(s, t) for s, t, _ in edges(scene)} == {("Constant", "k"), ("w", "w")}


def test_subgraphs_and_functions_open(nested):
    scene = build_scene(nested)
    opens = {box.title: [o.path for o in box.opens] for box in scene.boxes if box.opens}
    assert opens == {
        "If": [("1.then_branch",), ("1.else_branch",)],
        "Block": [("local::Block",)],
    }
    # What the branches capture is an edge into the If.
    assert ("Abs", "If", "") in edges(scene)


def test_a_subgraph_shows_what_it_captures(nested):
    scene = build_scene(nested, ("1.then_branch",))
    assert titles(scene, BoxKind.CAPTURED) == ["a"]
    mul = next(box for box in scene.boxes if box.title == "Mul")
    assert [(row.key, row.text) for row in mul.rows] == [("B", "2")]  # an outer initializer


def test_a_subgraph_s_own_constant_hides_an_outer_one_of_that_name():
    path = ("0.then_branch",)
    then = Graph(
        path,
        nodes=(node(0, "Mul", ("a", "scale"), ("t",), path=path),),
        outputs=(Port("t"),),
        initializers={"scale": weight("scale", (), [3.0])},
    )
    graph = Graph(
        (),
        nodes=(node(0, "If", ("flag",), ("y",), then_branch=then),),
        inputs=(Port("flag"), Port("a")),
        outputs=(Port("y"),),
        initializers={"scale": weight("scale", (), [2.0])},
    )
    mul = next(box for box in build_scene(model_of(graph), path).boxes if box.title == "Mul")
    assert [(row.key, row.text) for row in mul.rows] == [("B", "3")]


def test_a_function_body_sees_no_outer_value(nested):
    scene = build_scene(nested, ("local::Block",))
    assert titles(scene, BoxKind.INPUT) == ["u"]
    assert titles(scene, BoxKind.CAPTURED) == []


def test_many_rows_are_counted_not_shown():
    names = [f"w{i}" for i in range(20)]
    graph = Graph(
        (),
        nodes=(node(0, "Concat", names, ("y",), axis=0),),
        outputs=(Port("y"),),
        initializers={name: weight(name, (64, 64)) for name in names},
    )
    box = build_scene(model_of(graph)).boxes[0]
    assert (len(box.rows), box.more) == (6, 14)
    assert box.rows[0].key == "inputs[0]"


def test_texts():
    assert shape_text(None) == "?"
    assert shape_text(()) == "scalar"
    assert shape_text((1, None, "batch")) == "1×?×batch"
    assert shape_text(("floor(H/2 + 1)",)) == "…"
    assert label_text(TensorType("float32", (None, None))) == ""
    assert label_text(TensorType("int64", ())) == "scalar i64"
    assert constant_text(weight("w", (2,), [1, 2**63 - 1], "int64")) == "[1, max]"
    assert constant_text(weight("w", (99,))) == "99"
    assert constant_text(b"abc") == "abc"
    assert text_width("WW", 10) > text_width("ii", 10)


def test_request_mirrors_the_scene(small):
    scene = build_scene(small)
    request = layout_request(scene)
    assert len(request.sizes) == len(scene.boxes)
    assert request.edges == tuple((e.source, e.target) for e in scene.edges)
    same = [request.shared[i] for i, e in enumerate(scene.edges) if e.value == "x"]
    assert len(same) == 2
    assert len(set(same)) == 1


@pytest.mark.parametrize("model_id", testdata.model_ids())
def test_every_graph_of_every_model_has_a_scene(model_id):
    model = load_model(str(testdata.model_path(model_id)))
    for path, graph in graph_index(model).items():
        scene = build_scene(model, path)
        assert set(scene.box_of) == {n.id for n in graph.nodes}
        assert all(box.size[0] <= 204 for box in scene.boxes)
