"""What the canvas says of the thing under the cursor."""

from __future__ import annotations

import html

from ...copies import Copy
from ...layout.scene import BoxKind
from ...layout.text import shown_text
from .copy_marks import CopyMarks
from .drawing import Drawing, Hit
from .painter import Dress

_KINDS = {
    BoxKind.INPUT: "Graph input",
    BoxKind.OUTPUT: "Graph output",
    BoxKind.CAPTURED: "Value from outside this graph",
}
_MOST = 8


def tooltip_text(drawing: Drawing, hit: Hit, dress: Dress) -> str:
    """A tooltip in Qt's rich text; empty where there is nothing to say."""
    if hit.box is not None:
        return _box_text(drawing, hit.box, dress)
    edges: tuple[int, ...] = ()
    if hit.portal is not None:
        edges = drawing.portals[hit.portal].edges
    elif hit.path is not None:
        edges = drawing.paths[hit.path].edges
    if not edges:
        return ""
    first = drawing.scene.edges[edges[0]]
    targets = [drawing.scene.boxes[drawing.scene.edges[edge].target].title for edge in edges]
    lines = [f"<b>{html.escape(shown_text(first.value))}</b>"]
    if first.label:
        lines.append(html.escape(first.label))
    more = f" and {len(targets) - _MOST} more" if len(targets) > _MOST else ""
    source = drawing.scene.boxes[first.source].title
    lines.append(html.escape(f"{source} \N{RIGHTWARDS ARROW} {', '.join(targets[:_MOST])}{more}"))
    if hit.path is not None and (copy := _copy_on(drawing, hit.path, dress)) is not None:
        lines.append(f"<b>Copied in each run: {html.escape(copy.text)}</b>")
        if dress.copies.assumed:
            lines.append(html.escape(f"assumed: {dress.copies.assumed}"))
    if hit.portal is not None:
        lines.append("<i>Click to go to the other end</i>")
    return "<br>".join(lines)


def _copy_on(drawing: Drawing, path: int, dress: Dress) -> Copy | None:
    return CopyMarks.of(drawing, dress.copies).paths.get(path)


def _box_text(drawing: Drawing, index: int, dress: Dress) -> str:
    box = drawing.scene.boxes[index]
    lines = [f"<b>{html.escape(box.title)}</b>"]
    if box.kind is not BoxKind.NODE:
        lines.append(_KINDS[box.kind])
    if box.name:
        lines.append(html.escape(box.name))
    lines += [f"{html.escape(row.key)}: {html.escape(row.text)}" for row in box.rows]
    for edge in (drawing.scene.edges[e] for e in drawing.outgoing(index)[:_MOST]):
        line = f"\N{RIGHTWARDS ARROW} {shown_text(edge.value)}  {edge.label}"
        if (escaped := html.escape(line)) not in lines:
            lines.append(escaped)
    if box.node is not None:
        told = dress.colouring.detail(box.node)
        lines += [f"<b>{html.escape(line)}</b>" for line in told.splitlines()]
        badge = dress.badges.get(box.node)
        if badge is not None:
            lines.append(f"{badge.count} finding{'s' * (badge.count != 1)}: {badge.look.label}")
    if box.opens:
        lines.append("<i>Double-click to open</i>")
    return "<br>".join(lines)
