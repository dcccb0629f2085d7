"""The window as a user drives it, on hand-made services."""

import threading
from dataclasses import replace

import pytest
import window_fakes as fakes
from opscope.engine.diagnostics import Severity
from opscope.engine.errors import DeviceError, FeedError, NodeError
from opscope.engine.ir.model import NodeId
from opscope.engine.providers.support import Status
from opscope.gui.layout.layout import lay_out
from opscope.gui.main_window import MainWindow
from opscope.gui.menus import ToolBar
from opscope.gui.scheme import Scheme
from opscope.gui.views.graph import layouts
from opscope.gui.views.graph.colouring import Mode
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton


@pytest.fixture
def make(app, settings, wait, monkeypatch):
    """``make(runner, **services)`` shows a window that lays out without a child process."""
    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))
    windows = []

    def made(runner=None, **changed):
        window = MainWindow(fakes.services(runner, **changed), settings)
        windows.append(window)
        window.show()
        wait(lambda: window.targets or window.work.message.text)
        return window

    yield made
    for window in windows:
        window.close()


def open_model(window, wait, path="denoiser.onnx"):
    window.open_file(path)
    wait(lambda: window.document.name == path and not window.jobs.is_running("open"))


def test_opening_shows_summary_operators_and_then_the_graph(make, wait):
    window = make()
    assert not window.work.shows_graph
    assert not window.commands.run.isEnabled()
    open_model(window, wait)
    wait(lambda: window.work.page.drawing is not None)
    assert window.work.shows_graph
    assert window.windowTitle().startswith("denoiser.onnx")
    wait(lambda: window.work.operators.model.rowCount() == 4)
    assert {row.op for row in window.work.operators.model.rows} == {
        "GRU",
        "ConvTranspose",
        "Relu",
        "Loop",
    }
    assert window.commands.run.isEnabled()
    assert window.document.type_of(window.document.model.graph, "h").shape == ("T", 4)


def test_a_bad_file_is_told_in_one_line_and_the_open_document_stays(make, wait):
    window = make()
    open_model(window, wait)
    before = window.document.model
    window.open_file("broken.txt")
    wait(lambda: window.work.message.text)
    assert window.work.message.text == "broken.txt is not an ONNX model: the file is empty"
    assert window.document.model is before
    assert window.windowTitle().startswith("denoiser.onnx")
    window.open_file("other.onnx")
    wait(lambda: window.document.name == "other.onnx")
    assert window.work.message.text == ""


def test_when_a_file_is_open_no_node_of_the_one_before_is_selected(make, wait):
    window = make()
    open_model(window, wait)
    window.selection.reveal(fakes.GRU)
    selected = []
    window.document.opened.connect(lambda: selected.append(window.selection.node))
    open_model(window, wait, "other.onnx")
    assert selected == [None]


def test_the_status_bar_keeps_its_height_while_work_begins_and_ends(make, wait):
    gate = threading.Event()

    def load(path):
        assert gate.wait(10)
        return fakes.model(path)

    def height():
        for _ in range(5):  # a layout tells the one around it by an event
            QApplication.processEvents()
        return window.statusBar().height()

    window = make(load=load)
    cancel = next(b for b in window.statusBar().findChildren(QToolButton) if b.text() == "Cancel")
    wait(lambda: not cancel.isVisible())
    before = height()
    window.open_file("slow.onnx")
    wait(cancel.isVisible)
    during = height()
    gate.set()
    assert during == before


def test_a_newer_opening_wins_over_a_slow_one(make, wait):
    gate = threading.Event()

    def load(path):
        if path == "slow.onnx":
            assert gate.wait(10)
        return fakes.model(path)

    window = make(load=load)
    window.open_file("slow.onnx")
    open_model(window, wait, "quick.onnx")
    gate.set()
    wait(lambda: not window.jobs.running)
    assert window.document.name == "quick.onnx"


def test_a_target_recolours_the_graph(make, wait):
    window = make()
    open_model(window, wait)

    def status():
        return fakes.kind_of(window, fakes.GRU)

    window.set_target("opscope")
    wait(lambda: status() is Status.GPU)
    window.choices.next_target.trigger()
    wait(lambda: status() is Status.HOST)
    assert window.target.label == "ORT WebGPU 0.4.0"
    assert window.settings.target == "ort-webgpu"
    window.set_mode(Mode.RISK)
    wait(lambda: status() is Severity.WARNING)


