"""The panels alone: what they show of hand-made documents."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import window_fakes as fakes
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.model import Graph, Node, NodeId, TensorType, Weight
from opscope.engine.live.answer import LivePlacement
from opscope.engine.ops.steps import Dispatch, Tensor
from opscope.engine.profiling.stats import NodeSummary, Spread
from opscope.gui.models.kernels import KernelRow, KernelsModel
from opscope.gui.selection import Selection
from opscope.gui.services import Target
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.views.charts_panel import ChartsPanel
from opscope.gui.views.column_table import ColumnTable
from opscope.gui.views.finding import Command, FindingHelp, finding_layout, link_text
from opscope.gui.views.graph.breadcrumb import Breadcrumb
from opscope.gui.views.kernel_view import KernelView
from opscope.gui.views.message_bar import MessageBar
from opscope.gui.views.operators_panel import OperatorsPanel
from opscope.gui.views.problems_panel import ProblemsPanel
from opscope.gui.views.run_panel import RunPanel
from opscope.gui.views.short_label import ShortLabel
from opscope.gui.views.start_page import Card, StartPage
from opscope.gui.views.value_rows import attribute_text, link
from opscope.gui.views.weight_view import weights_of
from PySide6.QtCore import QPointF, Qt, QUrl
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)


def test_a_finding_leads_to_its_page_and_to_the_command_that_mends_it(document, app):
    explained = []
    command = Command("opscope fix m.onnx", "opscope fix /models/m.onnx")
    finding_help = FindingHelp(
        explain=explained.append, command=lambda d: command if d.remedy else None
    )
    panel = ProblemsPanel(document, Selection(), LIGHT, finding_help=finding_help)
    panel.step(1)  # host-node: an error without a remedy
    assert "opscope fix" not in fakes.shown(panel)
    panel.step(1)
    assert "opscope fix m.onnx" in fakes.shown(panel)
    assert "/models" not in fakes.shown(panel)
    buttons = {b.text(): b for b in panel._detail.findChildren(QPushButton) if not b.isHidden()}
    buttons["Explain opset-gate"].click()
    buttons["Copy command"].click()
    assert explained == ["opset-gate"]
    assert QApplication.clipboard().text() == "opscope fix /models/m.onnx"


def test_weights_of_constant_nodes_and_attributes():
    weight = Weight("c", "float32", (2,), 8, read=lambda: np.zeros(2, np.float32))
    constant = Node(NodeId((), 0), "Constant", outputs=("c",), attributes={"value": weight})
    add = Node(NodeId((), 1), "Add", inputs=("x", "c"), outputs=("y",))
    graph = Graph((), nodes=(constant, add))
    assert weights_of(add, graph) == (("c", weight),)
    assert weights_of(constant, graph) == (("value", weight),)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (0.1, "0.1"),
        ("NOTSET", "'NOTSET'"),
        ((1, 2), "[1, 2]"),
        (tuple(range(100)), None),
        (TensorType("float32", (1,)), "float32  1"),
        ("x" * 1000, "'" + "x" * 239 + " ..."),
    ],
)
def test_attributes_as_text(value, text):
    found = attribute_text(value)
    assert len(found) < 300
    if text is not None:
        assert found == text


def test_the_kernel_view_shows_each_dispatch(app):
    tensor = Tensor(0, "float32", (8, 4), "f32")
    dispatches = [
        Dispatch(fakes.GRU, "GRU", name, name, {}, (tensor,), (tensor,), b"", (1, 2, 3))
        for name in ("project", "scan")
    ]
    view = KernelView(lambda d: f"// {d.shader}\nfn main() {{}}", LIGHT)
    view.show_dispatches(dispatches)
    assert view.text.toPlainText().startswith("// project")
    assert view.text.isReadOnly()
    view._chooser.setCurrentIndex(1)
    assert view.text.toPlainText().startswith("// scan")
    assert "1 \N{MULTIPLICATION SIGN} 2 \N{MULTIPLICATION SIGN} 3 workgroups" in fakes.shown(view)
    view.set_theme(DARK)


def test_problem_chips_filter_and_count(document, app):
    panel = ProblemsPanel(document, Selection(), LIGHT)
    texts = [b.text() for b in panel._severities.values()]
    assert texts == ["1 error", "1 warning", "1 info"]
    assert panel.model.rows == ()  # they are listed when the panel is looked at
    panel.fill()
    panel._severities[Severity.ERROR].click()
    assert [r.diagnostic.code for r in panel.model.rows] == ["opset-gate", "no-name"]
    panel._codes.setCurrentIndex(panel._codes.findData("no-name"))
    assert [r.diagnostic.code for r in panel.model.rows] == ["no-name"]
    nothing = replace(fakes.judgement(fakes.model()), diagnostics=())
    document.set_judgement(nothing, ["ort-webgpu"])
    panel.fill()
    assert panel._codes.currentData() == "no-name"  # a filter survives new findings
    panel._codes.setCurrentIndex(0)
    fakes.judged(document, "opscope", "ort-webgpu")
    panel.fill()
    texts = [panel._concerned.itemText(i) for i in range(panel._concerned.count())]
    assert texts == ["All targets", "The model itself", "ort-webgpu"]
    panel._concerned.setCurrentIndex(2)
    assert [r.diagnostic.code for r in panel.model.rows] == ["opset-gate"]
    panel._concerned.setCurrentIndex(0)
    document.open(replace(fakes.model(), diagnostics=()))
    panel.fill()
    assert panel.model.rowCount() == 0
    assert "The model is being checked" in fakes.shown(panel)
    document.set_judgement(nothing, ["ort-webgpu"])
    assert "No problem was found." in fakes.shown(panel)


def test_the_run_panel_marks_what_is_assumed(document, app):
    panel = RunPanel(document, QAction("Run"), QAction("Loop"), QAction("Stop"))
    document.open(fakes.model())
    assert "Assumed: T = 1, state[0] = 1" in fakes.shown(panel)
    assert panel.options(loop=False).repeats == 20
    assert panel.options(loop=True).repeats is None
    panel.set_devices([fakes.PROFILE])
    text = fakes.shown(panel)
    assert "driver 7.1" in text
    assert "Has f16. Without timestamps, subgroups." in text


def test_start_page_cards_open_by_mouse_and_key(app):
    page = StartPage([])
    chosen = []
    page.file_chosen.connect(chosen.append)
    page.set_recent(["/models/a.onnx"])
    (card,) = page.findChildren(Card)
    QTest.keyClick(card, Qt.Key.Key_Return)
    QTest.mouseClick(card, Qt.MouseButton.LeftButton)
    assert chosen == ["/models/a.onnx"] * 2


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://github.com/microsoft/onnxruntime/issues/28976", "microsoft/onnxruntime#28976"),
        ("https://github.com/onnx/onnx/pull/5", "onnx/onnx#5"),
        ("https://onnx.ai/onnx/operators/", "onnx.ai/onnx/operators/"),
    ],
)
def test_links_are_short(url, text):
    assert link_text(QUrl(url)) == text


def test_the_finding_that_is_read_stays_when_others_arrive(document, app):
    panel = ProblemsPanel(document, Selection(), LIGHT)
    panel.step(1)
    panel.step(1)
    read = panel._detail.row
    assert read.diagnostic.code == "opset-gate"
    new = Diagnostic("new", Severity.ERROR, "It came later.", node=fakes.RELU)
    document.set_live(LivePlacement("ort-webgpu", {}, {}, ""), [new])
    panel.fill()
    assert panel.model.rowCount() == 4
    assert panel._detail.row.key == read.key
    assert panel.model.rows[panel.table.currentIndex().row()].key == read.key
    panel._severities[Severity.WARNING].click()  # it is not listed any more
    assert panel._detail.row is None


def test_escape_dismisses_the_message_and_goes_elsewhere_while_there_is_none(app, wait):
    window = QWidget()
    column = QVBoxLayout(window)
    bar, field = MessageBar(), QLineEdit()
    column.addWidget(bar)
    column.addWidget(field)
    window.show()
    window.activateWindow()
    wait(window.isActiveWindow)
    field.setFocus()
    seen = []
    field.keyPressEvent = lambda event: seen.append(event.key())
    bar.show_message("there is no adapter")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert bar.text == ""
    assert seen == []
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert seen == [Qt.Key.Key_Escape]


def test_a_short_label_says_the_whole_where_it_has_no_room(app):
    made = ShortLabel()
    made.resize(60, 20)
    made.show_text("Live, as predicted: <b>ORT</b> WebGPU 0.4.0")
    assert made.text().endswith("\N{HORIZONTAL ELLIPSIS}")
    assert made.toolTip() == "<qt>Live, as predicted: &lt;b&gt;ORT&lt;/b&gt; WebGPU 0.4.0</qt>"
    made.resize(900, 20)
    made.show()
    app.processEvents()
    assert made.text() == made.whole_text
    assert made.toolTip() == ""


def test_names_of_files_and_nodes_are_never_markup_in_tips(app):
    name = "<img src='x.png'>"
    table = KernelsModel()
    summary = NodeSummary(fakes.GRU, "GRU", "scan", 1, Spread(1, 1.0, 1.0, 1.0), 1.0)
    table.set_rows([KernelRow(fakes.GRU, name, 0, summary)])
    tip = table.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert "<img" not in tip
    assert "&lt;img" in tip
    assert "<img" not in link(name, lambda _: None, fakes.GRU).toolTip()


def test_filters_of_problems_leave_room_for_words(document, app):
    label = "ORT WebGPU 0.4.0 (enableInt64=1, forceCpuNodeNames=a/very/long/name/of/a/node)"
    panel = ProblemsPanel(document, Selection(), LIGHT)
    panel.set_targets([Target("ort-webgpu", label)])
    panel.fill()
    panel.resize(900, 240)
    panel.show()
    app.processEvents()
    texts = [panel._concerned.itemText(i) for i in range(panel._concerned.count())]
    assert label in texts
    assert panel._words.width() > 150
    panel._concerned.setCurrentIndex(texts.index(label))
    assert label in panel._concerned.toolTip()


def test_a_click_on_an_operator_goes_from_one_of_its_nodes_to_the_next(document, app):
    nodes = fakes.model().graph.nodes
    second = Node(NodeId((), 4), "Relu", "", "again", ("y",), ("z",))
    graph = replace(fakes.model().graph, nodes=(*nodes, second))
    document.open(replace(fakes.model(), graph=graph))
    selection = Selection()
    panel = OperatorsPanel(document, selection, LIGHT)
    panel.show()
    panel._refresh()
    row = next(i for i, r in enumerate(panel.model.rows) if r.op == "Relu")
    seen = []
    for _ in range(3):
        panel.table.clicked.emit(panel.model.index(row, 0))
        seen.append(selection.node)
    assert seen == [fakes.RELU, second.id, fakes.RELU]


def test_operators_and_verdicts_fill_the_width_and_leave_nothing_to_scroll(document, app):
    panel = OperatorsPanel(document, Selection(), LIGHT)
    panel.resize(397, 400)
    panel.show()
    for number in (2, 3, 2, 4):
        panel.set_targets(fakes.TARGETS[:number])
        for _ in range(5):
            app.processEvents()
        header = panel.table.horizontalHeader()
        shown = [i for i in range(header.count()) if not header.isSectionHidden(i)]
        assert len(shown) == 2 + number
        assert header.length() == panel.table.viewport().width()
        assert panel.table.horizontalScrollBar().maximum() == 0


def test_a_click_on_a_curve_selects_its_operator_s_slowest_node(document, app):
    document.set_plan(fakes.plan())
    document.add_runs([fakes.run(first=True), fakes.run(1), fakes.run(1)])
    selection = Selection()
    panel = ChartsPanel(document, selection, LIGHT)
    try:
        panel.resize(700, 300)
        panel.show()
        panel._refresh()
        app.processEvents()
        box, curve = panel.plot.getViewBox(), panel._curves["GRU"]
        xs, ys = curve.getData()
        on = box.mapViewToScene(QPointF(xs[0], ys[0]))

        def click(place):
            event = SimpleNamespace(
                button=lambda: Qt.MouseButton.LeftButton, scenePos=lambda: place
            )
            panel._clicked(event)

        click(on + QPointF(0, -60))
        assert selection.node is None
        click(on + QPointF(0, 4))
        assert selection.node == fakes.GRU
    finally:
        panel.shutdown()


def test_a_table_is_copied_whole_or_by_the_row(app):
    model = KernelsModel()
    rows = []
    for index, name in enumerate(("first", "second")):
        summary = NodeSummary(NodeId((), index), "Op", "k", 1, Spread(1, 1.0, 1.0, 1.0), 0.5)
        rows.append(KernelRow(summary.node, name, index, summary))
    model.set_rows(rows)
    table = ColumnTable(model, LIGHT)
    table.copy_rows()
    lines = QApplication.clipboard().text().splitlines()
    assert [line.split("\t")[1] for line in lines] == ["Node", "first", "second"]
    table.selectRow(1)
    table.copy_rows()
    lines = QApplication.clipboard().text().splitlines()
    assert [line.split("\t")[1] for line in lines] == ["Node", "second"]


def test_only_links_to_the_web_can_be_clicked(app):
    links = ("https://example.org/1", "javascript:alert(1)", "file:///etc/passwd", "http://a.b/c")
    found = replace(fakes.CHECKS[0], links=links)
    opened = []
    view = QWidget()
    view.setLayout(finding_layout(found, "", LIGHT, FindingHelp(open_link=opened.append)))
    for button in view.findChildren(QPushButton):
        button.click()
    assert [url.toString() for url in opened] == ["https://example.org/1", "http://a.b/c"]
    texts = [part.text() for part in view.findChildren(QLabel)]
    assert "javascript:alert(1)" in texts


def test_a_long_way_into_a_model_takes_no_room_from_the_panels(app):
    inner = Graph(("3.body",), "body")
    name = "If_0_else_branch__Inline_0__/decoder/a/very/long/name"
    loop = Node(fakes.LOOP, "Loop", "", name, ("r",), ("y",), {"body": inner})
    nodes = (*fakes.model().graph.nodes[:3], loop)
    model = replace(fakes.model(), graph=replace(fakes.model().graph, nodes=nodes))
    window = QWidget()
    column = QVBoxLayout(window)
    crumb = Breadcrumb()
    column.addWidget(crumb)
    crumb.show_path(model, inner.path)
    window.show()
    assert column.minimumSize().width() < 60
    last = crumb.findChildren(QToolButton)[-1]
    assert last.text().startswith("If_0_else_branch")
    assert last.text().endswith("body")
    assert len(last.text()) <= 33
    assert last.toolTip() == f"{name} \N{MIDDLE DOT} body"
