"""Nodes that compute the same, and those that only compute with shapes and constants."""

from __future__ import annotations

from collections.abc import Hashable

from ..ir.model import Graph, Model, Node, NodeId, Weight

SHAPES = frozenset(("Shape", "Size"))
# ORT moves a Shape in front of these, too.
_ORDER = frozenset(("Identity", "Transpose", "Dropout"))
_LAYOUT = _ORDER | {"Reshape", "Squeeze", "Unsqueeze"}
# ORT changes them when it moves a Transpose through a node.
_OF_LAYOUT = frozenset(("axis", "axes", "perm"))
_SMALL_BYTES = 1024


class Equals:
    """Which of a model's nodes are equal, but for the layout of what they read.

    Inputs are followed through nodes that only lay values out anew, small constants are compared by
    value: so ORT's own pass sees them after it has moved every Transpose away. A Shape alone is
    not followed through what changes the dimensions themselves.
    """

    def __init__(self, model: Model) -> None:
        self._groups: dict[Hashable, list[Node]] = {}
        self._keys: dict[NodeId, Hashable] = {}
        self._arithmetic: set[NodeId] = set()
        for graph in model.graphs():
            self._look_at(graph)

    def of(self, node: Node) -> list[Node]:
        """The nodes equal to ``node``, itself among them."""
        return self._groups[self._keys[node.id]]

    def is_arithmetic(self, node: Node) -> bool:
        """Whether it computes from shapes and constants alone."""
        return node.id in self._arithmetic

    def _look_at(self, graph: Graph) -> None:
        values: dict[str, Hashable] = {n: _content(w, n) for n, w in graph.initializers.items()}
        shaped = dict(values)  # as a Shape sees them
        arithmetic = set(values)
        for node in graph.sorted_nodes:
            read = [name for name in node.inputs if name]
            if node.op in SHAPES or (not node.subgraphs and arithmetic.issuperset(read)):
                self._arithmetic.add(node.id)
                arithmetic |= set(node.outputs)
            known = shaped if node.op in SHAPES else values
            given = tuple(known.get(name, name) for name in node.inputs)
            stated = tuple(
                (k, _content(v, k) if isinstance(v, Weight) else repr(v))
                for k, v in sorted(node.attributes.items())
                if k not in _OF_LAYOUT and not isinstance(v, Graph)
            )
            # Numbered, so that keys do not grow along a chain.
            key = (graph.path, node.op, given, stated)
            group = self._groups.setdefault(key, [])
            group.append(node)
            self._keys[node.id] = key
            first = group[0].id
            for at, name in enumerate(node.outputs):
                values[name] = shaped[name] = (first, at)
            if node.op_type in _LAYOUT and given and node.outputs:
                values[node.outputs[0]] = given[0]
                if node.op_type in _ORDER:
                    shaped[node.outputs[0]] = shaped.get(node.inputs[0], node.inputs[0])
            elif node.op == "Constant" and isinstance(node.attributes.get("value"), Weight):
                values[node.outputs[0]] = _content(node.attributes["value"], node.outputs[0])


def _content(weight: Weight, name: str) -> Hashable:
    if weight.size_bytes > _SMALL_BYTES or weight.location or weight.dtype in ("?", "string"):
        return name
    return (weight.dtype, weight.shape, weight.numpy().tobytes())
