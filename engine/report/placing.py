"""What a report says of where nodes run: verdicts and what decided, live answers, copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from ..ir.model import GraphPath, NodeId
from ..live.answer import LivePlacement
from ..providers.ort import OrtProvider
from ..providers.support import Support
from ..providers.targets import target
from .data import FORCED, MAX_TEXT, ReportCopy, ReportLive, ReportTarget, shortened


class Copied(Protocol):
    """A value that crosses between GPU and CPU, such as a ``providers.borders.Crossing``."""

    @property
    def value(self) -> str:
        """Its name."""

    @property
    def to_gpu(self) -> bool:
        """From the CPU to the GPU, else back."""

    @property
    def size_bytes(self) -> int | None:
        """None where its shape is not known."""

    @property
    def producer(self) -> NodeId:
        """The node that makes it."""

    @property
    def readers(self) -> Sequence[NodeId]:
        """The nodes that read it on the other side."""


@dataclass(frozen=True)
class Region:
    """The part of a graph that a report shows.

    Attributes:
        graph: path of the graph.
        nodes: the shown ones, all of ``graph``.
        without_paths: shortens a text and takes the user's paths out of it.
    """

    graph: GraphPath
    nodes: tuple[NodeId, ...]
    without_paths: Callable[[str], str]

    @cached_property
    def _shown(self) -> frozenset[NodeId]:
        return frozenset(self.nodes)

    def __contains__(self, node: NodeId | None) -> bool:
        return node in self._shown

    def by_text(self, node: object) -> NodeId | None:
        """The shown node that ``str`` writes so; None where there is none."""
        return self._by_text.get(str(node))

    @cached_property
    def _by_text(self) -> Mapping[str, NodeId]:
        return {str(node): node for node in self.nodes}


def target_of(name: str) -> ReportTarget:
    """What the id of a target stands for, with every option that it has."""
    found = target(name)
    if not isinstance(found.provider, OrtProvider):
        return ReportTarget(found.label, found.version)
    table, options = found.provider.table, found.provider.options
    texts: tuple[str, ...] = ()
    if table.options:  # of this provider; the others have none
        texts = (
            f"enableInt64={int(options.enable_int64)}",
            f"preferredLayout={options.preferred_layout}",
            *(f"{FORCED}{name}"[:MAX_TEXT] for name in sorted(options.force_cpu_node_names)),
        )
    return ReportTarget(table.label, table.version, table.date, texts)


def verdicts_of(
    region: Region, verdicts: Mapping[NodeId, Support]
) -> dict[int, tuple[str, str, str]]:
    """Status, reason and sentence of each shown node, by index."""
    return {
        n.index: (v.status.value, v.reason.value, region.without_paths(v.detail))
        for n in region.nodes
        if (v := verdicts.get(n)) is not None
    }


def decided_of(
    region: Region, verdicts: Mapping[NodeId, Support]
) -> dict[int, Mapping[str, str | int]]:
    """What else the verdict of each shown node says as data, by index."""
    told = ((n.index, _decision(region, verdicts[n])) for n in region.nodes if n in verdicts)
    return {index: found for index, found in told if found}


def _decision(region: Region, verdict: Support) -> dict[str, str | int]:
    data = verdict.data
    found: dict[str, str | int] = {
        key: str(data[key]) for key in ("step", "provider", "when") if data.get(key)
    }
    if data.get("host_values_only"):
        found["host_values_only"] = True
    into = region.by_text(data.get("into"))
    return found if into is None else {**found, "into": into.index}


def live_of(region: Region, answer: LivePlacement) -> ReportLive:
    """What the installed ONNX Runtime answered about the shown nodes."""
    failed = answer.failed_node
    return ReportLive(
        versions=dict(answer.versions),
        nodes={
            n.index: (found.status.value, found.provider, region.without_paths(found.how))
            for n in region.nodes
            if (found := answer.nodes.get(n)) is not None
        },
        error=region.without_paths(answer.error),
        failed=failed.index if failed is not None and failed in region else None,
        notes=tuple(map(region.without_paths, answer.notes)),
        run_error=region.without_paths(answer.run_error),
    )


def copies_of(region: Region, copies: Sequence[Copied]) -> tuple[ReportCopy, ...]:
    """The copies of values that a shown node makes, or reads on the other side."""
    found = []
    for copy in copies:
        readers = tuple(n.index for n in copy.readers if n in region)
        if copy.producer in region or readers:
            here = copy.producer.graph == region.graph
            producer = copy.producer.index if here else None
            name = shortened(copy.value)
            found.append(ReportCopy(name, copy.to_gpu, copy.size_bytes, producer, readers))
    return tuple(found)
