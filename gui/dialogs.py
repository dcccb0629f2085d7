"""The dialogs over the window: of the Help menu, a target's options, limits, the bug report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMessageBox

from .limits_control import Limits
from .views.help_dialogs import ShortcutsDialog, about_text, diagnostics_text
from .views.target_options import TargetOptionsDialog

if TYPE_CHECKING:
    from .main_window import MainWindow

_LIMITS_FILES = "Limits (*.json);;All files (*)"


def show_shortcuts(window: MainWindow) -> None:
    """List every key."""
    actions: list[QAction] = [*window.commands.all(), *window.choices.modes.values()]
    dialog = ShortcutsDialog([*actions, window.choices.next_target], window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def copy_diagnostics(window: MainWindow) -> None:
    """Put versions, adapter and findings on the clipboard."""
    QGuiApplication.clipboard().setText(diagnostics_text(window.document, window.profile))
    window.status.say("Diagnostics copied")


def show_about(window: MainWindow) -> None:
    """Say what this is."""
    box = QMessageBox(QMessageBox.Icon.NoIcon, "About Opscope", about_text(), parent=window)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()


def show_options(window: MainWindow, target_id: str) -> None:
    """Let the user set the options of a target, and show it with them."""
    node, targeting = window.document.node(window.selection.node), window.targeting
    name = node.name if node is not None else ""
    dialog = TargetOptionsDialog(targeting.parse(target_id), targeting.parse, name, window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.accepted_target.connect(targeting.choose)
    dialog.open()


def choose_limits(window: MainWindow, which: Limits) -> None:
    """Let other limits count; where they are in a file, ask for it."""
    path = ""
    if which is Limits.FILE:
        path, _ = QFileDialog.getOpenFileName(
            window, "Limits saved by opscope devices --json", window.settings.folder, _LIMITS_FILES
        )
        if not path:
            window.limits.chosen.emit()  # those before are ticked again
            return
    window.limits.choose(which, path)


def show_report(window: MainWindow) -> None:
    """Make a bug report of what the window shows."""
    from .reporting import report_from_window

    report_from_window(window)
