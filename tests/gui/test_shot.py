"""``opscope shot`` and ``opscope report``: pictures without a display, errors in one line."""

import threading
import time
from dataclasses import replace
from importlib.resources import files

import pytest
import window_fakes as fakes
from opscope.engine.errors import DeviceError, UsageError
from opscope.engine.live.answer import LiveUnavailable
from opscope.engine.report.container import report_text
from opscope.engine.report.parse import parse
from opscope.gui import offscreen
from opscope.gui.layout.layout import lay_out
from opscope.gui.offscreen import find_node
from opscope.gui.shot import main
from opscope.gui.views.graph import layouts
from opscope.gui.views.graph.colouring import Mode
from PySide6.QtGui import QImage

SAMPLES = files("opscope.resources") / "samples"


@pytest.fixture
def with_fakes(app, monkeypatch):
    """``with_fakes(**services)`` makes the commands use hand-made services."""
    monkeypatch.setattr(layouts, "lay_out_in_child", lambda request, *_: lay_out(request))
    monkeypatch.setattr(offscreen, "_SETTLE_MS", 50)

    def use(runner=None, **changed):
        monkeypatch.setattr(offscreen, "engine_services", lambda: fakes.services(runner, **changed))

    use()
    return use


@pytest.fixture
def fails(capsys):
    """``fails(code, words, *arguments)`` expects that exit code and one line on stderr."""

    def run(code, words, *arguments):
        assert main([str(a) for a in arguments]) == code
        error = capsys.readouterr().err
        assert error.startswith("opscope: error: ")
        assert error.count("\n") == 1
        assert words in error

    return run


# -- usage, before Qt is there ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "x.jpg"], "must end in .png"),
        (["-o", "no/such/folder/x.png"], "there is no folder no/such/folder"),
        (["-o", "x.png", "--size", "1x1"], "--size '1x1' must look like 1440x900"),
        (["-o", "x.png", "--size", "99999x900"], "--size"),
        (["-o", "x.png", "--runs", "3"], "--runs says how to run; add --run"),
        (["-o", "x.png", "--dim", "T=3"], "--dim says how to run; add --run"),
        (["-o", "x.png", "--run", "--runs", "-1"], "--runs must be"),
        (["-o", "x.png", "--timeout", "0"], "--timeout"),
        (["-o", "x.png", "--against", "opscope", "--color", "risk"], "--against"),
        (["-o", "x.png", "--against", "opscope", "--run"], "--against"),
        (
            ["-o", "x.png", "--run", "--inputs", "a.npz", "--dim", "T=3"],
            "--inputs gives the shapes",
        ),
    ],
)
def test_usage(fails, arguments, words):
    fails(2, words, "shot", "m.onnx", *arguments)


@pytest.mark.parametrize("arguments", [[], ["-o"], ["-o", "x.png", "--color", "blue"]])
def test_arguments_that_are_none(fails, arguments):
    fails(2, "opscope shot --help", "shot", "m.onnx", *arguments)


# -- which node ------------------------------------------------------------------------------------


def test_a_node_by_name_by_index_or_by_path():
    model = fakes.model()
    assert find_node(model, "enhance/gru") == fakes.GRU
    assert find_node(model, "2") == fakes.RELU
    with pytest.raises(
        UsageError, match=r"no node of that name or index \(indices are at most 3\)"
    ):
        find_node(model, "4")


def test_a_name_goes_before_an_index_and_a_repeated_one_lists_the_indices():
    model = fakes.model()
    nodes = [replace(n, name="2" if n.id == fakes.GRU else "same") for n in model.graph.nodes]
    model = replace(model, graph=replace(model.graph, nodes=tuple(nodes)))
    assert find_node(model, "2") == fakes.GRU
    with pytest.raises(UsageError, match=r"3 nodes are called so; give an index: 1, 2, 3$"):
        find_node(model, "same")


# -- pictures, on hand-made services ---------------------------------------------------------------


def test_a_shot_has_the_size_and_leaves_no_setting(with_fakes, tmp_path, capsys):
    out = tmp_path / "x.png"
    assert main(["shot", "m.onnx", "-o", str(out), "--size", "1100x700"]) == 0
    image = QImage(str(out))
    assert (image.width(), image.height()) == (1100, 700)
    assert capsys.readouterr().out == f"{out}: 1100 x 700\n"


def test_themes_colours_panels_and_targets_make_other_pictures(with_fakes, tmp_path):
    seen = set()
    for i, more in enumerate(
        (
            [],
            ["--theme", "dark"],
            ["--color", "risk"],
            ["--target", "ort-webgpu"],
            ["--node", "up", "--panel", "kernels", "--run", "--runs", "3"],
            ["--target", "ort-webgpu@0.3.0", "--against", "opscope"],
            ["--target", "ort-webgpu,enableInt64=1"],
            ["--target", "ort-webgpu", "--node", "up", "--live"],
            ["--target", "ort-webgpu", "--node", "up"],
        )
    ):
        out = tmp_path / f"{i}.png"
        assert main(["shot", "m.onnx", "-o", str(out), *more]) == 0
        seen.add(QImage(str(out)).bits().tobytes())
    assert len(seen) == 9


def test_a_report_keeps_a_target_s_options_and_opens_with_them(with_fakes, tmp_path):
    from opscope.engine.report.reopen import open_model

    out, shot = str(tmp_path / "r.png"), str(tmp_path / "s.png")
    name = "ort-webgpu,enableInt64=1,forceCpuNodeNames=enhance/gru"
    assert main(["report", "m.onnx", "-o", out, "--target", name, "--node", "up"]) == 0
    report = parse(report_text(out), out)
    assert report.target == name
    assert next(iter(report.verdicts)) == name  # whom it is about comes first
    assert report.verdicts[name][fakes.GRU.index][0] == "host"
    with_fakes(load=open_model)
    with offscreen._window("light") as window:
        offscreen.Driver(window, time.monotonic() + 30).open(out)
        assert window.target.label.startswith("ORT WebGPU 0.4.0 (enableInt64=1")
        assert window.choices.target_box.target == window.target
    assert main(["shot", out, "-o", shot]) == 0


