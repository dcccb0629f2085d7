"""The window on the real engine: open, judge, run, loop, close, and files that are none."""

from importlib.resources import files

import opscope_testdata as testdata
import pytest
import window_fakes as fakes
from opscope.engine.errors import DeviceError
from opscope.engine.providers.support import Status
from opscope.gui.engine_services import devices, engine_services
from opscope.gui.main_window import MainWindow

SAMPLES = files("opscope.resources") / "samples"


@pytest.fixture
def window(app, settings, wait):
    made = MainWindow(engine_services(), settings)
    made.show()
    wait(lambda: made.targets)
    yield made
    made.close()


@pytest.fixture(scope="module")
def _adapter():
    try:
        found = devices()
    except DeviceError as error:
        pytest.skip(str(error))
    if not found:
        pytest.skip("no adapter here")


def open_model(window, wait, path):
    window.open_file(str(path))
    wait(lambda: window.document.model and window.document.model.path == str(path), 30)
    wait(lambda: not window.jobs.is_running("open"), 60)
    assert window.work.message.text == ""


def test_the_opset_22_sample_loses_its_gru_on_ort_webgpu(window, wait):
    open_model(window, wait, SAMPLES / "denoiser_f32_opset22.onnx")
    model = window.document.model
    gru = next(n.id for n in model.nodes.values() if n.op_type == "GRU")
    ours, theirs = (window.document.verdicts(t)[gru] for t in ("opscope", "ort-webgpu"))
    assert ours.status is Status.GPU
    assert theirs.status is Status.HOST
    assert "22" in theirs.detail
    window.set_target("ort-webgpu")
    wait(lambda: fakes.kind_of(window, gru) is Status.HOST, 30)
    assert any(d.node == gru for d in window.document.diagnostics)


@pytest.mark.usefixtures("_adapter")
def test_a_sample_runs_and_every_node_with_a_dispatch_has_a_time(window, wait):
    open_model(window, wait, SAMPLES / "denoiser_f32_opset17.onnx")
    window.work.run.inputs.setData(window.work.run.inputs.index(0, 1), "1, 8, 128")
    window.work.run._repeats.setValue(2)
    window.start_run()
    wait(lambda: window.document.samples.runs == 3 or window.work.message.text, 60)
    wait(lambda: not window.runs.busy, 60)
    assert window.work.message.text == ""
    result = window.document.parts.last
    assert result.outputs["clean"].shape == (1, 8, 128)
    timed = {row.node for row in window.document.summary}
    assert timed == {d.node for d in window.document.plan.dispatches}
    assert all(row.time.n == 2 and row.time.min_ns > 0 for row in window.document.summary)
    # The table is refreshed a few times a second, while it can be seen.
    window.work.show_dock("Kernels")
    wait(lambda: any(r.summary.op == "GRU" for r in window.work.kernels.model.rows), 10)
    gru = next(r.source for r in window.work.kernels.model.rows if r.summary.op == "GRU")
    window.selection.reveal(gru)
    assert "fn " in window.work.node._kernel.text.toPlainText()
    wait(lambda: not window.jobs.running, 60)


@pytest.mark.usefixtures("_adapter")
def test_a_real_model_loops_and_closing_stops_it(window, wait):
    open_model(window, wait, testdata.model_path("ortwheel.mul_1"))
    window.start_run(loop=True)
    wait(lambda: window.document.samples.warm_runs > 20 or window.work.message.text, 60)
    assert window.work.message.text == ""
    window.close()


@pytest.mark.parametrize("content", [b"", b"\x00\x01garbage" * 50, b"\x08"])
def test_files_that_are_no_models(window, wait, tmp_path, content):
    path = tmp_path / "bad.onnx"
    path.write_bytes(content)
    window.open_file(str(path))
    wait(lambda: window.work.message.text, 30)
    assert str(path) in window.work.message.text
    assert "\n" not in window.work.message.text
    assert window.document.model is None
    assert not window.work.shows_graph
