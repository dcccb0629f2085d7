"""From a class of a colouring to what is painted, in the theme of the moment."""

from __future__ import annotations

from ....engine.diagnostics import Severity
from ....engine.providers.support import Status
from ...colour import ink_on
from ...copies import Mark
from ...difference import Difference
from ...look import Glyph, Look, Pattern
from ...theme import Theme
from ...verdict import Home
from .colouring import Class

_STEPS = 48  # shades of the time ramp that are told apart


def look_of(theme: Theme, kind: Class | None) -> Look:
    """The look of a class; None is a node that the colouring says nothing of."""
    if kind is None:
        return Look("", theme.node, ink_on(theme.node), Pattern.PLAIN, Glyph.NONE)
    if isinstance(kind, Status):
        return theme.status[kind]
    if isinstance(kind, Severity):
        return theme.severity[kind]
    if isinstance(kind, Difference):
        return theme.difference[kind]
    if isinstance(kind, Home):
        return theme.home
    if isinstance(kind, Mark):
        return theme.copies
    fill = theme.time_colour(kind)
    return Look("", fill, ink_on(fill), Pattern.FILLED, Glyph.NONE)


def shade(kind: Class | None) -> Class | None:
    """The class with its place on the ramp rounded, so that few brushes serve many boxes."""
    return round(kind * _STEPS) / _STEPS if isinstance(kind, float) else kind


class Looks:
    """The looks of one theme, each made once; classes on the time ramp are rounded first."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._made: dict[Class | None, Look] = {}

    def of(self, kind: Class | None) -> Look:
        """The look of a class."""
        kind = shade(kind)
        found = self._made.get(kind)
        if found is None:
            found = self._made[kind] = look_of(self._theme, kind)
        return found