def test_a_report_of_a_difference_opens_as_one(with_fakes, tmp_path):
    from opscope.engine.report.reopen import open_model

    out = str(tmp_path / "r.png")
    older = "ort-webgpu@0.3.0"
    assert main(["report", "m.onnx", "-o", out, "--target", "ort-cpu", "--against", older]) == 0
    assert list(parse(report_text(out), out).verdicts)[:2] == ["ort-cpu", older]
    with_fakes(load=open_model)
    with offscreen._window("light") as window:
        offscreen.Driver(window, time.monotonic() + 30).open(out)
        assert window.mode is Mode.DIFFERENCE
        assert (window.target.id, window.targeting.against.id) == ("ort-cpu", older)


def test_a_report_of_a_run_is_written_and_can_be_shot_again(with_fakes, tmp_path):
    from opscope.engine.report.reopen import open_model

    out, zipped, shot = (str(tmp_path / n) for n in ("r.png", "r.zip", "s.png"))
    run = ["--run", "--runs", "4", "--node", "enhance/gru", "--target", "ort-webgpu"]
    assert main(["report", "m.onnx", "-o", out, *run]) == 0
    report = parse(report_text(out), out)
    assert (report.selected, report.color, report.target) == (0, "time", "ort-webgpu")
    assert report.times[0].n == 4
    assert main(["report", "m.onnx", "-o", zipped, "--redact", "--file-name"]) == 0
    redacted = parse(report_text(zipped), zipped)
    assert redacted.selected is None
    assert "enhance" not in redacted.to_text()
    with_fakes(load=open_model)
    assert main(["shot", out, "-o", shot]) == 0
    assert not QImage(shot).isNull()


def test_errors_of_the_engine_keep_their_exit_codes(with_fakes, fails, tmp_path):
    out = tmp_path / "x.png"
    fails(2, "m.txt is not an ONNX model", "shot", "m.txt", "-o", out)
    fails(
        2,
        "--target: target 'x': there is opscope, ort",
        "shot",
        "m.onnx",
        "-o",
        out,
        "--target",
        "x",
    )
    fails(2, "--against: target 'y'", "shot", "m.onnx", "-o", out, "--against", "y")
    fails(2, "no node of that name", "shot", "m.onnx", "-o", out, "--node", "x")
    fails(2, "no open dimension 'Q'", "shot", "m.onnx", "-o", out, "--run", "--dim", "Q=2")
    fails(2, "no input 'z'", "shot", "m.onnx", "-o", out, "--run", "--shape", "z=2")
    fails(2, "x has 3 dimensions, not 1", "shot", "m.onnx", "-o", out, "--run", "--shape", "x=2")
    assert not out.exists()


def test_without_an_adapter_pictures_are_made_and_a_run_exits_with_3(with_fakes, fails, tmp_path):
    def none(*_):
        raise DeviceError("no usable adapter")

    with_fakes(devices=none, open_runner=none)
    out = tmp_path / "x.png"
    assert main(["shot", "m.onnx", "-o", str(out)]) == 0
    assert main(["report", "m.onnx", "-o", str(out), "--node", "up"]) == 0
    fails(3, "no usable adapter", "shot", "m.onnx", "-o", out, "--run")


def test_without_onnxruntime_a_live_picture_exits_with_3_and_why(with_fakes, fails, tmp_path):
    def ask(model, target, verdicts):
        raise LiveUnavailable("onnxruntime is not installed")

    with_fakes(ask_live=ask)
    out = tmp_path / "x.png"
    fails(3, "onnxruntime is not installed", "shot", "m.onnx", "-o", out, "--live")


def test_a_run_that_does_not_end_is_given_up(with_fakes, fails, tmp_path):
    gate = threading.Event()
    with_fakes(fakes.FakeRunner(gate=gate))
    timer = threading.Timer(3, gate.set)  # lets the worker's thread go when the command is over
    timer.start()
    arguments = ("shot", "m.onnx", "-o", tmp_path / "x.png", "--run", "--timeout", "1.5")
    fails(4, "waited in vain for ", *arguments)
    timer.join()


def test_a_model_that_is_never_read_is_given_up(with_fakes, fails, tmp_path):
    gate = threading.Event()
    timer = threading.Timer(2, gate.set)
    with_fakes(load=lambda path: gate.wait(10) and fakes.load("x.txt"))
    timer.start()
    arguments = ("shot", "m.onnx", "-o", tmp_path / "x.png", "--timeout", "1")
    fails(4, "waited in vain for ", *arguments)
    timer.join()


# -- on the real engine ----------------------------------------------------------------------------


def test_the_opset_22_sample_loses_its_gru_in_the_report(app, tmp_path, fails):
    out = tmp_path / "r.png"
    sample = SAMPLES / "denoiser_f32_opset22.onnx"
    command = [
        "report",
        str(sample),
        "-o",
        str(out),
        "--target",
        "ort-webgpu",
        "--node",
        "mask_gru",
    ]
    assert main(command) == 0
    report = parse(report_text(str(out)), "r.png")
    node = report.node(report.selected)
    assert node.op == "GRU"
    assert report.verdicts["ort-webgpu"][node.index][:2] == ("host", "schema version")
    assert report.verdicts["opscope"][node.index][0] == "gpu"
    assert "denoiser" not in report.to_text()
    fails(2, "cannot be run", "shot", out, "-o", tmp_path / "s.png", "--run")
