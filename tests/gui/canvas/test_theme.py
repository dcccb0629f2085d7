"""The themes: readable, and even."""

from __future__ import annotations

import itertools

import pytest
from opscope.gui.colour import contrast, ink_on, luminance, mix
from opscope.gui.scheme import Scheme, theme_for
from opscope.gui.style import palette
from opscope.gui.theme import DARK, LIGHT
from PySide6.QtGui import QPalette

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])


@THEMES
def test_text_is_readable_on_every_ground(theme):
    for ground in (theme.window, theme.surface, theme.sunken, theme.raised, theme.node_body):
        assert contrast(theme.text, ground) >= 7
        assert contrast(theme.muted, ground) >= 4.5
    assert contrast(theme.on_accent, theme.accent) >= 4.5
    assert contrast(theme.edge_label, theme.sunken) >= 4.5
    for look in (*theme.status.values(), *theme.severity.values()):
        assert contrast(look.ink, look.fill) >= 4.5, look.label
    for line in (theme.edge, theme.producer, theme.consumer):
        assert contrast(line, theme.sunken) >= 2.5


@THEMES
def test_the_time_ramp_runs_one_way(theme):
    lights = [luminance(theme.time_colour(i / 20)) for i in range(21)]
    steps = [b - a for a, b in itertools.pairwise(lights)]
    assert all(step < 0 for step in steps) or all(step > 0 for step in steps)
    for i in range(101):
        colour = theme.time_colour(i / 100)
        assert contrast(ink_on(colour), colour) >= 4.5
    assert theme.time_colour(-1) == theme.time_ramp[0]
    assert theme.time_colour(2) == theme.time_ramp[-1]


def test_mixing_and_contrast_follow_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert luminance("#ffffff") == pytest.approx(1)
    assert mix("#000000", "#ffffff", 0.0) == "#000000"
    assert mix("#102030", "#ffffff", 1.0) == "#ffffff"
    # Half of the light, not half of the number.
    assert mix("#000000", "#ffffff", 0.5) == "#bcbcbc"


@THEMES
def test_the_palette_is_the_theme(theme, app):
    made = palette(theme)
    assert made.color(QPalette.ColorRole.Window).name() == theme.window
    assert made.color(QPalette.ColorRole.Highlight).name() == theme.accent
    disabled = made.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert disabled.name() == theme.faint


def test_choices(app):
    assert theme_for(Scheme.LIGHT) is LIGHT
    assert theme_for(Scheme.DARK) is DARK
    assert theme_for(Scheme.SYSTEM) in (LIGHT, DARK)
