"""Geometry as arrays: visibility, hits, neighbours."""

from __future__ import annotations

import pytest
from opscope.gui.layout.layout import lay_out
from opscope.gui.layout.scene import LaidOut
from opscope.gui.layout.scene_builder import build_scene, layout_request
from opscope.gui.layout.text import LABEL_PX
from opscope.gui.views.graph.drawing import Drawing, Hit
from opscope.gui.views.graph.viewport import LARGEST, Viewport, fitted, opening
from PySide6.QtCore import QPointF, QRectF, QSizeF


@pytest.fixture
def drawing(small):
    scene = build_scene(small)
    return Drawing(LaidOut(scene, lay_out(layout_request(scene))))


def box(drawing, title):
    return next(i for i, b in enumerate(drawing.scene.boxes) if b.title == title)


def test_a_box_is_hit_at_its_centre_and_not_beside_it(drawing):
    for index in range(len(drawing.scene.boxes)):
        centre = drawing.rect(index).center()
        assert drawing.hit(centre.x(), centre.y(), 3).box == index
    assert drawing.hit(-500, -500, 3) == Hit()


def test_a_line_is_hit_within_reach(drawing):
    (path,) = drawing.paths_of(drawing.outgoing(box(drawing, "Relu")))
    (x, y0), (_, y1) = drawing.paths[path].points
    assert drawing.hit(x + 2, (y0 + y1) / 2, 3).path == path
    assert drawing.hit(x + 9, (y0 + y1) / 2, 3).path is None


def test_visible_things_are_those_that_touch_the_view(drawing):
    width, height = drawing.size
    assert len(drawing.visible_boxes(QRectF(0, 0, width, height))) == len(drawing.scene.boxes)
    conv = box(drawing, "Conv")
    assert drawing.visible_boxes(drawing.rect(conv)).tolist() == [conv]
    assert len(drawing.visible_boxes(QRectF(-90, -90, 10, 10))) == 0
    assert len(drawing.visible_paths(QRectF(0, 0, width, height))) == len(drawing.paths)
    everything = QRectF(0, 0, width, height)
    assert len(drawing.visible_segments(everything, 40.0)) < len(drawing.segments)


def test_neighbours(drawing):
    add = box(drawing, "Add")
    titles = [drawing.scene.boxes[i].title for i in drawing.producers(add)]
    assert titles == ["Mul", "x"]
    assert [drawing.scene.boxes[i].title for i in drawing.consumers(add)] == ["y"]
    x = box(drawing, "x")
    assert {drawing.scene.boxes[i].title for i in drawing.consumers(x)} == {"Conv", "Add"}


def test_zooming_keeps_the_point_under_the_cursor():
    view, cursor = Viewport(0.8, 30, -400), QPointF(321, 123)
    before = view.to_scene(cursor)
    after = view.zoomed(1.7, cursor, 0.01).to_scene(cursor)
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()))
    assert view.zoomed(1000, cursor, 0.01).scale == LARGEST
    assert view.zoomed(1e-6, cursor, 0.01).scale == 0.01


def test_fitted_shows_all_and_opening_is_readable():
    size, tall = QSizeF(800, 600), QRectF(0, 0, 300, 90_000)
    whole = fitted(tall, size)
    assert whole.visible(size).contains(tall)
    opened = opening(tall, QPointF(150, 20), size)
    assert opened.scale == 1.0
    assert opened.visible(size).top() == pytest.approx(-28)
    wide = QRectF(0, 0, 9000, 4000)
    opened = opening(wide, QPointF(7000, 20), size)
    assert opened.scale * LABEL_PX >= 8  # pixels on the screen
    assert opened.scale < 1
    assert opened.visible(size).contains(QPointF(7000, 20))


def test_a_journey_ends_exactly():
    one, two = Viewport(0.2, 5, 6), Viewport(3.0, -700, 12)
    assert one.between(two, 1.0) == two
    assert one.between(two, 0.0) == one
    assert one.scale < one.between(two, 0.5).scale < two.scale
