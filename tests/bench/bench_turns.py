"""How long the window's thread is busy at a stretch: a frame is 16 ms, longer turns are felt.

Run: ``python tests/bench/bench_turns.py [--live] [nodes or FILE.onnx ...]``, by default on models
of 2,000 and 5,000 nodes (``bench_canvas.transformer``). Each line is something that a user does or
waits for; its three longest turns of the event loop are printed, in CPU milliseconds of this
thread, so that other processes do not count. The window is real, with the real engine, off screen.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from bench_canvas import transformer
from opscope.engine.ir.model import Model
from opscope.gui.app import make_application
from opscope.gui.engine_services import engine_services
from opscope.gui.main_window import MainWindow
from opscope.gui.scheme import Scheme
from opscope.gui.services import Services
from opscope.gui.settings import Settings
from opscope.gui.views.graph.colouring import Mode
from PySide6.QtCore import QCoreApplication, QSettings

_QUIET_S = 0.7  # after so long without work it is over: panels rest 0.5 s between two refreshes
_OTHER = "2500"
_PATIENCE_S = 120.0
_IDLE_MS = 1.0  # a turn that is shorter has done nothing


class Watch:
    """Drives the event loop of a window, and takes the time of each turn."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._turns: list[float] = []

    def measure(
        self, what: str, act: Callable[[], object], until: Callable[[], object] = lambda: True
    ) -> None:
        """Print the longest turns from ``act`` on until ``until`` holds and nothing is left."""
        self._turns = []
        self._turn(act)
        self.run(until)
        longest = sorted(self._turns, reverse=True)[:3]
        print(f"{what:<34}" + "".join(f"{ms:>9.1f}" for ms in longest), flush=True)

    def run(self, until: Callable[[], object]) -> None:
        """Turn until ``until`` holds and nothing is left to do."""
        end = time.monotonic() + _PATIENCE_S
        quiet_since = time.monotonic()
        while time.monotonic() < end:
            busy = self._turn(QCoreApplication.processEvents) > _IDLE_MS
            if busy or self._window.jobs.running or self._window.work.page.is_busy or not until():
                quiet_since = time.monotonic()
            elif time.monotonic() - quiet_since > _QUIET_S:
                return
            time.sleep(0.0005)
        raise SystemExit("bench_turns: the window does not come to rest")

    def _turn(self, act: Callable[[], object]) -> float:
        start = time.thread_time()
        act()
        self._turns.append((time.thread_time() - start) * 1e3)
        return self._turns[-1]


def _services() -> Services:
    """The engine's, which also "open" synthetic models, by their number of nodes."""
    real = engine_services()

    def load(path: str) -> Model:
        return transformer(int(path)) if path.isdigit() else real.load(path)

    return replace(real, load=load)


def _bench(window: MainWindow, path: str, *, live: bool) -> None:
    watch, work = Watch(window), window.work
    watch.run(lambda: window.targets)
    drawn = lambda: work.page.drawing is not None  # noqa: E731
    second = next(t.id for t in window.targets if t.family == "ort-cuda")
    watch.measure("open: read, judged, placed, drawn", lambda: window.open_file(path), drawn)
    watch.measure("another target, to be judged", lambda: window.set_target(second))
    watch.measure("another target, known", lambda: window.set_target("opscope"))
    window.set_target("ort-webgpu")
    watch.run(drawn)
    watch.measure("difference", lambda: window.set_mode(Mode.DIFFERENCE))
    watch.measure("next difference (F9)", lambda: window.walker.differing(1))
    watch.measure("risk", lambda: window.set_mode(Mode.RISK))
    watch.measure("provider", lambda: window.set_mode(Mode.PROVIDER))
    for state in ("off", "on"):
        watch.measure(f"copies {state}", window.commands.copies.trigger)
    watch.measure("the whole graph (F)", work.page.canvas.gaze.fit)
    for what, node in zip(("a node", "the next node"), window.document.places, strict=False):
        watch.measure(what, lambda node=node: window.selection.reveal(node))
    for scheme in (Scheme.DARK, Scheme.LIGHT):
        watch.measure(f"theme {scheme}", lambda scheme=scheme: window.scheme.choose(scheme))
    watch.measure("next offending (N), first time", lambda: window.walker.offending(1))
    watch.measure("next offending (N)", lambda: window.walker.offending(1))
    if live:
        watch.measure("live answer", window.live.ask)
    watch.measure("another model", lambda: window.open_file(_OTHER), drawn)


def main() -> None:
    """Print one block per model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=["2000", "5000"], metavar="nodes or FILE.onnx")
    parser.add_argument("--live", action="store_true", help="ask the installed ONNX Runtime, too")
    options = parser.parse_args()
    app = make_application()
    services = _services()
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(options.models):
            ini = QSettings(os.path.join(folder, f"{number}.ini"), QSettings.Format.IniFormat)
            settings = Settings(ini)
            settings.target, settings.copies = "ort-webgpu", True
            window = MainWindow(services, settings)
            window.resize(1600, 1000)
            window.show()
            print(f"\n{os.path.basename(path)}: longest turns, ms of CPU")
            _bench(window, path, live=options.live)
            window.close()
            app.processEvents()


if __name__ == "__main__":
    main()
