"""The console script: who does the work, one-line errors, and Qt only where it is needed."""

import socket
import subprocess
import sys

import pytest
from opscope.gui.display import display_problem
from opscope.gui.entry import main


def test_help_and_version(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for command in ("run", "check", "plan", "devices", "shot", "report"):
        assert f"  {command} " in text
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("opscope 0.")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nowhere.onnx"], "nowhere.onnx: no such file, and no command (the commands are run, "),
        (["--wat"], "unknown option --wat; see opscope --help"),
        (["chekc", "a.onnx"], "chekc: no such file, and no command (did you mean check?)"),
        ([__file__, "b.onnx"], "the window opens one file, not 2; see opscope --help"),
    ],
)
def test_bad_usage_is_one_line_and_code_2(arguments, error, capsys):
    assert main(arguments) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"opscope: error: {error}")
    assert printed.count("\n") == 1


def test_engine_commands_import_no_qt():
    code = (
        "import sys; from opscope.gui.entry import main; code = main(['plan', 'nowhere.onnx']);"
        "assert not any(m.startswith(('PySide6', 'pyqtgraph')) for m in sys.modules);"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("opscope: error: ")


def test_the_window_starts_without_what_only_models_need():
    slow = ("onnx", "onnx_ir", "wgpu", "pyqtgraph", "jinja2")
    code = f"import sys, opscope.gui.app; print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_no_display_is_told_before_qt_can_abort(tmp_path):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    code = "import sys; from opscope.gui.entry import main; sys.exit(main([]))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 2
    assert done.stderr.startswith("opscope: error: there is no display (neither DISPLAY nor")
    assert "opscope shot MODEL" in done.stderr
    assert done.stderr.count("\n") == 1


def test_displays():
    assert display_problem({"QT_QPA_PLATFORM": "offscreen"}, "linux") == ""
    assert display_problem({}, "win32") == ""
    assert display_problem({}, "darwin") == ""
    assert display_problem({"DISPLAY": "elsewhere:0"}, "linux") == ""
    gone = display_problem({"DISPLAY": ":7313"}, "linux")
    assert gone.startswith("the display DISPLAY=:7313 does not answer")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="no such sockets here")
def test_a_display_that_answers(tmp_path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "wayland-5"))
    server.listen()
    environment = {"WAYLAND_DISPLAY": "wayland-5", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert display_problem(environment, "linux") == ""
    server.close()
    assert "does not answer" in display_problem(environment, "linux")