def test_run_fills_tables_and_times_and_says_whose_they_are(make, wait):
    window = make()
    open_model(window, wait)
    window.work.show_dock("Kernels")
    window.commands.run.trigger()
    wait(lambda: not window.runs.busy)
    wait(lambda: window.work.kernels.model.rowCount() == 3)
    wait(lambda: window.work.kernels.model.rows[0].summary.time.n == 20)
    assert window.work.kernels.model.rows[0].summary.op == "GRU"
    assert window.document.samples.runs == 21
    assert window.profile == fakes.PROFILE
    assert "Opscope on wgpu" in window.work.kernels._about.text()
    window.set_mode(Mode.TIME)
    wait(lambda: window.work.page.colouring.mode is Mode.TIME)
    wait(lambda: fakes.kind_of(window, fakes.GRU) == 1.0)  # the slowest


def test_a_loop_goes_on_until_stopped_and_draws_the_usual_curves(make, wait):
    runner = fakes.FakeRunner()
    window = make(runner)
    open_model(window, wait)
    window.work.show_dock("Charts")
    window.commands.loop.trigger()
    wait(lambda: window.document.samples.warm_runs > 50)
    assert window.commands.stop.isEnabled()
    assert not window.commands.run.isEnabled()
    window.commands.stop.trigger()
    wait(lambda: not window.runs.busy)
    assert window.document.samples.runs == runner.runs
    charts = window.work.charts
    assert set(charts.operators) == {"GRU", "ConvTranspose"}
    wait(lambda: len(charts._curves["GRU"].getData()[0]) > 50)
    charts.choose("Relu", True)
    wait(lambda: "Relu" in charts._curves)


def test_a_failed_run_is_told_and_the_window_goes_on(make, wait):
    runner = fakes.FakeRunner(error=DeviceError("no usable adapter"))
    window = make(runner)
    open_model(window, wait)
    window.commands.run.trigger()
    wait(lambda: window.work.message.text == "no usable adapter")
    assert window.commands.run.isEnabled()


def test_a_run_that_fails_for_assumed_sizes_leads_to_them(make, wait):
    error = NodeError(NodeId((), 0), "gru", "GRU", "the window spans 128 but the input has 96")
    window = make(fakes.FakeRunner(error=error))
    open_model(window, wait)
    window.commands.run.trigger()
    wait(lambda: "spans 128" in window.work.message.text)
    button = next(b for b in window.work.message.findChildren(QPushButton) if b.text())
    assert button.text() == "Choose input sizes ..."
    window.work.docks["Operators"].raise_()
    button.click()
    wait(lambda: window.work.run.isVisible())
    assert not window.work.message.text


def test_inputs_that_do_not_fit_are_told(make, wait):
    def file_feeds(path, model):
        raise FeedError(f"{path}: x is 2 x 2, the model wants T x 1 x 3")

    window = make(file_feeds=file_feeds)
    open_model(window, wait)
    window.work.run.use_file("in.npz")
    window.commands.run.trigger()
    wait(lambda: window.work.message.text.startswith("in.npz: x is 2 x 2"))


def test_views_share_one_selection(make, wait):
    window = make()
    open_model(window, wait)
    window.work.show_dock("Kernels")
    window.commands.run.trigger()
    wait(lambda: window.work.kernels.model.rowCount() == 3 and not window.runs.busy)
    window.selection.reveal(fakes.DECONV)
    kernels = window.work.kernels
    assert kernels.table.currentIndex().row() == 1
    assert window.work.node.node.name == "up"
    table = kernels.table
    table.clicked.emit(table.model().index(0, 1))
    assert window.selection.node == fakes.GRU
    assert window.work.node.node.op_type == "GRU"
    operators = window.work.operators
    operators.table.clicked.emit(operators.model.index(operators.model.row_of("Relu"), 0))
    assert window.selection.node == fakes.RELU


def test_f8_walks_through_the_findings_and_around(make, wait):
    window = make()
    open_model(window, wait)
    seen = []
    for _ in range(4):
        window.commands.next_problem.trigger()
        seen.append(window.selection.node)
    assert seen == [fakes.LOOP, fakes.GRU, fakes.RELU, fakes.LOOP]
    window.commands.previous_problem.trigger()
    assert window.selection.node == fakes.RELU
    window.work.problems.model.set_severities({Severity.WARNING})
    window.commands.next_problem.trigger()
    assert window.selection.node == fakes.GRU


