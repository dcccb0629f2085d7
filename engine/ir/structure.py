"""What is wrong with a model's structure: names, definitions, order. Nothing here stops opening."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..diagnostics import Diagnostic, Severity
from ..units import counted
from .model import Graph, Model, Node, captured_inputs

LARGE_MODEL_NODES = 5_000
_NAMES_SHOWN = 5

Scopes = tuple[frozenset[str], ...]


def look_over(model: Model) -> Iterator[Diagnostic]:
    """Every structural finding of ``model``, graph by graph."""
    count = sum(len(graph.nodes) for graph in model.graphs())
    if count >= LARGE_MODEL_NODES:
        yield Diagnostic(
            "large-model",
            Severity.INFO,
            f"the model has {count:,} nodes; laying out its graph takes a while",
            "The operator table is there at once, and the layout can be cancelled.",
            data={"nodes": count},
        )
    if "" not in model.opset_imports and any(not n.domain for n in model.graph.nodes):
        yield Diagnostic(
            "no-opset-import",
            Severity.WARNING,
            "the model does not say which version of ONNX's operators it uses",
            "It may have been cut short while copying; export it again.",
        )
    roots = [model.graph, *(f.graph for f in model.functions.values())]
    stack: list[tuple[Graph, Scopes]] = [(root, ()) for root in reversed(roots)]
    while stack:
        graph, outer = stack.pop()
        scopes = (*outer, _defined(graph))
        yield from _repeated_names(graph)
        yield from _undefined(graph, scopes)
        yield from _order(graph)
        for node in reversed(graph.nodes):
            stack += [(inner, scopes) for _, inner in reversed(node.subgraphs)]


def _defined(graph: Graph) -> frozenset[str]:
    return frozenset((*(p.name for p in graph.inputs), *graph.initializers, *graph.producers))


def _place(graph: Graph) -> str:
    return f" of {'/'.join(graph.path)}" if graph.path else ""


def _at(
    node: Node, code: str, severity: Severity, text: str, remedy: str, **data: Any
) -> Diagnostic:
    return Diagnostic(code, severity, text, remedy, node.id, node.name, node.op, data=data)


def _repeated_names(graph: Graph) -> Iterator[Diagnostic]:
    named: dict[str, list[Node]] = {}
    for node in graph.nodes:
        if node.name:
            named.setdefault(node.name, []).append(node)
    for name, nodes in named.items():
        if len(nodes) > 1:
            yield _at(
                nodes[0],
                "duplicate-node-name",
                Severity.WARNING,
                f"{len(nodes):,} nodes{_place(graph)} share the name '{name}'",
                "Opscope tells them apart by their index; ONNX Runtime refuses such a model: "
                "give each node a name of its own.",
                name=name,
                indices=[n.id.index for n in nodes],
            )


def _undefined(graph: Graph, scopes: Scopes) -> Iterator[Diagnostic]:
    for node in graph.nodes:
        for name in dict.fromkeys(node.inputs):
            if name and not any(name in scope for scope in scopes):
                yield _at(
                    node,
                    "undefined-input",
                    Severity.ERROR,
                    f"node '{node.label}' ({node.op}) reads '{name}', which nothing defines",
                    "The model cannot run; export it again.",
                    value=name,
                )
    for port in graph.outputs:
        if not any(port.name in scope for scope in scopes):
            yield Diagnostic(
                "missing-output",
                Severity.ERROR,
                f"the output '{port.name}'{_place(graph)} is produced by no node",
                "The model cannot give this output; export it again.",
                data={"value": port.name, "graph": list(graph.path)},
            )


def _order(graph: Graph) -> Iterator[Diagnostic]:
    producers = graph.producers
    early = [n for n in graph.nodes if _needs(n, producers, beyond=n.id.index)]
    if not early:
        return
    stuck: dict[int, int] = {}  # index of a node that cannot start -> of a stuck one it reads from
    done: set[int] = set()
    for node in graph.sorted_nodes:
        missing = _needs(node, producers) - done
        if missing:
            stuck[node.id.index] = min(missing)
        else:
            done.add(node.id.index)
    if stuck:
        yield _cycle(graph, stuck)
        return
    yield _at(
        early[0],
        "unsorted-nodes",
        Severity.INFO,
        f"{len(early):,} of {len(graph.nodes):,} nodes{_place(graph)} stand before a node that "
        f"they read from; the first is '{early[0].label}'",
        "Opscope sorts them; other readers may refuse the model.",
        nodes=len(early),
    )


def _needs(node: Node, producers: Mapping[str, Node], beyond: int = 0) -> set[int]:
    """Indices, ``beyond`` and up, of the nodes that ``node`` reads from."""
    found = (producers[name].id.index for name in captured_inputs(node) if name in producers)
    return {index for index in found if index >= beyond}


def _cycle(graph: Graph, stuck: dict[int, int]) -> Diagnostic:
    seen: dict[int, None] = {}
    at = next(iter(stuck))
    while at not in seen:
        seen[at] = None
        at = stuck[at]
    walk = list(seen)
    ring = [graph.nodes[index] for index in reversed(walk[walk.index(at) :])]
    shown = [f"'{n.label}'" for n in ring[:_NAMES_SHOWN]]
    path = " -> ".join((*shown, *(["..."] if len(ring) > _NAMES_SHOWN else []), shown[0]))
    feeding = "feed each other" if len(ring) > 1 else "feeds itself"
    return _at(
        ring[0],
        "cycle",
        Severity.ERROR,
        f"{counted(len(ring), 'node')}{_place(graph)} {feeding} in a circle: {path}; "
        f"{len(stuck):,} cannot start",
        "The model cannot run; export it again.",
        indices=[n.id.index for n in ring],
    )
