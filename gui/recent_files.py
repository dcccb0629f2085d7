"""The files that were opened before: on the start page and in the File menu."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMenu

from .settings import Settings
from .views.start_page import StartPage


class RecentFiles(QObject):
    """Keeps the menu and the start page in step with what is remembered.

    Signals:
        chosen: str: the path of a file to open.
    """

    chosen = Signal(str)

    def __init__(
        self, settings: Settings, start: StartPage, menu: QMenu, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._settings = settings
        self._start = start
        self._menu = menu
        self.show()

    def add(self, path: str) -> None:
        """Remember a file that was opened."""
        self._settings.add_recent_file(path)
        self.show()

    def forget(self) -> None:
        """Remember none."""
        self._settings.clear_recent_files()
        self.show()

    def show(self) -> None:
        """List what is remembered."""
        paths = self._settings.recent_files
        self._start.set_recent(paths)
        self._menu.clear()
        for path in paths:
            action = self._menu.addAction(Path(path).name)
            action.setStatusTip(path)
            action.triggered.connect(lambda _=False, path=path: self.chosen.emit(path))
        self._menu.addSeparator()
        self._menu.addAction("&Forget them", self.forget)
        self._menu.setEnabled(bool(paths))
