"""What the canvas says of the thing under the cursor."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ....engine.units import counted
from ...layout.scene import BoxKind
from ...layout.text import shown_text
from .drawing import Drawing, Hit
from .dress import Badge
from .worn import Worn

_KINDS = {
    BoxKind.INPUT: "Graph input",
    BoxKind.OUTPUT: "Graph output",
    BoxKind.CAPTURED: "Value from outside this graph",
}
_ARROW = "\N{RIGHTWARDS ARROW}"
_MOST = 8  # values of a box, readers of a value


def tooltip_text(worn: Worn, hit: Hit) -> str:
    """A tooltip in Qt's rich text; empty where there is nothing to say."""
    drawing = worn.drawing
    lines: list[str] = []
    if hit.box is not None:
        lines = _of_box(worn, hit.box)
    elif hit.portal is not None:
        lines = _of_edges(drawing, drawing.portals[hit.portal].edges)
        lines.append("<i>Click to go to the other end</i>")
    elif hit.path is not None:
        lines = _of_edges(drawing, drawing.paths[hit.path].edges)
        lines += _of_copy(worn, hit.path)
    return "<br>".join(lines)


def _of_edges(drawing: Drawing, edges: Sequence[int]) -> list[str]:
    """A value: its name, its type, and who makes and reads it."""
    first = drawing.scene.edges[edges[0]]
    targets = [drawing.scene.boxes[drawing.scene.edges[edge].target].title for edge in edges]
    more = f" and {len(targets) - _MOST} more" if len(targets) > _MOST else ""
    source = drawing.scene.boxes[first.source].title
    lines = [_bold(shown_text(first.value))]
    if first.label:
        lines.append(html.escape(first.label))
    lines.append(html.escape(f"{source} {_ARROW} {', '.join(targets[:_MOST])}{more}"))
    return lines


def _of_copy(worn: Worn, path: int) -> list[str]:
    copy = worn.marks.paths.get(path)
    if copy is None:
        return []
    assumed = worn.dress.copies.assumed
    lines = [_bold(f"Copied in each run: {copy.text}")]
    return [*lines, html.escape(f"assumed: {assumed}")] if assumed else lines


def _of_box(worn: Worn, index: int) -> list[str]:
    drawing = worn.drawing
    box = drawing.scene.boxes[index]
    lines = [_bold(box.title)]
    if box.kind is not BoxKind.NODE:
        lines.append(_KINDS[box.kind])
    if box.name:
        lines.append(html.escape(box.name))
    lines += [f"{html.escape(row.key)}: {html.escape(row.text)}" for row in box.rows]
    values = (drawing.scene.edges[edge] for edge in drawing.outgoing(index)[:_MOST])
    made = (html.escape(f"{_ARROW} {shown_text(e.value)}  {e.label}") for e in values)
    lines += dict.fromkeys(made)  # an edge for each reader, the value once
    if box.node is not None:
        lines += map(_bold, worn.dress.colouring.detail(box.node).splitlines())
    if (badge := worn.badge(index)) is not None:
        lines.append(_of_badge(badge))
    if box.opens:
        lines.append("<i>Double-click to open</i>")
    return lines


def _of_badge(badge: Badge) -> str:
    worst = ", the worst" if badge.count > 1 else ""
    return f"{counted(badge.count, 'finding')}{worst}: {badge.severity.value}"


def _bold(text: str) -> str:
    return f"<b>{html.escape(text)}</b>"
