"""Which integers a graph input may hold: what its consumers, reached through plain moves, allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from .ir.model import Graph, GraphPath, Node, Weight

Shapes = Mapping[str, tuple[int, ...]]
DEFAULT_HIGH = 9


@dataclass(frozen=True, slots=True)
class Range:
    """Integers from ``low`` to ``high``, both included; or the values of ``fixed``, repeated."""

    low: int
    high: int
    fixed: tuple[int, ...] | None = None

    @classmethod
    def of_dtype(cls, dtype: str) -> Range:
        """For an input that nothing restricts: 8-bit types whole, others 0 to 9 at most."""
        if dtype in ("int8", "uint8"):
            info = np.iinfo(dtype)
            return cls(int(info.min), int(info.max))
        return cls(0, {"int4": 7, "uint2": 3, "int2": 1}.get(dtype, DEFAULT_HIGH))

    def and_(self, other: Range) -> Range:
        """What both allow; where they contradict, the narrower bounds of ``self``."""
        if self.fixed is not None or other.fixed is not None:
            return self if self.fixed is not None else other
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, high) if low <= high else self


# Operators whose output holds the values of the input at these positions and no others.
_MOVES: Mapping[str, tuple[int, ...]] = {
    "Cast": (0,),
    "Identity": (0,),
    "Reshape": (0,),
    "Flatten": (0,),
    "Squeeze": (0,),
    "Unsqueeze": (0,),
    "Transpose": (0,),
    "Expand": (0,),
    "Tile": (0,),
    "Slice": (0,),
    "Gather": (0,),
    "Split": (0,),
    "Concat": tuple(range(64)),
}


def integer_ranges(graph: Graph, inputs: Shapes) -> dict[str, Range]:
    """The range of each input of ``graph`` that a consumer restricts.

    Args:
        graph: the main graph.
        inputs: the concrete shape of each of its inputs.
    """
    shapes = _Shapes(graph, inputs)
    found: dict[str, Range] = {}
    for port in graph.inputs:
        for allowed in _restrictions(graph, port.name, shapes):
            found[port.name] = found[port.name].and_(allowed) if port.name in found else allowed
    return found


def _restrictions(graph: Graph, start: str, shapes: _Shapes) -> list[Range]:
    found: list[Range] = []
    seen = {start}
    stack = [(graph, start)]
    inside: dict[GraphPath, list[Graph]] = {}
    while stack:
        where, value = stack.pop()
        for node in where.consumers.get(value, ()):
            positions = [i for i, name in enumerate(node.inputs) if name == value]
            for position in positions:
                rule = _RULES.get(node.op_type) if not node.domain else None
                allowed = rule(node, position, shapes) if rule else None
                if allowed is not None:
                    found.append(allowed)
            if not node.domain and any(p in _MOVES.get(node.op_type, ()) for p in positions):
                new = [name for name in node.outputs if name and name not in seen]
                seen.update(new)
                stack += [(where, name) for name in new]
        if where.path not in inside:
            inside[where.path] = [inner for node in where.nodes for _, inner in node.subgraphs]
        stack += [(inner, value) for inner in inside[where.path]]  # they capture by name
    return found


class _Shapes:
    """Shapes of values as far as the graph states them."""

    def __init__(self, graph: Graph, inputs: Shapes) -> None:
        self._graph = graph
        self._inputs = inputs

    def of(self, name: str) -> tuple[int | None, ...] | None:
        if name in self._inputs:
            return self._inputs[name]
        weight = self._graph.initializers.get(name)
        if weight is None and (producer := self._graph.producers.get(name)) is not None:
            value = producer.attributes.get("value") if producer.op_type == "Constant" else None
            weight = value if isinstance(value, Weight) else None
        if weight is not None:
            return weight.shape
        kind = self._graph.values.get(name)
        if kind is None or kind.shape is None:
            return None
        return tuple(d if isinstance(d, int) else None for d in kind.shape)

    def dim(self, node: Node, position: int, axis: int) -> int | None:
        """The length of an axis of a node's input, where it is known."""
        shape = self.of(node.inputs[position]) if position < len(node.inputs) else None
        if shape is None or not -len(shape) <= axis < len(shape):
            return None
        return shape[axis]


def _index(size: int | None) -> Range:
    return Range(0, max(0, (size or 1) - 1))


def _gather(node: Node, position: int, shapes: _Shapes) -> Range | None:
    if position != 1:
        return None
    return _index(shapes.dim(node, 0, node.attributes.get("axis", 0)))


def _gather_nd(node: Node, position: int, shapes: _Shapes) -> Range | None:
    if position != 1:
        return None
    shape = shapes.of(node.inputs[0])
    return _index(min((d for d in shape or () if d is not None), default=None))


def _recurrent(node: Node, position: int, shapes: _Shapes) -> Range | None:
    if position != 4:
        return None
    steps = shapes.dim(node, 0, 1 if node.attributes.get("layout") else 0)
    return Range(1, max(1, steps or 1))


def _reverse_sequence(node: Node, position: int, shapes: _Shapes) -> Range | None:
    if position != 1:
        return None
    return Range(1, max(1, shapes.dim(node, 0, node.attributes.get("time_axis", 0)) or 1))


def _fixed(index: int, *values: int) -> Callable[[Node, int, _Shapes], Range | None]:
    def rule(node: Node, position: int, shapes: _Shapes) -> Range | None:
        return Range(values[0], values[0], values) if position == index else None

    return rule


def _reshape(node: Node, position: int, shapes: _Shapes) -> Range | None:
    """One -1 and ones: a shape that any data fits."""
    if position != 1:
        return None
    count = shapes.dim(node, 1, 0) or 1
    return Range(-1, 1, (-1, *(1,) * (count - 1)))


# Divisors stay off 0; counts and shapes at the least that is sure to fit.
_RULES: Mapping[str, Callable[[Node, int, _Shapes], Range | None]] = {
    "Gather": _gather,
    "GatherElements": _gather,
    "ScatterElements": _gather,
    "GatherND": _gather_nd,
    "ScatterND": _gather_nd,
    "GRU": _recurrent,
    "LSTM": _recurrent,
    "RNN": _recurrent,
    "ReverseSequence": _reverse_sequence,
    "Reshape": _reshape,
    "Expand": _fixed(1, 1),
    "Tile": _fixed(1, 1),
    "TopK": _fixed(1, 1),
    "ConstantOfShape": _fixed(0, 2),
    "Div": lambda node, position, shapes: Range(1, DEFAULT_HIGH) if position == 1 else None,
    "Mod": lambda node, position, shapes: Range(1, DEFAULT_HIGH) if position == 1 else None,
}
