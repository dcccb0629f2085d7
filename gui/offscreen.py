"""The real window, driven by a command instead of a user: opened, run, selected, drawn.

Every wait has an end: what does not come true in time is an error that says what was waited for,
and should even the clean-up hang, the process ends.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QEventLoop,
    QMessageLogContext,
    QSettings,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)

from ..engine.cli.arguments import parse_dims, parse_shapes
from ..engine.errors import OpscopeError, RunError, UsageError
from ..engine.ir.model import Model, NodeId
from ..engine.report.container import write_zip
from ..engine.report.model import CANNOT_RUN
from .app import make_application
from .engine_services import engine_services
from .error_text import error_text
from .main_window import MainWindow
from .report_maker import Options, finish, make, snapshot, subject_of
from .services import Target
from .settings import Settings
from .throttle import LONGEST_REST_MS
from .views.graph.colouring import Mode

_SETTLE_MS = LONGEST_REST_MS + 300  # then every view has refreshed
_GRACE_S = 20.0  # for the clean-up after the time is over
_MOST_LISTED = 20


def draw(options: argparse.Namespace) -> None:
    """Do what the command asks; the options are those of :func:`.shot.parser`.

    Raises:
        OpscopeError: as the engine raised it; RunError where the time was not enough.
    """
    with _deadline(options.timeout) as end, _window(options.theme) as window:
        driver = Driver(window, end)
        driver.open(options.model)
        driver.choose_target(options.target)
        driver.compare_with(options.against)
        node = find_node(_model(window), options.node) if options.node is not None else None
        if options.command == "shot" and options.live:
            driver.ask_live()
        if options.run:
            driver.run(options)
        usual = "time" if options.run else "difference" if options.against else ""
        if mode := options.color or usual:
            window.set_mode(Mode(mode))
        if options.command == "shot":
            window.resize(options.width, options.height)
            for panel in options.panel or ():
                window.work.show_dock(panel.capitalize())
        driver.select(node)
        if options.command == "shot":
            _save_shot(window, options.output)
        else:
            _save_report(window, options)


class Driver:
    """Does to a window what a user would, and waits for it."""

    def __init__(self, window: MainWindow, end: float) -> None:
        self._window = window
        self._end = end
        self._error: Exception | None = None
        window.failed.connect(self._failed)
        window.work.page.layout_failed.connect(lambda text: self._failed(RunError(text)))

    def open(self, path: str) -> None:
        """Open a file and wait until all is known of it and the graph is drawn."""
        window = self._window
        self._wait(lambda: window.targets and window.worker.idle, "the list of targets")
        window.open_file(path)
        self._wait(lambda: window.document.model is not None, f"{path} to be read")
        self._wait(lambda: not window.jobs.running, f"{path} to be judged")
        self._wait(self._is_drawn, "the graph to be laid out")

    def choose_target(self, name: str | None) -> None:
        """Show a target's verdicts."""
        if name is not None:
            self._window.set_target(self._parse("--target", name).id)
            self._wait_for_verdicts(name)

    def compare_with(self, name: str | None) -> None:
        """Put a target beside the chosen one."""
        if name is not None:
            self._window.targeting.wants_difference = True
            self._window.targeting.compare_with(self._parse("--against", name))
            self._wait_for_verdicts(name)

    def ask_live(self) -> None:
        """Ask the installed ONNX Runtime for the chosen target."""
        self._window.live.ask()
        self._wait(lambda: not self._window.jobs.running, "the installed ONNX Runtime")

    def _parse(self, option: str, name: str) -> Target:
        targeting = self._window.targeting
        try:
            found = targeting.parse(name)
        except UsageError as error:
            raise UsageError(f"{option}: {error}") from error
        targeting.add((found,))
        return found

    def _wait_for_verdicts(self, name: str) -> None:
        self._wait(lambda: not self._window.jobs.running, f"{name} to be judged")

    def run(self, options: argparse.Namespace) -> None:
        """Run the model as the options say."""
        window = self._window
        if window.document.reported is not None:
            raise UsageError(f"{options.model}: {CANNOT_RUN}")
        panel = window.work.run
        if options.inputs:
            panel.use_file(options.inputs)
        panel.inputs.give_shapes(parse_shapes(options.shape))
        panel.inputs.give(parse_dims(options.dim))
        panel.choose(seed=options.seed, repeats=options.runs)
        window.start_run()
        self._wait(lambda: not window.runs.busy, "the run")
        self._wait(lambda: not window.jobs.running, "the findings of the run")
        self._wait(self._is_drawn, "the graph to be laid out again")

    def select(self, node: NodeId | None) -> None:
        """Select a node and bring it into view; let every view come to rest."""
        window = self._window
        if node is not None:
            window.selection.reveal(node)
            self._wait(self._is_drawn, "the node's graph to be laid out")
        self._settle()
        window.work.page.canvas.gaze.settle()
        self._wait(lambda: not window.jobs.running and self._is_drawn(), "the panels")
        self._settle()

    def _is_drawn(self) -> bool:
        page = self._window.work.page
        return page.drawing is not None and not page.is_busy

    def _failed(self, error: Exception) -> None:
        self._error = self._error or error

    def _wait(self, condition: Callable[[], object], what: str) -> None:
        """Process events until ``condition`` holds, something fails, or the time is over."""
        while not condition():
            self._raise_error()
            if time.monotonic() > self._end:
                raise RunError(f"waited in vain for {what}; allow more with --timeout SECONDS")
            QCoreApplication.processEvents()
            time.sleep(0.005)
        self._raise_error()

    def _raise_error(self) -> None:
        if isinstance(self._error, OpscopeError):
            raise self._error
        if self._error is not None:
            raise RunError(error_text(self._error)) from self._error

    def _settle(self) -> None:
        loop = QEventLoop()
        QTimer.singleShot(_SETTLE_MS, loop.quit)
        loop.exec()
        self._raise_error()


