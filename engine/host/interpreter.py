"""Graphs, functions and whole models on the CPU, node by node in sorted order, not recursive.

Only subgraphs and calls nest (bounded by ``scope.MAX_DEPTH``); a chain of any length is a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import FeedError
from ..ir.model import (
    AttributeReference,
    Function,
    Graph,
    Model,
    Node,
    TensorType,
    captured_inputs,
)
from ..ir.schema import schema
from ..ops.use import OpUse
from .dispatch import evaluate_use
from .scope import Scope
from .values import Value, type_of

_WANTED = TensorType("?")


def evaluate_model(model: Model, feeds: Mapping[str, np.ndarray]) -> dict[str, Value]:
    """Every output of ``model`` by name: the yardstick, in the model's own types.

    Raises:
        FeedError: an input without a feed.
        NodeError: an operator that the host does not compute, or inputs that do not fit it.
    """
    missing = [p.name for p in model.graph.inputs if p.name not in feeds]
    if missing:
        raise FeedError(f"{model.path or 'the model'}: input '{missing[0]}' is not given")
    results = run_graph(model.graph, feeds, Scope(model.functions, model.opset_imports))
    return {port.name: value for port, value in zip(model.graph.outputs, results, strict=True)}


def run_graph(graph: Graph, feeds: Mapping[str, Value], scope: Scope) -> list[Value]:
    """The graph's outputs in order.

    Args:
        graph: a main graph, subgraph or function body.
        feeds: values by name: the graph's inputs, or replacements of its initializers.
        scope: what it may capture and call.
    """
    values: dict[str, Value] = dict(feeds)
    needs = [captured_inputs(node) for node in graph.nodes]
    left = Counter(name for names in needs for name in names)
    left.update(port.name for port in graph.outputs)

    def look_up(name: str, node: Node) -> Value:
        if name in values:
            return values[name]
        if name in graph.initializers:
            values[name] = graph.initializers[name].numpy()
            return values[name]
        if name in scope.values:
            return scope.values[name]
        raise _use(node, (), scope).error(f"nothing defines its input '{name}'")

    for node in graph.sorted_nodes:
        inputs = [look_up(name, node) if name else None for name in node.inputs]
        use = _use(node, inputs, scope)
        around = scope
        if node.subgraphs:
            captured = needs[node.id.index]
            around = scope.with_values({n: look_up(n, node) for n in captured})
        for name, value in zip(node.outputs, _evaluate(node, use, inputs, around), strict=True):
            if name and left[name]:
                values[name] = value
        for name in needs[node.id.index]:  # what nobody reads any more is dropped
            left[name] -= 1
            if not left[name]:
                values.pop(name, None)
    return [_output(graph, port.name, values, scope) for port in graph.outputs]


def _output(graph: Graph, name: str, values: Mapping[str, Value], scope: Scope) -> Value:
    if name in values:
        return values[name]
    if name in graph.initializers:
        return graph.initializers[name].numpy()
    if name in scope.values:
        return scope.values[name]
    raise FeedError(f"graph '{graph.name}': nothing defines its output '{name}'")


def _evaluate(node: Node, use: OpUse, inputs: Sequence[Value], scope: Scope) -> list[Value]:
    function = scope.functions.get((node.domain, node.op_type, node.overload))
    if function is not None:
        return call_function(function, use, inputs, scope)
    return evaluate_use(use, inputs, scope)


def call_function(
    function: Function, use: OpUse, inputs: Sequence[Value], scope: Scope
) -> list[Value]:
    """The outputs of a call: the body with its inputs and attributes bound."""
    unknown = set(use.attributes) - set(function.attributes)
    if unknown:
        raise use.error(f"the function has no attribute {min(unknown)!r}")
    ports = function.graph.inputs
    if len(inputs) > len(ports):
        raise use.error(f"{len(inputs)} inputs are given; the function has {len(ports)}")
    # An input that the call leaves out is an absent one inside, too: a value of None.
    bound = dict.fromkeys((p.name for p in ports), None)
    bound.update((p.name, v) for p, v in zip(ports, inputs, strict=False))
    attributes = {**function.attribute_defaults, **use.attributes}
    results = run_graph(function.graph, bound, scope.inside(function, attributes).deeper(use))
    if len(use.outputs) > len(results):
        raise use.error(f"{len(use.outputs)} outputs are asked for; there are {len(results)}")
    return results[: len(use.outputs)]


def _use(node: Node, inputs: Sequence[Value], scope: Scope) -> OpUse:
    opset = scope.opset_imports.get(node.domain, 0)
    found = schema(node.domain, node.op_type, opset) if opset else None
    return OpUse(
        op_type=node.op_type,
        domain=node.domain,
        since_version=found.since_version if found else 0,
        inputs=tuple(None if v is None else type_of(v) for v in inputs),
        outputs=tuple(_WANTED if name else None for name in node.outputs),
        attributes=_bound(node, scope),
        node=node.id,
        name=node.name,
        opset=opset,
    )


def _bound(node: Node, scope: Scope) -> Mapping[str, Any]:
    attributes = node.attributes
    if not any(isinstance(v, AttributeReference) for v in attributes.values()):
        return attributes
    bound: dict[str, Any] = {}
    for name, value in attributes.items():
        if not isinstance(value, AttributeReference):
            bound[name] = value
        elif scope.attributes is None:
            use = OpUse(node.op_type, node.domain, node=node.id, name=node.name)
            raise use.error(f"the attribute {name!r} refers to one of a function, but none calls")
        elif value.name in scope.attributes:
            bound[name] = scope.attributes[value.name]
    return bound
