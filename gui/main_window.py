"""The window: its parts, and which of them listens to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QMainWindow

from ..engine.device.profile import DeviceProfile
from ..engine.diagnostics import Severity
from ..engine.errors import NodeError
from ..engine.ir.model import Model
from .actions import make_actions
from .code_pages import CodePages
from .dialogs import (
    choose_limits,
    copy_diagnostics,
    show_about,
    show_options,
    show_report,
    show_shortcuts,
)
from .document import Document
from .engine_worker import EngineWorker
from .error_text import error_text
from .garbage import GarbageControl
from .graph_appearance import GraphAppearance
from .jobs import JobTracker
from .limits_control import LimitsControl
from .live_control import LiveControl
from .menus import ViewChoices, fill_menus, make_toolbar
from .opening import OPEN, Opener
from .recent_files import RecentFiles
from .remedies import remedy_commands
from .run_control import RunControl
from .scheme import SchemeControl
from .selection import Selection
from .services import Services, Target
from .settings import Settings
from .target_control import TargetControl
from .theme import Theme
from .verdict import summary_text
from .views.finding import FindingHelp
from .views.graph.colouring import Mode
from .views.status_line import StatusLine
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
        self._make_controls()
        self._make_views()
        self._connect_commands()
        self._connect_choices()
        self._connect_controls()
        self._connect_views()
        self.setAcceptDrops(True)
        self.resize(*_SIZE)
        self._restore()
        self.scheme.choose(self.scheme.scheme)
        self._update_actions()
        self._ask_engine()

    # ------------------------------------------------------------------ construction

    def _make_controls(self) -> None:
        """What works without a view."""
        services, settings = self.services, self.settings
        self.scheme = SchemeControl(settings, self)
        self.document = Document(self)
        self.garbage = GarbageControl(self.document, self)
        self.selection = Selection(self)
        self.document.opened.connect(self.selection.reset)  # before any view hears of the file
        self.jobs = JobTracker(2, "work", self)
        self.worker = EngineWorker(services, self)
        self.opener = Opener(self.document, self.jobs, services, self)
        self.runs = RunControl(self.document, self.worker, services, self)
        self.targeting = TargetControl(
            self.document, self.opener, self.jobs, services, settings, self
        )
        self.walker = Walker(self.document, self.selection, self.targeting, self)
        self.live = LiveControl(self.document, self.jobs, services, self.targeting, self)
        self.limits = LimitsControl(self.opener, self.jobs, services, self)
        self.pages = CodePages(self.jobs, services, self)

    def _make_views(self) -> None:
        settings = self.settings
        self.commands = make_actions(self)
        self.commands.copies.setCheckable(True)
        self.commands.copies.setChecked(settings.copies)
        self.choices = ViewChoices(self, self._summary)
        commands = remedy_commands(self.document, self.services)
        self.work = Workspace(
            self,
            self.document,
            self.selection,
            self.targeting,
            self.jobs,
            self.services,
            self.commands,
            self.theme,
            FindingHelp(explain=self.pages.show, command=commands),
            self._summary,
        )
        make_toolbar(self, self.commands, self.choices)
        menu = fill_menus(self, self.commands, self.choices, tuple(self.work.docks.values()))
        self.recent = RecentFiles(settings, self.work.start, menu, self)
        self.status = StatusLine(self.statusBar())
        self.graph = GraphAppearance(
            self.document, self.targeting, self.work.page, self, copies=settings.copies
        )

    def _restore(self) -> None:
        if self.settings.geometry is not None:
            self.restoreGeometry(self.settings.geometry)
        self.choices.show(Mode.PROVIDER, self.scheme.scheme)

    def _restore_layout(self) -> None:
        """Show the panels as they were left, or in their usual places."""
        self.work.lay_out()
        if self.settings.layout is not None:
            self.restoreState(self.settings.layout)

    def _connect_commands(self) -> None:
        commands, work, walker = self.commands, self.work, self.walker
        for action, do in (
            (commands.open, self.choose_file),
            (commands.quit, self.close),
            (commands.run, self.start_run),
            (commands.loop, partial(self.start_run, loop=True)),
            (commands.stop, self.runs.stop),
            (commands.find, work.page.find_bar.open),
            (commands.fit, work.page.canvas.gaze.fit),
            (commands.back, self.selection.back),
            (commands.forward, self.selection.forward),
            (commands.next_problem, partial(work.problems.step, 1)),
            (commands.previous_problem, partial(work.problems.step, -1)),
            (commands.next_offending, partial(walker.offending, 1)),
            (commands.previous_offending, partial(walker.offending, -1)),
            (commands.next_difference, partial(walker.differing, 1)),
            (commands.previous_difference, partial(walker.differing, -1)),
            (commands.ask_live, self._ask_live),
            (commands.report, partial(show_report, self)),
            (commands.shortcuts, partial(show_shortcuts, self)),
            (commands.copy_diagnostics, partial(copy_diagnostics, self)),
            (commands.about, partial(show_about, self)),
            (commands.reset_layout, work.lay_out),
        ):
            action.triggered.connect(lambda _=False, do=do: do())
        commands.copies.toggled.connect(self._show_copies)

    def _connect_choices(self) -> None:
        self.choices.target_chosen.connect(self.set_target)
        self.choices.options_wanted.connect(lambda target_id: show_options(self, target_id))
        self.choices.next_target.triggered.connect(self.targeting.choose_next)
        self.choices.mode_chosen.connect(self.set_mode)
        self.choices.scheme_chosen.connect(self.scheme.choose)
        self.choices.limits_chosen.connect(partial(choose_limits, self))

    def _connect_controls(self) -> None:
        self.scheme.changed.connect(self._theme_changed)
        self.opener.opened.connect(self._opened)
        self.opener.finished.connect(self._all_there)
        self.opener.not_opened.connect(self._not_opened)
        for control in (self.opener, self.targeting, self.live, self.limits, self.pages):
            control.failed.connect(self._tell_error)
        for signal in (self.targeting.listed, self.targeting.chosen, self.targeting.compared):
            signal.connect(self._targets_changed)
        self.targeting.listed.connect(self._place_rest)
        self.limits.chosen.connect(self._limits_chosen)
        self.live.told.connect(self.status.show_step)
        self.walker.told.connect(self.status.show_step)
        self.selection.history_changed.connect(self._update_actions)
        self.selection.node_changed.connect(lambda _: self.status.show_step(""))
        self.jobs.changed.connect(lambda: self.status.show_jobs(self.jobs.running))
        self.runs.changed.connect(self._run_changed)
        self.runs.prepared.connect(self.work.run.set_prepared)
        self.runs.failed.connect(self._run_failed)
        self.worker.device_changed.connect(self._device_changed)
        self.document.planned.connect(self._judge_plan)

    def _connect_views(self) -> None:
        work = self.work
        work.differences.step_wanted.connect(self.walker.differing)
        work.page.laid_out.connect(self._place_rest)
        work.page.layout_failed.connect(work.message.show_message)
        work.start.open_requested.connect(self.choose_file)
        work.start.file_chosen.connect(self.open_file)
        work.run.rejected.connect(work.message.show_message)
        work.problems.counts_changed.connect(self._show_counts)
        self.recent.chosen.connect(self.open_file)
        self.status.cancelled.connect(self.jobs.cancel)

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
        self.opener.open(path, self.targeting.for_opening())

    def _opened(self, model: Model) -> None:
        self.runs.abandon()
        self.status.show_step("")
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

    def _not_opened(self, error: Exception) -> None:
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

    def _run_failed(self, error: Exception) -> None:
        """Tell why; where input sizes were assumed, lead to where they are chosen."""
        if isinstance(error, NodeError) and self.work.run.inputs.assumed:
            choose = partial(self.work.show_dock, "Run")
            self.work.message.show_message(error_text(error), "Choose input sizes ...", choose)
            self.failed.emit(error)
        else:
            self._tell_error(error)

    def _judge_plan(self) -> None:
        shown = [target.id for target in self.targeting.shown]
        self.opener.refine(self.runs.shapes, self.profile, shown)

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

    @property
    def theme(self) -> Theme:
        """The theme that the window wears."""
        return self.scheme.theme

    def _theme_changed(self, theme: Theme) -> None:
        self.choices.schemes[self.scheme.scheme].setChecked(True)
        self.commands.set_theme(theme)
        self.work.set_theme(theme)

    def _limits_chosen(self) -> None:
        self.choices.limits[self.limits.which].setChecked(True)
        self.status.show_limits(self.limits.label)

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

    def _ask_live(self) -> None:
        self.work.message.hide()  # what it says may be of the last answer
        self.live.ask()

    def _show_counts(self, counts: Mapping[Severity, int]) -> None:
        self.status.show_problems(counts)
        total = sum(counts.values())
        self.work.docks["Problems"].setWindowTitle(f"Problems ({total})" if total else "Problems")

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
