"""The panels alone: what they show of hand-made documents."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import window_fakes as fakes
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.errors import ModelFileError
from opscope.engine.ir.model import Graph, Node, NodeId, TensorType, Weight
from opscope.engine.live.answer import LivePlacement
from opscope.engine.ops.steps import Dispatch, Tensor
from opscope.engine.profiling.stats import NodeSummary, Spread
from opscope.gui.document import Document
from opscope.gui.jobs import JobTracker
from opscope.gui.models.kernels import KernelRow, KernelsModel
from opscope.gui.opening import Opener
from opscope.gui.selection import Selection
from opscope.gui.services import Target
from opscope.gui.target_control import TargetControl
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.views.charts_panel import ChartsPanel
from opscope.gui.views.column_table import ColumnTable
from opscope.gui.views.finding import Command, FindingHelp, finding_layout, link_text
from opscope.gui.views.graph.breadcrumb import Breadcrumb
from opscope.gui.views.kernel_view import KernelView
from opscope.gui.views.matrix_layout import Columns, Needs
from opscope.gui.views.message_bar import MessageBar
from opscope.gui.views.model_summary import ModelSummary
from opscope.gui.views.node_panel import NodePanel
from opscope.gui.views.operators_panel import OperatorsPanel
from opscope.gui.views.problems_panel import ProblemsPanel
from opscope.gui.views.run_panel import RunPanel
from opscope.gui.views.short_label import ShortLabel
from opscope.gui.views.start_page import Card, StartPage
from opscope.gui.views.value_rows import attribute_text, link
from opscope.gui.views.verdict_matrix import RowButton
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


@pytest.fixture
def document(app):
    made = Document()
    made.open(fakes.model())
    fakes.judged(made)
    return made


@pytest.fixture
def jobs(app):
    made = JobTracker(1, "panels")
    yield made
    made.close()


def shown(widget):
    """All texts of the labels and links in ``widget`` that are not hidden."""
    QApplication.processEvents()  # new children of a visible view are shown by an event
    parts = [*widget.findChildren(QLabel), *widget.findChildren(QPushButton)]
    return "\n".join(p.text() for p in parts if not p.isHidden())


@pytest.fixture
def targets(document, jobs, settings, wait):
    """The targets of the fakes, ORT WebGPU chosen."""
    settings.target = "ort-webgpu"
    services = fakes.services()
    opener = Opener(document, jobs, services, document)
    made = TargetControl(document, opener, jobs, services, settings, document)
    made.ask()
    wait(lambda: made.target is not None)
    return made


@pytest.fixture
def panel(document, jobs, targets):
    selection = Selection()
    made = NodePanel(document, selection, targets, jobs, lambda dispatch: "fn main() {}", LIGHT)
    made.selection = selection
    made.show()  # a hidden view does not refresh
    return made


def test_the_node_panel_has_every_target_s_verdict_and_the_chosen_one_s_reason(panel):
    panel.selection.select(fakes.GRU)
    rows = {row.target.id: row for row in panel.matrix.rows}
    assert {name: row.word for name, row in rows.items()} == {
        "opscope": "GPU",
        "ort-webgpu": "CPU",
        "ort-cpu": "CPU",
        "ort-webgpu@0.3.0": "CPU",
    }
    assert rows["ort-webgpu"].step == "version rule"
    assert rows["ort-cpu"].look is LIGHT.home
    text = shown(panel.sections["Who runs it"])
    assert "Schema version: GRU has schema version 22; rows cover 14" in text
    (fold,) = panel.matrix.findChildren(QToolButton)
    assert fold.text() == "Other versions (1)"
    column = panel.matrix.layout()
    before = column.count()
    fold.click()
    assert column.count() == before - 1
    findings = shown(panel.sections["Findings"])
    assert "What helps: Stamp the model with opset 21" in findings
    assert "example.org/28976" in findings


def test_the_file_is_described_once_and_another_file_anew(panel, document):
    summary = panel.findChild(ModelSummary)
    before = summary.findChildren(QLabel)
    panel.selection.select(fakes.GRU)
    panel.selection.select(None)
    assert summary.findChildren(QLabel) == before
    document.open(replace(document.model, producer="another"))
    assert "Made by: another" in shown(summary)


def test_a_click_on_a_row_of_the_matrix_chooses_that_target(panel, targets):
    panel.selection.select(fakes.RELU)
    assert "no ConvTranspose" not in shown(panel.matrix)
    buttons = {b.toolTip().split(":")[0]: b for b in panel.matrix.findChildren(RowButton)}
    buttons["ORT WebGPU 0.3.0"].click()
    assert targets.target.id == "ort-webgpu@0.3.0"
    links = panel.matrix.findChildren(QPushButton)
    (link,) = [b for b in links if b.text() == "computed in the kernel of up"]
    link.click()
    assert panel.selection.node == fakes.DECONV
    assert "No kernel: no ConvTranspose" in shown(panel.matrix)


def test_the_matrix_keeps_its_buttons_and_tab_goes_from_top_to_bottom(panel, targets):
    panel.selection.select(fakes.GRU)
    before = panel.matrix.findChildren(RowButton)
    panel.selection.select(fakes.RELU)
    targets.choose("opscope")
    assert panel.matrix.findChildren(RowButton) == before
    assert {b.accessibleName().split(",")[0] for b in before} == {
        f"{row.target.label}: {row.word}" for row in panel.matrix.rows
    }
    column = [
        panel.matrix.layout().itemAt(i).widget() for i in range(panel.matrix.layout().count())
    ]
    stops = [w for w in column if isinstance(w, RowButton | QToolButton)]
    assert len(stops) == 5  # with the fold
    chain = [stops[0]]
    while (after := chain[-1].nextInFocusChain()) is not stops[0]:
        chain.append(after)
    assert [w for w in chain if w in stops] == stops


def test_the_installed_runtime_s_answer_stands_beside_and_differences_are_marked(
    panel, document, wait
):
    panel.selection.select(fakes.GRU)
    assert not any(row.live for row in panel.matrix.rows)
    document.set_live(*fakes.live("ort-webgpu"))
    wait(lambda: any(row.live for row in panel.matrix.rows))
    row = next(r for r in panel.matrix.rows if r.target.id == "ort-webgpu")
    assert (row.word, row.live, row.differs) == ("CPU", "GPU", True)
    assert [r.target.id for r in panel.matrix.rows if r.differs] == ["ort-webgpu"]
    assert "The installed ORT 9.9: WebGpuExecutionProvider" in shown(panel.matrix)
    panel.selection.select(fakes.LOOP)
    row = next(r for r in panel.matrix.rows if r.target.id == "ort-webgpu")
    assert (row.word, row.live, row.differs) == ("CPU", "CPU", False)
    live, _ = fakes.live("ort-webgpu")
    document.set_live(replace(live, nodes={}, error="no adapter"), ())
    wait(lambda: "makes no session: no adapter" in shown(panel.matrix))
    row = next(r for r in panel.matrix.rows if r.target.id == "ort-webgpu")
    assert (row.live, row.live_look) == ("no session", None)  # which says nothing of this node


def test_a_node_s_findings_are_those_of_the_chosen_target(panel, targets):
    panel.selection.select(fakes.GRU)
    assert "opset-gate" in shown(panel.sections["Findings"])
    targets.choose("ort-cpu")
    assert panel.sections["Findings"].isHidden()


def test_a_target_without_verdicts_is_not_judged(panel, document):
    document.open(fakes.model())
    panel.selection.select(fakes.GRU)
    assert {row.word for row in panel.matrix.rows} == {"not judged"}


def test_a_finding_leads_to_its_page_and_to_the_command_that_mends_it(document, app):
    explained = []
    command = Command("opscope fix m.onnx", "opscope fix /models/m.onnx")
    finding_help = FindingHelp(
        explain=explained.append, command=lambda d: command if d.remedy else None
    )
    panel = ProblemsPanel(document, Selection(), LIGHT, finding_help=finding_help)
    panel.step(1)  # host-node: an error without a remedy
    assert "opscope fix" not in shown(panel)
    panel.step(1)
    assert "opscope fix m.onnx" in shown(panel)
    assert "/models" not in shown(panel)
    buttons = {b.text(): b for b in panel._detail.findChildren(QPushButton) if not b.isHidden()}
    buttons["Explain opset-gate"].click()
    buttons["Copy command"].click()
    assert explained == ["opset-gate"]
    assert QApplication.clipboard().text() == "opscope fix /models/m.onnx"


def test_values_have_formal_names_types_and_ends(panel):
    panel.selection.select(fakes.DECONV)
    text = shown(panel.sections["Inputs"])
    assert "X   " in text
    assert "from enhance/gru" in text
    assert "W   float32  3 \N{MULTIPLICATION SIGN} 4" in text
    assert "w (weight, 48 bytes)" in text
    assert "strides = [2]" in shown(panel.sections["Attributes"])
    links = panel.sections["Inputs"].findChildren(QPushButton)
    next(b for b in links if b.text() == "from enhance/gru").click()
    assert panel.selection.node == fakes.GRU


def test_weights_are_read_on_a_worker(panel, wait):
    panel.selection.select(fakes.GRU)
    wait(lambda: "12 values, from 0 to 11, mean 5.5" in shown(panel.sections["Weights"]))


def test_a_weight_that_cannot_be_read_says_why(document, targets, jobs, wait):
    def read():
        raise ModelFileError("w: the data lies outside the model's folder")

    model = fakes.model()
    bad = replace(model.graph.initializers["w"], read=read)
    document.open(replace(model, graph=replace(model.graph, initializers={"w": bad})))
    selection = Selection()
    panel = NodePanel(document, selection, targets, jobs, lambda dispatch: "", LIGHT)
    selection.select(fakes.GRU)
    wait(lambda: "cannot be read: w: the data lies outside" in shown(panel.sections["Weights"]))


def test_times_come_with_runs_and_change_in_place(panel, document, wait):
    panel.selection.select(fakes.GRU)
    document.set_plan(fakes.plan())
    document.add_runs([fakes.run(4, first=True)])
    wait(lambda: "first run 1.20 ms" in shown(panel.sections["Times"]))
    document.add_runs([fakes.run(1)])
    wait(lambda: "p50 300 \N{MICRO SIGN}s   n = 1" in shown(panel.sections["Times"]))
    assert "2 dispatches of gru_scan" in shown(panel.sections["Times"])


def test_without_a_selection_the_file_is_described(panel):
    panel.selection.select(fakes.GRU)
    panel.selection.select(None)
    text = shown(panel._summary)
    assert "Made by: tests" in text
    assert "IR version 9, opset ONNX 22" in text


def test_a_plan_s_types_replace_symbols(panel, document):
    panel.selection.select(fakes.GRU)
    document.set_plan(fakes.plan())
    assert "5 \N{MULTIPLICATION SIGN} 4" in shown(panel.sections["Outputs"])


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
    assert "1 \N{MULTIPLICATION SIGN} 2 \N{MULTIPLICATION SIGN} 3 workgroups" in shown(view)
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
    assert "The model is being checked" in shown(panel)
    document.set_judgement(nothing, ["ort-webgpu"])
    assert "No problem was found." in shown(panel)


def test_the_run_panel_marks_what_is_assumed(document, app):
    panel = RunPanel(document, QAction("Run"), QAction("Loop"), QAction("Stop"))
    document.open(fakes.model())
    assert "Assumed: T = 1, state[0] = 1" in shown(panel)
    assert panel.options(loop=False).repeats == 20
    assert panel.options(loop=True).repeats is None
    panel.set_devices([fakes.PROFILE])
    text = shown(panel)
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


def test_the_node_panel_is_as_high_as_what_it_shows(panel, wait):
    panel.resize(380, 300)
    overhang = panel.verticalScrollBar().maximum
    wait(lambda: overhang() > 0)
    alone = overhang()
    panel.selection.select(fakes.GRU)
    wait(lambda: overhang() > alone + 100)
    panel.selection.select(None)
    wait(lambda: overhang() <= alone)


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


@pytest.mark.parametrize(
    ("names", "step"), [(400.0, 90.0), (135.0, 41.0)], ids=["a long label", "steps in a word"]
)
def test_the_step_keeps_a_place_beside_the_live_answer(names, step):
    """At the usual width of the panel."""
    at = Columns.of(327.0, Needs(name=names, word=38.0, step=step, live=True))
    assert at.step is not None
    assert at.verdict < at.live < at.step
    assert at.step + at.room < 327.0
    assert at.room >= min(step, 44.0)


def test_a_step_that_has_no_room_is_left_out():
    at = Columns.of(200.0, Needs(name=100.0, word=38.0, step=90.0, live=True))
    assert at.step is None


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
