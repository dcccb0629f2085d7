"""What the window remembers: theme, layout, recent files, last folder. Passed in, never global."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

THEMES = ("system", "light", "dark")
RECENT_FILES = 10
LAYOUT_VERSION = 2  # raised when docks change, so that an old layout is not forced on a new window


class Settings:
    """A typed view of a ``QSettings``; a value of the wrong kind reads as its default."""

    def __init__(self, store: QSettings | None = None) -> None:
        self._store = store if store is not None else QSettings("Opscope", "Opscope")

    @property
    def theme(self) -> str:
        """``system``, ``light`` or ``dark``."""
        value = self._store.value("theme")
        return value if value in THEMES else "system"

    @theme.setter
    def theme(self, value: str) -> None:
        if value not in THEMES:
            raise ValueError(f"unknown theme {value!r}")
        self._store.setValue("theme", value)

    @property
    def target(self) -> str:
        """The target that the window was last coloured for, "" before the first choice."""
        value = self._store.value("target")
        return value if isinstance(value, str) else ""

    @target.setter
    def target(self, value: str) -> None:
        self._store.setValue("target", value)

    @property
    def copies(self) -> bool:
        """Whether copies between GPU and CPU are marked on the graph."""
        return self._store.value("copies") not in ("false", False)

    @copies.setter
    def copies(self, value: bool) -> None:
        self._store.setValue("copies", value)

    @property
    def recent_files(self) -> tuple[str, ...]:
        """Files opened lately, the newest first; those that are gone are left out."""
        value = self._store.value("recent_files")
        paths = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return tuple(p for p in paths if isinstance(p, str) and os.path.isfile(p))

    def add_recent_file(self, path: str) -> None:
        """Put ``path`` first among the recent files."""
        absolute = str(Path(path).absolute())
        paths = [absolute, *(p for p in self.recent_files if p != absolute)]
        self._store.setValue("recent_files", paths[:RECENT_FILES])

    def clear_recent_files(self) -> None:
        """Forget the recent files."""
        self._store.remove("recent_files")

    @property
    def folder(self) -> str:
        """The folder that the last opened file was in, or the home folder."""
        files = self.recent_files
        return str(Path(files[0]).parent) if files else str(Path.home())

    @property
    def geometry(self) -> QByteArray | None:
        """The window's geometry as Qt saved it."""
        return self._bytes("window/geometry")

    @property
    def layout(self) -> QByteArray | None:
        """The docks' layout as Qt saved it."""
        return self._bytes(f"window/layout{LAYOUT_VERSION}")

    def keep_window(self, geometry: QByteArray, layout: QByteArray) -> None:
        """Remember the window's geometry and the docks' layout."""
        self._store.setValue("window/geometry", geometry)
        self._store.setValue(f"window/layout{LAYOUT_VERSION}", layout)

    def _bytes(self, key: str) -> QByteArray | None:
        value = self._store.value(key)
        return value if isinstance(value, QByteArray) else None
