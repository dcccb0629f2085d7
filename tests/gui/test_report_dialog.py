"""The report dialog and the reopened report, as a user meets them, on hand-made services."""

import pytest
import window_fakes as fakes
from opscope.engine.report.container import report_text
from opscope.engine.report.model import ReportedModel
from opscope.engine.report.parse import parse
from opscope.engine.report.reopen import open_model
from opscope.gui.layout.layout import lay_out
from opscope.gui.main_window import MainWindow
from opscope.gui.reporting import report_from_window
from opscope.gui.views.graph import layouts
from opscope.gui.views.graph.colouring import Mode
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QImage


@pytest.fixture
def window(app, settings, wait, monkeypatch):
    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))

    def load(path):
        return open_model(path) if path.endswith((".png", ".zip")) else fakes.model(path)

    made = MainWindow(fakes.services(load=load), settings)
    made.show()
    wait(lambda: made.targets)
    made.open_file("clinic.onnx")
    wait(lambda: made.work.page.drawing is not None and not made.jobs.running)
    yield made
    made.close()


@pytest.fixture
def report(window, wait):
    """``report()`` opens the dialog and waits for its report."""

    def opened():
        dialog = report_from_window(window)
        wait(lambda: dialog.finished_report)
        return dialog

    return opened


def test_the_report_is_of_the_selected_node(window, wait, report):
    window.set_target("ort-webgpu")
    window.selection.reveal(fakes.GRU)
    wait(lambda: window.work.page.colouring.paints)
    dialog = report()
    made = dialog.finished_report.report
    assert made.selected == fakes.GRU.index
    assert (made.target, made.color) == ("ort-webgpu", "provider")
    assert made.verdicts["ort-webgpu"][0][0] == "host"
    assert "opset-gate" in {f["code"] for f in made.findings}
    assert made.times == ()
    assert "GRU enhance/gru" in dialog.markdown.toPlainText()
    assert not dialog.finished_report.image.isNull()


def test_it_has_the_findings_of_every_target_with_a_column(window, wait, report):
    assert window.target.id == "opscope"
    window.selection.reveal(fakes.GRU)
    wait(lambda: window.work.page.colouring.paints)
    made = report().finished_report.report
    assert ("opset-gate", "ort-webgpu") in {(f["code"], f["target"]) for f in made.findings}
    assert set(made.told) == {t.id for t in window.targeting.shown}


def test_times_are_there_after_a_run(window, wait, report):
    window.start_run()
    wait(lambda: not window.runs.busy and not window.jobs.running)
    window.selection.reveal(fakes.GRU)
    made = report().finished_report.report
    gru = next(t for t in made.times if t.index == 0)
    assert (gru.n, gru.kernel, gru.dispatches) == (20, "gru_scan", 2)
    assert made.timing["source"] == "inside-pass"
    assert made.adapter["name"] == "Test adapter"
    assert made.assumed["T"] == 64


def test_options_make_it_anew(window, wait, report):
    window.selection.reveal(fakes.GRU)
    dialog = report()
    assert "clinic" not in dialog.finished_report.report.to_text()
    dialog.file_name.setChecked(True)
    wait(lambda: dialog.finished_report)
    assert dialog.finished_report.report.file_name == "clinic.onnx"
    dialog.redact.setChecked(True)
    wait(lambda: dialog.finished_report)
    assert "enhance" not in dialog.finished_report.report.to_text()
    assert "enhance" not in dialog.markdown.toPlainText()


def test_copy_puts_picture_and_markdown_on_the_clipboard(window, report, tmp_path):
    window.selection.reveal(fakes.DECONV)
    dialog = report()
    dialog.copy.click()
    data = QGuiApplication.clipboard().mimeData()
    assert data.text() == dialog.finished_report.markdown
    assert data.hasImage()
    png = tmp_path / "pasted.png"
    png.write_bytes(data.data("image/png").data())
    assert not QImage(str(png)).isNull()
    assert parse(report_text(str(png)), "p").selected == fakes.DECONV.index


