"""Calls of a model's functions: what they are called with, in which order, and how much that is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .model import Attribute, Function, Graph, GraphPath, Model, Node, TensorType

LookUp = Callable[[str, tuple[GraphPath, ...]], TensorType | None]
"""The type of a value by its name and the graphs in which it may be, the innermost first."""


def all_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes of ``graph`` and of its subgraphs."""
    stack = [graph]
    while stack:
        at = stack.pop()
        for node in at.nodes:
            yield node
            stack += [inner for _, inner in node.subgraphs]


def callers_first(model: Model) -> list[Function]:
    """The functions, each after all that call it; those that call each other are left out."""
    calls = {
        id(f): {id(c) for n in all_nodes(f.graph) if (c := model.function_of(n))}
        for f in model.functions.values()
    }
    waiting = {key: sum(key in called for called in calls.values()) for key in calls}
    by_id = {id(f): f for f in model.functions.values()}
    ready = [key for key, count in waiting.items() if count == 0]
    found = []
    while ready:
        key = ready.pop()
        found.append(by_id[key])
        for called in calls[key]:
            waiting[called] -= 1
            if waiting[called] == 0:
                ready.append(called)
    return found


def expanded_nodes(model: Model, functions: Sequence[Function]) -> int:
    """How many nodes the model or a function has with its calls expanded, the most of any.

    Args:
        model: the model.
        functions: those of :func:`callers_first`.
    """
    sizes: dict[int, int] = {}
    for graph in (*(f.graph for f in reversed(functions)), model.graph):
        size = 0
        for node in all_nodes(graph):
            called = model.function_of(node)
            size += 1 if called is None else 1 + sizes.get(id(called.graph), 0)
        sizes[id(graph)] = size
    return max(sizes.values())


@dataclass(frozen=True)
class Call:
    """What one call gives to a function.

    Attributes:
        types: of the inputs, as many as the call has.
        attributes: given ones and defaults.
    """

    types: tuple[TensorType | None, ...]
    attributes: Mapping[str, Attribute]


class Calls:
    """The calls of each function, as far as graphs were looked through."""

    def __init__(self, model: Model, look_up: LookUp) -> None:
        self._model, self._look_up = model, look_up
        self._found: dict[int, list[Call]] = {}

    def of(self, function: Function) -> Sequence[Call]:
        """The calls of ``function`` so far."""
        return self._found.get(id(function), ())

    def collect(self, root: Graph) -> None:
        """Look through a graph and its subgraphs, whose types are known by now."""
        stack: list[tuple[Graph, tuple[GraphPath, ...]]] = [(root, (root.path,))]
        while stack:
            graph, scopes = stack.pop()
            for node in graph.nodes:
                function = self._model.function_of(node)
                if function is not None:
                    types = tuple(self._look_up(name, scopes) for name in node.inputs)
                    attributes = {**function.attribute_defaults, **node.attributes}
                    self._found.setdefault(id(function), []).append(Call(types, attributes))
                stack += [(inner, (inner.path, *scopes)) for _, inner in node.subgraphs]


def agreed_types(calls: Sequence[Call], count: int) -> list[TensorType | None]:
    """The types of a function's ``count`` inputs that all calls have; None where they differ."""
    return [_agreed([c.types[i] for c in calls if i < len(c.types)]) for i in range(count)]


def agreed_attributes(calls: Sequence[Call]) -> Mapping[str, Attribute]:
    """The attributes that have one value in all calls, of which there is at least one."""
    first = calls[0].attributes
    return {k: v for k, v in first.items() if all(c.attributes.get(k) == v for c in calls)}


def _agreed(kinds: list[TensorType | None]) -> TensorType | None:
    """The type that all of ``kinds`` have; dimensions in which they differ are unknown."""
    first = kinds[0] if kinds else None
    if first is None:
        return None
    shape = first.shape
    for kind in kinds[1:]:
        if kind is None or (kind.dtype, kind.kind) != (first.dtype, first.kind):
            return None
        if shape is None or kind.shape is None or len(shape) != len(kind.shape):
            shape = None
        else:
            shape = tuple(a if a == b else None for a, b in zip(shape, kind.shape, strict=True))
    return TensorType(first.dtype, shape, first.kind)
