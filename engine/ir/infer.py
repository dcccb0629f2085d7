"""Types and shapes from ONNX's own inference: what the file declares, and what follows from it.

It is not exact (the planner's own rules are, from concrete inputs): it serves to draw a graph, and
to plan operators that have no rule of ours. No weight over a few KB is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx.defs
from onnx import shape_inference
from onnx.checker import ValidationError

from ..diagnostics import Diagnostic
from .model import AttributeReference, Graph, Model, TensorType, ValueId
from .node_model import input_name, node_model, output_name
from .proto import tensor_proto, tensor_type, type_proto
from .static_types import StaticTypes, onnx_is_wrong, without_generated

if TYPE_CHECKING:
    from ..ops.use import OpUse

MAX_VALUES = 1024
"""Known inputs of at most so many elements are shown to the inference of one node."""


@dataclass(frozen=True)
class Inference:
    """Static types of a model's values, and what went wrong in finding them."""

    types: Mapping[ValueId, TensorType]
    diagnostics: tuple[Diagnostic, ...] = ()


def infer_types(model: Model) -> Mapping[ValueId, TensorType]:
    """The types alone; whoever shows findings takes :func:`infer`, which has the failures too."""
    return infer(model).types


def infer(model: Model) -> Inference:
    """Types of the values of every graph, subgraph and function body, as far as they are known.

    A function's body gets what all its callers agree on.
    """
    found = StaticTypes(model)
    found.run()
    return Inference(found.types, tuple(found.diagnostics))


def infer_node(
    use: OpUse, values: Mapping[int, np.ndarray] | None = None
) -> tuple[TensorType | None, ...]:
    """Types of a node's outputs from concrete input types; None where they stay unknown.

    They stay so for operators without a schema or with subgraphs, where onnx is wrong
    (:func:`.static_types.onnx_is_wrong`), and where it refuses the node: whoever runs that finds
    what is wrong.

    Args:
        use: the node.
        values: input index -> value; by default those that ``use`` knows and that are small.
    """
    nothing: tuple[TensorType | None, ...] = (None,) * len(use.outputs)
    version = use.since_version or use.opset
    if not version or not onnx.defs.has(use.op_type, version, use.domain):
        return nothing
    if onnx_is_wrong(use.op_type, use.attributes):
        return nothing
    if any(isinstance(v, Graph | AttributeReference) for v in use.attributes.values()):
        return nothing
    protos = {input_name(i): type_proto(t) for i, t in enumerate(use.inputs) if t is not None}
    types = {name: proto for name, proto in protos.items() if proto is not None}
    if len(types) < len(protos):
        return nothing
    known = _small_values(use) if values is None else values
    data = {
        input_name(i): tensor_proto("", array)
        for i, array in known.items()
        if array.size <= MAX_VALUES
    }
    model = node_model(use)
    try:
        found = shape_inference.infer_node_outputs(
            onnx.defs.get_schema(use.op_type, version, use.domain),
            model.graph.node[0],
            types,
            data,
            opset_imports=list(model.opset_import),
        )
    except (shape_inference.InferenceError, ValidationError, RuntimeError):
        return nothing  # what contradicts the ONNX text is told when the node is planned
    outputs = (found.get(output_name(i)) for i in range(len(use.outputs)))
    return tuple(None if p is None else without_generated(tensor_type(p)) for p in outputs)


def _small_values(use: OpUse) -> dict[int, np.ndarray]:
    small: dict[int, np.ndarray] = {}
    for index, read in use.values.items():
        kind = use.inputs[index] if index < len(use.inputs) else None
        dims = None if kind is None else kind.known_dims
        if dims is not None and math.prod(dims) <= MAX_VALUES:
            small[index] = read()
    return small
