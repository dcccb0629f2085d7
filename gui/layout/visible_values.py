"""Which values a graph sees: its own, and for a subgraph those of the graphs around it."""

from __future__ import annotations

from collections.abc import Mapping

from ...engine.ir.model import Graph, GraphPath, Model, Node, TensorType
from .scene import Types


class VisibleValues:
    """The values that one graph of a model sees.

    Attributes:
        names: of all of them.
        constants: those of weights and Constant nodes, with what they hold.
    """

    def __init__(
        self, model: Model, graphs: Mapping[GraphPath, Graph], path: GraphPath, types: Types
    ) -> None:
        graph = graphs[path]
        self._types = types
        self._scope = _scope(model, graphs, path)
        self._declared = {
            **{port.name: port.type for port in graph.inputs},
            **{port.name: port.type for port in graph.outputs},
            **graph.values,
        }
        around = [graphs[path] for path in self._scope]
        self.names = {name for graph in around for name in _defined(graph)}
        self.constants = _constants(around)

    def type(self, name: str) -> TensorType | None:
        """The best known type of a value."""
        for path in self._scope:
            if (known := self._types.get((path, name))) is not None:
                return known
        return self._declared.get(name)


def is_constant(node: Node) -> bool:
    """Whether it is ONNX's own Constant."""
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")


def _scope(model: Model, graphs: Mapping[GraphPath, Graph], path: GraphPath) -> list[GraphPath]:
    """The graphs whose values this one sees: itself, then outwards to the function's body."""
    bodies = {function.graph.path for function in model.functions.values()}
    scope = [path]
    while path and path not in bodies:
        path = path[:-1]
        scope.append(path)
    return [path for path in scope if path in graphs]


def _constants(around: list[Graph]) -> dict[str, object]:
    """Weights and Constant nodes' values, those further inside hiding outer ones."""
    found: dict[str, object] = {}
    for graph in around:
        own: dict[str, object] = dict(graph.initializers)
        for node in graph.nodes:
            if is_constant(node) and len(node.outputs) == 1:
                own[node.outputs[0]] = next(iter(node.attributes.values()), None)
        hidden = {p.name for p in graph.inputs} | set(graph.producers)
        found = {**{k: v for k, v in own.items() if k not in found}, **found}
        for name in hidden - own.keys():
            found.setdefault(name, None)
    return {name: value for name, value in found.items() if value is not None}


def _defined(graph: Graph) -> set[str]:
    return {*graph.producers, *graph.initializers, *(port.name for port in graph.inputs)}
