"""What is inside a node: its subgraphs, the body of the function it calls, and so on inwards."""

from __future__ import annotations

from collections.abc import Iterator

from ....engine.ir.model import Graph, Model, Node, NodeId


def containers(model: Model) -> Iterator[tuple[Node, list[NodeId]]]:
    """The nodes that have others inside, with all of these."""
    for node in model.nodes.values():
        if graphs := _graphs(model, node):
            yield node, _contents(model, graphs)


def _contents(model: Model, graphs: list[Graph]) -> list[NodeId]:
    stack, seen = list(graphs), set()
    found: list[NodeId] = []
    while stack:
        graph = stack.pop()
        if graph.path in seen:
            continue
        seen.add(graph.path)
        for inner in graph.nodes:
            found.append(inner.id)
            stack += _graphs(model, inner)
    return found


def _graphs(model: Model, node: Node) -> list[Graph]:
    graphs = [graph for _, graph in node.subgraphs]
    function = model.function_of(node)
    return graphs if function is None else [*graphs, function.graph]
