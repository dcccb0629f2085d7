"""The menus and the tool bar, with the choices of target, colouring and theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QActionGroup, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDockWidget,
    QLabel,
    QMainWindow,
    QMenu,
    QSizePolicy,
    QToolBar,
    QWidget,
)

from .actions import Actions
from .services import Target
from .theme import Scheme
from .views.graph.colouring import Mode

Key = TypeVar("Key")
_MODES = {Mode.PROVIDER: "Provider", Mode.TIME: "Time", Mode.RISK: "Risk"}
_MODE_KEYS = {Mode.PROVIDER: "Ctrl+1", Mode.TIME: "Ctrl+2", Mode.RISK: "Ctrl+3"}
_MODE_TIPS = {
    Mode.PROVIDER: "Colour by where each node runs on the chosen target",
    Mode.TIME: "Colour by the time that each node took in Opscope's runs",
    Mode.RISK: "Colour by the worst finding of each node",
}
_TARGET_LENGTH = 16  # characters
_SCHEMES = {Scheme.SYSTEM: "Like the system", Scheme.LIGHT: "Light", Scheme.DARK: "Dark"}


class ViewChoices(QObject):
    """Target, colouring and theme: each chosen in the tool bar or a menu alike.

    Signals:
        target_chosen: str: the id of a target.
        mode_chosen: Mode.
        scheme_chosen: Scheme.
    """

    target_chosen = Signal(str)
    mode_chosen = Signal(object)
    scheme_chosen = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.target_box = QComboBox()
        self.target_box.setToolTip("The engine whose verdicts the window shows (Ctrl+T: the next)")
        self.target_box.setAccessibleName("Target")
        self.target_box.setPlaceholderText("Opscope")  # until the others are known
        self.target_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.target_box.setMinimumContentsLength(_TARGET_LENGTH)  # nothing moves when they are
        self.target_box.activated.connect(
            lambda index: self.target_chosen.emit(self.target_box.itemData(index))
        )
        self.modes = _group(self, _MODES, self.mode_chosen)
        for mode, action in self.modes.items():
            action.setShortcut(_MODE_KEYS[mode])
            action.setToolTip(f"{_MODE_TIPS[mode]} ({_MODE_KEYS[mode]})")
        self.schemes = _group(self, _SCHEMES, self.scheme_chosen)
        self.next_target = QAction("Next &target", self)
        self.next_target.setShortcut("Ctrl+T")
        self.next_target.triggered.connect(self._choose_next)

    def set_targets(self, targets: Sequence[Target], chosen: str) -> None:
        """Offer ``targets``."""
        self.target_box.clear()
        for target in targets:
            self.target_box.addItem(target.label, target.id)
        self.target_box.setCurrentIndex(max(0, self.target_box.findData(chosen)))

    def show(self, mode: Mode, scheme: Scheme) -> None:
        """Tick what is in force."""
        self.modes[mode].setChecked(True)
        self.schemes[scheme].setChecked(True)

    def _choose_next(self) -> None:
        if self.target_box.count():
            index = (self.target_box.currentIndex() + 1) % self.target_box.count()
            self.target_box.setCurrentIndex(index)
            self.target_chosen.emit(self.target_box.itemData(index))


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
    """Shows signs with their words, and without them where the window is too narrow for that."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._full_width = 0

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Choose between the two."""
        super().resizeEvent(event)
        words, signs = (
            Qt.ToolButtonStyle.ToolButtonTextBesideIcon,
            Qt.ToolButtonStyle.ToolButtonIconOnly,
        )
        if self.toolButtonStyle() == words:
            self._full_width = self.sizeHint().width()
        wanted = words if event.size().width() >= self._full_width else signs
        if wanted != self.toolButtonStyle():
            self.setToolButtonStyle(wanted)


def make_toolbar(window: QMainWindow, actions: Actions, choices: ViewChoices) -> QToolBar:
    """The tool bar."""
    bar = ToolBar("Tools")
    bar.setObjectName("toolbar")
    bar.setMovable(False)
    for action in (actions.open, None, actions.run, actions.loop, actions.stop, None):
        _add(bar, action)
    bar.addWidget(QLabel("Target"))
    bar.addWidget(choices.target_box)
    bar.addWidget(QLabel("Colour by"))
    for action in choices.modes.values():
        bar.addAction(action)
    bar.addSeparator()
    for action in (actions.find, actions.fit):
        _add(bar, action)
    space = QWidget()
    space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    bar.addWidget(space)
    bar.addAction(actions.report)
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
    for action in (actions.report, None, actions.quit):
        _add(file, action)
    view = bar.addMenu("&View")
    for action in (actions.find, actions.fit, actions.back, actions.forward, None):
        _add(view, action)
    colour = view.addMenu("&Colour by")
    colour.addActions(list(choices.modes.values()))
    view.addAction(choices.next_target)
    theme = view.addMenu("&Theme")
    theme.addActions(list(choices.schemes.values()))
    panels = view.addMenu("&Panels")
    for dock in docks:
        panels.addAction(dock.toggleViewAction())
    panels.addSeparator()
    panels.addAction(actions.reset_layout)
    run = bar.addMenu("&Run")
    run.addActions([actions.run, actions.loop, actions.stop])
    problems = bar.addMenu("&Problems")
    problems.addActions([actions.next_problem, actions.previous_problem])
    help_menu = bar.addMenu("&Help")
    help_menu.addActions([actions.shortcuts, actions.copy_diagnostics, actions.about])
    return recent


def _add(place: QToolBar | QMenu, action: QAction | None) -> None:
    if action is None:
        place.addSeparator()
    else:
        place.addAction(action)
