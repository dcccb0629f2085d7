"""How much work whoever plans may spend in graphs that run many times."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..errors import WorkError
from ..ops.use import OpUse

PLANNING_TRIPS = 10_000
PLANNING_SECONDS = 10.0


class Work:
    """What the Loops, Scans and SequenceMaps of one plan may do together.

    The time starts with the first trip, so what else a plan takes does not count.
    """

    def __init__(
        self,
        trips: int = PLANNING_TRIPS,
        seconds: float = PLANNING_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._trips = trips
        self._seconds = seconds
        self._clock = clock
        self._done = 0
        self._start: float | None = None

    def trip(self, use: OpUse) -> None:
        """Count one more run of the body of ``use``.

        Raises:
            WorkError: all trips or all the time are spent; each later call raises as well.
        """
        if self._start is None:
            self._start = self._clock()
        if self._done >= self._trips:
            raise WorkError(use.node, use.label, use.op, f"{_WHAT} {self._trips:,} trips")
        if self._clock() - self._start > self._seconds:
            raise WorkError(use.node, use.label, use.op, f"{_WHAT} {self._seconds:g} seconds")
        self._done += 1


_WHAT = "planning stopped in it: all loops together may take no more than"
