"""Nodes of which the model does not say a version of ONNX's operators that ORT could take.

Measured with onnxruntime 1.32.0 on the CPU: a model without any import ("Missing opset in the
model") and a node at version 0 or less ("No Op registered") make no session. Where only the import
of ONNX's own domain is missing, ORT takes the newest version that it knows.
"""

from __future__ import annotations

from ..ir.model import Model, NodeId
from .ort_steps import verdict_of
from .support import Reason, Status, Support

STEP = "operator look-up"


def without_version(model: Model) -> dict[NodeId, Support]:
    """The verdicts, for any of ORT's providers, on the nodes whose version is missing or none."""
    found: dict[NodeId, Support] = {}
    for node in model.nodes.values():
        version = model.opset(node)
        if not model.opset_imports:
            detail = "the model imports no opset, and ORT refuses such a model"
        elif node.domain or (version is not None and version > 0):
            continue
        elif version is not None:
            detail = f"ORT knows no operator {node.op} at version {version} of its domain"
        else:
            detail = (
                "the model does not import ONNX's own operators: ORT takes the newest version that "
                "it knows, whatever the model was made for"
            )
            found[node.id] = verdict_of(Status.UNKNOWN, Reason.UNKNOWN, detail, STEP)
            continue
        when = "session creation"
        found[node.id] = verdict_of(Status.FAILS, Reason.SCHEMA_VERSION, detail, STEP, when=when)
    return found
