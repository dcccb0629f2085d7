"""Many requests to refresh, few refreshes: coalesced, spaced out, and none of what is not seen."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QDockWidget, QWidget

_REST_RATIO = 4  # a refresh that takes long is followed by a rest of so many times its length
LONGEST_REST_MS = 1000  # but by no longer one: what was measured last has to be seen


class Throttle(QObject):
    """Calls ``refresh`` soon after a request, then not again before ``interval_ms`` are over.

    While ``view`` is hidden, or its panel is a tab in the background, it waits, and refreshes when
    it comes into sight.
    """

    def __init__(self, interval_ms: int, refresh: Callable[[], None], view: QWidget) -> None:
        super().__init__(view)
        self._view = view
        self._interval_ms = interval_ms
        self._refresh = refresh
        self._wanted = False
        self._dock: QDockWidget | None = None  # around the view
        self._is_raised = False
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._elapsed)
        view.installEventFilter(self)

    def request(self) -> None:
        """Refresh when this round of the event loop is over, or when the rest is."""
        self._wanted = True
        if not self._timer.isActive():
            self._timer.start(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Refresh a view that comes into sight."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.Resize) and self._wanted:
            self.request()
        return False

    def _is_in_sight(self) -> bool:
        """Qt calls a dock behind another's tab visible too, but shows nothing of it."""
        if not self._view.isVisible():
            return False
        if self._dock is None:
            around = self._view.parentWidget()
            while around is not None and not isinstance(around, QDockWidget):
                around = around.parentWidget()
            if around is None:
                return True
            self._dock = around
            around.visibilityChanged.connect(self._raised)
        return self._is_raised or not self._view.visibleRegion().isEmpty()

    def _raised(self, is_raised: bool) -> None:
        self._is_raised = is_raised
        if is_raised and self._wanted:
            self.request()

    def _elapsed(self) -> None:
        if not self._wanted or not self._is_in_sight():
            return
        self._wanted = False
        start = time.monotonic()
        self._refresh()
        cost_ms = 1000 * (time.monotonic() - start)
        rest_ms = min(round(_REST_RATIO * cost_ms), LONGEST_REST_MS)
        self._timer.start(max(self._interval_ms, rest_ms))
