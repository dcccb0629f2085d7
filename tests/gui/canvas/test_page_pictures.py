"""What a page paints: pictures, badges, the legend, levels of detail."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from graph_page import box, chain, colours
from handmade_models import model_of, node
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import Graph, NodeId, Port
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.views.graph.colouring import PLAIN
from opscope.gui.views.graph.drawing import Hit
from opscope.gui.views.graph.dress import UNDRESSED, Dress
from opscope.gui.views.graph.risk_colours import by_risk
from opscope.gui.views.graph.time_colours import by_time
from opscope.gui.views.graph.tooltip import tooltip_text
from opscope.gui.views.graph.verdict_colours import by_provider
from opscope.gui.views.graph.viewport import Viewport
from PySide6.QtCore import QCoreApplication, QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QLabel


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_picture_has_each_class_where_its_node_is(shown, small, theme):
    page = shown(small)
    page.set_theme(theme)
    statuses = (Status.GPU, Status.FUSED, Status.FOLDED, Status.HOST, Status.UNSUPPORTED)
    reason = {Status.HOST: Reason.TYPE}  # off the GPU, not where it should run
    support = {
        NodeId((), i): Support(status, reason.get(status, Reason.NONE))
        for i, status in enumerate(statuses)
    }
    page.wear(Dress(by_provider(small, support, "x")))
    for title, status in (("Conv", Status.GPU), ("Mul", Status.HOST), ("Add", Status.UNSUPPORTED)):
        index = box(page, title)
        node_id = page.drawing.scene.boxes[index].node
        image = page.camera.snapshot(QSize(400, 300), node_id)
        rect = page.drawing.rect(index)
        rect.moveCenter(QPointF(200, 150))
        rect.setHeight(24)  # the header
        found = colours(image, rect)
        assert theme.status[status].fill in found
        others = {theme.status[s].fill for s in statuses if s is not status}
        assert not others & found
    assert QColor(image.pixel(2, 2)).name() == theme.sunken


def test_a_picture_marks_its_node_and_works_at_any_size(shown, small):
    page = shown(small)
    marked = page.camera.snapshot(QSize(300, 200), NodeId((), 1))
    rect = page.drawing.rect(box(page, "Relu"))
    rect.moveCenter(QPointF(150, 100))
    ring = colours(marked, rect.adjusted(-4, -4, 4, 4))
    assert LIGHT.accent in ring
    whole = page.camera.snapshot(QSize(640, 480), pixel_ratio=2.0)
    assert whole.size() == QSize(1280, 960)
    assert page._selection.node is None  # taking a picture changes nothing


def test_a_host_node_is_hatched_a_gpu_node_is_not(shown, small):
    """The header's pattern tells them apart in a picture without colours."""
    page = shown(small)
    index = box(page, "Mul")
    counts = []
    for status in (Status.GPU, Status.HOST):
        support = {n: Support(status) for n in small.nodes}
        page.wear(Dress(by_provider(small, support, "x")))
        image = page.camera.snapshot(QSize(300, 200), NodeId((), 3), 1.0)
        rect = page.drawing.rect(index)
        rect.moveCenter(QPointF(150, 100))
        strip = QRectF(rect.left() + 40, rect.top() + 3, rect.width() - 62, 4)
        counts.append(len(colours(image, strip)))
    assert counts[0] == 1
    assert counts[1] > 2


def test_badges_and_modes(shown, small):
    page = shown(small)
    finding = Diagnostic("code", Severity.WARNING, "text")
    found = {NodeId((), 0): [finding, finding]}
    page.wear(Dress.of(by_risk(found), found))
    assert not page.canvas.dress.badges  # the risk colouring says it all
    assert not page.legend.isHidden()
    page.wear(Dress.of(by_time(small, {NodeId((), 0): 10}), found))
    badge = page.canvas.worn.badge(box(page, "Conv"))
    assert (badge.severity, badge.count) == (Severity.WARNING, 2)
    page.wear(UNDRESSED)
    assert page.legend.isHidden()


@pytest.mark.parametrize("scale", [0.4, 1.0])
def test_a_badge_is_seen_close_up_and_from_some_distance(shown, small, scale):
    page = shown(small)

    def corner():
        image = page.camera.snapshot(QSize(300, 200), NodeId((), 0), scale)
        rect = page.drawing.rect(box(page, "Conv"))
        x, y = 150 + rect.width() / 2 * scale, 100 - rect.height() / 2 * scale
        return colours(image, QRectF(x - 8, y - 8, 16, 16))

    error = LIGHT.severity[Severity.ERROR].fill
    assert error not in corner()
    page.wear(Dress.of(PLAIN, {NodeId((), 0): [Diagnostic("c", Severity.ERROR, "t")]}))
    assert error in corner()


def test_the_legend_leads_from_node_to_node(shown, small):
    page = shown(small)
    off = refused(Reason.TYPE, "no kernel")
    support = {n: off if n.index in (1, 4) else Support(Status.GPU) for n in small.nodes}
    page.wear(Dress(by_provider(small, support, "x")))
    host = next(b for b in page.legend.buttons() if b.entry.label == "CPU")
    seen = []
    for _ in range(3):
        host.click()
        seen.append(page._selection.node.index)
    assert seen == [1, 4, 1]


