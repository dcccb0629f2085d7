"""Many requests to refresh, few refreshes: at most one per interval, the last never lost."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


class Throttle(QObject):
    """Calls ``refresh`` at once, then at most every ``interval_ms`` while requests keep coming."""

    def __init__(self, interval_ms: int, refresh: Callable[[], None], parent: QObject) -> None:
        super().__init__(parent)
        self._refresh = refresh
        self._wanted = False
        self._timer = QTimer(self, singleShot=True, interval=interval_ms)
        self._timer.timeout.connect(self._elapsed)

    def request(self) -> None:
        """Refresh now, or when the interval since the last refresh is over."""
        if self._timer.isActive():
            self._wanted = True
            return
        self._timer.start()
        self._refresh()

    def _elapsed(self) -> None:
        if self._wanted:
            self._wanted = False
            self.request()