def find_node(model: Model, text: str) -> NodeId:
    """The node that ``--node`` means: by name, by index in the main graph, or as path and index.

    Raises:
        UsageError: no node, or several, are called so; it lists them.
    """
    named = [node.id for node in model.nodes.values() if node.name == text]
    if len(named) == 1:
        return named[0]
    if named:
        more = f" and {len(named) - _MOST_LISTED:,} more" if len(named) > _MOST_LISTED else ""
        listed = ", ".join(map(str, named[:_MOST_LISTED]))
        raise UsageError(
            f"--node {text}: {len(named):,} nodes are called so; give an index: {listed}{more}"
        )
    for node in model.nodes:
        if str(node) == text:
            return node
    last = max((n.index for n in model.nodes if not n.graph), default=None)
    indices = "it has no nodes" if last is None else f"indices are at most {last}"
    raise UsageError(f"--node {text}: the model has no node of that name or index ({indices})")


def _model(window: MainWindow) -> Model:
    model = window.document.model
    assert model is not None
    return model


@contextmanager
def _window(theme: str) -> Iterator[MainWindow]:
    """The window with settings of its own: the user's are neither read nor changed."""
    before = qInstallMessageHandler(_pass_on)
    make_application()
    with tempfile.TemporaryDirectory(prefix="opscope-") as folder:
        store = QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
        settings = Settings(store)
        settings.theme = theme
        window = MainWindow(engine_services(), settings)
        window.show()
        try:
            yield window
        finally:
            window.close()
            store.sync()
            qInstallMessageHandler(before)


def _pass_on(_kind: QtMsgType, _where: QMessageLogContext, text: str) -> None:
    """Qt's messages to standard error, but for what its platform without a screen always says."""
    if text != "This plugin does not support propagateSizeHints()":
        print(text, file=sys.stderr)


@contextmanager
def _deadline(seconds: float) -> Iterator[float]:
    """The end of the time; a process that hangs beyond it and its grace is ended."""
    timer = threading.Timer(seconds + _GRACE_S, _end_process, [seconds])
    timer.daemon = True
    timer.start()
    try:
        yield time.monotonic() + seconds
    finally:
        timer.cancel()


def _end_process(seconds: float) -> None:
    print(f"opscope: error: not done after {seconds:g} s and stuck; given up", file=sys.stderr)
    sys.stderr.flush()
    os._exit(RunError.exit_code)


def _save_shot(window: MainWindow, path: str) -> None:
    picture = window.grab()
    if not picture.save(path, "PNG"):
        raise UsageError(f"{path} cannot be written")
    print(f"{path}: {picture.width()} x {picture.height()}")


def _save_report(window: MainWindow, options: argparse.Namespace) -> None:
    made = make(subject_of(window), Options(options.redact, options.file_name))
    done = finish(made, snapshot(window, made))
    try:
        if options.output.lower().endswith(".zip"):
            write_zip(options.output, done.png, done.report.to_text(), done.markdown)
        else:
            Path(options.output).write_bytes(done.png)
    except OSError as error:
        raise UsageError(f"{options.output} cannot be written: {error.strerror}") from error
    print(f"{options.output}: {len(done.report.nodes):,} nodes")
