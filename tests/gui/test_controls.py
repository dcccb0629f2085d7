"""The window's controls alone: live answers, runs, themes, remedies, the past of a selection."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import report_case as case
import window_fakes as fakes
from opscope.engine.diagnostics import Diagnostic, Severity
from opscope.engine.ir.infer import Inference
from opscope.engine.ir.model import NodeId, TensorType
from opscope.engine.report.build import make_report
from opscope.engine.report.model import reported_model
from opscope.gui import scheme
from opscope.gui.document import Document
from opscope.gui.jobs import JobTracker
from opscope.gui.live_control import LiveControl
from opscope.gui.remedies import remedy_commands
from opscope.gui.run_control import RunControl
from opscope.gui.selection import Selection
from opscope.gui.theme import DARK, LIGHT
from opscope.gui.views.run_panel import RunOptions
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication


@pytest.fixture
def document(app):
    made = Document()
    made.open(fakes.model())
    return made


@pytest.fixture
def jobs(app):
    made = JobTracker(1, "controls")
    yield made
    made.close()


@pytest.fixture
def dressed(app):
    """The application, undressed again afterwards."""
    palette, style = app.palette(), app.style().objectName()
    yield app
    app.setStyleSheet("")
    app.setStyle(style)
    app.setPalette(palette)


@pytest.mark.parametrize(("chosen", "asked"), [("ort-cpu", "ort-cpu"), ("opscope", "ort-webgpu")])
def test_a_target_that_is_asked_before_it_was_placed_is_placed_with_the_types_known(
    document, jobs, wait, chosen, asked
):
    """Without them the prediction would be another one, and differ."""
    types = {((), "h"): TensorType("float32", ("T", 4))}
    document.set_types(Inference(types))
    placed = []

    def place(model, target, static, concrete):
        placed.append((target, dict(static), concrete))
        return fakes.verdicts(target)

    target = next(t for t in fakes.TARGETS if t.id == chosen)
    targets = SimpleNamespace(target=target, label=lambda name: name)
    control = LiveControl(document, jobs, fakes.services(place=place), targets, document)
    control.ask()
    wait(lambda: document.live(asked) is not None)
    assert placed == [(asked, types, None)]


def test_the_last_runs_of_many_are_told_when_the_run_is_over(document):
    """While runs stream in their statistics are renewed now and then; the end waits for none."""
    listeners = []

    class Worker(QObject):
        changed = Signal()

        def run(self, request, listener):
            listeners.append(listener)

    worker = Worker()
    control = RunControl(document, worker, fakes.services(), document)
    control.start(RunOptions(None, "", 0, {}, {}, 3))
    (listener,) = listeners
    listener.planned(fakes.plan())
    listener.ran([fakes.run(first=True), fakes.run(2)])
    assert document.summary[0].time.n == 1
    listener.ran([fakes.run(3), fakes.run(4)])
    assert document.summary[0].time.n == 1  # of a moment ago
    told = []
    document.measured.connect(lambda: told.append(document.summary[0].time.n))
    listener.finished()
    assert told == [3]


@pytest.mark.parametrize(("chosen", "expected"), [("system", [DARK]), ("light", []), ("dark", [])])
def test_the_theme_follows_the_system_where_that_was_chosen(
    dressed, settings, monkeypatch, chosen, expected
):
    settings.theme = chosen
    parent = QObject()
    control = scheme.SchemeControl(settings, parent)
    worn = []
    control.changed.connect(worn.append)
    monkeypatch.setattr(scheme, "theme_for", lambda _: DARK)
    QGuiApplication.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert worn == expected


def test_a_theme_is_worn_by_the_whole_application(dressed, settings):
    parent = QObject()
    control = scheme.SchemeControl(settings, parent)
    for chosen, theme in ((scheme.Scheme.DARK, DARK), (scheme.Scheme.LIGHT, LIGHT)):
        control.choose(chosen)
        assert theme.border in dressed.styleSheet()
        assert dressed.palette().window().color().name() == theme.window
        assert settings.theme == chosen.value


def test_a_remedy_has_bare_names_to_read_and_whole_paths_to_run(document, tmp_path):
    found = replace(fakes.CHECKS[0], code="opset-gate")
    command = remedy_commands(document, fakes.services())
    document.open(fakes.model(str(tmp_path / "sub" / ".." / "m.onnx")))
    made = command(found)
    assert made.shown == "opscope fix m.onnx --rule lower-opset"
    assert made.copied == f"opscope fix {tmp_path / 'm.onnx'} --rule lower-opset"
    assert command(Diagnostic("no-name", Severity.INFO, "x")) is None


def test_nothing_mends_a_report_or_a_model_without_a_file(document):
    command = remedy_commands(document, fakes.services())
    document.open(replace(fakes.model(), path=""))
    assert command(fakes.CHECKS[0]) is None
    document.open(reported_model(make_report(case.subject()).report, "r.png"))
    assert command(fakes.CHECKS[0]) is None


def test_the_way_back_is_long_and_has_an_end(app):
    selection = Selection()
    for index in range(300):
        selection.reveal(NodeId((), index))
    steps = 0
    while selection.can_go_back:
        selection.back()
        steps += 1
    assert steps == 200
    assert selection.node == NodeId((), 99)
