"""One application for all tests of the window; no test leaves a thread, window or setting."""

from __future__ import annotations

import threading
import time

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtWidgets import QApplication


@pytest.fixture(scope="session")
def app():
    """The application."""
    made = QApplication.instance() or QApplication(["opscope"])
    yield made
    # Off screen, Qt 6.12 keeps the clipboard past Python's end and dies when it frees it then.
    made.clipboard().clear()


@pytest.fixture
def settings(tmp_path):
    """Settings in a file of the test's own."""
    from opscope.gui.settings import Settings

    return Settings(QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat))


@pytest.fixture
def wait(app):
    """``wait(condition)`` runs the event loop until the condition holds; fails after 10 s."""

    def until(condition, seconds=10.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            app.processEvents()
            time.sleep(0.002)

    return until


@pytest.fixture(autouse=True)
def _no_thread_left(request):
    """A thread of the window's that outlives its test is an error."""
    yield
    if (app := QApplication.instance()) is not None:
        for window in app.topLevelWidgets():
            if window.parent() is None:  # a list that drops down from a box goes with its box
                window.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [t.name for t in threading.enumerate() if t.name.startswith("opscope")]
    assert not left, f"{request.node.name} left threads: {left}"
