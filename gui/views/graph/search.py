"""Finding nodes of the file: by what the user types, and behind a node of an inlined function."""

from __future__ import annotations

from ....engine.ir.model import Model, NodeId


def matching_nodes(model: Model | None, text: str) -> list[NodeId]:
    """Nodes of every graph whose name or operator contains ``text``, in the model's order.

    Where ``text`` is an operator, its nodes come before those that have it in their names.
    """
    wanted = text.strip().casefold()
    if model is None or not wanted:
        return []
    found = [
        node
        for node in model.nodes.values()
        if wanted in node.name.casefold() or wanted in node.op.casefold()
    ]
    found.sort(key=lambda node: node.op.casefold() != wanted)
    return [node.id for node in found]


def node_in_file(node: NodeId) -> NodeId:
    """The node of the file that ``node``, perhaps of an inlined function, was made from."""
    for position in range(len(node.graph) - 1, -1, -1):
        _, _, called = node.graph[position].partition(".")
        if "::" in called:  # "<index>.<domain>::<name>": the body of an inlined call
            return NodeId((called, *node.graph[position + 1 :]), node.index)
    return node
