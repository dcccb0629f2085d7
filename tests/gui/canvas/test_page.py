"""The page: navigation, selection, finding, pictures, cancelling."""

from __future__ import annotations

import pytest
from graph_page import box, chain, click, colours, spot
from handmade_models import model_of, node
from opscope.engine.ir.model import Graph, NodeId, Port, TensorType
from opscope.engine.providers.support import Status, Support
from opscope.gui.theme import LIGHT
from opscope.gui.views.graph.breadcrumb import crumbs
from opscope.gui.views.graph.dress import Dress
from opscope.gui.views.graph.emphasis import NO_EMPHASIS
from opscope.gui.views.graph.search import matching_nodes
from opscope.gui.views.graph.verdict_colours import by_provider
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QKeySequence, QWheelEvent
from PySide6.QtTest import QTest


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