def test_a_node_without_findings_shows_none_and_f8_goes_on(make, wait):
    window = make()
    open_model(window, wait)
    table = window.work.problems.table
    window.commands.next_problem.trigger()
    assert table.selectionModel().hasSelection()
    window.selection.reveal(fakes.DECONV)
    assert not table.selectionModel().hasSelection()
    window.commands.next_problem.trigger()
    assert window.selection.node == fakes.GRU
    assert table.selectionModel().hasSelection()


def test_a_link_opens_only_when_clicked(make, wait):
    window = make()
    opened = []
    detail = window.work.problems._detail
    detail._help = replace(detail._help, open_link=opened.append)
    open_model(window, wait)
    window.work.problems.model.set_severities({Severity.WARNING})
    window.commands.next_problem.trigger()
    assert opened == []
    links = {b.text(): b for b in detail.findChildren(QPushButton)}
    links["example.org/28976"].click()
    assert opened == [QUrl("https://example.org/28976")]


def test_dropping_a_model_opens_it_and_inputs_are_taken(make, wait, tmp_path):
    window = make()

    def drop(path):
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(path))])
        window.dropEvent(
            QDropEvent(
                QPointF(5, 5),
                Qt.DropAction.CopyAction,
                data,
                Qt.MouseButton.LeftButton,
                Qt.KeyboardModifier.NoModifier,
            )
        )

    drop(tmp_path / "m.onnx")
    wait(lambda: window.document.name == "m.onnx")
    drop(tmp_path / "in.npz")
    assert window.work.run.options(loop=False).file == str(tmp_path / "in.npz")
    assert window.document.name == "m.onnx"


def test_the_theme_is_applied_and_kept(make, settings, app):
    window = make()
    window.scheme.choose(Scheme.DARK)
    assert window.theme.dark
    assert app.palette().window().color().lightness() < 80
    assert settings.theme == "dark"
    window.scheme.choose(Scheme.LIGHT)
    assert app.palette().window().color().lightness() > 200


def test_layout_is_kept_once_a_model_was_shown(make, settings, wait):
    window = make()
    window.close()
    assert settings.layout is None
    window = make()
    open_model(window, wait)
    window.work.docks["Charts"].hide()
    window.close()
    again = make()
    open_model(again, wait)
    assert again.work.docks["Charts"].isHidden()
    again.commands.reset_layout.trigger()
    assert not again.work.docks["Charts"].isHidden()


def test_diagnostics_hold_versions_and_findings_but_no_path(make, wait):
    window = make(load=lambda path: fakes.model(path))
    open_model(window, wait)
    window.commands.copy_diagnostics.trigger()
    text = QGuiApplication.clipboard().text()
    assert "wgpu 0." in text
    assert "warning opset-gate (ort-webgpu) [GRU #0]: GRU 22 has no row" in text
    assert "denoiser" not in text


def test_closing_in_the_middle_of_a_loop_and_of_a_layout(make, wait):
    runner = fakes.FakeRunner()
    window = make(runner)
    open_model(window, wait)
    window.commands.loop.trigger()
    wait(lambda: runner.runs > 3)
    window.open_file("other.onnx")
    wait(lambda: window.document.name == "other.onnx")
    window.commands.loop.trigger()
    window.close()
    assert runner.closed
    assert not [t.name for t in threading.enumerate() if t.name.startswith("opscope")]


def test_a_narrow_window_keeps_every_tool_in_reach(make, wait):
    window = make()
    bar = window.findChild(ToolBar)
    report = bar.widgetForAction(window.commands.report)
    words = []
    for width in (1800, 1440, 1280, 1000, 1800):
        window.resize(width, 700)
        wait(lambda width=width: bar.width() == width and report.isVisible())
        wait(lambda width=width: report.geometry().right() < width)
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        buttons = [bar.widgetForAction(a) for a in bar.actions() if not a.icon().isNull()]
        words.append(sum(b.toolButtonStyle() == style for b in buttons))
    assert words[0] == len(buttons) == words[-1]
    assert words[0] >= words[1] >= words[2] >= words[3] == 0
