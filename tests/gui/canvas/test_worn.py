"""A dress on a drawing: classes of boxes, badges, and what of it is prepared elsewhere."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import NodeId
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.theme import LIGHT
from opscope.gui.views.graph.dress import UNDRESSED, Dress
from opscope.gui.views.graph.strip import Strip
from opscope.gui.views.graph.time_colours import by_time
from opscope.gui.views.graph.verdict_colours import by_provider
from opscope.gui.views.graph.worn import Worn
from PySide6.QtCore import QSize
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


def test_the_strip_has_the_worrying_class_on_top_and_findings_at_its_edge(shown, small, dress):
    worn = Worn(shown(small).drawing, dress)
    tiny = Strip(QSize(62, 20), 1.0, LIGHT).picture(worn)  # all boxes fall together
    found = pixels(tiny)
    assert LIGHT.status[Status.HOST].fill in found
    edge = pixels(tiny.copy(57, 0, 5, 20))
    assert LIGHT.severity[Severity.WARNING].fill in edge
    bare = Strip(QSize(62, 20), 1.0, LIGHT).picture(Worn(worn.drawing, Dress(dress.colouring)))
    assert pixels(bare.copy(57, 0, 5, 20)) == {LIGHT.window}


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
    shown(nested)
    page.canvas.wear(dress, fitted)
    assert page.canvas.worn.drawing is page.drawing


def test_a_dress_that_cannot_be_made_is_told(shown, small, wait, monkeypatch):
    import sys

    page, told = shown(small), []
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, trace: told.append(error))

    def fail():
        raise ZeroDivisionError

    page.wear_soon(fail)
    wait(lambda: told)
    assert isinstance(told[0], ZeroDivisionError)
