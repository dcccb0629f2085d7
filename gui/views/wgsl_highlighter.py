"""Colours for WGSL text: comments, attributes, keywords, types, numbers."""

from __future__ import annotations

import re

from PySide6.QtGui import QFont, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from ..colour import qcolor
from ..theme import Theme

_KEYWORDS = (
    "alias break case const const_assert continue continuing default diagnostic discard else "
    "enable false fn for if let loop override requires return struct switch true var while"
)
_TYPES = (
    r"\b(?:[fiu](?:16|32)|bool|vec[234][fhiu]?|mat[234]x[234][fh]?|array|atomic|ptr|storage|"
    r"uniform|workgroup|private|function|read|read_write)\b"
)
_RULES = (
    ("type", re.compile(_TYPES)),
    ("keyword", re.compile(rf"\b(?:{'|'.join(_KEYWORDS.split())})\b")),
    ("number", re.compile(r"\b(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?)[fhiu]?\b")),
    ("attribute", re.compile(r"@\w+")),
    ("comment", re.compile(r"//.*$")),
)


class WgslHighlighter(QSyntaxHighlighter):
    """Highlights line by line; block comments are not used in our shaders."""

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._formats: dict[str, QTextCharFormat] = {}
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colours."""
        colours = {
            "type": theme.producer,
            "keyword": theme.accent,
            "number": theme.consumer,
            "attribute": theme.muted,
            "comment": theme.faint,
        }
        for name, colour in colours.items():
            made = QTextCharFormat()
            made.setForeground(qcolor(colour))
            if name == "keyword":
                made.setFontWeight(QFont.Weight.DemiBold)
            self._formats[name] = made
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:  # noqa: N802
        """Colour one line; a later rule overrides an earlier one."""
        for name, pattern in _RULES:
            for match in pattern.finditer(text):
                self.setFormat(match.start(), match.end() - match.start(), self._formats[name])
