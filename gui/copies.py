"""Values that are copied between GPU and CPU in a run, as the canvas draws and counts them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from ..engine.ir.model import NodeId
from ..engine.units import mebibytes

if TYPE_CHECKING:
    from ..engine.providers.borders import Crossing

UNKNOWN_SIZE = "size unknown"


class Mark(StrEnum):
    """The class that legends show copies as."""

    COPY = "copy"


@dataclass(frozen=True, slots=True)
class Copy:
    """One value's way to the other side.

    Attributes:
        value: its name, in the graph where it is made.
        to_gpu: from the CPU to the GPU, else back.
        size_bytes: None where its shape is not known.
        producer: the node that makes it.
        readers: the nodes that read it on the other side.
    """

    value: str
    to_gpu: bool
    size_bytes: int | None
    producer: NodeId
    readers: tuple[NodeId, ...]

    @property
    def size_text(self) -> str:
        """The bytes in words."""
        return UNKNOWN_SIZE if self.size_bytes is None else mebibytes(self.size_bytes)

    @property
    def text(self) -> str:
        """What it copies where to."""
        return f"{self.size_text} to the {'GPU' if self.to_gpu else 'CPU'}"

    def reaches(self, box: NodeId) -> bool:
        """True if ``box``, or a node inside it, is among the readers."""
        depth = len(box.graph)
        start = f"{box.index}."
        return any(
            reader == box
            or (
                len(reader.graph) > depth
                and reader.graph[:depth] == box.graph
                and reader.graph[depth].startswith(start)
            )
            for reader in self.readers
        )


@dataclass(frozen=True)
class Copies:
    """Every copy of one target's placement.

    Attributes:
        all: in the model's order.
        by_value: value name -> its copies, of whatever graph.
        assumed: the dimensions that the sizes hold for only if they are as assumed; "" if none.
    """

    all: tuple[Copy, ...] = ()
    by_value: Mapping[str, tuple[Copy, ...]] = field(default_factory=dict)
    assumed: str = ""

    @property
    def size_bytes(self) -> int:
        """Sum of the known sizes."""
        return sum(c.size_bytes or 0 for c in self.all)

    @property
    def total(self) -> str:
        """How many and how much: ``4, 152 KiB``; ``over`` where some sizes are not known."""
        if all(c.size_bytes is None for c in self.all):
            return f"{len(self.all):,}, {UNKNOWN_SIZE}"
        over = "over " if any(c.size_bytes is None for c in self.all) else ""
        return f"{len(self.all):,}, {over}{mebibytes(self.size_bytes)}"

    @property
    def detail(self) -> str:
        """The total in a sentence, with what it depends on."""
        ways = [sum(c.to_gpu is way for c in self.all) for way in (True, False)]
        unknown = sum(c.size_bytes is None for c in self.all)
        told = f"{mebibytes(self.size_bytes)} in each run"
        told += f", and {unknown:,} of unknown size" if unknown else ""
        told += f"; assumed: {self.assumed}" if self.assumed else ""
        return f"{ways[0]:,} to the GPU, {ways[1]:,} to the CPU: {told}"

    @property
    def places(self) -> tuple[NodeId, ...]:
        """The node before each copy, to go from one to the next."""
        return tuple(copy.producer for copy in self.all)


NO_COPIES = Copies()


def copies_of(crossings: Iterable[Crossing], assumed: Mapping[str, int]) -> Copies:
    """The copies behind the engine's crossings."""
    found = tuple(
        Copy(c.value, c.to_gpu, c.size_bytes, c.producer, tuple(c.readers)) for c in crossings
    )
    by_value: dict[str, list[Copy]] = {}
    for copy in found:
        by_value.setdefault(copy.value, []).append(copy)
    told = ", ".join(f"{name} = {size:,}" for name, size in assumed.items())
    return Copies(found, {name: tuple(cs) for name, cs in by_value.items()}, told)
