"""The window and its targets: choosing, options, comparing, stepping, copies, live answers."""

import threading

import pytest
import window_fakes as fakes
from opscope.engine.errors import UsageError
from opscope.engine.live.answer import LiveUnavailable
from opscope.engine.providers.support import Status, Support
from opscope.gui.code_pages import CodePage
from opscope.gui.difference import Difference
from opscope.gui.layout.layout import lay_out
from opscope.gui.main_window import MainWindow
from opscope.gui.views.graph import layouts
from opscope.gui.views.graph.colouring import Mode
from opscope.gui.views.target_options import TargetOptionsDialog
from PySide6.QtCore import QUrl
from PySide6.QtWidgets import QCheckBox, QComboBox, QPlainTextEdit, QPushButton

OLDER = "ort-webgpu@0.3.0"


@pytest.fixture
def make(app, settings, wait, monkeypatch):
    """``make(**services)`` shows a window with ORT WebGPU chosen and the fakes' model open."""
    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))
    windows = []

    def made(*, target="ort-webgpu", **changed):
        settings.target = target
        window = MainWindow(fakes.services(**changed), settings)
        windows.append(window)
        window.show()
        wait(lambda: window.targets)
        window.open_file("denoiser.onnx")
        wait(lambda: window.work.page.drawing is not None and not window.jobs.running)
        return window

    yield made
    for window in windows:
        window.close()


def labels(window):
    """The chooser's menu: texts with what stands beside them; a submenu as its own list."""
    window.choices.target_box.refill()
    found = []
    for action in window.choices.target_box.menu().actions():
        if action.isSeparator():
            found.append("-")
        elif action.menu() is not None:
            found.append([a.text() for a in action.menu().actions()])
        else:
            found.append(action.text())
    return found


def test_the_chooser_groups_targets_and_says_how_each_takes_the_model(make):
    window = make()
    assert labels(window) == [
        "Opscope\t1 of 4 off the GPU",
        "-",
        "ORT WebGPU 0.4.0\t2 of 4 off the GPU",
        "ORT CPU 1.32.0\ton the CPU",
        "-",
        ["ORT WebGPU 0.3.0\t3 of 4 off the GPU"],
        "-",
        "&Options of ORT WebGPU 0.4.0 ...",
    ]
    assert window.choices.target_box.text() == "ORT WebGPU 0.4.0"


def test_two_targets_are_judged_at_first_and_the_rest_placed_once_the_graph_is_drawn(make, wait):
    placed, judged = [], []
    gate = threading.Event()

    def place(model, target, types, concrete):
        if target == OLDER:
            assert gate.wait(10)
        placed.append(target)
        return fakes.verdicts(target)

    def judge(model, shapes, profile, targets):
        judged.append(tuple(targets))
        return fakes.judgement(model, targets)

    window = None

    def drawn():
        return window.work.page.drawing is not None and "ort-cpu" in placed

    original = MainWindow.open_file

    def opened(self, path):
        nonlocal window
        window = self
        original(self, path)
        wait(drawn)
        # The older version is still being placed: the window works meanwhile.
        assert self.document.verdicts(OLDER) == {}
        assert self.jobs.is_running("place")
        gate.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MainWindow, "open_file", opened)
        make(place=place, judge=judge)
    assert placed == ["opscope", "ort-webgpu", "ort-cpu", OLDER]
    assert judged == [("opscope", "ort-webgpu")]
    window.set_target(OLDER)
    wait(lambda: not window.jobs.running)
    assert judged == [("opscope", "ort-webgpu"), (OLDER,)]
    window.set_target("ort-webgpu")
    window.set_target(OLDER)
    wait(lambda: not window.jobs.running)
    assert len(judged) == 2  # what was judged stays so


@pytest.mark.parametrize(
    ("remembered", "expected"),
    [("ort-cpu", "ort-cpu"), ("", "ort-webgpu"), ("opscope", "ort-webgpu"), ("gone", "ort-webgpu")],
)
def test_a_file_named_at_the_start_is_judged_for_the_target_of_last_time(
    app, settings, wait, monkeypatch, remembered, expected
):
    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))
    judged = []
    gate = threading.Event()

    def targets():
        assert gate.wait(10)
        return fakes.TARGETS

    def judge(model, shapes, profile, chosen):
        judged.append(tuple(chosen))
        return fakes.judgement(model, chosen)

    settings.target = remembered
    window = MainWindow(fakes.services(targets=targets, judge=judge), settings)
    try:
        window.open_file("denoiser.onnx")
        wait(lambda: judged)
        assert judged == [("opscope", expected)]
    finally:
        gate.set()
        window.close()


