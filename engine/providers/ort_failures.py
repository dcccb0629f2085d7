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


def _rank(use: OpUse) -> int:
    """The rank of input 0; 0 where it is not known."""
    kind = use.inputs[0] if use.inputs else None
    return len(kind.shape) if kind is not None and kind.shape is not None else 0


def _is_half(use: OpUse) -> bool:
    kind = use.inputs[0] if use.inputs else None
    return kind is not None and kind.dtype == "float16"


def _activations(use: OpUse) -> str | None:
    names = [str(a) for a in use.attr("activations", ()) or ()]
    odd = [a for a in names if a.lower() not in RECURRENT_ACTIVATIONS]
    return f"its activation {odd[0]} is none of Sigmoid, Tanh, Relu" if odd else None


def _three_dimensional(use: OpUse) -> str | None:
    rank = _rank(use)
    return f"its input has rank {rank}; the kernel does 1-D and 2-D only" if rank > 4 else None


def _grouped_three_dimensional(use: OpUse) -> str | None:
    rank, group = _rank(use), use.attr("group", 1)
    if rank > 5:
        return f"its input has rank {rank}; the kernel does up to 3-D"
    if rank == 5 and group != 1:
        return f"it is 3-D with group {group}; the kernel has group 1 only"
    return None


def _max_pool(use: OpUse) -> str | None:
    if use.wants(1):
        return "its output Indices is wanted, which the kernel does not compute"
    return "storage_order is 1" if use.attr("storage_order", 0) else None


def _training(use: OpUse) -> str | None:
    return "training_mode is 1" if use.attr("training_mode", 0) else None


def _resize(use: OpUse) -> str | None:
    if use.attr("antialias", 0):
        return "antialias is 1, which is not implemented"
    if not _is_half(use):
        return None
    if use.attr("mode", "nearest") == "cubic":
        return "mode cubic in f16 makes a shader that does not compile"
    if use.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize":
        return "roi in f16 is read as f32"
    return None


def _scatter_nd(use: OpUse) -> str | None:
    reduction = use.attr("reduction", "none")
    if _is_half(use) and reduction != "none":
        return f"reduction {reduction} in f16 is not implemented"
    return None


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
