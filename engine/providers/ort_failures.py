"""Nodes that a provider of ORT takes and then fails on: each rule says when and why.

Found by reading the kernel sources and by running each (see the table's source). They are tied to
the versions of which they are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ops.use import OpUse
from .support import Reason
from .tables import ProviderTable

SESSION = "session creation"
RUN = "run time"
UNSURE = ""
RECURRENT_ACTIVATIONS = frozenset(("sigmoid", "tanh", "relu"))


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that is known beforehand.

    Attributes:
        when: "session creation", "run time", or "" where it is not sure that it fails.
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


def _is_half(use: OpUse, index: int = 0) -> bool:
    kind = use.inputs[index] if index < len(use.inputs) else None
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
    if _is_half(use) and use.attr("mode", "nearest") == "cubic":
        return "mode cubic in f16 makes a shader that does not compile"
    return None


def _half_roi(use: OpUse) -> str | None:
    crops = use.attr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"
    return "its roi is float16, which is read as float32" if crops and _is_half(use, 1) else None


def _constant_half_roi(use: OpUse) -> str | None:
    return _half_roi(use) if 1 in use.values else None  # it is read when the kernel is made


def _scatter_nd(use: OpUse) -> str | None:
    reduction = use.attr("reduction", "none")
    if _is_half(use) and reduction != "none":
        return f"reduction {reduction} in f16 is not implemented"
    return None


def _empty(use: OpUse) -> str | None:
    dims = use.known_dims(0)
    empty = dims is not None and 0 in dims
    return "its input is empty, of which there is no largest or smallest" if empty else None


def _batchwise(use: OpUse) -> str | None:
    return "layout is 1, which the kernel does not do" if use.attr("layout", 0) else None


def _locale(use: OpUse) -> str | None:
    change = use.attr("case_change_action", "NONE")
    if change in ("NONE", b"NONE"):
        return None
    return "it changes case, for which the machine must have the locale en_US.UTF-8"


Rules = dict[str, tuple[tuple[str, Reason, Rule], ...]]

WEBGPU: Rules = {
    "GRU": ((SESSION, Reason.ATTRIBUTE, _activations),),
    "LSTM": ((RUN, Reason.ATTRIBUTE, _activations),),
    "ConvTranspose": ((RUN, Reason.SHAPE, _three_dimensional),),
    "Conv": ((RUN, Reason.SHAPE, _grouped_three_dimensional),),
    "MaxPool": ((RUN, Reason.ATTRIBUTE, _max_pool),),
    "BatchNormalization": ((RUN, Reason.ATTRIBUTE, _training),),
    "Resize": (
        (SESSION, Reason.TYPE, _constant_half_roi),
        (RUN, Reason.ATTRIBUTE, _resize),
        (RUN, Reason.TYPE, _half_roi),
    ),
    "ScatterND": ((RUN, Reason.TYPE, _scatter_nd),),
    "ReduceMax": ((RUN, Reason.SHAPE, _empty),),
    "ReduceMin": ((RUN, Reason.SHAPE, _empty),),
}
CPU: Rules = {
    "GRU": ((SESSION, Reason.ATTRIBUTE, _batchwise),),
    "LSTM": ((SESSION, Reason.ATTRIBUTE, _batchwise),),
    "RNN": ((SESSION, Reason.ATTRIBUTE, _batchwise),),
    "StringNormalizer": ((UNSURE, Reason.UNKNOWN, _locale),),
}
SEEN: dict[str, tuple[Rules, frozenset[str]]] = {
    # Each was run on the three plugins (0.2.1 has no GRU). The sources of 1.30.0 have the kernels
    # of 0.4.0.
    "ort-webgpu": (WEBGPU, frozenset(("0.2.1", "0.3.0", "0.4.0", "built-in-1.30.0"))),
    "ort-cpu": (CPU, frozenset(("1.24.4", "1.27.0", "1.30.0", "1.32.0"))),
}
"""Family -> its failures, and the versions of which they are known."""


def known_failure(use: OpUse, table: ProviderTable | None) -> Failure | None:
    """The failure that awaits ``use``, or None; of another version it is not known whether."""
    if table is None or use.domain not in ("", "ai.onnx"):
        return None
    rules, versions = SEEN.get(table.id, ({}, frozenset()))
    found = (Failure(w, d, r) for w, r, rule in rules.get(use.op_type, ()) if (d := rule(use)))
    first = next(found, None)
    if first is None or table.version in versions:
        return first
    known = ", ".join(sorted(versions))
    detail = f"{first.detail}; {known} fail there, of {table.version} it is not known"
    return Failure(UNSURE, detail, Reason.UNKNOWN)
