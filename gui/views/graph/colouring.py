"""One colouring of the graph at a time: provider, time, risk or difference. Data, no colours.

The same :class:`Colouring` serves both themes: a :data:`Class` is looked up when it is painted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from ....engine.diagnostics import Diagnostic, Severity, worst
from ....engine.ir.model import Model, Node, NodeId
from ....engine.providers.support import Status, Support
from ....engine.results import ENGINE_NAME
from ....engine.units import counted
from ...copies import Copies, Mark
from ...difference import Difference, differences
from ...format import share_text, time_text
from ...verdict import OFF, WORDS, WORST_FIRST, Home, reason_text, sign_of

# A float is a place on the time ramp, 0 fastest to 1 slowest.
Class = Status | Home | Severity | Difference | Mark | float

_LEGEND_OPERATORS = 5


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


def by_provider(model: Model, support: Mapping[NodeId, Support], target: str) -> Colouring:
    """Colour by where each node would run.

    Args:
        model: whose nodes are coloured; a node that only contains others (a function's call) is
            given the worst of its contents, one with subgraphs says how many are off the GPU.
        support: a verdict per node of the file.
        target: the provider's name, as users know it.
    """
    groups: dict[Class, list[NodeId]] = {sign: [] for sign in _LEGEND_ORDER}
    for identity, verdict in support.items():
        groups[sign_of(verdict)].append(identity)
    paints = _paints(groups)
    around = {}
    for node in _containers(model):
        inner = [sign_of(support[i]) for i in _contents(model, node) if i in support]
        if not inner:
            continue
        told = ", ".join(f"{n} {WORDS[s]}" for s, n in Counter(inner).most_common())
        kind: Class = min(inner, key=WORST_FIRST.index)
        if node.id in paints and model.function_of(node) is None:  # a call is what is inside
            kind = paints[node.id].kind
        off = sum(sign in OFF for sign in inner)
        text = f"{off} off GPU" if off and node.subgraphs else ""
        around[node.id] = Paint(kind, text, f"contains {told}")
    paints.update(around)
    legend = _entries(groups, {s: _capital(WORDS[s]) for s in _LEGEND_ORDER})

    def describe(identity: NodeId) -> str:
        node = model.nodes.get(identity)
        called = node is not None and model.function_of(node) is not None
        return verdict_text(support[identity]) if identity in support and not called else ""

    return Colouring(
        Mode.PROVIDER,
        f"Provider: {target}",
        paints,
        legend,
        summary=counted(len(support), "node"),
        source=target,
        describe=describe,
    )


def with_copies(colouring: Colouring, copies: Copies) -> Colouring:
    """The colouring with an entry of the legend for what is copied between GPU and CPU."""
    if not copies.all:
        return colouring
    entry = LegendEntry("Copies", Mark.COPY, copies.total, copies.places, copies.detail)
    return replace(colouring, legend=(*colouring.legend, entry))


def by_difference(
    model: Model,
    first: Mapping[NodeId, Support],
    second: Mapping[NodeId, Support],
    names: tuple[str, str],
) -> Colouring:
    """Colour by how two targets' verdicts relate.

    Args:
        model: whose nodes are coloured; one that only contains others is given the most telling
            relation of its contents.
        first: the first target's verdict per node of the file.
        second: the second target's.
        names: of the two targets, as users know them.
    """
    found = differences(first, second)
    groups: dict[Class, list[NodeId]] = {kind: [] for kind in Difference}
    for node, kind in found.items():
        groups[kind].append(node)
    paints = _paints(groups)
    for around in _containers(model):
        inside = [found[i] for i in _contents(model, around) if i in found]
        if inside:
            kinds = Counter(inside).most_common()
            told_inside = ", ".join(f"{n} {kind.value}" for kind, n in kinds)
            kind = min((*inside, *filter(None, [found.get(around.id)])), key=list(Difference).index)
            paints[around.id] = Paint(kind, detail=f"contains {told_inside}")
    labels: dict[Class, str] = {
        Difference.ONLY_FIRST: f"GPU only in {names[0]}",
        Difference.ONLY_SECOND: f"GPU only in {names[1]}",
        Difference.OTHERWISE: "Differ otherwise",
        Difference.SAME: "Same",
    }
    differ = sum(kind is not Difference.SAME for kind in found.values())
    summary = f"{differ:,} of {counted(len(found), 'node')} differ"
    title = f"{names[0]} against {names[1]}"

    def describe(node: NodeId) -> str:
        if node not in found:
            return ""
        texts = (verdict_text(first[node]), verdict_text(second[node]))
        return "\n".join(f"{name}: {text}" for name, text in zip(names, texts, strict=True))

    legend = _entries(groups, labels)
    return Colouring(Mode.DIFFERENCE, title, paints, legend, summary, describe=describe)


def _paints(groups: Mapping[Class, Sequence[NodeId]]) -> dict[NodeId, Paint]:
    """One paint for all the nodes of a class: there are thousands of nodes and few classes."""
    found: dict[NodeId, Paint] = {}
    for kind, nodes in groups.items():
        found.update(dict.fromkeys(nodes, Paint(kind)))
    return found


def _entries(
    groups: Mapping[Class, Sequence[NodeId]], labels: Mapping[Class, str]
) -> tuple[LegendEntry, ...]:
    return tuple(
        LegendEntry(labels[kind], kind, f"{len(nodes):,}", tuple(nodes))
        for kind, nodes in groups.items()
        if nodes
    )


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


_LEGEND_ORDER = (
    Status.GPU,
    Home.CPU,
    Status.FUSED,
    Status.FOLDED,
    Status.HOST,
    Status.FAILS,
    Status.UNSUPPORTED,
    Status.UNKNOWN,
)


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
    summary = f"{time_text(timed)} in {counted(len(times_ns), 'node')}"
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
        LegendEntry(severity.value.capitalize(), severity, f"{len(nodes):,}", tuple(nodes))
        for severity, nodes in groups.items()
        if nodes
    )
    total = sum(findings.values())
    summary = f"{counted(total, 'finding')} on {counted(len(paints), 'node')}"
    return Colouring(Mode.RISK, "Risk: findings of the checks", paints, legend, summary=summary)


def verdict_text(verdict: Support) -> str:
    """Word and reason: ``CPU: schema version: GRU is stamped ...``."""
    parts = [WORDS[sign_of(verdict)], reason_text(verdict)]
    return ": ".join(part for part in parts if part)


def _containers(model: Model) -> Iterable[Node]:
    """The nodes that have others inside: subgraphs, or a function's body."""
    return (
        node
        for node in model.nodes.values()
        if node.subgraphs or model.function_of(node) is not None
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
