"""Refreshes: coalesced, the last request never lost, none while the view is hidden."""

import time
from itertools import pairwise

import pytest
from opscope.gui.throttle import Throttle
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QWidget


@pytest.fixture
def view(app):
    made = QWidget()
    made.show()
    return made


def test_many_requests_make_few_refreshes_and_the_last_one_counts(view, wait, app):
    seen, state = [], [0]
    throttle = Throttle(60, lambda: seen.append((time.monotonic(), state[0])), view)
    start = time.monotonic()
    while time.monotonic() < start + 0.3:
        state[0] += 1
        throttle.request()
        app.processEvents()
    wait(lambda: seen[-1][1] == state[0])
    assert len(seen) <= 8 < state[0]
    gaps = [b[0] - a[0] for a, b in pairwise(seen)]
    assert min(gaps) >= 0.055


def test_a_hidden_view_is_refreshed_when_it_is_shown(view, wait, app):
    seen = []
    throttle = Throttle(1, lambda: seen.append(1), view)
    view.hide()
    throttle.request()
    for _ in range(5):
        app.processEvents()
    assert not seen
    view.show()
    wait(lambda: seen)
    assert len(seen) == 1


def test_a_panel_behind_another_s_tab_waits_until_it_is_raised(app, wait):
    window = QMainWindow()
    window.setCentralWidget(QWidget())
    docks = [QDockWidget(name, window) for name in ("front", "back")]
    for dock in docks:
        dock.setWidget(QLabel("seen"))
        window.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, dock)
    window.tabifyDockWidget(*docks)
    window.resize(400, 300)
    window.show()
    docks[0].raise_()
    app.processEvents()
    calls = []
    throttles = [
        Throttle(1, lambda i=i: calls.append(i), dock.widget()) for i, dock in enumerate(docks)
    ]
    for throttle in throttles:
        throttle.request()
    wait(lambda: calls)
    for _ in range(20):
        app.processEvents()
    assert calls == [0]
    docks[1].raise_()
    wait(lambda: calls == [0, 1])
    window.close()
