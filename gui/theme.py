"""Colours of the window: one frozen :class:`Theme`, light and dark, read by every view.

Nothing is told by colour alone: each class of node also has a :class:`Pattern` and a
:class:`Glyph`, which canvas, legend and tables draw alike. Colours are ``#rrggbb`` strings, so
that this data needs no application; :func:`qcolor` turns them into Qt's.

The classes are those of ``engine.providers.support.Status`` and ``engine.diagnostics.Severity``.
Contrast of ``ink`` on ``fill`` is at least 4.5 in both themes (tested).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from ..engine.diagnostics import Severity
from ..engine.providers.support import Status
from .difference import Difference


class Scheme(StrEnum):
    """What the user chose: follow the system, or one of the two."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


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


@dataclass(frozen=True)
class Theme:
    """Every colour of the window.

    Attributes:
        dark: whether light text stands on dark ground.
        window, surface, sunken, raised: grounds: frame, panels and tables, canvas, hovered.
        text, muted, faint: text, secondary text, hints and disabled text.
        border, grid: lines between panels; the lines of charts.
        accent, on_accent: selection, links, primary buttons, and the text on them.
        node: a box that no colouring speaks of; node_body: below its title; node_border.
        edge, edge_label: arrows and their shapes.
        copy_to_cpu, copy_to_gpu: edges whose value is copied between the two.
        producer, consumer: highlighted neighbours of the selected node.
        status, severity, difference: looks by class.
        home: the look of a node that its target runs on the CPU, as it should.
        copies: what legends show for edges that are copied.
        time_ramp: stops from the fastest to the slowest, even steps of lightness.
        series: colours of curves in charts, told apart by colour-blind eyes.
    """

    dark: bool
    window: str
    surface: str
    sunken: str
    raised: str
    text: str
    muted: str
    faint: str
    border: str
    grid: str
    accent: str
    on_accent: str
    node: str
    node_body: str
    node_border: str
    edge: str
    edge_label: str
    copy_to_cpu: str
    copy_to_gpu: str
    producer: str
    consumer: str
    status: Mapping[Status, Look]
    severity: Mapping[Severity, Look]
    difference: Mapping[Difference, Look]
    home: Look
    copies: Look
    time_ramp: tuple[str, ...]
    series: tuple[str, ...]

    def time_colour(self, fraction: float) -> str:
        """The ramp's colour at ``fraction`` (0 fastest, 1 slowest, clamped)."""
        place = min(max(fraction, 0.0), 1.0) * (len(self.time_ramp) - 1)
        low = min(int(place), len(self.time_ramp) - 2)
        return mix(self.time_ramp[low], self.time_ramp[low + 1], place - low)


def _statuses(dark: bool) -> dict[Status, Look]:
    def pick(light: str, night: str) -> str:
        return night if dark else light

    white, black = "#ffffff", "#17130a"
    return {
        Status.GPU: Look("GPU", pick("#0b7a75", "#177d76"), white, Pattern.FILLED, Glyph.DISC),
        Status.FUSED: Look(
            "Fused",
            pick("#cfe9e5", "#1c3b3b"),
            pick("#0b4f4b", "#a5ded7"),
            Pattern.DOTTED,
            Glyph.LINK,
        ),
        Status.FOLDED: Look(
            "Folded",
            pick("#e9ecf1", "#2b303a"),
            pick("#4a5465", "#aab4c5"),
            Pattern.DASHED,
            Glyph.RING,
        ),
        Status.HOST: Look("CPU", pick("#f3ae2b", "#e0a02c"), black, Pattern.HATCHED, Glyph.HALF),
        Status.FAILS: Look("Fails", pick("#a21d84", "#b8379b"), white, Pattern.CROSSED, Glyph.BOLT),
        Status.UNSUPPORTED: Look(
            "Unsupported", pick("#c62a2f", "#cc3b3f"), white, Pattern.CROSSED, Glyph.CROSS
        ),
        Status.UNKNOWN: Look(
            "Unknown",
            pick("#d5d1e3", "#3d3a4d"),
            pick("#423a63", "#cdc7e6"),
            Pattern.DASHED,
            Glyph.QUESTION,
        ),
    }


def _severities(dark: bool) -> dict[Severity, Look]:
    return {
        Severity.ERROR: Look(
            "Error", "#cc3b3f" if dark else "#c62a2f", "#ffffff", Pattern.CROSSED, Glyph.OCTAGON
        ),
        Severity.WARNING: Look(
            "Warning",
            "#e0a02c" if dark else "#f3ae2b",
            "#17130a",
            Pattern.HATCHED,
            Glyph.TRIANGLE,
        ),
        Severity.INFO: Look(
            "Info", "#3172c4" if dark else "#2463b5", "#ffffff", Pattern.FILLED, Glyph.INFO
        ),
    }


def _differences(dark: bool) -> dict[Difference, Look]:
    def pick(light: str, night: str) -> str:
        return night if dark else light

    return {
        Difference.ONLY_FIRST: Look(
            "Only the first on the GPU",
            pick("#2463b5", "#3172c4"),
            "#ffffff",
            Pattern.FILLED,
            Glyph.LEFT,
        ),
        Difference.ONLY_SECOND: Look(
            "Only the second on the GPU",
            pick("#f0945a", "#e8894a"),
            "#17130a",
            Pattern.HATCHED,
            Glyph.RIGHT,
        ),
        Difference.OTHERWISE: Look(
            "Otherwise",
            pick("#a21d84", "#b8379b"),
            "#ffffff",
            Pattern.CROSSED,
            Glyph.UNEQUAL,
        ),
        Difference.SAME: Look(
            "Same",
            pick("#eef1f5", "#252a33"),
            pick("#5a6474", "#98a2b2"),
            Pattern.DOTTED,
            Glyph.EQUAL,
        ),
    }