def test_saving_as_png_and_zip_and_a_folder_that_is_not_there(window, report, tmp_path):
    dialog = report()
    for name in ("r.png", "r.zip"):
        dialog.save(str(tmp_path / name))
        assert parse(report_text(str(tmp_path / name)), name).model["sha256"] == "ab" * 32
    dialog.save(str(tmp_path / "missing" / "r.png"))
    assert "cannot be written" in dialog.told.text()


def test_a_picture_that_just_does_not_fit_is_no_endless_change_of_width(window, wait, report, app):
    """With the scroll bar it fits, without it it does not: the program died of it."""
    dialog = report()
    size = dialog.preview.size()
    image = dialog.finished_report.image
    frame = dialog.height() - dialog.preview.visibleRegion().boundingRect().height()
    needed = round(size.width() * image.height() / image.width())
    for height in range(needed + frame - 40, needed + frame + 40, 2):
        dialog.resize(dialog.width(), height)
        app.processEvents()
        shown = dialog.preview.size()
        expected = shown.width() * image.height() / image.width()
        assert abs(shown.height() - expected) <= 1


def test_closing_the_dialog_while_it_works_leaves_nothing(window, wait):
    dialog = report_from_window(window)
    dialog.close()
    wait(lambda: not window.jobs.running)


def drop(window, path):
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


def test_a_dropped_report_shows_what_it_shows(window, wait, report, tmp_path):
    window.set_target("ort-webgpu")
    window.start_run()
    wait(lambda: not window.runs.busy and not window.jobs.running)
    window.set_mode(Mode.TIME)
    window.selection.reveal(fakes.GRU)
    dialog = report()
    shown = {n.index for n in dialog.finished_report.report.nodes}
    path = tmp_path / "r.png"
    dialog.save(str(path))
    dialog.close()
    window.set_target("opscope")
    window.set_mode(Mode.PROVIDER)

    drop(window, path)
    wait(lambda: window.document.reported is not None and not window.jobs.running)
    wait(lambda: window.work.page.drawing is not None and window.selection.node == fakes.GRU)
    document = window.document
    assert window.windowTitle().startswith("Report of model abababababab")
    assert {n.index for n in document.model.nodes} == shown
    assert (window.mode, window.target.id) == (Mode.TIME, "ort-webgpu")
    assert window.settings.target == "opscope"  # the user's own choice is kept
    assert document.verdicts("ort-webgpu")[fakes.GRU].detail.startswith("GRU has schema version")
    codes = [d.code for d in document.diagnostics]
    assert sorted(codes) == sorted(set(codes))
    assert "opset-gate" in codes
    assert document.times()[fakes.GRU] == dialog_time(dialog)
    assert not window.commands.run.isEnabled()
    assert not window.commands.loop.isEnabled()
    window.work.show_dock("Run")  # a panel behind another one's tab waits until it is raised
    wait(lambda: "holds no weights" in window.work.run.times.about)
    window.work.show_dock("Kernels")
    wait(lambda: window.work.kernels.model.rowCount() == len(document.summary))
    wait(lambda: "as the report states" in window.work.kernels._about.text())

    window.open_file("clinic.onnx")
    wait(lambda: window.document.reported is None and not window.jobs.running)
    assert window.commands.run.isEnabled()
    assert window.target.id == "opscope"  # the user's own choice holds again


def test_a_reopened_report_has_the_deciding_step_the_live_answer_and_the_copies(
    window, wait, report, tmp_path
):
    window.set_target("ort-webgpu")
    wait(lambda: not window.jobs.running)
    window.commands.ask_live.trigger()
    wait(lambda: window.document.live("ort-webgpu") is not None)
    window.selection.reveal(fakes.GRU)
    path = tmp_path / "r.zip"
    report().save(str(path))
    window.open_file(str(path))
    wait(lambda: window.document.reported is not None and not window.jobs.running)
    wait(lambda: window.work.node.matrix.rows)
    row = next(r for r in window.work.node.matrix.rows if r.target.id == "ort-webgpu")
    assert (row.word, row.step, row.live, row.differs) == ("CPU", "version rule", "GPU", True)
    assert row.live_text == "The installed ORT 9.9: WebGpuExecutionProvider"
    copies = window.document.copies("ort-webgpu")
    assert [(c.value, c.to_gpu, c.size_bytes) for c in copies.all] == [
        ("h", True, 4096),
        ("r", False, None),
    ]


