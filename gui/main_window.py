"""The window: what happens between its views, the engine and the user."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow

from ..engine.device.profile import DeviceProfile
from ..engine.diagnostics import Diagnostic
from ..engine.errors import NodeError
from ..engine.ir.model import Model
from .actions import make_actions
from .code_pages import CodePages
from .document import Document
from .engine_worker import EngineWorker
from .error_text import error_text
from .garbage import GarbageControl
from .graph_appearance import GraphAppearance
from .help_actions import copy_diagnostics, show_about, show_report, show_shortcuts
from .jobs import JobTracker
from .live_control import LiveControl
from .menus import ViewChoices, fill_menus, make_toolbar
from .opening import OPEN, Opener
from .recent_files import RecentFiles
from .run_control import RunControl
from .selection import Selection
from .services import PreparedFeeds, Services, Target
from .settings import Settings
from .style import stylesheet
from .target_control import TargetControl
from .theme import Scheme, apply_theme, theme_for
from .verdict import summary_text
from .views.finding import Command, FindingHelp
from .views.graph.colouring import Mode
from .views.status_line import StatusLine
from .views.target_options import TargetOptionsDialog
from .walker import Walker
from .workspace import Workspace

FILE_FILTER = "Models and reports (*.onnx *.png *.zip);;All files (*)"
_SIZE = (1280, 800)


class MainWindow(QMainWindow):
    """The one window.

    Args:
        services: the engine.
        settings: what is remembered from one window to the next.

    Signals:
        failed: Exception: what the message bar tells now.
    """

    failed = Signal(object)

    def __init__(self, services: Services, settings: Settings) -> None:
        super().__init__()
        self.services = services
        self.settings = settings
        self.profile: DeviceProfile | None = None
        self.theme = theme_for(Scheme(settings.theme))
        self._shapes: dict[str, tuple[int, ...]] = {}  # of the inputs of the last run
        self.document = Document(self)
        self.garbage = GarbageControl(self.document, self)
        self.selection = Selection(self)
        self.jobs = JobTracker(2, "work", self)
        self.worker = EngineWorker(services, self)
        self.opener = Opener(self.document, self.jobs, services, self)
        self.runs = RunControl(self.document, self.worker, services, self)
        self.targeting = TargetControl(
            self.document, self.opener, self.jobs, services, settings, self
        )
        self.walker = Walker(self.document, self.selection, self.targeting, self)
        self.live = LiveControl(self.document, self.jobs, services, self.targeting, self)
        self.commands = make_actions(self)
        self.commands.copies.setCheckable(True)
        self.commands.copies.setChecked(settings.copies)
        self.choices = ViewChoices(self, self._summary)
        self.pages = CodePages(self.jobs, services, self)
        self.work = Workspace(
            self,
            self.document,
            self.selection,
            self.targeting,
            self.jobs,
            services,
            self.commands,
            self.theme,
            FindingHelp(explain=self.pages.show, command=self._remedy_command),
            self._summary,
        )
        make_toolbar(self, self.commands, self.choices)
        menu = fill_menus(self, self.commands, self.choices, tuple(self.work.docks.values()))
        self.recent = RecentFiles(settings, self.work.start, menu, self)
        self.status = StatusLine(self.statusBar())
        self.graph = GraphAppearance(
            self.document, self.targeting, self.work.page, self, copies=settings.copies
        )
        self._connect()
        self.setAcceptDrops(True)
        self.resize(*_SIZE)
        self._restore()
        self.set_scheme(Scheme(settings.theme))
        self._update_actions()
        self._ask_engine()

    # ------------------------------------------------------------------ files

    def choose_file(self) -> None:
        """Ask for a file and open it."""
        path, _ = QFileDialog.getOpenFileName(
            self, "Open a model", self.settings.folder, FILE_FILTER
        )
        if path:
            self.open_file(path)

    def open_file(self, path: str) -> None:
        """Open ``path``; where it cannot be read the open document stays as it is."""
        self.work.message.hide()
        targets = self.targeting.first()
        self.opener.open(path, targets, self._opened, self._open_failed, self._all_there)

    def _opened(self, model: Model) -> None:
        self.runs.abandon()
        self.status.show_step("")
        self.selection.reset()
        if not self.work.shows_graph:
            self.work.show_graph()
            self._restore_layout()
        self.graph.await_types()
        if model.path:
            self.recent.add(model.path)
        self.setWindowTitle(self.document.name)
        self._update_actions()

    def _all_there(self) -> None:
        """Every part of the file was shown; a report is shown as its picture was."""
        self._update_actions()
        if (reported := self.document.reported) is None:
            self.targeting.judge_chosen()
            self._place_rest()
            return
        report = reported.report
        names = tuple(report.verdicts)
        compared = names[1] if report.color == Mode.DIFFERENCE and len(names) > 1 else ""
        self.targeting.take_reported(names, report.target, compared)
        if report.color in set(Mode):
            self.set_mode(Mode(report.color))
        if reported.selected is not None:
            self.selection.reveal(reported.selected)
        self.document.measured.emit()

    def _open_failed(self, error: Exception) -> None:
        self.work.message.show_message(error_text(error), "Open another ...", self.choose_file)
        self.failed.emit(error)

    def _tell_error(self, error: Exception) -> None:
        self.work.message.show_message(error_text(error))
        self.failed.emit(error)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        """Take one local file."""
        urls = event.mimeData().urls()
        if len(urls) == 1 and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        """Open the dropped file: inputs (.npz) for the open model, or another model."""
        path = event.mimeData().urls()[0].toLocalFile()
        event.acceptProposedAction()
        if path.endswith(".npz") and self.document.model is not None:
            self.work.run.use_file(path)
            self.work.show_dock("Run")
        else:
            self.open_file(path)

    # ------------------------------------------------------------------ runs

    def start_run(self, *, loop: bool = False) -> None:
        """Run the open model as the run panel says."""
        self.work.message.hide()
        self.runs.start(self.work.run.options(loop=loop))

    def _prepared(self, feeds: PreparedFeeds) -> None:
        self.work.run.set_prepared(feeds)
        self._shapes = {name: array.shape for name, array in feeds.arrays.items()}

    def _run_failed(self, error: Exception) -> None:
        """Tell why; where input sizes were assumed, lead to where they are chosen."""
        if isinstance(error, NodeError) and self.work.run.inputs.assumed:
            choose = partial(self.work.show_dock, "Run")
            self.work.message.show_message(error_text(error), "Choose input sizes ...", choose)
            self.failed.emit(error)
        else:
            self._tell_error(error)

    def _judge_plan(self) -> None:
        first = self.targeting.first()
        self.opener.refine(self._shapes, self.profile, first, self._tell_error)

    def _run_changed(self) -> None:
        done, total = self.worker.progress
        self.work.run.set_progress(self.worker.busy, done, total)
        self._update_actions()

    def _device_changed(self, profile: DeviceProfile) -> None:
        self.profile = profile
        self.status.show_adapter(profile)

    def _devices_known(self, devices: Sequence[DeviceProfile]) -> None:
        self.work.run.set_devices(devices)
        if devices and self.profile is None:
            self.status.show_adapter(devices[0])

    def _ask_engine(self) -> None:
        """Ask, off this thread, what targets and adapters there are."""
        self.targeting.ask()
        self.worker.list_devices(
            self._devices_known,
            lambda error: self.work.run.set_device_error(error_text(error)),
        )

    # ------------------------------------------------------------------ what the views show

    @property
    def targets(self) -> tuple[Target, ...]:
        """Every target, in the chooser's order."""
        return self.targeting.all

    @property
    def target(self) -> Target | None:
        """The target that is chosen."""
        return self.targeting.target

    def set_target(self, target_id: str) -> None:
        """Show another target's verdicts."""
        self.targeting.choose(target_id)

    @property
    def mode(self) -> Mode:
        """What the graph's colours say."""
        return self.graph.mode

    def set_mode(self, mode: Mode) -> None:
        """Colour the graph another way; a difference has its list of nodes in front."""
        self.choices.modes[mode].setChecked(True)
        self.targeting.wants_difference = mode is Mode.DIFFERENCE
        if mode is Mode.DIFFERENCE:
            self.targeting.judge_chosen()
            if self.work.shows_graph:
                self.work.show_dock("Differences")
        self.work.set_targets(self.targeting)
        self.graph.set_mode(mode)

    def _show_copies(self, shown: bool) -> None:
        self.settings.copies = shown
        if shown and self.mode is not Mode.PROVIDER:
            self.set_mode(Mode.PROVIDER)
        self.graph.show_copies(shown)

    def set_scheme(self, scheme: Scheme) -> None:
        """Light, dark, or as the system is."""
        self.settings.theme = scheme.value
        self.choices.schemes[scheme].setChecked(True)
        self.theme = theme_for(scheme)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            apply_theme(app, self.theme)
            app.setStyleSheet(stylesheet(self.theme))
        self.commands.set_theme(self.theme)
        self.work.set_theme(self.theme)

    def _targets_changed(self) -> None:
        """The list of targets, or a choice among them, is another."""
        self.choices.target_box.set_targets(self.targeting.all, self.target)
        self.work.set_targets(self.targeting)
        self._update_actions()
        self.graph.recolour_now()

    def _place_rest(self) -> None:
        """Once the file is judged and its graph drawn, place it for the remaining targets."""
        opened = self.document.parts is not None and not self.jobs.is_running(OPEN)
        if opened and self.targets and not self.work.page.is_laying_out:
            self.targeting.place_rest()

    def _summary(self, target: Target) -> str:
        return summary_text(self.document.verdicts(target.id).values())

    def set_options(self, target_id: str) -> None:
        """Let the user set the options of a target, and show it with them."""
        node = self.document.node(self.selection.node)
        target = self.targeting.parse(target_id)
        dialog = TargetOptionsDialog(
            target, self.targeting.parse, node.name if node is not None else "", self
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted_target.connect(self.targeting.choose)
        dialog.open()

    def _remedy_command(self, found: Diagnostic) -> Command | None:
        model = self.document.model
        if model is None or not model.path or self.document.reported is not None:
            return None
        path = os.path.abspath(model.path)  # without "..": the user may be elsewhere
        shown = self.services.remedy_command(found, os.path.basename(path))
        copied = self.services.remedy_command(found, path)
        return Command(shown, copied) if shown else None

    def _ask_live(self) -> None:
        self.work.message.hide()  # what it says may be of the last answer
        self.live.ask()

    def _show_counts(self, errors: int, warnings: int, notes: int) -> None:
        self.status.show_problems(errors, warnings, notes)
        total = errors + warnings + notes
        self.work.docks["Problems"].setWindowTitle(f"Problems ({total})" if total else "Problems")

    def _follow_system(self) -> None:
        if self.settings.theme == Scheme.SYSTEM:
            self.set_scheme(Scheme.SYSTEM)

    def _update_actions(self) -> None:
        opened = self.document.model is not None
        self.commands.allow(
            opened=opened,
            runnable=opened and self.document.reported is None,
            busy=self.runs.busy,
            targeted=self.target is not None,
        )
        self.commands.back.setEnabled(self.selection.can_go_back)
        self.commands.forward.setEnabled(self.selection.can_go_forward)

    # ------------------------------------------------------------------ the end

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep room for the graph."""
        super().resizeEvent(event)
        if self.work.shows_graph:
            self.work.make_room()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Keep the layout; end every job, run and layout and wait for their threads."""
        if self.work.shows_graph:
            self.settings.keep_window(self.saveGeometry(), self.saveState())
        self.jobs.close()
        self.worker.close()
        self.work.page.shutdown()
        self.work.charts.shutdown()
        self.garbage.end()
        super().closeEvent(event)

    # ------------------------------------------------------------------ construction

    def _restore(self) -> None:
        if self.settings.geometry is not None:
            self.restoreGeometry(self.settings.geometry)
        self.choices.show(Mode.PROVIDER, Scheme(self.settings.theme))

    def _restore_layout(self) -> None:
        """Show the panels as they were left, or in their usual places."""
        self.work.lay_out()
        if self.settings.layout is not None:
            self.restoreState(self.settings.layout)

    def _connect(self) -> None:
        commands, work, document = self.commands, self.work, self.document
        commands.open.triggered.connect(self.choose_file)
        commands.quit.triggered.connect(self.close)
        commands.run.triggered.connect(lambda: self.start_run())
        commands.loop.triggered.connect(lambda: self.start_run(loop=True))
        commands.stop.triggered.connect(self.runs.stop)
        commands.find.triggered.connect(work.page.find_bar.open)
        commands.fit.triggered.connect(work.page.canvas.fit)
        commands.back.triggered.connect(self.selection.back)
        commands.forward.triggered.connect(self.selection.forward)
        commands.next_problem.triggered.connect(lambda: work.problems.step(1))
        commands.previous_problem.triggered.connect(lambda: work.problems.step(-1))
        commands.next_offending.triggered.connect(lambda: self.walker.offending(1))
        commands.previous_offending.triggered.connect(lambda: self.walker.offending(-1))
        commands.next_difference.triggered.connect(lambda: self.walker.differing(1))
        commands.previous_difference.triggered.connect(lambda: self.walker.differing(-1))
        commands.copies.toggled.connect(self._show_copies)
        commands.ask_live.triggered.connect(self._ask_live)
        commands.report.triggered.connect(lambda: show_report(self))
        commands.shortcuts.triggered.connect(lambda: show_shortcuts(self))
        commands.copy_diagnostics.triggered.connect(lambda: copy_diagnostics(self))
        commands.about.triggered.connect(lambda: show_about(self))
        commands.reset_layout.triggered.connect(work.lay_out)
        self.choices.target_chosen.connect(self.set_target)
        self.choices.options_wanted.connect(self.set_options)
        self.choices.next_target.triggered.connect(self.targeting.choose_next)
        self.choices.mode_chosen.connect(self.set_mode)
        self.choices.scheme_chosen.connect(self.set_scheme)
        for signal in (self.targeting.listed, self.targeting.chosen, self.targeting.compared):
            signal.connect(self._targets_changed)
        self.targeting.listed.connect(self._place_rest)
        self.targeting.failed.connect(self._tell_error)
        self.live.failed.connect(self._tell_error)
        self.live.told.connect(self.status.show_step)
        self.walker.told.connect(self.status.show_step)
        self.pages.failed.connect(self._tell_error)
        work.differences.step_wanted.connect(self.walker.differing)
        work.page.laid_out.connect(self._place_rest)
        work.start.open_requested.connect(self.choose_file)
        work.start.file_chosen.connect(self.open_file)
        self.recent.chosen.connect(self.open_file)
        work.run.rejected.connect(work.message.show_message)
        work.page.layout_failed.connect(work.message.show_message)
        work.problems.counts_changed.connect(self._show_counts)
        self.selection.history_changed.connect(self._update_actions)
        self.selection.node_changed.connect(lambda _: self.status.show_step(""))
        self.jobs.changed.connect(lambda: self.status.show_jobs(self.jobs.running))
        self.status.cancelled.connect(self.jobs.cancel)
        self.runs.changed.connect(self._run_changed)
        self.runs.prepared.connect(self._prepared)
        self.runs.failed.connect(self._run_failed)
        self.worker.device_changed.connect(self._device_changed)
        document.planned.connect(self._judge_plan)
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._follow_system)
