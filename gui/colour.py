"""Arithmetic on colours (``#rrggbb`` strings): mixed in linear light, measured as in WCAG."""

from __future__ import annotations

from PySide6.QtGui import QColor


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


def _linear(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return _decode(red), _decode(green), _decode(blue)


def _decode(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _encode(channel: float) -> int:
    value = channel * 12.92 if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055
    return round(255 * min(max(value, 0.0), 1.0))
