"""Boxes close up: what has room in a header, and in which order it gives way."""

from __future__ import annotations

import pytest
from opscope.engine.providers.support import Status
from opscope.gui.layout.scene_builder import build_scene
from opscope.gui.theme import LIGHT
from opscope.gui.views.graph.boxes import BoxPainter
from opscope.gui.views.graph.fonts import Fonts
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter


@pytest.fixture
def painted(app):
    """``painted(box, text, width)``: the picture of a box with a colouring's text."""
    boxes = BoxPainter(LIGHT, Fonts())

    def paint(box, text="", width=0.0):
        image = QImage(280, 120, QImage.Format.Format_RGB32)
        image.fill(LIGHT.sunken)
        painter = QPainter(image)
        rect = QRectF(10, 10, width or box.size[0], box.size[1])
        boxes.paint(painter, box, rect, LIGHT.status[Status.GPU], text, None)
        painter.end()
        return image

    return paint


def box_of(model, title):
    return next(box for box in build_scene(model).boxes if box.title == title)


def test_a_container_has_room_for_its_title_and_what_is_off_inside(nested, painted):
    box = box_of(nested, "If")
    told = painted(box, "999 off GPU")
    assert told != painted(box)
    title = QRectF(14, 12, 16, 20).toRect()
    assert told.copy(title) == painted(box).copy(title)


def test_a_text_that_would_push_the_operator_out_is_left_to_the_tooltip(nested, painted):
    box = box_of(nested, "If")
    assert painted(box, "999 off GPU", 100) == painted(box, "", 100)
    assert painted(box, "12 %", 100) != painted(box, "", 100)


def test_a_box_with_a_graph_inside_shows_so(nested, painted):
    assert box_of(nested, "If").size[0] > box_of(nested, "Abs").size[0]
    plain, container = (painted(box_of(nested, title), width=180) for title in ("Abs", "If"))
    sign = QRectF(140, 12, 30, 20).toRect()  # left of the class's own
    assert plain.copy(sign) != container.copy(sign)
