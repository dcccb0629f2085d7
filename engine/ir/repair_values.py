"""Types, tensors and attributes that onnx-ir refuses: what stands for them, and a finding each."""

from __future__ import annotations

from typing import Any

import onnx

from ..diagnostics import Severity
from .aside import Aside
from .dtypes import dtype_name
from .model import TensorType, Weight
from .weights import sparse_weight, unreadable_weight

Kind = onnx.AttributeProto.AttributeType
_EXTERNAL_KEYS = ("location", "offset", "length", "checksum")
_DAMAGED = "Export the model again; it is damaged, or written for a newer ONNX."


def refused_type(aside: Aside, proto: onnx.TypeProto, what: str) -> TensorType | None:
    """What a type says, where onnx-ir refuses it (and then a diagnostic); None otherwise."""
    kinds: list[str] = []
    while (kind := proto.WhichOneof("value")) in ("sequence_type", "optional_type"):
        kinds.append(kind.removesuffix("_type"))
        proto = getattr(proto, kind).elem_type
    text = " of ".join((*kinds, ""))
    outer = kinds[0] if kinds else "tensor"
    if kind == "map_type":
        key = dtype_name(proto.map_type.key_type) or "?"
        value = _element(proto.map_type.value_type)
        aside.say(
            "map-type",
            Severity.INFO,
            f"{what} is a {text}map from {key} to {value}, a type that is shown but not checked",
            "Only classical machine-learning operators (ZipMap) make maps.",
        )
        return TensorType(value, None, "map")
    tensor = getattr(proto, kind) if kind in ("tensor_type", "sparse_tensor_type") else None
    if tensor is not None and dtype_name(tensor.elem_type) is None:
        aside.say(
            "unknown-element-type",
            Severity.WARNING,
            f"{what} has the element type {tensor.elem_type}, which is unknown",
            "The model was written for a newer ONNX, or is damaged.",
            element_type=tensor.elem_type,
        )
        return TensorType("?", _shape(tensor), outer)
    if kinds and (tensor is None or not tensor.elem_type):
        aside.say(
            "incomplete-type",
            Severity.INFO,
            f"{what} is a {text}values whose type is not stated",
            "",
        )
        return TensorType("?", None, outer)
    return None


def broken_tensor(aside: Aside, tensor: onnx.TensorProto, what: str) -> Weight | None:
    """A stand-in for a tensor of which the file tells too little; None if it is fine."""
    code, reason = "unknown-element-type", ""
    if dtype_name(tensor.data_type) is None:
        reason = f"its element type {tensor.data_type} is unknown"
    elif any(d < 0 for d in tensor.dims):
        code, reason = "invalid-tensor", f"its shape {list(tensor.dims)} is negative"
    elif tensor.data_location == onnx.TensorProto.EXTERNAL:
        code, reason = "external-data-invalid", _broken_external(aside, tensor)
    if not reason:
        return None
    aside.say(
        code,
        Severity.ERROR,
        f"{what}: {reason}, so it was not read",
        _DAMAGED,
    )
    shape = tuple(max(d, 0) for d in tensor.dims)
    if dtype_name(tensor.data_type) is None:
        tensor.data_type = onnx.TensorProto.UNDEFINED
    del tensor.dims[:]
    del tensor.external_data[:]
    tensor.ClearField("data_location")
    return unreadable_weight(aside.where, tensor.name, shape, reason)


def _broken_external(aside: Aside, tensor: onnx.TensorProto) -> str:
    """What is wrong with where the values are said to be, or ""."""
    entries = {e.key: e.value for e in tensor.external_data}
    if unknown := sorted(entries.keys() - set(_EXTERNAL_KEYS)):
        aside.say(
            "external-data-key",
            Severity.WARNING,
            f"tensor '{tensor.name}': its external data states {unknown}, which is ignored here; "
            "ONNX Runtime refuses such a model",
            "save the model again with ONNX's own keys",
        )
    del tensor.external_data[:]
    for key in _EXTERNAL_KEYS:
        if key in entries:
            tensor.external_data.add(key=key, value=entries[key])
    if not entries.get("location"):
        return "its external data has no location"
    for key in ("offset", "length"):
        text = entries.get(key, "0")
        if not (text.isascii() and text.isdigit() and len(text) < 20):
            return f"the {key} of its external data is '{text}'"
    return ""


def dense_weight(aside: Aside, proto: onnx.SparseTensorProto, name: str, what: str) -> Weight:
    """A sparse tensor as the dense one it stands for, with a finding that says so."""
    stored = proto.values.dims[0] if proto.values.dims else 0
    text = f"{what} is sparse ({stored:,} values of shape {list(proto.dims)}); it is used as dense"
    aside.say("sparse-tensor", Severity.INFO, text)
    parts = (proto.values, proto.indices)
    if any(part.data_location == onnx.TensorProto.EXTERNAL for part in parts):
        return unreadable_weight(aside.where, name, (), "it is sparse with external data")
    if any(d < 0 for d in proto.dims):
        reason = f"its shape {list(proto.dims)} is negative"
        return unreadable_weight(aside.where, name, (), reason)
    return sparse_weight(aside.where, name, proto)


def settle_kind(attribute: onnx.AttributeProto) -> bool:
    """Give an attribute of the oldest models its type, from its value; False if impossible."""
    if attribute.type == Kind.UNDEFINED:
        for kind, name in _FIELDS.items():
            single = kind in (Kind.FLOAT, Kind.INT, Kind.STRING, Kind.TENSOR, Kind.GRAPH)
            if attribute.HasField(name) if single else len(getattr(attribute, name)):
                attribute.type = kind
                break
    return bool(attribute.type != Kind.UNDEFINED)


_FIELDS = {
    Kind.FLOAT: "f",
    Kind.INT: "i",
    Kind.STRING: "s",
    Kind.TENSOR: "t",
    Kind.GRAPH: "g",
    Kind.FLOATS: "floats",
    Kind.INTS: "ints",
    Kind.STRINGS: "strings",
    Kind.TENSORS: "tensors",
    Kind.GRAPHS: "graphs",
}


def _element(proto: onnx.TypeProto) -> str:
    kind = proto.WhichOneof("value")
    if kind in ("tensor_type", "sparse_tensor_type"):
        return dtype_name(getattr(proto, kind).elem_type) or "?"
    return "?"


def _shape(tensor: Any) -> tuple[int | str | None, ...] | None:
    if not tensor.HasField("shape"):
        return None
    return tuple(
        d.dim_value if d.WhichOneof("value") == "dim_value" else d.dim_param or None
        for d in tensor.shape.dim
    )
