"""Text of a report's picture: styles, paragraphs broken to a width, and columns of them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QPainter, QTextLayout, QTextOption

from .look import Look
from .theme import Theme
from .views.graph.glyphs import draw_swatch

LONGEST = 600  # characters of a paragraph: a stranger's report, opened again, may say anything
SIGN = 15.0  # side of a class's sign
_KEY_WIDTH = 74.0


@dataclass(frozen=True)
class Style:
    """How a text is set."""

    size_px: int
    colour: str
    weight: QFont.Weight = QFont.Weight.Normal

    def font(self) -> QFont:
        """The font; glyphs it lacks come from DejaVu."""
        font = QFont()
        font.setFamilies([*font.families(), "DejaVu Sans"])
        font.setPixelSize(self.size_px)
        font.setWeight(self.weight)
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        return font


class Paragraph:
    """A text broken to a width: at words, and within those that are too long.

    What goes beyond :data:`LONGEST` characters is cut; the report's data has it all.
    """

    def __init__(self, text: str, style: Style, width: float) -> None:
        self._style = style
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]} \N{HORIZONTAL ELLIPSIS}"
        self._layout = QTextLayout(text, style.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._layout.setTextOption(option)
        self.height = 0.0
        self.width = 0.0  # of the widest line
        self._layout.beginLayout()
        while (line := self._layout.createLine()).isValid():
            line.setLineWidth(max(width, 1.0))
            line.setPosition(QPointF(0, self.height))
            self.height += line.height() * 1.08
            self.width = max(self.width, line.naturalTextWidth())
        self._layout.endLayout()

    def draw(self, painter: QPainter, at: QPointF) -> None:
        """Draw it with its top left corner at ``at``."""
        painter.setPen(QColor(self._style.colour))
        self._layout.draw(painter, at)


class Column:
    """Paragraphs and signs below each other; laid out first, drawn when the height is known."""

    def __init__(self, left: float, width: float) -> None:
        self._left = left
        self._width = width
        self._items: list[tuple[QPointF, Paragraph | Look]] = []
        self.height = 0.0

    def text(self, text: str, style: Style, indent: float = 0.0) -> None:
        """Add a paragraph."""
        paragraph = Paragraph(text, style, self._width - indent)
        self._items.append((QPointF(self._left + indent, self.height), paragraph))
        self.height += paragraph.height

    def sign(self, look: Look) -> None:
        """Put a class's sign before the next paragraph."""
        self._items.append((QPointF(self._left, self.height + 1), look))

    def entry(self, key: str, text: str, key_style: Style, style: Style) -> None:
        """Add a key with its text beside it."""
        self._items.append((QPointF(self._left, self.height), Paragraph(key, key_style, 400)))
        self.text(text, style, _KEY_WIDTH)

    def gap(self, pixels: float) -> None:
        """Leave room."""
        self.height += pixels

    def draw(self, painter: QPainter, top: float, theme: Theme) -> None:
        """Draw everything from ``top`` downwards."""
        for place, item in self._items:
            at = place + QPointF(0, top)
            if isinstance(item, Paragraph):
                item.draw(painter, at)
            else:
                box = QRectF(at.x(), at.y(), SIGN, SIGN)
                draw_swatch(painter, item, box, QColor(item.fill))
