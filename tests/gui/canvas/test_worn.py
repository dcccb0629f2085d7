"""A dress on a drawing: classes of boxes, badges, and what of it is prepared elsewhere."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from handmade_models import model_of, node
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import Graph, NodeId, Port
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.theme import LIGHT
from opscope.gui.views.graph.dress import UNDRESSED, Dress
from opscope.gui.views.graph.strip import MARGIN, Strip
from opscope.gui.views.graph.time_colours import by_time
from opscope.gui.views.graph.verdict_colours import by_provider
from opscope.gui.views.graph.worn import Worn
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QColor

OFF = refused(Reason.TYPE, "no kernel")


@pytest.fixture
def dress(small):
    support = {NodeId((), i): OFF if i == 1 else Support(Status.GPU) for i in range(4)}
    findings = {NodeId((), 1): [Diagnostic("c", Severity.WARNING, "t")] * 2}
    return Dress.of(by_provider(small, support, "x"), findings)


def titles(drawing, boxes):
    return sorted(drawing.scene.boxes[i].title for i in boxes)


def test_boxes_are_grouped_by_class_and_terminals_apart(shown, small, dress):
    drawing = shown(small).drawing
    worn = Worn(drawing, dress)
    everything = np.arange(len(drawing.scene.boxes))
    groups = {kind: titles(drawing, boxes) for kind, boxes in worn.by_kind(everything)}
    assert groups == {
        Status.GPU: ["Conv", "Mul"],
        Status.HOST: ["Relu"],
        None: ["Add"],  # without a verdict
    }
    assert titles(drawing, worn.terminals(everything)) == ["x", "y"]
    # Of some boxes, those alone.
    relu = drawing.scene.box_of[NodeId((), 1)]
    assert [(k, b.tolist()) for k, b in worn.by_kind(np.array([relu]))] == [(Status.HOST, [relu])]


def test_times_that_look_alike_are_one_class(shown, small):
    drawing = shown(small).drawing
    times = {NodeId((), 0): 1000.0, NodeId((), 1): 999.9, NodeId((), 3): 10.0}
    assert len(Worn(drawing, Dress(by_time(small, times))).kinds) == 3  # two, and the untimed


def test_badges_are_found_by_box_and_by_severity(shown, small, dress):
    drawing = shown(small).drawing
    worn = Worn(drawing, dress)
    relu = drawing.scene.box_of[NodeId((), 1)]
    assert worn.badge(relu).count == 2
    assert worn.badge(drawing.scene.box_of[NodeId((), 0)]) is None
    assert {s: boxes.tolist() for s, boxes in worn.badged.items()} == {Severity.WARNING: [relu]}


def test_another_graphs_findings_are_not_on_this_one(shown, nested):
    drawing = shown(nested).drawing
    inner = {NodeId(("1.then_branch",), 0): [Diagnostic("c", Severity.ERROR, "t")]}
    assert Worn(drawing, Dress.of(UNDRESSED.colouring, inner)).badged == {}


def pixels(image):
    return {
        QColor(image.pixel(x, y)).name()
        for x in range(image.width())
        for y in range(image.height())
    }


def test_of_boxes_on_one_spot_the_strip_shows_the_most_worrying(shown):
    nodes = tuple(node(i, "Relu", (f"v{i}",), (f"v{i + 1}",)) for i in range(6))
    drawing = shown(model_of(Graph((), "chain", nodes, (Port("v0"),), (Port("v6"),)))).drawing
    support = {n.id: OFF if n.id.index == 2 else Support(Status.GPU) for n in nodes}
    flat = Strip(QSize(62, 14), 1.0, LIGHT)  # no height is left: all fall together
    worn = Worn(drawing, Dress(by_provider(model_of(Graph((), "chain", nodes)), support, "x")))
    found = pixels(flat.picture(worn))
    assert LIGHT.status[Status.HOST].fill in found
    assert LIGHT.status[Status.GPU].fill not in found


def test_the_strip_has_every_box_and_findings_at_its_edge(shown, small, dress):
    worn = Worn(shown(small).drawing, dress)
    strip = Strip(QSize(62, 400), 1.0, LIGHT)
    picture = strip.picture(worn)
    across, down = strip.squeeze(worn.drawing)
    for x, y in ((box[::2].mean(), box[1::2].mean()) for box in worn.drawing.boxes):
        ground = QColor(picture.pixel(int(x * across + MARGIN), int(y * down + MARGIN)))
        assert ground.name() != LIGHT.window
    edge = QRect(57, 0, 5, 400)
    assert LIGHT.severity[Severity.WARNING].fill in pixels(picture.copy(edge))
    bare = strip.picture(Worn(worn.drawing, Dress(dress.colouring)))
    assert pixels(bare.copy(edge)) == {LIGHT.window}


def test_a_dress_is_made_on_another_thread_and_worn_here(shown, small, dress, wait):
    page, made_on = shown(small), []

    def make():
        made_on.append(threading.current_thread())
        return dress

    page.wear_soon(make)
    assert page.is_busy
    wait(lambda: page.canvas.dress is dress)
    assert made_on[0] is not threading.main_thread()
    assert page.canvas.worn.dress is dress
    assert not page.legend.isHidden()


def test_a_newer_dress_drops_one_that_is_still_being_made(shown, small, dress, wait):
    page, gate = shown(small), threading.Event()

    def late():
        assert gate.wait(10)
        return dress

    page.wear_soon(late)
    page.wear(UNDRESSED)
    gate.set()
    wait(lambda: not page._jobs._running)
    assert page.canvas.dress is UNDRESSED


def test_a_dress_that_was_fitted_to_another_drawing_is_fitted_anew(shown, small, nested, dress):
    page = shown(small)
    fitted = Worn(page.drawing, dress)
    page.canvas.wear(dress, fitted)
    assert page.canvas.worn is fitted
    drawing = shown(nested).drawing
    page.canvas.wear(dress, fitted)
    assert page.canvas.worn.drawing is drawing


def test_a_dress_that_cannot_be_made_is_told(shown, small, wait, monkeypatch):
    import sys

    page, told = shown(small), []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: told.append(error))

    def fail():
        raise ZeroDivisionError

    page.wear_soon(fail)
    wait(lambda: told)
    assert isinstance(told[0], ZeroDivisionError)
