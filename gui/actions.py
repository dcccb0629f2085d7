"""Every action of the window: its text, shortcut and tip, in one place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from .icons import icon
from .theme import Theme


@dataclass(frozen=True)
class Actions:
    """The actions; what they do is connected by the window."""

    open: QAction
    quit: QAction
    run: QAction
    loop: QAction
    stop: QAction
    find: QAction
    fit: QAction
    back: QAction
    forward: QAction
    next_problem: QAction
    previous_problem: QAction
    next_offending: QAction
    previous_offending: QAction
    next_difference: QAction
    previous_difference: QAction
    copies: QAction
    ask_live: QAction
    report: QAction
    shortcuts: QAction
    copy_diagnostics: QAction
    about: QAction
    reset_layout: QAction

    def all(self) -> Iterator[QAction]:
        """Every action."""
        return (getattr(self, f.name) for f in fields(self))

    def allow(self, *, opened: bool, runnable: bool, busy: bool, targeted: bool) -> None:
        """Let those be used that make sense now.

        Args:
            opened: a model is open.
            runnable: it can be run: it is not one that a report shows.
            busy: a run goes on.
            targeted: a target is chosen.
        """
        for action in (self.find, self.fit, self.report, self.reset_layout):
            action.setEnabled(opened)
        self.run.setEnabled(runnable and not busy)
        self.loop.setEnabled(runnable and not busy)
        self.stop.setEnabled(busy)
        for action in (
            self.next_offending,
            self.previous_offending,
            self.next_difference,
            self.previous_difference,
        ):
            action.setEnabled(opened and targeted)
        self.ask_live.setEnabled(runnable and targeted)

    def set_theme(self, theme: Theme) -> None:
        """Redraw the actions' signs."""
        for name in _WITH_ICON:
            getattr(self, name).setIcon(icon(name, theme))


_WITH_ICON = (
    "open",
    "run",
    "loop",
    "stop",
    "find",
    "fit",
    "back",
    "forward",
    "next_offending",
    "copies",
    "report",
)
_SHORT = {"next_offending": "Next offending", "copies": "Copies"}  # in the tool bar
# name: (text, shortcuts, tip)
_TEXTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "open": ("&Open ...", ("Ctrl+O",), "Open a model"),
    "quit": ("&Quit", ("Ctrl+Q",), "Close the window"),
    "run": ("&Run", ("F5",), "Run once, then the warm runs asked for"),
    "loop": ("&Loop", ("F6",), "Run until stopped, times live"),
    "stop": ("&Stop", ("Shift+F5",), "Stop after the present run; times are kept"),
    "find": ("&Find\tCtrl+F", (), "Find a node by name or operator"),
    "fit": ("F&it", ("Ctrl+0",), "Show the whole graph"),
    "back": ("&Back", ("Alt+Left",), "Back to where you were"),
    "forward": ("F&orward", ("Alt+Right",), "Forward again"),
    "next_problem": ("&Next problem", ("F8",), "Go to the next finding"),
    "previous_problem": ("&Previous problem", ("Shift+F8",), "Go to the previous finding"),
    "next_offending": (
        "Next &offending node",
        ("N",),
        "Go to the next node that is off the chosen target's GPU, fails or has a warning",
    ),
    "previous_offending": (
        "P&revious offending node",
        ("Shift+N",),
        "Go to the previous node that is off the GPU, fails or has a warning",
    ),
    "next_difference": (
        "Next &difference",
        ("F9",),
        "Go to the next node that the two compared targets place differently",
    ),
    "previous_difference": (
        "Previous d&ifference",
        ("Shift+F9",),
        "Go to the previous node that the two compared targets place differently",
    ),
    "copies": (
        "Show &copies",
        ("Ctrl+E",),
        "Mark the values that the chosen target copies between GPU and CPU, with their bytes",
    ),
    "ask_live": (
        "&Ask the installed ONNX Runtime",
        ("Ctrl+L",),
        "Where the installed ONNX Runtime runs each node, beside the prediction",
    ),
    "report": ("Bug &report", ("Ctrl+Shift+B",), "Make a bug report in one picture"),
    "shortcuts": ("&Keyboard shortcuts", ("F1",), "Every key and mouse gesture"),
    "copy_diagnostics": (
        "&Copy diagnostics",
        (),
        "Copy versions, adapter and findings as text, for an issue",
    ),
    "about": ("&About Opscope", (), "Versions and licence"),
    "reset_layout": ("&Reset layout", (), "Put every panel back in its place"),
}


def make_actions(parent: QWidget) -> Actions:
    """The actions with their texts and shortcuts, connected to nothing yet."""
    made = {}
    for name, (text, keys, tip) in _TEXTS.items():
        action = QAction(text, parent)
        action.setShortcuts([QKeySequence(key) for key in keys])
        shown = keys[0] if keys else text.partition("\t")[2]
        hint = f" ({shown})" if shown else ""
        action.setToolTip(f"{tip}{hint}")
        action.setStatusTip(tip)
        short = text.partition("\t")[0].replace("&", "").removesuffix(" ...")
        action.setIconText(_SHORT.get(name, short))
        made[name] = action
    return Actions(**made)
