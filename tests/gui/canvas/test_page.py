"""The page: navigation, selection, finding, pictures, cancelling."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest
from handmade_models import model_of, node
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import Graph, NodeId, Port, TensorType
from opscope.engine.providers.support import Reason, Status, Support, refused
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.views.graph.breadcrumb import crumbs
from opscope.gui.views.graph.colouring import PLAIN
from opscope.gui.views.graph.drawing import Hit
from opscope.gui.views.graph.dress import UNDRESSED, Dress
from opscope.gui.views.graph.emphasis import NO_EMPHASIS
from opscope.gui.views.graph.risk_colours import by_risk
from opscope.gui.views.graph.search import matching_nodes
from opscope.gui.views.graph.time_colours import by_time
from opscope.gui.views.graph.tooltip import tooltip_text
from opscope.gui.views.graph.verdict_colours import by_provider
from opscope.gui.views.graph.viewport import Viewport
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QKeySequence, QPainter, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel


def chain(count, opset=17):
    nodes = tuple(
        node(i, "Relu", (f"v{i}",), (f"v{i + 1}",), name=f"relu_{i}") for i in range(count)
    )
    ports = (Port("v0", TensorType("float32", (1, 8))),), (Port(f"v{count}"),)
    return model_of(Graph((), "chain", nodes, *ports), opset=opset)


def box(page, title):
    return next(i for i, b in enumerate(page.drawing.scene.boxes) if b.title == title)


def spot(page, title):
    rect = page.canvas.gaze.viewport.to_screen(page.drawing.rect(box(page, title)))
    return rect.center().toPoint()


def click(page, title):
    QTest.mouseClick(
        page.canvas, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, spot(page, title)
    )


def colours(image: QImage, area: QRectF) -> set[str]:
    found = set()
    for x in range(int(area.left()) + 1, int(area.right())):
        for y in range(int(area.top()) + 1, int(area.bottom())):
            found.add(QColor(image.pixel(x, y)).name())
    return found


def test_clicking_selects_and_highlights_neighbours(shown, small):
    page = shown(small)
    heard = []
    page._selection.node_changed.connect(heard.append)
    click(page, "Mul")
    assert heard == [NodeId((), 3)]
    emphasis = page.canvas.emphasis
    assert emphasis.selected == box(page, "Mul")
    assert emphasis.producers == (box(page, "Relu"),)
    assert emphasis.consumers == (box(page, "Add"),)
    assert len(emphasis.incoming) == len(emphasis.outgoing) == 1
    QTest.mouseClick(page.canvas, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))
    assert heard[-1] is None


def test_a_terminal_is_marked_but_is_no_node(shown, small):
    page = shown(small)
    click(page, "Mul")
    click(page, "x")
    assert page._selection.node is None
    assert page.canvas.emphasis.selected == box(page, "x")


def test_arrows_walk_to_producers_and_consumers(shown, small):
    page = shown(small)
    click(page, "Relu")
    QTest.keyClick(page.canvas, Qt.Key.Key_Down)
    assert page._selection.node == NodeId((), 3)
    QTest.keyClick(page.canvas, Qt.Key.Key_Up)
    QTest.keyClick(page.canvas, Qt.Key.Key_Up)
    assert page._selection.node == NodeId((), 0)
    QTest.keyClick(page.canvas, Qt.Key.Key_Escape)
    assert page._selection.node is None


def test_opening_and_leaving_subgraphs_and_functions(shown, nested):
    page = shown(nested)
    QTest.mouseDClick(page.canvas, Qt.MouseButton.LeftButton, pos=spot(page, "If"))
    assert [a.text() for a in page.menu.actions()] == ["Open then_branch", "Open else_branch"]
    page.menu.actions()[0].trigger()
    page.menu.close()
    assert page.wait_until_laid_out(20)
    assert page._selection.graph == ("1.then_branch",)
    assert [b.title for b in page.drawing.scene.boxes if b.node] == ["Mul"]
    assert not page.breadcrumb.isHidden()
    QTest.keyClick(page.canvas, Qt.Key.Key_Backspace)
    assert page._selection.graph == ()
    assert page._selection.node == NodeId((), 1)
    page.canvas.gaze.settle()
    click(page, "Block")
    QTest.keyClick(page.canvas, Qt.Key.Key_Return)
    assert page.wait_until_laid_out(20)
    assert page._selection.graph == ("local::Block",)
    QTest.keyClick(page.canvas, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert page._selection.graph == ()


def test_crumbs_name_the_way(nested):
    assert crumbs(nested, ("1.else_branch",)) == [
        ("Main graph", ()),
        ("branch \N{MIDDLE DOT} else_branch", ("1.else_branch",)),
    ]
    assert crumbs(nested, ("local::Block",))[1] == ("local::Block", ("local::Block",))


def test_showing_a_node_of_another_graph_opens_it(shown, nested):
    page = shown(nested)
    page.show_node(NodeId(("1.else_branch",), 0))
    assert page.wait_until_laid_out(20)
    page.canvas.gaze.settle()
    assert page._selection.graph == ("1.else_branch",)
    rect = page.canvas.gaze.viewport.to_screen(page.drawing.rect(box(page, "Neg")))
    assert QRectF(page.canvas.rect()).contains(rect)
    # A node of an inlined call is shown where the file has it.
    page.show_node(NodeId(("2.local::Block",), 0))
    assert page.wait_until_laid_out(20)
    assert page._selection.node == NodeId(("local::Block",), 0)


def test_an_operator_is_found_before_names_that_contain_it(shown):
    nodes = (
        node(0, "Gather", ("x",), ("a",), name="/emb_gru/Gather"),
        node(1, "GRU", ("a",), ("b",), name="rnn"),
        node(2, "Relu", ("b",), ("y",), name="after_gru"),
    )
    page = shown(model_of(Graph((), "g", nodes, (Port("x"),), (Port("y"),))))
    assert [i.index for i in matching_nodes(page._model, "gru")] == [1, 0, 2]
    page.find_bar.open()
    QTest.keyClicks(page.find_bar.field, "gru")
    assert page._selection.node == NodeId((), 1)


def test_coming_back_keeps_the_view(shown, nested):
    page = shown(nested)
    page.canvas.gaze.zoom(1.8, QPointF(100, 50))
    view = page.canvas.gaze.viewport
    page._selection.open_graph(("1.then_branch",))
    assert page.wait_until_laid_out(20)
    assert page.canvas.gaze.viewport != view
    page._selection.open_graph(())
    assert not page.is_laying_out  # its layout is kept, too
    assert page.canvas.gaze.viewport == view


def test_finding(shown, nested):
    page = shown(nested)
    assert matching_nodes(page._model, "") == []
    assert matching_nodes(page._model, "INNER") == [NodeId(("1.then_branch",), 0)]
    assert matching_nodes(page._model, "local::block") == [NodeId((), 2)]
    page.find_bar.open()
    QTest.keyClicks(page.find_bar.field, "n")
    assert page.find_bar.count.text() == "1 of 4"
    first = page._selection.node
    QTest.keyClick(page.find_bar.field, Qt.Key.Key_Return)
    assert page.find_bar.count.text() == "2 of 4"
    QTest.keyClick(page.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert page._selection.node == first
    QTest.keyClicks(page.find_bar.field, "othing like it")
    assert page.find_bar.count.text() == "No match"
    QTest.keyClick(page.find_bar.field, Qt.Key.Key_Escape)
    assert page.find_bar.isHidden()
    page.wait_until_laid_out(20)


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


def test_a_portal_leads_to_its_other_end(shown):
    nodes = [node(i, "Relu", (f"v{i}",), (f"v{i + 1}",)) for i in range(60)]
    nodes.append(node(60, "Add", ("v60", "v1"), ("y",)))
    graph = Graph((), "long", tuple(nodes), (Port("v0"),), (Port("y"),))
    page = shown(model_of(graph))
    below, above = page.drawing.portals
    assert below.outgoing
    assert not above.outgoing
    page.canvas.jump(0)
    page.canvas.gaze.settle()
    assert page._selection.node == NodeId((), 60)
    page.canvas.jump(1)
    assert page._selection.node == NodeId((), 0)


def test_wheel_zooms_at_the_cursor_and_shift_pans(shown, small):
    page = shown(small)
    canvas, cursor = page.canvas, QPointF(222, 111)

    def wheel(
        modifiers=Qt.KeyboardModifier.NoModifier,
        phase=Qt.ScrollPhase.NoScrollPhase,
        fine=(0, 0),
    ):
        QCoreApplication.sendEvent(
            canvas,
            QWheelEvent(
                cursor,
                canvas.mapToGlobal(cursor),
                QPoint(*fine),
                QPoint(0, 120),
                Qt.MouseButton.NoButton,
                modifiers,
                phase,
                False,
            ),
        )

    before, fixed = canvas.gaze.viewport, canvas.gaze.viewport.to_scene(cursor)
    wheel()
    assert canvas.gaze.viewport.scale > before.scale
    now = canvas.gaze.viewport.to_scene(cursor)
    assert (now.x(), now.y()) == pytest.approx((fixed.x(), fixed.y()))
    scale, dx = canvas.gaze.viewport.scale, canvas.gaze.viewport.dx
    wheel(Qt.KeyboardModifier.ShiftModifier)
    assert canvas.gaze.viewport.scale == scale
    assert canvas.gaze.viewport.dx == dx + 60
    # Two fingers pan; with Ctrl they zoom.
    dy = canvas.gaze.viewport.dy
    wheel(phase=Qt.ScrollPhase.ScrollUpdate, fine=(3, -11))
    assert (canvas.gaze.viewport.scale, canvas.gaze.viewport.dy) == (scale, dy - 11)
    wheel(Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.ScrollUpdate, (3, 11))
    assert canvas.gaze.viewport.scale > scale


def test_dragging_pans_and_does_not_select(shown, small):
    page = shown(small)
    canvas, start = page.canvas, spot(page, "Mul")
    before = canvas.gaze.viewport
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(canvas, start + QPoint(20, 0))
    QTest.mouseMove(canvas, start + QPoint(50, -30))
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=start + QPoint(50, -30))
    assert (canvas.gaze.viewport.dx - before.dx, canvas.gaze.viewport.dy - before.dy) == (50, -30)
    assert page._selection.node is None


def test_cancelling_ends_the_layout_and_it_can_be_retried(page, wait):
    page.set_model(chain(12_000))
    wait(lambda: page._jobs.running)
    page.cancel_layout()
    wait(lambda: not page._jobs._running)
    assert page.drawing is None
    assert not page.overlay.isHidden()
    page.set_model(chain(3))
    assert page.wait_until_laid_out(20)
    assert page.overlay.isHidden()
    assert len(page.drawing.scene.boxes) == 5


def test_a_newer_model_replaces_the_one_being_laid_out(page):
    shown = []
    page.laid_out.connect(lambda _: shown.append(len(page.drawing.scene.boxes)))
    page.set_model(chain(12_000))
    page.set_model(chain(4))
    assert page.wait_until_laid_out(30)
    assert shown == [6]


def test_better_types_relabel_in_place(shown, small):
    page = shown(small)
    page.canvas.gaze.zoom(1.5)
    view = page.canvas.gaze.viewport
    click(page, "Relu")
    page.set_types({((), "r"): TensorType("float32", (1, 8, 7, 7))})
    assert page.wait_until_laid_out(20)
    labels = {e.label for e in page.drawing.scene.edges}
    assert "1\N{MULTIPLICATION SIGN}8\N{MULTIPLICATION SIGN}7\N{MULTIPLICATION SIGN}7" in labels
    assert page.canvas.gaze.viewport == view
    assert page.canvas.emphasis.selected == box(page, "Relu")


def test_a_failed_layout_says_why(page, monkeypatch, wait):
    from opscope.gui.layout.types import LayoutError
    from opscope.gui.views.graph import layouts

    def fail(*_):
        raise LayoutError("no room")

    monkeypatch.setattr(layouts, "lay_out_in_child", fail)
    heard = []
    page.layout_failed.connect(heard.append)
    page.set_model(chain(3))
    wait(lambda: heard)
    assert heard == ["The graph could not be laid out: no room"]
    assert not page.wait_until_laid_out(1)


def test_an_empty_graph_is_no_error(shown):
    page = shown(model_of(Graph(())))
    assert not page.camera.snapshot(QSize(50, 50)).isNull()
    for key in (Qt.Key.Key_F, Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_1, Qt.Key.Key_Plus):
        QTest.keyClick(page.canvas, key)


def test_the_overview_shows_where_and_leads_there(shown, small, wait):
    page = shown(small)
    assert page.overview.isHidden()  # all of it is in view
    page = shown(chain(150))
    assert not page.overview.isHidden()
    support = {NodeId((), 149): Support(Status.UNSUPPORTED)}
    page.wear(Dress(by_provider(page._model, support, "x")))
    page.overview.grab()  # asks for its picture
    wait(lambda: not page.is_busy)
    strip = page.overview.grab().toImage()
    lowest = QRectF(0, strip.height() * 0.9, strip.width(), strip.height() * 0.1)
    highest = QRectF(0, 0, strip.width(), strip.height() * 0.5)
    red = LIGHT.status[Status.UNSUPPORTED].fill
    assert red in colours(strip, lowest)
    assert red not in colours(strip, highest)
    bottom = page.overview.rect().bottomLeft() + QPoint(30, -9)
    QTest.mouseClick(page.overview, Qt.MouseButton.LeftButton, pos=bottom)
    page.canvas.gaze.settle()
    assert NodeId((), 149) in page.camera.visible_nodes()
    assert NodeId((), 0) not in page.camera.visible_nodes()


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


def test_ctrl_f_opens_the_find_bar(shown, small):
    page = shown(small)
    page.activateWindow()
    page.canvas.setFocus()
    QTest.keySequence(page.canvas, QKeySequence(QKeySequence.StandardKey.Find))
    assert not page.find_bar.isHidden()


def test_shift_and_arrows_pan(shown, small):
    page = shown(small)
    for key, step in (
        (Qt.Key.Key_Left, (60, 0)),
        (Qt.Key.Key_Right, (-60, 0)),
        (Qt.Key.Key_Up, (0, 60)),
        (Qt.Key.Key_Down, (0, -60)),
    ):
        before = page.canvas.gaze.viewport
        QTest.keyClick(page.canvas, key, Qt.KeyboardModifier.ShiftModifier)
        now = page.canvas.gaze.viewport
        assert (now.dx - before.dx, now.dy - before.dy) == step
    assert page._selection.node is None


def test_what_is_under_the_cursor_stands_out_until_it_leaves(shown, small):
    page = shown(small)
    QTest.mouseMove(page.canvas, spot(page, "Relu"))
    assert page.canvas.emphasis.hovered == box(page, "Relu")
    rect = page.canvas.gaze.viewport.to_screen(page.drawing.rect(box(page, "Relu")))
    QTest.mouseMove(page.canvas, QPointF(rect.center().x(), rect.bottom() + 6).toPoint())
    emphasis = page.canvas.emphasis
    assert emphasis.hovered is None
    edges = {e for path in emphasis.traced for e in page.drawing.paths[path].edges}
    assert {page.drawing.scene.edges[e].value for e in edges} == {"r"}
    QCoreApplication.sendEvent(page.canvas, QEvent(QEvent.Type.Leave))
    assert page.canvas.emphasis == NO_EMPHASIS


def test_a_hand_that_trembles_clicks(shown, small):
    page = shown(small)
    start, view = spot(page, "Mul"), page.canvas.gaze.viewport
    QTest.mousePress(page.canvas, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(page.canvas, start + QPoint(2, 1))
    QTest.mouseRelease(page.canvas, Qt.MouseButton.LeftButton, pos=start + QPoint(2, 1))
    assert page.canvas.gaze.viewport == view
    assert page._selection.node == NodeId((), 3)


def test_moves_while_better_types_are_laid_out_are_kept(shown, small):
    page = shown(small)
    page.set_types({((), "r"): TensorType("float32", (1, 8, 7, 7))})
    assert page.drawing is not None  # the old labels stay until the new ones are there
    page.canvas.gaze.zoom(1.5)
    view = page.canvas.gaze.viewport
    assert page.wait_until_laid_out(20)
    assert page.canvas.gaze.viewport == view


def test_a_graph_with_old_types_is_shown_until_it_is_laid_out_anew(shown, nested):
    page = shown(nested)
    page._selection.open_graph(("1.then_branch",))
    assert page.wait_until_laid_out(20)
    page.set_types({((), "a"): TensorType("float32", (4,))})
    page._selection.open_graph(())
    assert page.is_laying_out
    assert {b.title for b in page.drawing.scene.boxes if b.node} == {"Abs", "If", "Block"}
    assert page.wait_until_laid_out(20)
    assert "4" in {e.label for e in page.drawing.scene.edges}


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