def test_placing_the_rest_can_be_cancelled_and_a_click_still_judges(make, wait):
    gate = threading.Event()

    def place(model, target, types, concrete):
        if target == "ort-cpu":
            window_s.append(1)
            assert gate.wait(10)
        return fakes.verdicts(target)

    window_s = []
    original = MainWindow.open_file

    def opened(self, path):
        original(self, path)
        wait(lambda: window_s)
        self.status.cancelled.emit("place")
        gate.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MainWindow, "open_file", opened)
        window = make(place=place)
    assert window.document.verdicts("ort-cpu") == {}
    window.work.node.matrix.chosen.emit("ort-cpu")
    wait(lambda: window.document.verdicts("ort-cpu"))
    assert window.target.id == "ort-cpu"


def test_a_target_judged_meanwhile_keeps_its_better_verdicts(make, wait):
    gate, begun = threading.Event(), threading.Event()
    early = dict.fromkeys(fakes.verdicts("ort-cpu"), Support(Status.UNKNOWN))

    def place(model, target, types, concrete):
        if target == "ort-cpu":
            begun.set()
            assert gate.wait(10)
            return early
        return fakes.verdicts(target)

    original = MainWindow.open_file

    def opened(self, path):
        original(self, path)
        wait(begun.is_set)
        self.set_target("ort-cpu")
        wait(lambda: "ort-cpu" in self.document.parts.judged)
        gate.set()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MainWindow, "open_file", opened)
        window = make(place=place)
    assert window.document.verdicts(OLDER)  # the placing went on to its end
    assert window.document.verdicts("ort-cpu")[fakes.GRU].status is Status.HOST


def test_a_remembered_target_with_options_is_there_again_and_nonsense_is_not(make, settings):
    window = make(target="ort-webgpu,enableInt64=1")
    assert window.target.label == "ORT WebGPU 0.4.0 (enableInt64=1)"
    assert window.document.verdicts("ort-webgpu,enableInt64=1")
    window.close()
    window = make(target="ort-webgpu@9.9.9")
    assert window.target.id == "opscope"


def test_options_are_set_in_a_dialog_that_shows_the_command_line_s_text(make, wait):
    window = make()
    window.selection.reveal(fakes.GRU)
    window.choices.options_wanted.emit("ort-webgpu")
    (dialog,) = window.findChildren(TargetOptionsDialog)
    dialog.findChild(QCheckBox).setChecked(True)
    dialog.findChild(QComboBox).setCurrentText("NCHW")
    add = next(b for b in dialog.findChildren(QPushButton) if b.text() == "Add selected")
    add.click()
    name = "ort-webgpu,enableInt64=1,preferredLayout=NCHW,forceCpuNodeNames=enhance/gru"
    assert dialog._id.text() == name
    dialog.findChild(QPlainTextEdit).setPlainText("a,b")
    assert dialog.result_target is None  # a name with a comma cannot be said
    assert "no option" in dialog._error.text()
    dialog.accept()
    assert dialog.isVisible()
    dialog.findChild(QPlainTextEdit).setPlainText("")
    dialog.accept()
    wait(lambda: not window.jobs.running)
    assert window.target.id == "ort-webgpu,enableInt64=1,preferredLayout=NCHW"
    assert window.settings.target == window.target.id
    assert window.document.verdicts(window.target.id)
    chosen = labels(window)
    assert any(str(t).startswith("ORT WebGPU 0.4.0 (enableInt64=1") for t in chosen)


def test_the_difference_colours_lists_and_steps(make, wait):
    window = make()
    window.set_mode(Mode.DIFFERENCE)
    assert window.targeting.against.id == "opscope"
    panel = window.work.differences
    wait(panel.isVisible)
    wait(lambda: panel.model.rowCount() == 1)
    wait(lambda: window.work.page.colouring.mode is Mode.DIFFERENCE)
    wait(lambda: fakes.kind_of(window, fakes.GRU) is Difference.ONLY_SECOND)
    assert fakes.kind_of(window, fakes.LOOP) is Difference.SAME
    assert panel._about.text() == "1 of 4 nodes differ"
    panel.second.chosen.emit(OLDER)
    wait(lambda: panel.model.rowCount() == 1 and panel.model.rows[0].op == "ConvTranspose")
    panel.table.clicked.emit(panel.model.index(0, 1))
    assert window.selection.node == fakes.DECONV
    window.selection.select(None)
    window.commands.next_difference.trigger()
    assert window.selection.node == fakes.DECONV
    assert window.status.step_text == "1 of 1 differing: up (ConvTranspose), GPU against CPU"
    window.targeting.swap()
    assert (window.target.id, window.targeting.against.id) == (OLDER, "ort-webgpu")
    wait(lambda: panel.model.rowCount() and panel.model.rows[0].kind is Difference.ONLY_SECOND)
    # Who is compared with themselves changes places with the other.
    panel.first.chosen.emit("ort-webgpu")
    assert (window.target.id, window.targeting.against.id) == ("ort-webgpu", OLDER)


