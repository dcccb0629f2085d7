"""How classes of nodes look: a colour, and a pattern and a sign that say the same without it.

Canvas, legends and tables draw them alike. The classes are those of
``engine.providers.support.Status`` and ``engine.diagnostics.Severity``, and those of
:class:`.difference.Difference`. Contrast of ``ink`` on ``fill`` is at least 4.5 (tested).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..engine.diagnostics import Severity
from ..engine.providers.support import Status
from .difference import Difference


class Pattern(StrEnum):
    """How a class is told apart without its colour: the box's filling or outline."""

    FILLED = "filled"
    HATCHED = "hatched"  # diagonal lines
    CROSSED = "crossed"  # diagonal lines both ways
    DASHED = "dashed"  # no filling, dashed outline
    DOTTED = "dotted"  # pale filling, dotted outline
    PLAIN = "plain"  # neutral box


class Glyph(StrEnum):
    """A small drawn sign (not a font's character), for legends, badges and tables."""

    DISC = "disc"
    HALF = "half"
    CROSS = "cross"
    BOLT = "bolt"
    RING = "ring"
    LINK = "link"
    QUESTION = "question"
    OCTAGON = "octagon"
    TRIANGLE = "triangle"
    INFO = "info"
    LEFT = "left"
    RIGHT = "right"
    EQUAL = "equal"
    UNEQUAL = "unequal"
    SWAP = "swap"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Look:
    """How one class of nodes looks.

    Attributes:
        label: its name in legends.
        fill: colour of its boxes and bars.
        ink: colour of text and glyphs on ``fill``.
        pattern, glyph: the same without colour.
    """

    label: str
    fill: str
    ink: str
    pattern: Pattern
    glyph: Glyph


_WHITE, _BLACK = "#ffffff", "#17130a"
_Pair = tuple[str, str]  # light, dark
_AMBER: _Pair = ("#f3ae2b", "#e0a02c")
_RED: _Pair = ("#c62a2f", "#cc3b3f")
_BLUE: _Pair = ("#2463b5", "#3172c4")
_PLUM: _Pair = ("#a21d84", "#b8379b")

_Described = tuple[str, _Pair, str | _Pair, Pattern, Glyph]
_STATUS: dict[Status, _Described] = {
    Status.GPU: ("GPU", ("#0b7a75", "#177d76"), _WHITE, Pattern.FILLED, Glyph.DISC),
    Status.FUSED: (
        "Fused",
        ("#cfe9e5", "#1c3b3b"),
        ("#0b4f4b", "#a5ded7"),
        Pattern.DOTTED,
        Glyph.LINK,
    ),
    Status.FOLDED: (
        "Folded",
        ("#e9ecf1", "#2b303a"),
        ("#4a5465", "#aab4c5"),
        Pattern.DASHED,
        Glyph.RING,
    ),
    Status.HOST: ("CPU", _AMBER, _BLACK, Pattern.HATCHED, Glyph.HALF),
    Status.FAILS: ("Fails", _PLUM, _WHITE, Pattern.CROSSED, Glyph.BOLT),
    Status.UNSUPPORTED: ("Unsupported", _RED, _WHITE, Pattern.CROSSED, Glyph.CROSS),
    Status.UNKNOWN: (
        "Unknown",
        ("#d5d1e3", "#3d3a4d"),
        ("#423a63", "#cdc7e6"),
        Pattern.DASHED,
        Glyph.QUESTION,
    ),
}
_SEVERITY: dict[Severity, _Described] = {
    Severity.ERROR: ("Error", _RED, _WHITE, Pattern.CROSSED, Glyph.OCTAGON),
    Severity.WARNING: ("Warning", _AMBER, _BLACK, Pattern.HATCHED, Glyph.TRIANGLE),
    Severity.INFO: ("Info", _BLUE, _WHITE, Pattern.FILLED, Glyph.INFO),
}
_DIFFERENCE: dict[Difference, _Described] = {
    Difference.ONLY_FIRST: ("Only the first on the GPU", _BLUE, _WHITE, Pattern.FILLED, Glyph.LEFT),
    Difference.ONLY_SECOND: (
        "Only the second on the GPU",
        ("#f0945a", "#e8894a"),
        _BLACK,
        Pattern.HATCHED,
        Glyph.RIGHT,
    ),
    Difference.OTHERWISE: ("Otherwise", _PLUM, _WHITE, Pattern.CROSSED, Glyph.UNEQUAL),
    Difference.SAME: (
        "Same",
        ("#eef1f5", "#252a33"),
        ("#5a6474", "#98a2b2"),
        Pattern.DOTTED,
        Glyph.EQUAL,
    ),
}
_HOME: _Described = ("CPU", ("#3f6496", "#4a6fa5"), _WHITE, Pattern.FILLED, Glyph.HALF)
_COPIES: _Described = (
    "Copies",
    ("#ffffff", "#232831"),
    ("#9a5b00", "#f0b64a"),
    Pattern.DASHED,
    Glyph.SWAP,
)


def status_looks(*, dark: bool) -> dict[Status, Look]:
    """The look of each status in the dark or the light theme."""
    return {status: _look(described, dark) for status, described in _STATUS.items()}


def severity_looks(*, dark: bool) -> dict[Severity, Look]:
    """The look of each severity."""
    return {severity: _look(described, dark) for severity, described in _SEVERITY.items()}


def difference_looks(*, dark: bool) -> dict[Difference, Look]:
    """The look of each relation of two targets' verdicts."""
    return {relation: _look(described, dark) for relation, described in _DIFFERENCE.items()}


def home_look(*, dark: bool) -> Look:
    """The look of a node that its target runs on the CPU, as it should."""
    return _look(_HOME, dark)


def copies_look(*, dark: bool) -> Look:
    """What legends show for edges that are copied."""
    return _look(_COPIES, dark)


def _look(described: _Described, dark: bool) -> Look:
    label, fill, ink, pattern, glyph = described
    return Look(label, fill[dark], ink if isinstance(ink, str) else ink[dark], pattern, glyph)
