"""Nodes that ORT WebGPU 0.4.0 takes and then fails on: each rule says when and why.

Found by reading the kernel sources and by running each (see the table's source).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ops.use import OpUse
from .support import Reason

RECURRENT_ACTIVATIONS = frozenset(("sigmoid", "tanh", "relu"))


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that is known beforehand.

    Attributes:
        when: "session creation" or "run time".
        detail: what the node has that the kernel cannot do.
        reason: whether that is an attribute, a shape or a type.
    """

    when: str
    detail: str
    reason: Reason


Rule = Callable[[OpUse], str | None]


def _rank(use: OpUse, index: int = 0) -> int | None:
    shape = use.inputs[index].shape if use.has(index) and use.inputs[index] else None
    return None if shape is None else len(shape)


def _activations(use: OpUse) -> str | None:
    names = [str(a) for a in use.attr("activations", ()) or ()]
    odd = [a for a in names if a.lower() not in RECURRENT_ACTIVATIONS]
    return f"its activation {odd[0]} is none of Sigmoid, Tanh, Relu" if odd else None


def _three_dimensional(use: OpUse) -> str | None:
    rank = _rank(use)
    return (
        f"its input has rank {rank}; the kernel does 1-D and 2-D only" if (rank or 0) > 4 else None
    )


def _grouped_three_dimensional(use: OpUse) -> str | None:
    rank, group = _rank(use) or 0, use.attr("group", 1)
    if rank > 5:
        return f"its input has rank {rank}; the kernel does up to 3-D"
    return (
        f"it is 3-D with group {group}; the kernel has group 1 only"
        if rank == 5 and group != 1
        else None
    )


def _max_pool(use: OpUse) -> str | None:
    if use.wants(1):
        return "its output Indices is wanted, which the kernel does not compute"
    return "storage_order is 1" if use.attr("storage_order", 0) else None


def _training(use: OpUse) -> str | None:
    return "training_mode is 1" if use.attr("training_mode", 0) else None


def _resize(use: OpUse) -> str | None:
    mode = _text(use.attr("mode", "nearest"))
    half = bool(use.inputs) and use.inputs[0] is not None and use.inputs[0].dtype == "float16"
    if use.attr("antialias", 0):
        return "antialias is 1, which is not implemented"
    if mode == "cubic" and half:
        return "mode cubic in f16 makes a shader that does not compile"
    transform = _text(use.attr("coordinate_transformation_mode", "half_pixel"))
    if half and transform == "tf_crop_and_resize":
        return "roi in f16 is read as f32"
    return None


def _scatter_nd(use: OpUse) -> str | None:
    reduction = _text(use.attr("reduction", "none"))
    half = bool(use.inputs) and use.inputs[0] is not None and use.inputs[0].dtype == "float16"
    return (
        f"reduction {reduction} in f16 is not implemented" if half and reduction != "none" else None
    )


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


RULES: dict[str, tuple[str, Reason, Rule]] = {
    "GRU": ("session creation", Reason.ATTRIBUTE, _activations),
    "LSTM": ("run time", Reason.ATTRIBUTE, _activations),
    "ConvTranspose": ("run time", Reason.SHAPE, _three_dimensional),
    "Conv": ("run time", Reason.SHAPE, _grouped_three_dimensional),
    "MaxPool": ("run time", Reason.ATTRIBUTE, _max_pool),
    "BatchNormalization": ("run time", Reason.ATTRIBUTE, _training),
    "Resize": ("run time", Reason.ATTRIBUTE, _resize),
    "ScatterND": ("run time", Reason.TYPE, _scatter_nd),
}


def known_failure(use: OpUse) -> Failure | None:
    """The failure that awaits ``use`` on ORT WebGPU, or None."""
    if use.domain not in ("", "ai.onnx") or use.op_type not in RULES:
        return None
    when, reason, rule = RULES[use.op_type]
    detail = rule(use)
    return Failure(when, detail, reason) if detail else None
