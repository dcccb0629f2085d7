"""A model's identity as plain data: the ``model`` entry of every JSON file."""

from __future__ import annotations

from typing import Any

from .model import Model


def model_json(model: Model) -> dict[str, Any]:
    """The ``model`` entry of JSON files."""
    return {
        "path": model.path,
        "sha256": model.sha256,
        "bytes": model.file_bytes,
        "ir_version": model.ir_version,
        "opsets": {domain or "ai.onnx": v for domain, v in model.opset_imports.items()},
        "producer": model.producer,
        "nodes": sum(len(g.nodes) for g in model.graphs()),
    }
