"""By whose limits the window's findings are made."""

import json
import threading
from dataclasses import replace

import pytest
import window_fakes as fakes
from opscope.gui.layout.layout import lay_out
from opscope.gui.limits_control import Limits
from opscope.gui.main_window import MainWindow
from opscope.gui.views.graph import layouts
from PySide6.QtWidgets import QFileDialog


@pytest.fixture
def judged():
    """(whose limits, for whom) of each judgement."""
    return []


@pytest.fixture
def window(app, settings, wait, monkeypatch, judged):
    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))

    def judge(model, shapes, profile, targets):
        judged.append((profile.name if profile else "", tuple(targets)))
        return fakes.judgement(model, targets)

    made = MainWindow(fakes.services(judge=judge), settings)
    made.show()
    wait(lambda: made.targets)
    made.open_file("denoiser.onnx")
    wait(lambda: made.work.page.drawing is not None and not made.jobs.running)
    yield made
    made.close()


def test_a_browser_s_limits_count_at_once_and_for_the_next_file(window, wait, judged):
    assert judged == [("", ("opscope", "ort-webgpu"))]
    judged.clear()
    window.choices.limits[Limits.BROWSER].trigger()
    wait(lambda: judged and not window.jobs.running)
    assert judged == [("a browser", ("opscope", "ort-webgpu"))]
    assert window.status.limits_text == "Limits: a browser's"
    window.set_target("ort-cpu")
    wait(lambda: len(judged) == 2 and not window.jobs.running)
    window.open_file("other.onnx")
    wait(lambda: len(judged) == 3 and not window.jobs.running)
    assert {name for name, _ in judged} == {"a browser"}


def test_they_count_also_after_a_run_which_has_an_adapter(window, wait, judged):
    window.choices.limits[Limits.BROWSER].trigger()
    wait(lambda: window.limits.profile is not None and not window.jobs.running)
    judged.clear()
    window.start_run()
    wait(lambda: judged and not window.runs.busy and not window.jobs.running)
    assert {name for name, _ in judged} == {"a browser"}
    judged.clear()
    window.choices.limits[Limits.RUN].trigger()
    wait(lambda: judged and not window.jobs.running)
    assert {name for name, _ in judged} == {"Test adapter"}
    assert window.status.limits_text == ""


def test_limits_that_are_chosen_while_a_file_is_opened_count_for_it(
    app, settings, wait, monkeypatch
):
    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))
    gate, judged = threading.Event(), []

    def judge(model, shapes, profile, targets):
        judged.append(profile.name if profile else "")
        if len(judged) == 1:
            assert gate.wait(10)
        return fakes.judgement(model, targets)

    window = MainWindow(fakes.services(judge=judge), settings)
    try:
        wait(lambda: window.targets)
        window.open_file("denoiser.onnx")
        wait(lambda: judged)
        window.choices.limits[Limits.BROWSER].trigger()
        wait(lambda: window.limits.profile is not None)
        gate.set()
        wait(lambda: not window.jobs.running)
        assert judged == ["", "a browser"]
    finally:
        gate.set()
        window.close()


def test_a_file_without_limits_is_told_and_those_before_count(window, wait, judged, monkeypatch):
    window.choices.limits[Limits.ADAPTER].trigger()
    wait(lambda: window.limits.which is Limits.ADAPTER and not window.jobs.running)
    assert window.status.limits_text == "Limits: Test adapter"
    judged.clear()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("photo.json", ""))
    window.choices.limits[Limits.FILE].trigger()
    wait(lambda: window.work.message.text == "photo.json: this file holds no limits")
    assert window.choices.limits[Limits.ADAPTER].isChecked()
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    window.choices.limits[Limits.FILE].trigger()
    assert window.choices.limits[Limits.ADAPTER].isChecked()
    assert judged == []


def test_saved_limits_are_read_as_the_command_line_reads_them(tmp_path):
    from opscope.gui.engine_services import engine_services

    saved = replace(fakes.PROFILE, name="Lab")
    path = tmp_path / "lab.json"
    path.write_text(json.dumps(saved.to_json()))
    assert engine_services().limits(str(path)).name == "Lab"
