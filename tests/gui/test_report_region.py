"""A report's drawing tells no value of a constant, and no name where names are redacted."""

from handmade_models import model_of, node, weight
from opscope.engine.ir.model import Graph, Port, TensorType
from opscope.engine.report.redact import Aliases
from opscope.gui.layout.layout import lay_out
from opscope.gui.layout.scene import LaidOut
from opscope.gui.layout.scene_builder import build_scene, layout_request
from opscope.gui.report_region import telling_drawing
from opscope.gui.views.graph.drawing import Drawing


def made():
    graph = Graph(
        (),
        "g",
        (
            node(0, "Add", ("x", "bias"), ("a",), name="secret_add"),
            node(1, "Relu", ("a",), ("y",), name="secret_relu"),
        ),
        (Port("x", TensorType("float32", ("patients", 2))),),
        (Port("y", TensorType("float32", ("patients", 2))),),
        {"bias": weight("bias", (2,), (0.125, 0.25))},
        {"a": TensorType("float32", ("patients", 2))},
    )
    scene = build_scene(model_of(graph), ())
    return Drawing(LaidOut(scene, lay_out(layout_request(scene))), {}), graph


def texts(drawing):
    found = [e.label for e in drawing.scene.edges] + [e.value for e in drawing.scene.edges]
    for box in drawing.scene.boxes:
        found += [box.title, box.name, *(row.text for row in box.rows)]
    return " ".join(found)


def test_values_of_constants_are_shown_by_type():
    drawing, graph = made()
    assert "0.125" in texts(drawing)
    told = telling_drawing(drawing, graph, None)
    assert "0.125" not in texts(told)
    assert "secret_add" in texts(told)
    assert told.boxes is drawing.boxes
    assert "0.125" in texts(drawing)  # the canvas keeps its own


def test_names_are_replaced_and_what_has_no_number_is_not_told():
    drawing, graph = made()
    names = Aliases(
        {"secret_add": "node_0"}, {"x": "value_0", "a": "value_1"}, {"patients": "dim_0"}
    )
    told = texts(telling_drawing(drawing, graph, names))
    assert "node_0" in told
    assert "dim_0" in told
    for name in ("secret", "patients", "bias"):
        assert name not in told.replace("dim_0", "")
    titles = {box.title for box in telling_drawing(drawing, graph, names).scene.boxes}
    assert titles == {"value_0", "Add", "Relu", "\N{EN DASH}"}
