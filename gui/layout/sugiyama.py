"""The layout engine behind our own interface: graphlay, one block at a time."""

from __future__ import annotations

from dataclasses import dataclass

import graphlay

from . import spacing
from .types import LayoutError, Point

_LARGE = 1500  # boxes; above, orders and positions are searched less thoroughly

_OPTIONS = {
    "direction": "topbottom",
    "spacing": {
        "layer_gap": spacing.LAYER_GAP,
        "node_gap": spacing.NODE_GAP,
        "dummy_gap": spacing.LANE_GAP,
        "port_gap": spacing.PORT_GAP,
        "port_stroke_clear": 8.0,
        "stub": spacing.STUB,
    },
    # Lines leave at the bottom and arrive at the top; those of one source share their trunk.
    "routing": {"merge_edges": "forks", "port_sides": "facing_only"},
}


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """A block's drawing: box centres and each edge's corners, source to target."""

    centres: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]

    def mirrored(self) -> BlockLayout:
        """The same drawing, left and right exchanged."""
        return BlockLayout(
            tuple((-x, y) for x, y in self.centres),
            tuple(tuple((-x, y) for x, y in route) for route in self.routes),
        )


def lay_out_block(sizes: tuple[Point, ...], edges: tuple[tuple[int, int], ...]) -> BlockLayout:
    """Lay out one acyclic block. LayoutError where the engine refuses it."""
    graph = graphlay.Graph()
    for box, (width, height) in enumerate(sizes):
        graph.node(box, width=width, height=height)
    for source, target in edges:
        graph.edge(source, target)
    effort = {"effort": "fast"} if len(sizes) > _LARGE else {}
    try:
        drawing = graphlay.layout(graph, options={**_OPTIONS, **effort})
    except graphlay.GraphlayError as error:
        raise LayoutError(f"{len(sizes)} boxes, {len(edges)} edges: {error}") from error
    return BlockLayout(
        tuple((n["center"]["x"], n["center"]["y"]) for n in drawing.nodes),
        tuple(tuple((p["x"], p["y"]) for p in e["points"]) for e in drawing.edges),
    )
