"""Operators that are functions: ORT puts the body in place of a node that nobody has a kernel for.

Sources: the loop around InlineNodes in onnxruntime/core/framework/graph_partitioner.cc; the bodies
are ONNX's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ..ir.bodies import function_body, has_body
from ..ir.infer import infer_types
from ..ir.model import TensorType
from ..ir.schema import schema
from ..ops.use import OpUse
from .uses import model_uses

Parts = tuple[tuple[OpUse, bool], ...]


def parts(use: OpUse) -> Parts:
    """The nodes of the body for ``use``, each with whether it gives one of the outputs.

    Constants are left out: they are initializers. Empty where ONNX has no body.
    """
    if not use.since_version or not has_body(use.domain, use.op_type, use.since_version):
        return ()
    plain = replace(use, values={}, node=None, name="")
    try:
        key = tuple(sorted(use.attributes.items()))
        hash(key)
    except TypeError:
        return _parts(plain)  # a tensor or a graph among the attributes
    return _known(
        use.op_type, use.domain, use.since_version, use.opset, use.inputs, use.outputs, key
    )


@lru_cache(maxsize=512)
def _known(
    op_type: str,
    domain: str,
    since_version: int,
    opset: int,
    inputs: tuple[TensorType | None, ...],
    outputs: tuple[TensorType | None, ...],
    attributes: tuple[tuple[str, Any], ...],
) -> Parts:
    given: Mapping[str, Any] = dict(attributes)
    return _parts(OpUse(op_type, domain, since_version, inputs, outputs, given, opset=opset))


def _parts(use: OpUse) -> Parts:
    body = function_body(use)
    if body is None:
        return ()
    ends = {port.name for port in body.graph.outputs}
    return tuple(
        (_stamped(part, use), not node.id.graph and not ends.isdisjoint(node.outputs))
        for node, part in model_uses(body, infer_types(body))
        if node.op != "Constant"
    )


def _stamped(part: OpUse, use: OpUse) -> OpUse:
    """A node of the body for ``use``, at the version that the model's own opset gives it.

    ORT puts the body's nodes into the model's graph, whichever opset the body was written for.
    """
    if part.domain != use.domain:
        return replace(part, node=None)
    found = schema(part.domain, part.op_type, use.opset)
    version = found.since_version if found else part.since_version
    return replace(part, node=None, since_version=version, opset=use.opset)
