"""Colours of the window: one frozen :class:`Theme`, light and dark, read by every view.

Nothing is told by colour alone: see :mod:`.look`. Colours are ``#rrggbb`` strings, so that this
data needs no application.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..engine.diagnostics import Severity
from ..engine.providers.support import Status
from .colour import mix
from .difference import Difference
from .look import (
    Look,
    copies_look,
    difference_looks,
    home_look,
    severity_looks,
    status_looks,
)


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
    status=status_looks(dark=False),
    severity=severity_looks(dark=False),
    difference=difference_looks(dark=False),
    home=home_look(dark=False),
    copies=copies_look(dark=False),
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
    status=status_looks(dark=True),
    severity=severity_looks(dark=True),
    difference=difference_looks(dark=True),
    home=home_look(dark=True),
    copies=copies_look(dark=True),
    time_ramp=("#2a303a", "#5b2a5e", "#9c2f5d", "#d9524a", "#f59a4a", "#fbe08a"),
    series=("#6aa5f8", "#f0945a", "#3fbdb2", "#e07bc8", "#d9c04a", "#a3adbd"),
)
