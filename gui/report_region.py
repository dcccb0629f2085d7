"""The part of the graph that a report shows, drawn so that it tells no more than the report.

Small constants are rows of boxes with their values on the canvas; a report shows their types.
Where names are redacted, the drawing has the report's numbers in their place.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ..engine.ir.model import Graph
from ..engine.report.redact import Aliases
from .layout.scene import Box, BoxKind, Edge
from .layout.text import shape_text
from .views.graph.drawing import Drawing

_UNTOLD = "\N{EN DASH}"  # in place of a redacted name that the report does not hold


def telling_drawing(drawing: Drawing, graph: Graph, names: Aliases | None) -> Drawing:
    """``drawing`` of ``graph`` without constants' values.

    Args:
        drawing: as the canvas shows it.
        graph: what it is of.
        names: what stands in place of names; None keeps them.
    """
    nodes = {node.id: node.name for node in graph.nodes}
    words = _dim_replacer(names.dims if names else {})

    def value(name: str) -> str:
        return name if names is None else names.values.get(name, _UNTOLD)

    def box(found: Box) -> Box:
        if found.kind is not BoxKind.NODE or found.node is None:
            title = found.title if names is None else value(found.value)
            return replace(found, title=title, name=words(found.name))
        name = found.name
        if names is not None and name:
            name = names.nodes.get(nodes.get(found.node, ""), _UNTOLD)
        return replace(
            found, name=name, rows=tuple(replace(r, text=words(r.kind)) for r in found.rows)
        )

    scene = drawing.scene
    edges = (Edge(e.source, e.target, value(e.value), words(e.label)) for e in scene.edges)
    made = copy.copy(drawing)  # the geometry is shared
    made.scene = replace(scene, boxes=tuple(map(box, scene.boxes)), edges=tuple(edges))
    return made


def _dim_replacer(names: Mapping[str, str]) -> Callable[[str], str]:
    """A function that replaces symbolic dimensions in a label, shortened ones too."""
    if not names:
        return lambda text: text
    shortened = {shape_text((dim,)): alias for dim, alias in names.items()}
    known = {**shortened, **names}
    parts = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    pattern = re.compile(rf"(?<!\w)(?:{parts})(?!\w)")
    return lambda text: pattern.sub(lambda found: known[found[0]], text)
