"""What a colouring of the graph is: data, no colours. One is shown at a time.

The same :class:`Colouring` serves both themes: a :data:`Class` is looked up when it is painted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ....engine.diagnostics import Severity
from ....engine.ir.model import NodeId
from ....engine.providers.support import Status
from ...copies import Mark
from ...difference import Difference
from ...verdict import Home

# A float is a place on the time ramp, 0 fastest to 1 slowest.
Class = Status | Home | Severity | Difference | Mark | float


class Mode(StrEnum):
    """What the colours say."""

    NONE = "none"
    PROVIDER = "provider"
    TIME = "time"
    RISK = "risk"
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True)
class Paint:
    """How one node is coloured.

    Attributes:
        kind: its class.
        text: a short text in the box's corner, such as ``12 %``.
        detail: lines of its tooltip; see :meth:`Colouring.detail`.
    """

    kind: Class
    text: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A class in the legend, with its total, its nodes in order, and what else there is to say."""

    label: str
    kind: Class
    total: str
    nodes: tuple[NodeId, ...]
    detail: str = ""


@dataclass(frozen=True)
class Colouring:
    """A colouring of every graph of a model.

    Attributes:
        title: what it shows, for the legend's head.
        paints: the coloured nodes; others are neutral.
        legend: classes in order, with totals.
        summary: the legend's total over all classes.
        source: whose numbers these are.
        describe: what more there is to say of a coloured node, made when it is asked for: a
            colouring is made anew with every target, its texts are read one by one.
    """

    mode: Mode = Mode.NONE
    title: str = ""
    paints: Mapping[NodeId, Paint] = field(default_factory=dict)
    legend: tuple[LegendEntry, ...] = ()
    summary: str = ""
    source: str = ""
    describe: Callable[[NodeId], str] | None = field(default=None, compare=False, repr=False)

    def detail(self, node: NodeId) -> str:
        """Lines for the tooltip of ``node``; "" where it is not coloured."""
        paint = self.paints.get(node)
        if paint is None:
            return ""
        told = self.describe(node) if self.describe is not None else ""
        return "\n".join(filter(None, (told, paint.detail)))


PLAIN = Colouring()


def paints_of(groups: Mapping[Class, Iterable[NodeId]]) -> dict[NodeId, Paint]:
    """One paint for all the nodes of a class: there are thousands of nodes and few classes."""
    found: dict[NodeId, Paint] = {}
    for kind, nodes in groups.items():
        found.update(dict.fromkeys(nodes, Paint(kind)))
    return found


def entries_of(
    groups: Mapping[Class, Sequence[NodeId]], labels: Mapping[Class, str]
) -> tuple[LegendEntry, ...]:
    """An entry of the legend for each class that has nodes, with their number."""
    return tuple(
        LegendEntry(labels[kind], kind, f"{len(nodes):,}", tuple(nodes))
        for kind, nodes in groups.items()
        if nodes
    )
