"""From afar: thousands of things in a few calls, nothing lost that a screen could show."""

from __future__ import annotations

import numpy as np
import pytest
from opscope.engine.ir.model import NodeId
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.theme import LIGHT
from opscope.gui.views.graph.dress import Dress
from opscope.gui.views.graph.emphasis import Emphasis, EmphasisPainter
from opscope.gui.views.graph.far import _distinct
from opscope.gui.views.graph.lines import LinePainter
from opscope.gui.views.graph.verdict_colours import by_provider
from opscope.gui.views.graph.viewport import Viewport
from PySide6.QtCore import QSize, QSizeF
from PySide6.QtGui import QColor, QImage, QPainter


def test_of_many_things_on_one_pixel_one_is_painted_and_none_is_lost():
    place = np.arange(3000) // 3  # three on each spot, a spot every ten scene pixels
    corner = np.stack([place * 10.0, place * 10.0], axis=1)
    rects = np.hstack([corner, corner + 4])
    everything = np.arange(3000)
    assert _distinct(rects, everything, 1.0).tolist() == list(range(0, 3000, 3))
    # Where there are few, each is painted.
    assert _distinct(rects, everything[:100], 1.0).tolist() == list(range(100))
    # Farther off more of them fall together.
    assert len(_distinct(rects, everything, 0.01)) < 200


@pytest.mark.parametrize(("scale", "patterned"), [(0.22, True), (0.08, False)])
def test_patterns_are_painted_while_their_lines_can_be_told(shown, small, scale, patterned):
    page = shown(small)
    off = {n: refused(Reason.TYPE, "no kernel") for n in small.nodes}
    page.wear(Dress(by_provider(small, off, "x")))
    rect = page.drawing.rect(page.drawing.scene.box_of[NodeId((), 0)])
    size = QSizeF(rect.width() * scale, rect.height() * scale)
    image = QImage(QSize(100, 100), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    view = Viewport().centred(rect.center(), QSizeF(100, 100), scale)
    page.canvas.render_view(painter, view, QSizeF(100, 100))
    painter.end()
    half_width, half_height = int(size.width() / 2) - 1, max(int(size.height() / 2) - 1, 1)
    found = {
        QColor(image.pixel(x, y)).name()
        for x in range(50 - half_width, 50 + half_width)
        for y in range(50 - half_height, 50 + half_height)
    }
    assert LIGHT.status[Status.HOST].fill in found
    assert (len(found) > 1) is patterned


def test_a_line_that_stands_out_has_the_colour_of_its_reason():
    emphasis = Emphasis(incoming=frozenset([1]), outgoing=frozenset([2]), traced=frozenset([2, 3]))
    colour_of = EmphasisPainter(LIGHT, LinePainter()).colour_of
    assert [colour_of(path, emphasis) for path in (1, 2, 3, 4)] == [
        LIGHT.producer,
        LIGHT.consumer,
        LIGHT.accent,
        None,
    ]


def test_everything_on_the_gpu_has_no_pattern(shown, small):
    page = shown(small)
    page.wear(Dress(by_provider(small, {n: Support(Status.GPU) for n in small.nodes}, "x")))
    rect = page.drawing.rect(page.drawing.scene.box_of[NodeId((), 0)])
    image = QImage(QSize(20, 6), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    size = QSizeF(20, 6)
    page.canvas.render_view(painter, Viewport().centred(rect.center(), size, 0.22), size)
    painter.end()
    found = {QColor(image.pixel(x, y)).name() for x in range(4, 16) for y in range(1, 5)}
    assert found == {LIGHT.status[Status.GPU].fill}
