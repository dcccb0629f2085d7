"""How large boxes and plates are, from estimated widths of their texts."""

from __future__ import annotations

from collections.abc import Sequence

from .scene import Row
from .text import LABEL_PX, ROW_PX, TITLE_PX, text_width

HEADER_HEIGHT = 24.0
ROW_HEIGHT = 15.0
_WIDTHS = (84.0, 204.0)
_WIDTH_STEP = 12.0  # few different widths: more blocks are identical and laid out once
_PADDING = 20.0
_CORNER = 34.0  # room in the header for a sign or a percentage
_INSIDE = 84.0  # and, where there is a graph inside, for a second sign and ``999 off GPU``
_BOLD = 1.06  # as wide as plain text
_TERMINAL = 60.0  # width of the least
_PLATE = (34.0, 168.0)  # beside a portal's name; width of the widest


def node_size(
    title: str, name: str, rows: Sequence[Row], *, more: bool, opens: bool
) -> tuple[float, float]:
    """Width and height of a node's box; ``more`` rows are told of in another line."""
    widths = [
        text_width(title, TITLE_PX) * _BOLD + _CORNER + (_INSIDE if opens else 0),
        text_width(name, ROW_PX),
        *(text_width(f"{row.key}  {row.text}", ROW_PX) + 4 for row in rows),
    ]
    width = _stepped(min(max(*widths, _WIDTHS[0] - _PADDING) + _PADDING, _WIDTHS[1]))
    lines = bool(name) + len(rows) + more
    return width, HEADER_HEIGHT + (lines * ROW_HEIGHT + 5 if lines else 0)


def terminal_size(title: str, text: str) -> tuple[float, float]:
    """Width and height of an input's, output's or captured value's box."""
    width = max(text_width(title, TITLE_PX), text_width(text, ROW_PX)) + _PADDING + 8
    height = HEADER_HEIGHT + (ROW_HEIGHT if text else 0)
    return _stepped(min(max(width, _TERMINAL), _WIDTHS[1])), height


def label_width(label: str) -> float:
    """Width that an edge's label takes, 0 for none."""
    return text_width(label, LABEL_PX) + 4 if label else 0.0


def plate_width(name: str) -> float:
    """Width of a portal's plate."""
    beside, most = _PLATE
    return _stepped(min(text_width(name, LABEL_PX) + beside, most))


def _stepped(width: float) -> float:
    return _WIDTH_STEP * -(-width // _WIDTH_STEP)
