"""One colouring of the graph at a time: by provider, by time or by risk. Data only, no colours.

The same :class:`Colouring` serves both themes: a :data:`Class` is looked up when it is painted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ....engine.diagnostics import Diagnostic, Severity, worst
from ....engine.ir.model import Model, Node, NodeId
from ....engine.providers.support import Status, Support
from ....engine.results import ENGINE_NAME
from ...format import count_text, severity_text, share_text, time_text

Class = Status | Severity | float  # a float: place on the time ramp, 0 fastest to 1 slowest

_STATUS_ORDER = (  # in legends; also what stands for a node that contains several
    Status.UNSUPPORTED,
    Status.FAILS,
    Status.HOST,
    Status.UNKNOWN,
    Status.GPU,
    Status.FUSED,
    Status.FOLDED,
)
_LEGEND_OPERATORS = 5


class Mode(StrEnum):
    """What the colours say."""

    NONE = "none"
    PROVIDER = "provider"
    TIME = "time"
    RISK = "risk"


@dataclass(frozen=True, slots=True)
class Paint:
    """How one node is coloured.

    Attributes:
        kind: its class.
        text: a short text in the box's corner, such as ``12 %``.
        detail: a line of its tooltip.
    """

    kind: Class
    text: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """A class in the legend, with its total and its nodes in order."""

    label: str
    kind: Class
    total: str
    nodes: tuple[NodeId, ...]


@dataclass(frozen=True)
class Colouring:
    """A colouring of every graph of a model.

    Attributes:
        title: what it shows, for the legend's head.
        paints: the coloured nodes; others are neutral.
        legend: classes in order, with totals.
        copies: (producer, consumer) pairs between which a value changes sides, GPU to host or back.
        summary: the legend's total over all classes.
        source: whose numbers these are.
    """

    mode: Mode = Mode.NONE
    title: str = ""
    paints: Mapping[NodeId, Paint] = field(default_factory=dict)
    legend: tuple[LegendEntry, ...] = ()
    copies: frozenset[tuple[NodeId, NodeId]] = frozenset()
    summary: str = ""
    source: str = ""


PLAIN = Colouring()


def by_provider(model: Model, support: Mapping[NodeId, Support], target: str) -> Colouring:
    """Colour by where each node would run.

    Args:
        model: whose nodes are coloured; a node that only contains others (a function's call) is
            given the worst of its contents.
        support: a verdict per node of the file.
        target: the provider's name, as users know it.
    """
    paints = {
        node: Paint(verdict.status, detail=_verdict_text(verdict))
        for node, verdict in support.items()
    }
    for node in _callers(model, support):
        inner = [support[i].status for i in _contents(model, node) if i in support]
        if inner:
            kind = min(inner, key=_STATUS_ORDER.index)
            parts = (f"{n} {s.value}" for s, n in Counter(inner).most_common())
            paints[node.id] = Paint(kind, detail=f"contains {', '.join(parts)}")
    groups = {status: [n for n, v in support.items() if v.status is status] for status in Status}
    legend = tuple(
        LegendEntry(_NAMES[status], status, f"{len(nodes):,}", tuple(nodes))
        for status in _LEGEND_ORDER
        if (nodes := groups[status])
    )
    copies = _copies(model, support)
    summary = count_text(sum(len(nodes) for nodes in groups.values()), "node")
    if copies:
        told = count_text(len(copies), "edge")
        summary += f" \N{MIDDLE DOT} {told} copied between GPU and host"
    return Colouring(Mode.PROVIDER, f"Provider: {target}", paints, legend, copies, summary, target)


def _copies(model: Model, support: Mapping[NodeId, Support]) -> frozenset[tuple[NodeId, NodeId]]:
    """The pairs of neighbours of which one runs on the GPU and the other on the host."""
    found = set()
    for graph in model.graphs():
        producers = graph.producers
        for node in graph.nodes:
            side = _SIDES.get(support[node.id].status) if node.id in support else None
            for name in node.inputs if side else ():
                producer = producers.get(name)
                if producer is not None and producer.id in support:
                    other = _SIDES.get(support[producer.id].status)
                    if other and other != side:
                        found.add((producer.id, node.id))
    return frozenset(found)


_SIDES = {
    Status.GPU: "gpu",
    Status.FUSED: "gpu",
    Status.FAILS: "gpu",
    Status.HOST: "host",
}


_LEGEND_ORDER = (
    Status.GPU,
    Status.FUSED,
    Status.FOLDED,
    Status.HOST,
    Status.FAILS,
    Status.UNSUPPORTED,
    Status.UNKNOWN,
)


_NAMES = {status: status.value.capitalize() for status in Status} | {Status.GPU: "GPU"}


def by_time(
    model: Model,
    times_ns: Mapping[NodeId, float],
    *,
    total_ns: float | None = None,
    source: str = ENGINE_NAME,
    statistic: str = "",
) -> Colouring:
    """Colour by the time each node took.

    Args:
        model: whose nodes they are.
        times_ns: time per node of the file.
        total_ns: what shares are of; by default the sum of these times.
        source: who measured.
        statistic: what the times are, such as "median of 50 runs".
    """
    timed = sum(times_ns.values())
    total = total_ns or timed
    slowest = max(times_ns.values(), default=0.0)
    paints: dict[NodeId, Paint] = {}
    operators: dict[str, list[NodeId]] = {}
    for node, time in sorted(times_ns.items(), key=lambda item: -item[1]):
        share = time / total if total else 0.0
        place = (time / slowest) ** 0.5 if slowest else 0.0
        text = share_text(share) if share >= 0.001 else ""
        paints[node] = Paint(place, text, f"{time_text(time)} ({share_text(share)}) on {source}")
        op = model.nodes[node].op_type if node in model.nodes else "?"
        operators.setdefault(op, []).append(node)
    sums = {op: sum(times_ns[node] for node in nodes) for op, nodes in operators.items()}
    legend = []
    for op in sorted(sums, key=lambda op: -sums[op])[:_LEGEND_OPERATORS]:
        share = sums[op] / total if total else 0.0
        slowest_kind = paints[operators[op][0]].kind
        text = f"{time_text(sums[op])} · {share_text(share)}"
        legend.append(LegendEntry(op, slowest_kind, text, tuple(operators[op])))
    summary = f"{time_text(timed)} in {count_text(len(times_ns), 'node')}"
    told = f"{source}, {statistic}" if statistic else source
    return Colouring(
        Mode.TIME, f"Time: {told}", paints, tuple(legend), summary=summary, source=source
    )


def by_risk(diagnostics: Mapping[NodeId, Sequence[Diagnostic]]) -> Colouring:
    """Colour by the worst finding of each node."""
    paints: dict[NodeId, Paint] = {}
    groups: dict[Severity, list[NodeId]] = {severity: [] for severity in Severity}
    findings: Counter[Severity] = Counter()
    for node, found in diagnostics.items():
        severity = worst(found)
        if severity is None:
            continue
        codes = dict.fromkeys(d.code for d in sorted(found, key=lambda d: d.severity.rank))
        count = str(len(found)) if len(found) > 1 else ""
        paints[node] = Paint(severity, count, ", ".join(codes))
        groups[severity].append(node)
        findings.update(d.severity for d in found)
    legend = tuple(
        LegendEntry(severity_text(severity).capitalize(), severity, f"{len(nodes):,}", tuple(nodes))
        for severity, nodes in groups.items()
        if nodes
    )
    total = sum(findings.values())
    summary = f"{count_text(total, 'finding')} on {count_text(len(paints), 'node')}"
    return Colouring(Mode.RISK, "Risk: findings of the checks", paints, legend, summary=summary)


def _verdict_text(verdict: Support) -> str:
    parts = [verdict.status.value, verdict.reason.value, verdict.detail]
    return ": ".join(part for part in parts if part)


def _callers(model: Model, support: Mapping[NodeId, Support]) -> Iterable[Node]:
    return (
        node
        for node in model.nodes.values()
        if node.id not in support and (node.subgraphs or model.function_of(node))
    )


def _contents(model: Model, node: Node) -> list[NodeId]:
    """Every node inside ``node``: of its subgraphs, its function's body, and so on inwards."""
    stack = [graph for _, graph in node.subgraphs]
    if (function := model.function_of(node)) is not None:
        stack.append(function.graph)
    seen = set()
    found: list[NodeId] = []
    while stack:
        graph = stack.pop()
        if graph.path in seen:
            continue
        seen.add(graph.path)
        for inner in graph.nodes:
            found.append(inner.id)
            stack += [g for _, g in inner.subgraphs]
            if (called := model.function_of(inner)) is not None:
                stack.append(called.graph)
    return found
