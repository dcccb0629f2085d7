"""The application: one window, the theme, and a clean end."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import version

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from .main_window import MainWindow
from .services import Services, deferred
from .settings import Settings

_SWITCH_S = 0.0005


def make_application() -> QApplication:
    """The process's application, named so that settings find their place."""
    # Qt's calls let go of the interpreter's lock, and a worker that computes gives it back only
    # when this interval is over: with Python's 5 ms a repaint of 100 such calls takes 0.5 s.
    sys.setswitchinterval(_SWITCH_S)
    app = QApplication.instance()
    made = app if isinstance(app, QApplication) else QApplication(sys.argv[:1])
    made.setApplicationName("Opscope")
    made.setApplicationDisplayName("Opscope")
    made.setOrganizationName("Opscope")
    made.setApplicationVersion(version("opscope"))
    made.setDesktopFileName("opscope")
    return made


def run_window(path: str = "") -> int:
    """Show the window, on ``path`` if one is named, until the user closes it."""
    app = make_application()
    window = MainWindow(deferred(_engine_services), Settings())
    window.show()
    if path:
        window.open_file(path)
    heartbeat = QTimer()  # lets Python see an interrupt from the terminal
    heartbeat.timeout.connect(lambda: None)
    heartbeat.start(200)
    before = signal.signal(signal.SIGINT, lambda *_: window.close())
    try:
        return app.exec()
    finally:
        signal.signal(signal.SIGINT, before)
        window.close()


def _engine_services() -> Services:
    from .engine_services import engine_services  # it loads onnx_ir and wgpu

    return engine_services()
