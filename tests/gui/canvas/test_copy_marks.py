"""Copies on the canvas: which lines are marked, one plate per copy, readable at every zoom."""

from __future__ import annotations

import numpy as np
import pytest
from handmade_models import model_of, node
from opscope.engine.ir.model import Graph, NodeId, Port, TensorType
from opscope.engine.providers.borders import Crossing
from opscope.gui.colour import contrast
from opscope.gui.copies import NO_COPIES, Copy, copies_of
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.views.graph.copy_marks import CopyMarks
from opscope.gui.views.graph.drawing import Hit
from opscope.gui.views.graph.dress import UNDRESSED, Dress
from opscope.gui.views.graph.tooltip import tooltip_text
from opscope.gui.views.graph.viewport import Viewport, fitted
from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QImage, QPainter

CONV, RELU, _, MUL, ADD = (NodeId((), i) for i in range(5))


def crossing(value, to_gpu, size, producer, *readers, graph=()):
    return Crossing(graph, value, to_gpu, size, producer, readers)


def down(size=3 * 2**20):
    """The output of Conv goes to the CPU, that of Mul back."""
    found = (crossing("c", False, size, CONV, RELU), crossing("m", True, 2048, MUL, ADD))
    return copies_of(found, {"H": 64})


def marked(drawing, copies):
    """The (source, target) titles of the edges whose paths are marked."""
    found = set()
    for path in CopyMarks(drawing, copies).paths:
        for index in drawing.paths[path].edges:
            edge = drawing.scene.edges[index]
            found.add(tuple(drawing.scene.boxes[i].title for i in (edge.source, edge.target)))
    return found


def colours(image: QImage) -> set[str]:
    pixels = np.unique(np.frombuffer(image.constBits(), np.uint32))
    return {f"#{pixel & 0xFFFFFF:06x}" for pixel in pixels.tolist()}


def picture(page, scale=None) -> QImage:
    """The whole graph, or any scale around its middle."""
    size = QSize(420, 700)
    image = QImage(size, QImage.Format.Format_RGB32)
    view = fitted(QRectF(0, 0, *page.drawing.size), QSizeF(size))
    if scale is not None:
        middle = QRectF(0, 0, *page.drawing.size).center()
        view = view.centred(middle, QSizeF(size), scale)
    painter = QPainter(image)
    page.canvas.render_view(painter, view, QSizeF(size))
    painter.end()
    return image


def test_the_edges_whose_readers_are_on_the_other_side_are_marked(shown, small):
    page = shown(small)
    assert marked(page.drawing, down()) == {("Conv", "Relu"), ("Mul", "Add")}
    assert marked(page.drawing, NO_COPIES) == set()


def test_only_the_readers_on_the_other_side_are(shown):
    nodes = (
        node(0, "Abs", ("x",), ("a",)),
        node(1, "Neg", ("a",), ("n",)),
        node(2, "Sin", ("a",), ("s",)),
    )
    graph = Graph((), nodes=nodes, inputs=(Port("x"),), outputs=(Port("n"), Port("s")))
    page = shown(model_of(graph))
    copies = copies_of([crossing("a", False, 8, NodeId((), 0), NodeId((), 2))], {})
    assert marked(page.drawing, copies) == {("Abs", "Sin")}


def test_what_a_node_inside_reads_is_marked_outside_and_inside(shown, nested):
    page = shown(nested)
    inner = NodeId(("1.then_branch",), 0)
    copies = copies_of([crossing("a", True, 16, NodeId((), 0), inner)], {})
    assert marked(page.drawing, copies) == {("Abs", "If")}
    page.show_node(inner)
    assert page.wait_until_laid_out(20)
    assert marked(page.drawing, copies) == {("a", "Mul")}
    # What a branch hands out is read by the node around it.
    out = crossing("t", False, 16, inner, NodeId((), 1), graph=("1.then_branch",))
    assert marked(page.drawing, copies_of([out], {})) == {("Mul", "t")}


def test_a_box_is_reached_through_what_is_inside_it_alone():
    reader = NodeId(("12.body", "3.then_branch"), 7)
    copy = Copy("v", True, 4, NodeId((), 0), (reader,))
    assert copy.reaches(reader)
    assert copy.reaches(NodeId((), 12))
    assert copy.reaches(NodeId(("12.body",), 3))
    assert not copy.reaches(NodeId((), 1))
    assert not copy.reaches(NodeId((), 120))
    assert not copy.reaches(NodeId(("12.body",), 7))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("scale", [0.12, 0.4, 1.0])
def test_plates_are_as_large_from_afar_as_close_up(shown, small, theme, scale):
    page = shown(small)
    page.set_theme(theme)
    without = picture(page, scale)
    page.wear(Dress(copies=down()))
    found = colours(picture(page, scale))
    assert {theme.copy_to_cpu, theme.copy_to_gpu} <= found
    assert not {theme.copy_to_cpu, theme.copy_to_gpu} & colours(without)
    page.wear(UNDRESSED)
    assert picture(page, scale) == without


