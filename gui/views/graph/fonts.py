"""The fonts of the drawing and what texts take in them, in scene pixels."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from ...layout.text import LABEL_PX, ROW_PX, TITLE_PX

_BADGE_PX = 9.5
_SIZES = (11, 10, 9, 8)  # pixels on the screen of a title seen from some distance, as fits


class Fonts:
    """Fonts and their metrics; what was measured is remembered, since it is painted again."""

    def __init__(self) -> None:
        self.title = _font(TITLE_PX, QFont.Weight.DemiBold)
        self.row = _font(ROW_PX, QFont.Weight.Normal)
        self.key = _font(ROW_PX, QFont.Weight.DemiBold)
        self.label = _font(LABEL_PX, QFont.Weight.Normal)
        self.badge = _font(_BADGE_PX, QFont.Weight.Bold)
        self._metrics = {
            id(font): QFontMetricsF(font)
            for font in (self.title, self.row, self.key, self.label, self.badge)
        }
        self._elided: dict[tuple[int, str, float, Qt.TextElideMode], str] = {}
        self._fitted: dict[tuple[str, int, int], tuple[int, str]] = {}
        self._sized: dict[int, tuple[QFont, QFontMetricsF]] = {}

    def width(self, font: QFont, text: str) -> float:
        """Width of ``text``."""
        return self._metrics[id(font)].horizontalAdvance(text)

    def elided(self, font: QFont, text: str, width: float, mode: Qt.TextElideMode) -> str:
        """``text`` shortened to ``width``."""
        key = (id(font), text, round(width, 1), mode)
        found = self._elided.get(key)
        if found is None:
            found = self._elided[key] = self._metrics[id(font)].elidedText(text, mode, width)
        return found

    def fitted(self, title: str, width: float, height: float, scale: float) -> tuple[int, str]:
        """A title's size in scene pixels, and what of it ``width`` by ``height`` has room for.

        The size on the screen is what counts, at ``scale``; the text is "" where none can be read.
        """
        key = (title, int(width), int(scale * 50))
        found = self._fitted.get(key)
        if found is None:
            found = self._fitted[key] = self._fit(title, width, height, scale)
        return found

    def sized(self, size: int) -> QFont:
        """The titles' font in another size."""
        return self._in_size(size)[0]

    def _fit(self, title: str, width: float, height: float, scale: float) -> tuple[int, str]:
        for on_screen in _SIZES:
            size = round(on_screen / scale)
            metrics = self._in_size(size)[1]
            if metrics.horizontalAdvance(title) <= width and size + 2 <= height:
                break
        text = metrics.elidedText(title, Qt.TextElideMode.ElideRight, width)
        readable = len(text) >= min(len(title), 4) and size + 2 <= height
        return size, text if readable else ""

    def _in_size(self, size: int) -> tuple[QFont, QFontMetricsF]:
        """A glide comes through many scales: each size is made once, not once a title."""
        found = self._sized.get(size)
        if found is None:
            font = QFont(self.title)
            font.setPixelSize(size)
            found = self._sized[size] = font, QFontMetricsF(font)
        return found


def _font(size_px: float, weight: QFont.Weight) -> QFont:
    font = QFont()
    font.setFamilies([*font.families(), "DejaVu Sans"])
    font.setPixelSize(round(size_px))
    font.setWeight(weight)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font
