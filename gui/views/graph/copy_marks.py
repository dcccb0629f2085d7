"""Which lines of a drawing carry a value that is copied between GPU and CPU."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ....engine.ir.model import NodeId
from ...copies import Copies, Copy
from ...layout.scene import Box, BoxKind
from .drawing import Drawing, Indices


class CopyMarks:
    """The marked lines of one drawing.

    Attributes:
        paths: path -> the copy that it carries.
    """

    def __init__(self, drawing: Drawing, copies: Copies) -> None:
        self.paths = _marked(drawing, copies)
        ways: tuple[list[int], list[int]] = ([], [])
        for path, copy in self.paths.items():
            ways[copy.to_gpu].append(path)
        self._to_cpu, self._to_gpu = (np.array(way, dtype=np.intp) for way in ways)
        self._is_marked = np.zeros(len(drawing.paths), dtype=bool)
        self._is_marked[list(self.paths)] = True

    def among(self, paths: Indices) -> Indices:
        """The marked ones of ``paths``."""
        return paths[self._is_marked[paths]]

    def split(self, owners: Indices) -> tuple[Indices, Indices]:
        """Places in ``owners`` (paths) of those that lead to the CPU, and of those to the GPU."""
        to_cpu, to_gpu = (np.isin(owners, way) for way in (self._to_cpu, self._to_gpu))
        return np.flatnonzero(to_cpu), np.flatnonzero(to_gpu)


def _marked(drawing: Drawing, copies: Copies) -> Mapping[int, Copy]:
    if not copies.all:
        return {}
    scene = drawing.scene
    owner = _owner(scene.path)
    marked: dict[int, Copy] = {}
    for index, edge in enumerate(scene.edges):
        for copy in copies.by_value.get(edge.value, ()):
            if _arrives(copy, scene.boxes[edge.target], owner):
                marked.update((path, copy) for path in drawing.paths_of([index]))
    return marked


def _arrives(copy: Copy, box: Box, owner: NodeId | None) -> bool:
    """True if the edge into ``box`` takes the value to a reader on the other side."""
    if box.node is not None:
        return copy.reaches(box.node)
    return box.kind is BoxKind.OUTPUT and owner is not None and owner in copy.readers


def _owner(path: tuple[str, ...]) -> NodeId | None:
    """The node whose subgraph is at ``path``."""
    number = path[-1].partition(".")[0] if path else ""
    return NodeId(path[:-1], int(number)) if number.isdigit() else None
