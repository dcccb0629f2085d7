"""The nodes of a model as operator uses, from static types: what placement and checks look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..ir.model import AttributeReference, Graph, GraphPath, Model, Node, TensorType, Weight
from ..ir.schema import schema
from ..ops.use import OpUse

Types = Mapping[tuple[tuple[str, ...], str], TensorType]
UNKNOWN = TensorType("?")


def graph_uses(model: Model, graph: Graph, types: Types) -> Iterator[tuple[Node, OpUse]]:
    """Each node of one graph in file order, with what is known of it before any run."""
    yield from _uses(model, graph, types, {g.path: g for g in model.graphs()}, _bodies(model))


def model_uses(model: Model, types: Types) -> Iterator[tuple[Node, OpUse]]:
    """Each node of every graph: the main one, subgraphs and function bodies."""
    graphs = {graph.path: graph for graph in model.graphs()}
    bodies = _bodies(model)
    for graph in graphs.values():
        yield from _uses(model, graph, types, graphs, bodies)


def _bodies(model: Model) -> frozenset[GraphPath]:
    return frozenset(function.graph.path for function in model.functions.values())


def _uses(
    model: Model,
    graph: Graph,
    types: Types,
    graphs: Mapping[GraphPath, Graph],
    bodies: frozenset[GraphPath],
) -> Iterator[tuple[Node, OpUse]]:
    outer = outer_graphs(graph, graphs, bodies)
    for node in graph.nodes:
        yield node, node_use(model, graph, node, types, outer)


def node_use(
    model: Model,
    graph: Graph,
    node: Node,
    types: Types,
    outer: tuple[Graph, ...] = (),
) -> OpUse:
    """One node of ``graph`` as an operator use.

    ``outer`` are the graphs around it, from the inside out: a subgraph captures their values.
    """
    opset = model.opset(node) or 0
    found = schema(node.domain, node.op_type, opset) if opset else None
    scopes = (graph, *outer)
    weights = ((index, _weight(name, scopes)) for index, name in enumerate(node.inputs) if name)
    known = {index: weight.numpy for index, weight in weights if weight is not None}
    # What a function's attribute refers to is known only where it is called.
    given = {k: v for k, v in node.attributes.items() if not isinstance(v, AttributeReference)}
    return OpUse(
        op_type=node.op_type,
        domain=node.domain,
        since_version=found.since_version if found else 0,
        inputs=tuple(_type(name, scopes, types) if name else None for name in node.inputs),
        outputs=tuple(_type(name, scopes, types) if name else None for name in node.outputs),
        attributes=given,
        values=known,
        node=node.id,
        name=node.name,
        opset=opset,
        complete=len(given) == len(node.attributes),
    )


def _weight(name: str, scopes: tuple[Graph, ...]) -> Weight | None:
    """The initializer that ``name`` stands for; None where an inner graph hides it."""
    for graph in scopes:
        if name in graph.initializers:
            return graph.initializers[name]
        is_inner = graph is not scopes[-1]
        if is_inner and (name in graph.producers or any(p.name == name for p in graph.inputs)):
            return None
    return None


def _type(name: str, scopes: tuple[Graph, ...], types: Types) -> TensorType:
    for graph in scopes:
        if name in graph.initializers:
            return graph.initializers[name].type
        if (found := types.get((graph.path, name))) is not None:
            return found
    return UNKNOWN


def outer_graphs(
    graph: Graph, graphs: Mapping[GraphPath, Graph], bodies: frozenset[GraphPath]
) -> tuple[Graph, ...]:
    """The graphs that ``graph`` can capture from, from the inside out."""
    shortest = int(graph.path[:1] in bodies)  # a function's body sees nothing around it
    around = (graph.path[:length] for length in range(len(graph.path) - 1, shortest - 1, -1))
    return tuple(graphs[path] for path in around if path in graphs)
