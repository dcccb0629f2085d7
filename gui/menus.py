"""The menus and the tool bar, with the choices of target, colouring, theme and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QLabel,
    QMainWindow,
    QMenu,
    QSizePolicy,
    QToolBar,
    QToolButton,
    QWidget,
)

from .actions import Actions
from .limits_control import Limits
from .scheme import Scheme
from .services import Target
from .views.graph.colouring import Mode
from .views.target_box import TargetButton

Key = TypeVar("Key")
_MODES = {
    Mode.PROVIDER: "Provider",
    Mode.TIME: "Time",
    Mode.RISK: "Risk",
    Mode.DIFFERENCE: "Difference",
}
_MODE_KEYS = {
    Mode.PROVIDER: "Ctrl+1",
    Mode.TIME: "Ctrl+2",
    Mode.RISK: "Ctrl+3",
    Mode.DIFFERENCE: "Ctrl+4",
}
_MODE_TIPS = {
    Mode.PROVIDER: "Colour by where each node runs on the chosen target",
    Mode.TIME: "Colour by the time that each node took in Opscope's runs",
    Mode.RISK: "Colour by the worst finding of each node",
    Mode.DIFFERENCE: "Colour by where the chosen target and another one part",
}
_LIMITS = {
    Limits.RUN: "The adapter of the last run",
    Limits.BROWSER: "A browser's defaults (WebGPU specification)",
    Limits.ADAPTER: "The adapter at hand",
    Limits.FILE: "Saved on another machine ...",
}
_SCHEMES = {Scheme.SYSTEM: "Like the system", Scheme.LIGHT: "Light", Scheme.DARK: "Dark"}


class ViewChoices(QObject):
    """Target, colouring, theme and limits: each chosen in the tool bar or a menu alike.

    Args:
        parent: the window.
        summary: how a target takes the open model, in a few words.

    Signals:
        target_chosen: str: the id of a target.
        options_wanted: str: the options of that target are to be set.
        mode_chosen: Mode.
        scheme_chosen: Scheme.
        limits_chosen: Limits.
    """

    target_chosen = Signal(str)
    options_wanted = Signal(str)
    mode_chosen = Signal(object)
    scheme_chosen = Signal(object)
    limits_chosen = Signal(object)

    def __init__(self, parent: QObject, summary: Callable[[Target], str]) -> None:
        super().__init__(parent)
        tip = "Whose verdicts the window shows (Ctrl+T: the next)"
        self.target_box = TargetButton("Target", tip, summary)
        self.target_box.chosen.connect(self.target_chosen)
        self.target_box.options_wanted.connect(self.options_wanted)
        self.modes = _group(self, _MODES, self.mode_chosen)
        for mode, action in self.modes.items():
            action.setShortcut(_MODE_KEYS[mode])
            action.setToolTip(f"{_MODE_TIPS[mode]} ({_MODE_KEYS[mode]})")
        self.schemes = _group(self, _SCHEMES, self.scheme_chosen)
        self.limits = _group(self, _LIMITS, self.limits_chosen)
        self.limits[Limits.RUN].setChecked(True)
        self.next_target = QAction("Next &target", self)
        self.next_target.setShortcut("Ctrl+T")

    def show(self, mode: Mode, scheme: Scheme) -> None:
        """Tick what is in force."""
        self.modes[mode].setChecked(True)
        self.schemes[scheme].setChecked(True)


def _group(
    parent: ViewChoices, texts: Mapping[Key, str], chosen: SignalInstance
) -> dict[Key, QAction]:
    """One checkable action per key, of which one is ticked."""
    group = QActionGroup(parent)
    made = {}
    for key, text in texts.items():
        action = group.addAction(text)
        action.setCheckable(True)
        action.triggered.connect(lambda _=False, key=key: chosen.emit(key))
        made[key] = action
    return made


class ToolBar(QToolBar):
    """Shows signs with words; where the window is narrow, fewer and fewer words."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.setToolButtonStyle(_WORDS)
        self._first: tuple[QAction, ...] = ()

    def give_up_first(self, actions: Sequence[QAction]) -> None:
        """Name the actions whose words are the first to go."""
        self._first = tuple(actions)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Show as many words as there is room for."""
        super().resizeEvent(event)
        self._dress(event.size().width())

    def _dress(self, room: int) -> None:
        for level in range(4):
            self._show_words(level)
            if self.sizeHint().width() <= room:
                return

    def _show_words(self, level: int) -> None:
        """0: every word, 1: not those of the first to go, 2: headings alone, 3: none."""
        for action in self.actions():
            button = self.widgetForAction(action)
            if isinstance(button, QLabel) and action.isVisible() is not (level < 3):
                action.setVisible(level < 3)
            if isinstance(button, QToolButton) and not action.icon().isNull():
                signs = level >= 2 or (level == 1 and action in self._first)
                wanted = _SIGNS if signs else _WORDS
                if button.toolButtonStyle() != wanted:
                    button.setToolButtonStyle(wanted)


_WORDS = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
_SIGNS = Qt.ToolButtonStyle.ToolButtonIconOnly


def make_toolbar(window: QMainWindow, actions: Actions, choices: ViewChoices) -> QToolBar:
    """The tool bar."""
    bar = ToolBar("Tools")
    bar.setObjectName("toolbar")
    bar.setMovable(False)
    _add(bar, actions.open, None, actions.run, actions.loop, actions.stop, None)
    bar.addWidget(QLabel("Target"))
    bar.addWidget(choices.target_box)
    bar.addWidget(QLabel("Colour by"))
    _add(bar, *choices.modes.values(), None)
    _add(bar, actions.copies, actions.next_offending, None, actions.find, actions.fit)
    space = QWidget()
    space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    bar.addWidget(space)
    bar.addAction(actions.report)
    bar.give_up_first((actions.find, actions.fit, actions.stop, actions.copies, actions.loop))
    window.addToolBar(bar)
    return bar


def fill_menus(
    window: QMainWindow,
    actions: Actions,
    choices: ViewChoices,
    docks: Sequence[QDockWidget],
) -> QMenu:
    """The menu bar.

    Returns:
        The menu of recent files, for the window to fill.
    """
    bar = window.menuBar()
    file = bar.addMenu("&File")
    file.addAction(actions.open)
    recent = file.addMenu("Open &recent")
    _add(file, actions.report, None, actions.quit)
    _fill_view(bar.addMenu("&View"), actions, choices, docks)
    _add(bar.addMenu("&Run"), actions.run, actions.loop, actions.stop)
    _fill_problems(bar.addMenu("&Problems"), actions, choices)
    _add(bar.addMenu("&Help"), actions.shortcuts, actions.copy_diagnostics, actions.about)
    return recent


def _fill_view(
    view: QMenu, actions: Actions, choices: ViewChoices, docks: Sequence[QDockWidget]
) -> None:
    _add(view, actions.find, actions.fit, actions.back, actions.forward, None)
    _add(view.addMenu("&Colour by"), *choices.modes.values())
    _add(view, choices.next_target, actions.copies)
    _add(view.addMenu("&Theme"), *choices.schemes.values())
    panels = (dock.toggleViewAction() for dock in docks)
    _add(view.addMenu("&Panels"), *panels, None, actions.reset_layout)


def _fill_problems(problems: QMenu, actions: Actions, choices: ViewChoices) -> None:
    _add(problems, actions.next_problem, actions.previous_problem, None)
    _add(problems, actions.next_offending, actions.previous_offending, None)
    _add(problems, actions.next_difference, actions.previous_difference, None)
    _add(problems, actions.ask_live)
    _add(problems.addMenu("&Limits that count"), *choices.limits.values())


def _add(place: QToolBar | QMenu, *actions: QAction | None) -> None:
    """Add actions, a separator for each None."""
    for action in actions:
        if action is None:
            place.addSeparator()
        else:
            place.addAction(action)
