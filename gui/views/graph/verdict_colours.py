"""Colours by verdict: where a target runs each node, or how two targets differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ....engine.ir.model import Model, Node, NodeId
from ....engine.providers.support import Status, Support
from ....engine.units import counted
from ...copies import Copies, Mark
from ...difference import Difference, differences
from ...verdict import OFF, WORDS, WORST_FIRST, Home, Sign, reason_text, sign_of
from .colouring import Class, Colouring, LegendEntry, Mode, Paint, entries_of, paints_of
from .contents import containers

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
    paints = paints_of(groups)
    for node, contents in containers(model):
        if inner := [sign_of(support[i]) for i in contents if i in support]:
            paints[node.id] = _around(model, node, support.get(node.id), inner)
    legend = entries_of(groups, {s: _capital(WORDS[s]) for s in _LEGEND_ORDER})

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


def _around(model: Model, node: Node, own: Support | None, inner: list[Sign]) -> Paint:
    """The paint of a node that has others inside; a call has no verdict but what is inside."""
    kind: Class = min(inner, key=WORST_FIRST.index)
    if own is not None and model.function_of(node) is None:
        kind = sign_of(own)
    off = sum(sign in OFF for sign in inner)
    text = f"{off:,} off GPU" if off and node.subgraphs else ""
    return Paint(kind, text, _counted(WORDS[sign] for sign in inner))


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
    paints = paints_of(groups)
    for around, contents in containers(model):
        if inside := [found[i] for i in contents if i in found]:
            own = [found[around.id]] if around.id in found else []
            kind = min((*inside, *own), key=list(Difference).index)
            paints[around.id] = Paint(kind, detail=_counted(kind.value for kind in inside))
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

    legend = entries_of(groups, labels)
    return Colouring(Mode.DIFFERENCE, title, paints, legend, summary, describe=describe)


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def verdict_text(verdict: Support) -> str:
    """Word and reason: ``CPU: schema version: GRU is stamped ...``."""
    parts = [WORDS[sign_of(verdict)], reason_text(verdict)]
    return ": ".join(part for part in parts if part)


def _counted(kinds: Iterable[str]) -> str:
    """How often each word occurs: ``contains 3 GPU, 1 CPU``."""
    return "contains " + ", ".join(f"{n} {word}" for word, n in Counter(kinds).most_common())