def test_a_target_that_only_a_report_knows_is_gone_with_it(window, wait, tmp_path):
    """It was kept, and the next file was judged for it, which failed."""
    from dataclasses import replace

    import report_case as case
    from opscope.engine.report.build import make_report
    from opscope.engine.report.container import write_zip

    report = make_report(case.subject()).report
    verdicts = {"ort-npu@7": next(iter(report.verdicts.values()))}
    path = str(tmp_path / "npu.zip")
    made = replace(report, target="ort-npu@7", verdicts=verdicts, decided={}, targets={})
    write_zip(path, b"", made.to_text(), "")
    window.open_file(path)
    wait(lambda: window.document.reported is not None and not window.jobs.running)
    assert window.target.id == "ort-npu@7"
    window.set_target("ort-npu@7")  # a click on what is chosen is nobody's wish for the next time
    assert window.settings.target != "ort-npu@7"
    window.open_file("clinic.onnx")
    wait(lambda: window.document.reported is None and not window.jobs.running)
    assert window.work.message.text == ""
    assert window.target.id == "opscope"
    assert [t.id for t in window.targets] == [t.id for t in fakes.TARGETS]


def test_a_report_that_is_open_before_the_targets_are_known_keeps_its_own(
    app, settings, wait, monkeypatch, tmp_path
):
    import threading

    import report_case as case
    from opscope.engine.report.build import make_report
    from opscope.engine.report.container import write_zip

    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))
    path = str(tmp_path / "r.zip")
    write_zip(path, b"", make_report(case.subject()).report.to_text(), "")
    gate = threading.Event()

    def targets():
        assert gate.wait(10)
        return fakes.TARGETS

    made = MainWindow(fakes.services(load=open_model, targets=targets), settings)
    try:
        made.open_file(path)
        wait(lambda: made.document.reported is not None and not made.jobs.is_running("open"))
        gate.set()
        wait(lambda: made.targets and not made.jobs.running)
        assert made.target.id == made.document.reported.report.target == "ort-webgpu"
        assert len(made.targets) == len(fakes.TARGETS)
    finally:
        gate.set()
        made.close()


def test_shares_of_a_reopened_report_are_of_the_whole_run(window, wait, tmp_path):
    """The report holds 0.75 and 0.25 of all; half of it alone still is what it was."""
    from dataclasses import replace

    import report_case as case
    from opscope.engine.report.build import make_report
    from opscope.engine.report.container import write_zip

    report = make_report(case.subject()).report
    part = replace(report, times=report.times[:1])
    path = str(tmp_path / "part.zip")
    write_zip(path, b"", part.to_text(), "")
    drop(window, path)
    wait(lambda: window.document.reported is not None and not window.jobs.running)
    assert window.document.total_ns == pytest.approx(1.5e5 / 0.75)
    wait(lambda: window.work.page.colouring.mode is Mode.TIME)
    page = window.work.page
    wait(lambda: [p.text for n, p in page.colouring.paints.items() if n == case.GRU] == ["75 %"])


def dialog_time(dialog):
    return next(t.p50_ns for t in dialog._finished.report.times if t.index == 0)


def test_a_report_of_a_report_says_what_the_first_one_said(window, wait, report, tmp_path):
    window.selection.reveal(fakes.GRU)
    first = report()
    path = tmp_path / "r.png"
    first.save(str(path))
    created = first.finished_report.report.created
    drop(window, path)
    wait(lambda: window.document.reported is not None and not window.jobs.running)
    wait(lambda: window.selection.node == fakes.GRU and window.work.page.drawing)
    second = report().finished_report.report
    assert isinstance(window.document.model, ReportedModel)
    assert second.created == created
    assert second.to_text() == window.document.reported.report.to_text()


def test_a_picture_that_is_no_report_is_told_and_the_model_stays(window, wait, app, tmp_path):
    path = tmp_path / "cat.png"
    image = QImage(4, 4, QImage.Format.Format_RGB32)
    image.fill(0)
    image.save(str(path))
    drop(window, path)
    wait(lambda: window.work.message.text)
    assert "holds no report of Opscope" in window.work.message.text
    assert window.document.name == "clinic.onnx"
