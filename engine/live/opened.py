"""Branches, functions and definitions whose nodes ORT has put into the graph around them."""

from __future__ import annotations

from ..ir.model import Graph, Model, Node, NodeId
from ..providers.support import Status
from .answer import LiveNode
from .assignments import Assignments
from .fates import folded, run_by, together, unknown
from .rewritten import Rewritten


def owner_of(model: Model, graph: Graph) -> Node | None:
    """The node that the subgraph ``graph`` belongs to; None of the main graph and of functions."""
    if not graph.path or "." not in graph.path[-1]:
        return None
    index = graph.path[-1].partition(".")[0]
    if not index.isdigit():
        return None
    return model.nodes.get(NodeId(graph.path[:-1], int(index)))


def put_in_place(
    node: Node, producer: Node, assigned: Assignments, rewritten: Rewritten
) -> LiveNode:
    """A node instead of which ORT put a body: the branch it takes, or the operator's definition.

    Args:
        node: one of the user's.
        producer: the body's node that gives its output.
        assigned: where ORT runs what.
        rewritten: the graph with ``producer``.
    """
    if node.op == "If":
        return folded("the branch that it takes is put in its place")
    item = assigned.of(producer, rewritten)
    if item is None:
        how = f"put into other nodes; which provider has '{producer.op}' cannot be told"
        return unknown(how)
    how = f"its definition is put in its place; its output is from {producer.op}"
    return run_by(item, how)


def opened(
    model: Model, graph: Graph, node: Node, assigned: Assignments, rewritten: Rewritten
) -> LiveNode | None:
    """A node of the body ``graph`` that was put into the graph around it; None if it was not."""
    owner = owner_of(model, graph)
    if owner is not None and assigned.tokens[owner.id] in rewritten.named:
        return None
    found: list[Node] = []
    for name in filter(None, node.outputs):
        found += rewritten.opened(name)
        if rewritten.is_opened_constant(name):
            return folded()
    # What a branch gives has the name of the node's own output now.
    for outer_name, port in zip(
        owner.outputs if owner is not None else (), graph.outputs, strict=False
    ):
        outer = rewritten.producer(outer_name) if port.name in node.outputs else None
        branch = graph.path[-1].partition(".")[2]
        if outer is not None and outer.name.startswith(f"_if_{branch}"):
            found.append(outer)
    items = [
        item
        for maker in found
        if maker.op_type == node.op_type and (item := assigned.of(maker, rewritten)) is not None
    ]
    return together(items) if items else None


def within(owner: Node, fate: LiveNode) -> LiveNode | None:
    """The fate of a subgraph's nodes where nothing is left of its ``owner``."""
    if fate.status is not Status.FOLDED:
        return None
    how = f"within '{owner.label}' ({owner.op}), of which nothing is left"
    return folded(how)
