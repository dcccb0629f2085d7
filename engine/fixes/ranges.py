"""Bounds of integer values that hold for every input: proven from the model, never guessed.

A bound comes from constants, known dimensions, the limits of a narrower type or a Clip, and follows
the values through exact arithmetic. Where one link is missing there is no bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ..ir.model import Graph, Model, Node, ValueId
from ..ops.use import OpUse
from ..providers.uses import Types, node_use
from .range_rules import Bound, limits_of, of_values, of_weight, output_bounds

INT32: Bound = (-(2**31), 2**31 - 1)


def integer_bounds(
    model: Model,
    types: Types,
    overridable: frozenset[str] = frozenset(),
    constants: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> Mapping[ValueId, Bound]:
    """The bounds that are proven, for integer values of every graph.

    A subgraph's inputs have those of their types alone, but for the count of a Loop's rounds. The
    bodies of functions have none.

    Args:
        model: the model.
        types: static types of its values.
        overridable: initializers of the main graph that a caller may replace.
        constants: values of the main graph that are the same for every input.
    """
    found: dict[ValueId, Bound] = {}
    stack: list[tuple[Graph, tuple[Graph, ...]]] = [(model.graph, ())]
    while stack:
        graph, outer = stack.pop()
        for name, weight in graph.initializers.items():
            if not graph.path and name in overridable:
                continue
            if (bound := of_weight(weight)) is not None:
                found[graph.path, name] = bound
        for node in graph.sorted_nodes:
            use = node_use(model, graph, node, types, outer)
            ins = tuple(
                None if kind is None else _look_up(found, (graph, *outer), name) or limits_of(kind)
                for name, kind in zip(node.inputs, use.inputs, strict=True)
            )
            fixed = constants if not graph.path else {}
            found |= _node_bounds(model, node, use, ins, fixed)
            for _, inner in node.subgraphs:
                stack.append((inner, (graph, *outer)))
                trips = ins[0] if ins else None
                if node.op_type == "Loop" and not node.domain and trips and inner.inputs:
                    found[inner.path, inner.inputs[0].name] = (0, max(trips[1] - 1, 0))
    return found


def _node_bounds(
    model: Model,
    node: Node,
    use: OpUse,
    ins: tuple[Bound | None, ...],
    constants: Mapping[str, np.ndarray],
) -> dict[ValueId, Bound]:
    """The bounds of a node's integer outputs, of which some may be ``constants``."""
    found: dict[ValueId, Bound] = {}
    for name, kind, bound in zip(
        node.outputs, use.outputs, output_bounds(model, node, use, ins), strict=True
    ):
        limits = limits_of(kind) if kind is not None else None
        if limits is None:
            continue  # no integer
        if bound in (None, limits) and name in constants:
            # A bound that a rule found stands: it may be that of a sum on the way.
            bound = of_values(constants[name])
        if bound is None or not _within(bound, limits):
            bound = limits  # what may wrap around can be anything of its type
        found[node.id.graph, name] = bound
    return found


def _look_up(found: Mapping[ValueId, Bound], scopes: tuple[Graph, ...], name: str) -> Bound | None:
    for graph in scopes:
        if (graph.path, name) in found:
            return found[graph.path, name]
        inside = name in graph.producers or name in graph.initializers
        if inside or any(port.name == name for port in graph.inputs):
            return None
    return None


def _within(bound: Bound, limits: Bound) -> bool:
    return limits[0] <= bound[0] and bound[1] <= limits[1]


def fits_int32(bound: Bound | None) -> bool:
    """Whether every value within ``bound`` is one of int32."""
    return bound is not None and _within(bound, INT32)
