"""What is said of a model as a whole, in the same words wherever the window says it."""

from __future__ import annotations

from ..engine.ir.model import Model, Weight
from ..engine.units import counted, mebibytes


def opsets_text(model: Model) -> str:
    """``opset ONNX 22, com.microsoft 1``."""
    versions = (f"{domain or 'ONNX'} {number}" for domain, number in model.opset_imports.items())
    return f"opset {', '.join(versions)}"


def weights_text(model: Model) -> str:
    """``12 weights (794.1 KiB)``; also what Constant nodes hold: some exporters keep all there."""
    weights = [w for graph in model.graphs() for w in graph.initializers.values()]
    constants = [
        value
        for node in model.nodes.values()
        if node.op == "Constant"
        for value in node.attributes.values()
        if isinstance(value, Weight)
    ]
    text = _with_bytes("weight", weights)
    return f"{text}, {_with_bytes('constant', constants)}" if constants else text


def _with_bytes(what: str, tensors: list[Weight]) -> str:
    if not tensors:
        return f"no {what}s"
    return f"{counted(len(tensors), what)} ({mebibytes(sum(t.size_bytes for t in tensors))})"
