"""Models that ORT refuses, or takes for something else, because of the versions that they state.

Measured with onnxruntime 1.32.0 on the CPU: a model without any import ("Missing opset in the
model") and a node at version 0 or less ("No Op registered") make no session. Where only the import
of ONNX's own domain is missing, ORT takes the newest version that it knows. A version above that
makes no session either, whether or not a node of that domain is there
(``ValidateOpsetForDomain`` in onnxruntime/core/graph/model_load_utils.h), and so does an IR version
above that (``Model::Model`` in onnxruntime/core/graph/model.cc): what is newest was read from the
error messages of each version.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.model import Model, Node, NodeId
from .ort import OrtProvider
from .ort_steps import MICROSOFT, verdict_of
from .support import Reason, Status, Support

STEP = "operator look-up"

NEWEST_ONNX: Mapping[str, int] = {"1.24.4": 25, "1.27.0": 26, "1.30.0": 26, "1.32.0": 28}
"""Version of ORT -> the newest opset of ONNX's own domain that it takes."""
NEWEST_IR: Mapping[str, int] = {"1.24.4": 13, "1.27.0": 13, "1.30.0": 13, "1.32.0": 14}
"""Version of ORT -> the newest version of ONNX's file format that it takes."""
NEWEST: Mapping[str, int] = {"ai.onnx.ml": 5, "ai.onnx.preview.training": 1, MICROSOFT: 1}
"""Domain -> the newest version that any of those takes; ORT looks at no other domain."""


def import_verdicts(model: Model, provider: OrtProvider) -> dict[NodeId, Support]:
    """The verdicts on the nodes of a model whose versions decide, before any other rule."""
    refusal = _refusal(model, provider)
    if refusal is not None:
        text, remedy = refusal
        return {node_id: _fails(text, whole_model=remedy) for node_id in model.nodes}
    found = ((node.id, _without_version(model, node)) for node in model.nodes.values())
    return {node_id: verdict for node_id, verdict in found if verdict is not None}


def _refusal(model: Model, provider: OrtProvider) -> tuple[str, str] | None:
    """Why ORT refuses the whole model for its versions, and what helps; None where it does not."""
    if not model.opset_imports:
        text = "the model imports no opset, and ORT refuses such a model"
        return text, "import the version of ONNX's operators that the model was made for"
    ort = provider.cpu.table.version if provider.cpu is not None else ""
    if ort not in NEWEST_ONNX:
        return None
    if model.ir_version > NEWEST_IR[ort]:
        stated, newest = f"the model's IR version is {model.ir_version}", NEWEST_IR[ort]
        remedy = f"save it with ir_version {newest} or less, if it uses nothing that came later"
        return _too_new(stated, ort, newest), remedy
    for domain, version in model.opset_imports.items():
        newest = NEWEST_ONNX[ort] if domain in ("", "ai.onnx") else NEWEST.get(domain, version)
        if version > newest:
            stated = f"the model imports version {version} of {domain or 'ai.onnx'}"
            return _too_new(stated, ort, newest), f"export the model at version {newest} or less"
    return None


def _too_new(stated: str, ort: str, newest: int) -> str:
    return f"{stated}; ORT {ort} refuses a model above {newest}, the newest that it knows"


def _without_version(model: Model, node: Node) -> Support | None:
    """The verdict on a node of ONNX's own domain whose version is missing or none."""
    version = model.opset(node)
    if node.domain or (version is not None and version > 0):
        return None
    if version is not None:
        return _fails(f"ORT knows no operator {node.op} at version {version} of its domain")
    detail = (
        "the model does not import ONNX's own operators: ORT takes the newest version that "
        "it knows, whatever the model was made for"
    )
    return verdict_of(Status.UNKNOWN, Reason.UNKNOWN, detail, STEP)


def _fails(detail: str, **data: str) -> Support:
    when = "session creation"
    return verdict_of(Status.FAILS, Reason.SCHEMA_VERSION, detail, STEP, when=when, **data)
