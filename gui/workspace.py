"""The views of the window and where they stand: the centre, and the docks around it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDockWidget,
    QMainWindow,
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from .actions import Actions
from .document import Document
from .jobs import JobTracker
from .samples import samples
from .selection import Selection
from .services import Services, Target
from .target_control import TargetControl
from .theme import Theme
from .views.charts_panel import ChartsPanel
from .views.differences_panel import DifferencesPanel
from .views.finding import FindingHelp
from .views.graph.page import GraphPage
from .views.kernels_panel import KernelsPanel
from .views.message_bar import MessageBar
from .views.node_panel import NodePanel
from .views.operators_panel import OperatorsPanel
from .views.problems_panel import ProblemsPanel
from .views.run_panel import RunPanel
from .views.start_page import StartPage

_SIDE_WIDTHS = (410, 384)
_SIDES_MOST = 0.6  # of the window's width, for both sides together
_BOTTOM_HEIGHT = 240


class Workspace:
    """Makes every view and puts it into ``window``."""

    def __init__(
        self,
        window: QMainWindow,
        document: Document,
        selection: Selection,
        targets: TargetControl,
        jobs: JobTracker,
        services: Services,
        actions: Actions,
        theme: Theme,
        finding_help: FindingHelp,
        summary: Callable[[Target], str],
    ) -> None:
        self.message = MessageBar()
        self.start = StartPage(samples())
        self.page = GraphPage(theme, selection)
        self.operators = OperatorsPanel(document, selection, theme)
        self.run = RunPanel(document, actions.run, actions.loop, actions.stop)
        self.node = NodePanel(
            document, selection, targets, jobs, services.wgsl, theme, finding_help=finding_help
        )
        self.kernels = KernelsPanel(document, selection, theme)
        self.charts = ChartsPanel(document, selection, theme)
        self.problems = ProblemsPanel(document, selection, theme, finding_help=finding_help)
        self.differences = DifferencesPanel(document, selection, targets, theme, summary)
        self.docks: dict[str, QDockWidget] = {}
        self._window = window
        self._make_centre()
        self._make_docks()

    def _make_centre(self) -> None:
        self._centre = QStackedWidget()
        self._centre.addWidget(self.start)
        self._centre.addWidget(self.page)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.message)
        column.addWidget(self._centre, 1)
        self._window.setCentralWidget(middle)

    def _make_docks(self) -> None:
        left, right, bottom = (
            Qt.DockWidgetArea.LeftDockWidgetArea,
            Qt.DockWidgetArea.RightDockWidgetArea,
            Qt.DockWidgetArea.BottomDockWidgetArea,
        )
        window = self._window
        window.setCorner(Qt.Corner.BottomLeftCorner, bottom)
        window.setCorner(Qt.Corner.BottomRightCorner, right)
        window.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        places = (
            ("Operators", self.operators, left),
            ("Run", self.run, left),
            ("Node", self.node, right),
            ("Kernels", self.kernels, bottom),
            ("Charts", self.charts, bottom),
            ("Problems", self.problems, bottom),
            ("Differences", self.differences, bottom),
        )
        for name, view, area in places:
            dock = QDockWidget(name, window)
            dock.setObjectName(f"dock_{name.lower()}")
            dock.setWidget(view)
            dock.setTitleBarWidget(QWidget())  # its tab, or its own heading, says what it is
            dock.hide()
            window.addDockWidget(area, dock)
            self.docks[name] = dock
        window.tabifyDockWidget(self.docks["Operators"], self.docks["Run"])
        window.tabifyDockWidget(self.docks["Kernels"], self.docks["Charts"])
        window.tabifyDockWidget(self.docks["Charts"], self.docks["Problems"])
        window.tabifyDockWidget(self.docks["Problems"], self.docks["Differences"])

    def show_graph(self) -> None:
        """Put the graph in the middle instead of the start page."""
        self._centre.setCurrentWidget(self.page)

    @property
    def shows_graph(self) -> bool:
        """Whether the start page has given way to a graph."""
        return self._centre.currentWidget() is self.page

    def lay_out(self) -> None:
        """Show every panel in its usual place and size."""
        window, docks = self._window, self.docks
        for dock in docks.values():
            dock.setFloating(False)
            dock.show()
        most = _SIDES_MOST * window.width() / sum(_SIDE_WIDTHS)
        widths = [round(width * min(most, 1.0)) for width in _SIDE_WIDTHS]
        window.resizeDocks([docks["Operators"], docks["Node"]], widths, Qt.Orientation.Horizontal)
        window.resizeDocks([docks["Problems"]], [_BOTTOM_HEIGHT], Qt.Orientation.Vertical)
        for name in ("Operators", "Problems"):
            docks[name].raise_()

    def make_room(self) -> None:
        """In a window that has become narrow the panels at the sides leave the graph its place."""
        sides = [self.docks[name] for name in ("Operators", "Run", "Node")]
        sides = [d for d in sides if not d.isFloating() and not d.visibleRegion().isEmpty()]
        wide, most = sum(d.width() for d in sides), _SIDES_MOST * self._window.width()
        if wide > most:
            widths = [round(d.width() * most / wide) for d in sides]
            self._window.resizeDocks(sides, widths, Qt.Orientation.Horizontal)

    def show_dock(self, name: str) -> None:
        """Bring a panel to the front."""
        self.docks[name].show()
        self.docks[name].raise_()

    def set_targets(self, targets: TargetControl) -> None:
        """Tell the views that keep no eye on the targets themselves which there are."""
        self.operators.set_targets(targets.shown)
        self.problems.set_targets(targets.all)

    def set_theme(self, theme: Theme) -> None:
        """Show every view in ``theme``."""
        for view in (
            self.message,
            self.page,
            self.operators,
            self.node,
            self.kernels,
            self.charts,
            self.problems,
            self.differences,
        ):
            view.set_theme(theme)