def _home(dark: bool) -> Look:
    return Look("CPU", "#4a6fa5" if dark else "#3f6496", "#ffffff", Pattern.FILLED, Glyph.HALF)


def _copies(dark: bool) -> Look:
    if dark:
        return Look("Copies", "#232831", "#f0b64a", Pattern.DASHED, Glyph.SWAP)
    return Look("Copies", "#ffffff", "#9a5b00", Pattern.DASHED, Glyph.SWAP)


LIGHT = Theme(
    dark=False,
    window="#f2f4f7",
    surface="#ffffff",
    sunken="#f7f8fa",
    raised="#e8ecf2",
    text="#1b212b",
    muted="#566072",
    faint="#8b94a3",
    border="#d5dae2",
    grid="#e4e8ee",
    accent="#2463b5",
    on_accent="#ffffff",
    node="#5d6878",
    node_body="#ffffff",
    node_border="#b9c1cd",
    edge="#8f99a8",
    edge_label="#566072",
    copy_to_cpu="#b26a00",
    copy_to_gpu="#0b7a75",
    producer="#7a3ec8",
    consumer="#c2500c",
    status=_statuses(dark=False),
    severity=_severities(dark=False),
    difference=_differences(dark=False),
    home=_home(dark=False),
    copies=_copies(dark=False),
    time_ramp=("#eef1f5", "#fbe3b4", "#f7b267", "#e8743b", "#bf3b3b", "#7a1a4b"),
    series=("#2463b5", "#c2500c", "#0b7a75", "#a21d84", "#8a6d00", "#4a5465"),
)

DARK = Theme(
    dark=True,
    window="#181b21",
    surface="#1f232b",
    sunken="#14171c",
    raised="#2b313c",
    text="#e6e9ef",
    muted="#a3adbd",
    faint="#727d8f",
    border="#343b47",
    grid="#2a303a",
    accent="#6aa5f8",
    on_accent="#0c1421",
    node="#4c5666",
    node_body="#232831",
    node_border="#4a5362",
    edge="#6d7889",
    edge_label="#a3adbd",
    copy_to_cpu="#f0b64a",
    copy_to_gpu="#3fbdb2",
    producer="#b48bf2",
    consumer="#f0945a",
    status=_statuses(dark=True),
    severity=_severities(dark=True),
    difference=_differences(dark=True),
    home=_home(dark=True),
    copies=_copies(dark=True),
    time_ramp=("#2a303a", "#5b2a5e", "#9c2f5d", "#d9524a", "#f59a4a", "#fbe08a"),
    series=("#6aa5f8", "#f0945a", "#3fbdb2", "#e07bc8", "#d9c04a", "#a3adbd"),
)


def qcolor(colour: str, alpha: float = 1.0) -> QColor:
    """Qt's colour for ``#rrggbb``, with an opacity from 0 to 1."""
    made = QColor(colour)
    made.setAlphaF(alpha)
    return made


def mix(first: str, second: str, amount: float) -> str:
    """The colour ``amount`` of the way from ``first`` to ``second``, mixed in linear light."""
    parts = (
        _encode(a + (b - a) * amount) for a, b in zip(_linear(first), _linear(second), strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


def luminance(colour: str) -> float:
    """Relative luminance as WCAG defines it, 0 (black) to 1 (white)."""
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """WCAG contrast ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def ink_on(fill: str) -> str:
    """Black or white, whichever reads better on ``fill``."""
    return max(("#ffffff", "#050608"), key=lambda ink: contrast(ink, fill))


def theme_for(scheme: Scheme) -> Theme:
    """The theme of the user's choice; the system's answer is read when asked to follow it."""
    if scheme is Scheme.SYSTEM:
        system = QGuiApplication.styleHints().colorScheme()
        return DARK if system is Qt.ColorScheme.Dark else LIGHT
    return DARK if scheme is Scheme.DARK else LIGHT


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Give the application the theme's palette on Fusion, the style that honours one everywhere."""
    app.setStyle("Fusion")
    app.setPalette(palette(theme))


def palette(theme: Theme) -> QPalette:
    """Qt's palette for ``theme``."""
    role = QPalette.ColorRole
    made = QPalette()
    for which, colour in {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.sunken,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Text: theme.text,
        role.PlaceholderText: theme.faint,
        role.Button: theme.window,
        role.ButtonText: theme.text,
        role.BrightText: theme.on_accent,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Accent: theme.accent,
        role.Light: theme.raised,
        role.Midlight: theme.raised,
        role.Mid: theme.border,
        role.Dark: theme.border,
        role.Shadow: theme.border,
    }.items():
        made.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.faint))
    made.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(theme.border))
    return made


def _linear(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return _decode(red), _decode(green), _decode(blue)


def _decode(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _encode(channel: float) -> int:
    value = channel * 12.92 if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055
    return round(255 * min(max(value, 0.0), 1.0))
