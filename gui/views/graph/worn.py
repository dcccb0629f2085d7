"""A dress on one drawing: what each box and line wears, found once and not at every frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ....engine.diagnostics import Severity
from ....engine.ir.model import NodeId
from .colouring import Class, Paint
from .copy_marks import CopyMarks
from .drawing import Drawing, Indices
from .dress import Badge, Dress
from .looks import shade

_NO_NODE = -1


class Worn:
    """What a drawing's boxes and lines wear; to be made on any thread.

    Attributes:
        drawing, dress: what wears what.
        kinds: the classes there are, None among them where boxes have no colour.
        kind_of: (box,) the place of each box's class in ``kinds``; -1 where the box is no node.
        badged: the boxes with a badge, by its severity.
        marks: the lines that carry a copied value.
    """

    def __init__(self, drawing: Drawing, dress: Dress) -> None:
        self.drawing = drawing
        self.dress = dress
        self.kinds, self.kind_of = _classes(drawing, dress.colouring.paints)
        self.badged = _badged(drawing, dress.badges)
        self.marks = CopyMarks(drawing, dress.copies)

    def paint(self, box: int) -> Paint | None:
        """The paint of a box; None for one without colour."""
        node = self.drawing.scene.boxes[box].node
        return self.dress.colouring.paints.get(node) if node is not None else None

    def badge(self, box: int) -> Badge | None:
        """The badge of a box, if it has one."""
        node = self.drawing.scene.boxes[box].node
        return self.dress.badges.get(node) if node is not None else None

    def by_kind(self, boxes: Indices) -> Iterator[tuple[Class | None, Indices]]:
        """Those of ``boxes`` that are nodes, by class."""
        places = self.kind_of[boxes]
        for place, kind in enumerate(self.kinds):
            members = boxes[places == place]
            if len(members):
                yield kind, members

    def terminals(self, boxes: Indices) -> Indices:
        """Those of ``boxes`` that are no nodes."""
        return boxes[self.kind_of[boxes] == _NO_NODE]


def _classes(
    drawing: Drawing, paints: Mapping[NodeId, Paint]
) -> tuple[tuple[Class | None, ...], Indices]:
    places: dict[Class | None, int] = {}
    found = []
    for box in drawing.scene.boxes:
        if box.node is None:
            found.append(_NO_NODE)
            continue
        paint = paints.get(box.node)
        kind = shade(paint.kind) if paint is not None else None
        found.append(places.setdefault(kind, len(places)))
    return tuple(places), np.array(found, dtype=np.intp)


def _badged(drawing: Drawing, badges: Mapping[NodeId, Badge]) -> dict[Severity, Indices]:
    scene = drawing.scene
    groups: dict[Severity, list[int]] = {}
    for node, badge in badges.items():
        box = scene.box_of.get(node) if node.graph == scene.path else None
        if box is not None:
            groups.setdefault(badge.severity, []).append(box)
    return {severity: np.array(boxes, dtype=np.intp) for severity, boxes in groups.items()}
