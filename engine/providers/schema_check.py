"""Nodes that ORT refuses while it loads a model, because their schema does not allow them.

ORT runs ONNX's own check of a node (``OpSchema::Verify`` in onnx/defs/schema.cc), and then one of
its types, on all nodes of the main graph and of subgraphs (``Graph::VerifyNodeAndOpMatch`` and
``InferAndVerifyTypeMatch`` in onnxruntime/core/graph/graph.cc): one node that fails costs the
session. Nodes in bodies of local functions are checked once they are put in place of a call, with
attributes that are not known here: they are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.model import Model, Node, NodeId
from ..ir.schema import Schema
from ..ops.use import OpUse
from ..units import counted
from .ort_steps import verdict_of
from .support import Reason, Status, Support
from .uses import Types, graph_uses

STEP = "schema check"
_DOMAINS = frozenset(("", "ai.onnx", "ai.onnx.ml"))
"""Those of which ORT has ONNX's own schemas; of its own domains it has others."""
_INTERNAL = "__"
"""Attributes whose name begins so are no part of any schema, and ONNX lets them be."""


def schema_verdicts(model: Model, types: Types) -> dict[NodeId, Support]:
    """The verdicts on the nodes whose schema does not allow them."""
    bodies = {function.graph.path for function in model.functions.values()}
    graphs = (graph for graph in model.graphs() if graph.path[:1] not in bodies)
    uses = (pair for graph in graphs for pair in graph_uses(model, graph, types))
    found = ((node.id, _fault(node, use)) for node, use in uses if not model.function_of(node))
    return {node_id: _fails(reason, text) for node_id, (reason, text) in found if text}


def _fault(node: Node, use: OpUse) -> tuple[Reason, str]:
    """What the schema has against the node; "" where nothing, or where there is no schema."""
    schema = use.schema if use.since_version and use.domain in _DOMAINS else None
    if schema is None:
        return Reason.NONE, ""
    if schema.deprecated:
        return Reason.SCHEMA_VERSION, f"{use.op} is deprecated at opset {use.opset}"
    text = next(_miscounted(schema, node, use), "")
    if text:
        return Reason.SCHEMA_VERSION, text
    unknown = (n for n in use.attributes if n not in schema.attributes)
    strange = next((n for n in unknown if not n.startswith(_INTERNAL)), None)
    if strange is not None:
        return Reason.ATTRIBUTE, f"{use.op} has no attribute {strange!r} at opset {use.opset}"
    wrong = use.wrong_attribute()
    if wrong is not None:
        return Reason.ATTRIBUTE, f"{use.op} {wrong[1]}"
    text = next(_mistyped(schema, use), "")
    return (Reason.TYPE, text) if text else (Reason.NONE, "")


def _miscounted(schema: Schema, node: Node, use: OpUse) -> Iterator[str]:
    for what, names, formal, (fewest, most) in (
        ("input", node.inputs, schema.input, schema.input_counts),
        ("output", node.outputs, schema.output, schema.output_counts),
    ):
        if not fewest <= len(names) <= most:
            allowed = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            yield f"it has {counted(len(names), what)}; {use.op} takes {allowed}"
        for index, name in enumerate(names):
            parameter = formal(index)
            if not name and parameter and not (parameter.optional or parameter.variadic):
                yield f"{use.op} lacks the {what} {parameter.name!r}, which ONNX requires"


def _mistyped(schema: Schema, use: OpUse) -> Iterator[str]:
    """Inputs of a type that their parameter does not take, or that differ where they must agree."""
    bound: dict[str, str] = {}
    for index, kind in enumerate(use.inputs):
        parameter = schema.input(index)
        if parameter is None or parameter.variadic or kind is None:
            continue
        if kind.kind != "tensor" or kind.dtype == "?":
            continue
        allowed = schema.types.get(parameter.type_param)
        if allowed and kind.dtype not in allowed:
            yield f"input {parameter.name!r} of {use.op} is {kind.dtype}, which its schema excludes"
        first = bound.setdefault(parameter.type_param, kind.dtype)
        if first != kind.dtype:
            yield f"inputs of {use.op} are {first} and {kind.dtype}, where its schema has one type"


def _fails(reason: Reason, text: str) -> Support:
    detail = f"ORT refuses the model while it loads it: {text}"
    return verdict_of(Status.FAILS, reason, detail, STEP, when="session creation")