def test_n_steps_through_what_is_off_the_gpu_or_warned_of(make):
    window = make()
    seen = []
    for _ in range(3):
        window.commands.next_offending.trigger()
        seen.append((window.selection.node, window.status.step_text))
    assert seen == [
        (fakes.GRU, "1 of 2 offending: enhance/gru (GRU), CPU, version rule"),
        (fakes.LOOP, "2 of 2 offending: loop (Loop), CPU, no kernel"),
        (
            fakes.GRU,
            "1 of 2 offending: enhance/gru (GRU), CPU, version rule, from the start again",
        ),
    ]
    window.commands.previous_offending.trigger()
    assert window.selection.node == fakes.LOOP
    assert window.status.step_text.endswith("from the end again")
    window.set_target("ort-cpu")
    window.selection.select(None)
    window.commands.next_offending.trigger()
    # At home on the CPU nothing is off; the model's own error remains.
    assert window.status.step_text == "1 of 1 offending: loop (Loop), error host-node"


def test_copies_of_the_chosen_target_are_marked_and_counted_and_can_be_hidden(make, wait):
    window = make()

    def entries():
        return [e.label for e in window.work.page.colouring.legend]

    wait(lambda: "Copies" in entries())
    assert window.work.page.canvas.dress.copies.total == "2, over 4 KiB"
    window.commands.copies.trigger()
    wait(lambda: "Copies" not in entries())
    assert window.work.page.canvas.dress.copies.all == ()
    assert window.settings.copies is False
    window.set_mode(Mode.RISK)
    window.commands.copies.trigger()
    assert window.mode is Mode.PROVIDER
    wait(lambda: "Copies" in entries())
    window.set_target("opscope")
    wait(lambda: "Copies" not in entries())


def test_the_installed_runtime_is_asked_in_a_job_and_its_differences_are_findings(make, wait):
    asked = []

    def ask(model, target, verdicts):
        asked.append((target, threading.current_thread().name, verdicts[fakes.GRU].status))
        return fakes.live(target)

    window = make(ask_live=ask)
    window.commands.ask_live.trigger()
    wait(lambda: window.document.live("ort-webgpu") is not None)
    ((target, thread, status),) = asked
    assert (target, status) == ("ort-webgpu", Status.HOST)
    assert thread.startswith("opscope-work")
    assert window.status.step_text == "Live, 1 difference: ORT WebGPU 0.4.0 on ORT 9.9"
    assert "table-differs" in [d.code for d in window.document.diagnostics]


def test_why_it_cannot_be_asked_is_told(make, wait):
    def ask(model, target, verdicts):
        raise LiveUnavailable("onnxruntime is not installed: pip install opscope[ort]")

    window = make(ask_live=ask)
    window.commands.ask_live.trigger()
    wait(lambda: window.work.message.text.startswith("onnxruntime is not installed"))


def test_the_page_of_a_code_opens_and_a_missing_one_is_told(make, wait):
    window = make()
    window.pages.show("opset-gate")
    wait(lambda: window.findChildren(CodePage))
    (dialog,) = window.findChildren(CodePage)
    assert dialog.browser.toPlainText() == "opset-gate\nWhat it means."
    opened = []
    dialog._open_link = opened.append
    dialog.browser.anchorClicked.emit(QUrl("https://example.org/1"))
    for local in ("file:///etc/passwd", "../x.md", "javascript:1"):
        dialog.browser.anchorClicked.emit(QUrl(local))
    assert opened == [QUrl("https://example.org/1")]
    dialog.browser.anchorClicked.emit(QUrl("missing.md"))
    wait(lambda: window.work.message.text == "there is no page about missing")
    assert dialog.windowTitle() == "opset-gate"
    window.pages.show("nothing")
    wait(lambda: window.work.message.text == "there is no page about nothing")


def test_an_unknown_target_is_refused_and_nothing_changes(make):
    window = make()
    with pytest.raises(UsageError, match="there is opscope, ort-webgpu"):
        window.set_target("tensorrt")
    assert window.target.id == "ort-webgpu"


def test_a_run_judges_again_for_every_target_looked_at(make, wait):
    judged = []

    def judge(model, shapes, profile, targets):
        judged.append((dict(shapes), tuple(targets)))
        return fakes.judgement(model, targets)

    window = make(judge=judge)
    window.set_target("ort-cpu")
    wait(lambda: not window.jobs.running)
    judged.clear()
    window.commands.run.trigger()
    wait(lambda: judged and not window.runs.busy and not window.jobs.running)
    assert judged == [({}, ("opscope", "ort-cpu", "ort-webgpu"))]
