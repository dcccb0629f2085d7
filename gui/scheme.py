"""Light, dark, or as the system is: the user's choice, remembered and put on the application."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from .settings import Settings
from .style import apply_theme
from .theme import DARK, LIGHT, Theme


class Scheme(StrEnum):
    """What the user chose: follow the system, or one of the two."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def theme_for(scheme: Scheme) -> Theme:
    """The theme of the user's choice; the system's answer is read when asked to follow it."""
    if scheme is Scheme.SYSTEM:
        system = QGuiApplication.styleHints().colorScheme()
        return DARK if system is Qt.ColorScheme.Dark else LIGHT
    return DARK if scheme is Scheme.DARK else LIGHT


class SchemeControl(QObject):
    """Holds the scheme and its theme.

    Signals:
        changed: Theme: the application wears another theme.
    """

    changed = Signal(object)

    def __init__(self, settings: Settings, parent: QObject) -> None:
        super().__init__(parent)
        self._settings = settings
        self.theme = theme_for(self.scheme)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow_system)

    @property
    def scheme(self) -> Scheme:
        """What the user chose."""
        return Scheme(self._settings.theme)

    def choose(self, scheme: Scheme) -> None:
        """Wear another scheme from now on."""
        self._settings.theme = scheme.value
        self.theme = theme_for(scheme)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            apply_theme(app, self.theme)
        self.changed.emit(self.theme)

    def _follow_system(self) -> None:
        if self.scheme is Scheme.SYSTEM:
            self.choose(Scheme.SYSTEM)
