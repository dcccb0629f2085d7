"""Where a widget looks: zooming, panning, resizing, gliding."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from opscope.gui.views.graph.gaze import Gaze
from opscope.gui.views.graph.viewport import Viewport
from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtWidgets import QWidget

DRAWING = SimpleNamespace(size=(3000.0, 9000.0), start=(1500.0, 0.0))


@pytest.fixture
def widget(app):
    made = QWidget()
    made.resize(800, 600)
    return made


@pytest.fixture
def gaze(widget):
    made = Gaze(widget)
    made.turn_to(DRAWING, None)
    return made


def test_the_point_under_the_cursor_stays_when_zooming(gaze):
    cursor = QPointF(620, 90)
    before = gaze.viewport.to_scene(cursor)
    gaze.zoom(1.7, cursor)
    after = gaze.viewport.to_scene(cursor)
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()))


def test_zooming_out_ends_where_the_whole_drawing_has_room_and_some_more(gaze):
    gaze.zoom(1e-9)
    assert 1.2 * DRAWING.size[1] < gaze.visible.height() < 2.5 * DRAWING.size[1]


def test_an_opening_view_is_fitted_anew_any_other_keeps_its_middle(gaze, widget):
    opened = gaze.viewport
    assert gaze.as_opened
    widget.resize(1000, 600)
    gaze.resized(QSize(800, 600))
    assert gaze.as_opened
    assert gaze.viewport != opened
    gaze.pan(5, 7)
    assert not gaze.as_opened
    middle = gaze.viewport.to_scene(QPointF(500, 0)).x()
    widget.resize(700, 600)
    gaze.resized(QSize(1000, 600))
    assert gaze.viewport.to_scene(QPointF(350, 0)).x() == pytest.approx(middle)


@pytest.mark.parametrize(
    "move", [lambda g: g.pan(1, 1), lambda g: g.zoom(1.1), lambda g: g.travel(Viewport(2.0))]
)
def test_every_move_of_the_user_ends_the_opening_view(gaze, move):
    move(gaze)
    assert not gaze.as_opened
    gaze.fit_width()
    assert gaze.as_opened


def test_what_is_well_in_sight_is_not_moved_unless_asked_to(gaze):
    gaze.travel(Viewport(1.0, 0, 0))
    inside, outside = QRectF(100, 100, 80, 40), QRectF(2000, 100, 80, 40)
    gaze.show(inside, always=False)
    assert gaze.viewport == Viewport(1.0, 0, 0)
    gaze.show(inside, always=True)
    assert gaze.visible.center() == inside.center()
    gaze.show(outside, always=False)
    assert gaze.visible.center() == outside.center()
    # Seen from too far it is brought nearer.
    gaze.travel(Viewport(0.1, 0, 0))
    gaze.show(inside, always=False)
    assert gaze.viewport.scale == 0.75


def test_a_glide_ends_where_it_leads(gaze, widget, wait):
    widget.show()
    wanted = Viewport(1.5, -300, -800)
    gaze.travel(wanted)
    assert gaze.viewport != wanted
    wait(lambda: gaze.viewport == wanted)
    gaze.travel(Viewport())
    gaze.settle()
    assert gaze.viewport == Viewport()


def test_another_drawing_ends_a_glide(gaze, widget, app):
    widget.show()
    gaze.travel(Viewport(1.5, -300, -800))
    gaze.turn_to(DRAWING, Viewport(0.5, 1, 2))
    app.processEvents()
    assert gaze.viewport == Viewport(0.5, 1, 2)
    assert not gaze.as_opened