def test_a_value_with_many_readers_has_one_plate(shown, monkeypatch):
    nodes = (
        node(0, "Abs", ("x",), ("a",)),
        *(node(i, "Neg", ("a",), (f"n{i}",)) for i in (1, 2, 3)),
    )
    outputs = tuple(Port(f"n{i}", TensorType("float32", (2,))) for i in (1, 2, 3))
    page = shown(model_of(Graph((), nodes=nodes, inputs=(Port("x"),), outputs=outputs)))
    readers = [NodeId((), i) for i in (1, 2, 3)]
    copies = copies_of([crossing("a", False, 8, NodeId((), 0), *readers)], {})
    page.wear(Dress(copies=copies))
    assert len(page.canvas.worn.marks.paths) >= 3
    plates = []
    painter = page.canvas._painter._copies
    monkeypatch.setattr(painter, "_plate", lambda *arguments: plates.append(arguments[2]))
    picture(page)
    assert plates == ["8 bytes \N{RIGHTWARDS ARROW} CPU"]


def test_the_tooltip_of_a_line_tells_the_bytes_and_what_was_assumed(shown, small):
    page = shown(small)
    page.wear(Dress(copies=down()))
    path = next(p for p, copy in page.canvas.worn.marks.paths.items() if copy.value == "c")
    text = tooltip_text(page.canvas.worn, Hit(path=path))
    assert "Copied in each run: 3 MiB to the CPU" in text
    assert "assumed: H = 64" in text


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_lines_stand_out_from_the_ground(theme):
    for colour in (theme.copy_to_cpu, theme.copy_to_gpu):
        assert contrast(colour, theme.sunken) >= 3
    for look in (theme.home, theme.copies, *theme.difference.values()):
        assert contrast(look.ink, look.fill) >= 4.5, look.label


def test_totals_say_what_is_not_known():
    assert down().total == "2, 3 MiB"
    assert down(None).total == "2, over 2 KiB"
    assert copies_of([crossing("c", False, None, CONV, RELU)], {}).total == "1, size unknown"
    assert "1 of unknown size" in down(None).detail
    assert down().places == (CONV, MUL)


@pytest.fixture
def plates(monkeypatch):
    """``plates(page)``: the texts of the plates painted from now on."""
    texts = []

    def watch(page):
        painter = page.canvas._painter._copies
        monkeypatch.setattr(painter, "_plate", lambda *arguments: texts.append(arguments[2]))
        return texts

    return watch


def test_where_plates_have_no_room_the_largest_copy_has_one(shown, small, plates):
    page = shown(small)
    page.wear(Dress(copies=down()))
    texts = plates(page)
    picture(page, 1.0)
    assert sorted(texts) == ["2 KiB \N{RIGHTWARDS ARROW} GPU", "3 MiB \N{RIGHTWARDS ARROW} CPU"]
    texts.clear()
    picture(page, 0.05)
    assert texts == ["3 MiB \N{RIGHTWARDS ARROW} CPU"]


@pytest.mark.parametrize("side", ["top", "bottom"])
def test_a_line_that_leaves_the_screen_has_its_plate_where_it_is_seen(shown, plates, side):
    nodes = (node(0, "Abs", ("x",), ("a",)), node(1, "Neg", ("a",), ("y",)))
    page = shown(model_of(Graph((), nodes=nodes, inputs=(Port("x"),), outputs=(Port("y"),))))
    page.wear(Dress(copies=copies_of([crossing("a", False, 8, NodeId((), 0), NodeId((), 1))], {})))
    (path,) = page.canvas.worn.marks.paths
    (x, top), (_, bottom) = page.drawing.paths[path].points
    texts, size = plates(page), QSizeF(300, 100)
    image = QImage(300, 100, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    # At scale 4 the line is longer than the screen; only one of its ends is in view.
    end = top if side == "bottom" else bottom
    page.canvas.render_view(painter, Viewport().centred(QPointF(x, end), size, 4.0), size)
    painter.end()
    assert len(texts) == 1


def test_many_copies_from_afar_keep_their_colours(shown, small, monkeypatch):
    monkeypatch.setattr("opscope.gui.views.graph.painter._MANY_COPIES", 0)
    page = shown(small)
    page.wear(Dress(copies=down()))
    for path, copy in page.canvas.worn.marks.paths.items():
        (x, top), (_, bottom) = page.drawing.paths[path].points[:2]
        middle = QPointF(x, (top + bottom) / 2)
        image = QImage(40, 40, QImage.Format.Format_RGB32)
        painter, size = QPainter(image), QSizeF(40, 40)
        page.canvas.render_view(painter, Viewport().centred(middle, size, 0.2), size)
        painter.end()
        wanted = LIGHT.copy_to_gpu if copy.to_gpu else LIGHT.copy_to_cpu
        other = LIGHT.copy_to_cpu if copy.to_gpu else LIGHT.copy_to_gpu
        near = colours(image.copy(18, 18, 4, 4))
        assert wanted in near
        assert other not in near
