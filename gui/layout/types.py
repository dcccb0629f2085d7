"""What goes into a layout and what comes out: plain numbers, as JSON over the child's pipes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Point = tuple[float, float]
Progress = Callable[[float], None]


class LayoutError(Exception):
    """The layout engine refused or failed; the text says why."""


@dataclass(frozen=True, slots=True)
class LayoutRequest:
    """Boxes and edges to lay out.

    Attributes:
        sizes: (width, height) of each box.
        edges: (source box, target box) of each edge; parallel edges are allowed.
        label_widths: width of each edge's label, 0 where it has none; all are LABEL_HEIGHT high.
        portal_widths: width of the name plate of each edge, should it become a portal.
        shared: per edge a number that is equal for edges carrying the same value.
    """

    sizes: tuple[Point, ...]
    edges: tuple[tuple[int, int], ...]
    label_widths: tuple[float, ...]
    portal_widths: tuple[float, ...]
    shared: tuple[int, ...]

    def to_json(self) -> str:
        """The request as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> LayoutRequest:
        """The request that :meth:`to_json` wrote."""
        data = json.loads(text)
        return cls(
            _pairs(data["sizes"]),
            _pairs(data["edges"]),
            tuple(data["label_widths"]),
            tuple(data["portal_widths"]),
            tuple(data["shared"]),
        )


@dataclass(frozen=True, slots=True)
class Path:
    """A drawn line: an edge, or the line between a box and a portal's plate.

    Attributes:
        edges: the edges that it belongs to (one, but for a plate that several edges share).
        points: corners from the source's border to the target's, or to the plate's.
        label: top left corner of the label of ``edges[0]``, None where it found no room.
        arrow: whether its end carries an arrowhead.
    """

    edges: tuple[int, ...]
    points: tuple[Point, ...]
    label: Point | None = None
    arrow: bool = True


@dataclass(frozen=True, slots=True)
class Portal:
    """The name plate at one end of edges that are too long to draw.

    Attributes:
        edges: the edges that go on at another plate.
        centre, size: the plate.
        outgoing: True below the source, False above a target.
    """

    edges: tuple[int, ...]
    centre: Point
    size: Point
    outgoing: bool


@dataclass(frozen=True, slots=True)
class LayoutResult:
    """Where everything went, with the y axis downwards and the top left corner at (0, 0).

    Attributes:
        centres: of the request's boxes.
        paths, portals: what is drawn of its edges.
        size: width and height of the whole.
        start: where reading begins: the top of the largest component.
    """

    centres: tuple[Point, ...]
    paths: tuple[Path, ...]
    portals: tuple[Portal, ...]
    size: Point
    start: Point

    def to_json(self) -> str:
        """The result as one line, coordinates to a tenth of a pixel."""
        paths = [
            {"edges": p.edges, "points": _rounded(p.points), "label": p.label, "arrow": p.arrow}
            for p in self.paths
        ]
        portals = [asdict(portal) for portal in self.portals]
        data = {"centres": _rounded(self.centres), "paths": paths, "portals": portals}
        return json.dumps(data | {"size": self.size, "start": self.start})

    @classmethod
    def from_json(cls, text: str) -> LayoutResult:
        """The result that :meth:`to_json` wrote."""
        data = json.loads(text)
        paths = tuple(
            Path(
                tuple(p["edges"]),
                _pairs(p["points"]),
                None if p["label"] is None else (p["label"][0], p["label"][1]),
                p["arrow"],
            )
            for p in data["paths"]
        )
        portals = tuple(
            Portal(tuple(p["edges"]), tuple(p["centre"]), tuple(p["size"]), p["outgoing"])
            for p in data["portals"]
        )
        return cls(
            _pairs(data["centres"]), paths, portals, tuple(data["size"]), tuple(data["start"])
        )


def _pairs(found: list[Any]) -> tuple[Any, ...]:
    return tuple((a, b) for a, b in found)


def _rounded(points: tuple[Point, ...]) -> list[Point]:
    return [(round(x, 1), round(y, 1)) for x, y in points]