def test_a_narrow_legend_keeps_its_classes(shown, small):
    page = shown(small)
    support = {n: Support(s) for n, s in zip(small.nodes, Status, strict=False)}
    page.wear(Dress(by_provider(small, support, "ORT WebGPU 0.4.0")))
    buttons = page.legend.buttons()
    page.resize(sum(b.sizeHint().width() + 4 for b in buttons) + 60, 400)
    QCoreApplication.processEvents()
    assert all(b.isVisible() for b in page.legend.buttons())
    page.resize(240, 400)
    QCoreApplication.processEvents()
    assert page.width() == 240  # a legend does not hold the window open
    assert buttons[0].isVisible()
    page.wear(Dress(by_time(small, {NodeId((), 0): 10})))
    QCoreApplication.processEvents()
    shown_texts = [w.text() for w in page.legend.findChildren(QLabel) if w.isVisible()]
    assert "Time: Opscope on wgpu" in shown_texts
    assert page.legend.buttons()[0].isVisible()  # times have a line of their own


def test_classes_that_do_not_fit_go_to_another_line(shown, small):
    page = shown(small)
    statuses = (Status.GPU, Status.HOST, Status.FAILS, Status.UNKNOWN, Status.FOLDED)
    support = dict(zip(small.nodes, map(Support, statuses), strict=False))
    page.wear(Dress(by_provider(small, support, "ORT WebGPU 0.4.0")))
    page.resize(150, 400)
    QCoreApplication.processEvents()
    buttons = page.legend.buttons()
    assert len(buttons) >= 3
    assert all(b.isVisible() for b in buttons[:3])
    assert len({b.y() for b in buttons}) == 2
    page.resize(900, 400)
    QCoreApplication.processEvents()
    assert page.legend.buttons() == buttons
    assert all(b.isVisible() for b in buttons)
    assert len({b.y() for b in buttons}) == 1


def test_new_totals_keep_the_legend_s_buttons(shown, small):
    """In a loop the times change several times a second; a button must not go under a click."""
    page = shown(small)
    page.wear(Dress(by_time(small, {NodeId((), 0): 2_000_000})))
    (button,) = page.legend.buttons()
    page.wear(Dress(by_time(small, {NodeId((), 0): 4_000_000})))
    assert page.legend.buttons() == [button]
    assert button.entry.total == "4.00 ms \N{MIDDLE DOT} 100 %"


def test_hostile_names_are_drawn_not_obeyed(shown):
    """Newlines, markup, lone surrogates, and a name of a megabyte."""
    names = ("two\nlines", "<b>bold</b>", "\ud800broken\x00", "n" * 1_000_000)
    nodes = tuple(
        node(i, "Relu", (names[i - 1] if i else "x",), (name,), name=name)
        for i, name in enumerate(names)
    )
    page = shown(model_of(Graph((), "", nodes, (Port("x"),), (Port(names[-1]),))))
    for index in range(len(page.drawing.scene.boxes)):
        text = tooltip_text(page.canvas.worn, Hit(box=index))
        assert "<b>bold" not in text
        assert len(text) < 2000
    for path in range(len(page.drawing.paths)):
        assert tooltip_text(page.canvas.worn, Hit(path=path))
    assert not page.grab().isNull()
    first = next(b for b in page.drawing.scene.boxes if b.node)
    assert first.name == "two lines"


def test_every_level_of_detail_paints(shown, small):
    page = shown(small)
    findings = {NodeId((), 0): [Diagnostic("c", Severity.ERROR, "t")]}
    support = {n: Support(s) for n, s in zip(small.nodes, Status, strict=False)}
    page.wear(Dress.of(by_provider(small, support, "x"), findings))
    page._selection.select(NodeId((), 3))
    for scale in (0.05, 0.15, 0.3, 0.5, 0.8, 2.0):
        image = page.camera.snapshot(QSize(300, 300), NodeId((), 3), scale)
        area = QRectF(100, 100, 100, 100)
        assert len(colours(image, area)) > 1


def test_pictures_of_the_other_drawing_do_not_stand_in(shown, small, wait):
    page = shown(chain(150))
    page.overview.grab()
    wait(lambda: not page.is_busy)
    assert LIGHT.node in colours(page.overview.grab().toImage(), QRectF(5, 100, 40, 400))
    page.set_model(chain(160))
    assert page.wait_until_laid_out(20)
    strip = page.overview.grab().toImage()  # its picture is only asked for
    assert LIGHT.node not in colours(strip, QRectF(5, 100, 40, 400))
    wait(lambda: not page.is_busy)
    assert LIGHT.node in colours(page.overview.grab().toImage(), QRectF(5, 100, 40, 400))


def test_terminals_are_told_from_nodes_from_afar(shown, small):
    page = shown(small)
    everything = {n: Support(Status.GPU) for n in small.nodes}
    page.wear(Dress(by_provider(small, everything, "x")))
    for title, fill in (("x", LIGHT.accent), ("Conv", LIGHT.status[Status.GPU].fill)):
        rect = page.drawing.rect(box(page, title))
        view = Viewport().centred(rect.center(), QSizeF(100, 100), 0.2)
        image = QImage(QSize(100, 100), QImage.Format.Format_RGB32)
        painter = QPainter(image)
        page.canvas.render_view(painter, view, QSizeF(100, 100))
        painter.end()
        assert QColor(image.pixel(50, 50)).name() == fill


def test_labels_are_painted_where_they_can_be_read(shown, small):
    page = shown(small)
    scene, unlabelled = page.drawing.scene, copy.copy(page.drawing)
    unlabelled.scene = replace(scene, edges=tuple(replace(e, label="") for e in scene.edges))

    def picture(scale, drawing):
        return page.camera.snapshot(QSize(400, 400), NodeId((), 1), scale, drawing=drawing)

    assert picture(1.0, page.drawing) != picture(1.0, unlabelled)
    assert picture(0.5, page.drawing) == picture(0.5, unlabelled)
