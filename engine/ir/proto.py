"""Types and tensors to protobuf and back, for what onnx's own functions are asked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .dtypes import dtype_code, dtype_name
from .model import TensorType


def opset_imports(imports: Mapping[str, int]) -> list[onnx.OperatorSetIdProto]:
    """ONNX's list of operator sets."""
    return [helper.make_opsetid(domain, version) for domain, version in imports.items()]


def value_info(name: str, kind: TensorType | None) -> onnx.ValueInfoProto:
    """A value with its type, as far as ONNX can say it."""
    info = onnx.ValueInfoProto(name=name)
    proto = type_proto(kind)
    if proto is not None:
        info.type.CopyFrom(proto)
    return info


def type_proto(kind: TensorType | None) -> onnx.TypeProto | None:
    """A type for onnx; None where the element type is unknown or the value is a map."""
    if kind is None or kind.dtype == "?" or kind.kind == "map":
        return None
    code = dtype_code(kind.dtype)
    shape = kind.shape
    if kind.kind == "sparse":
        return helper.make_sparse_tensor_type_proto(code, shape)
    tensor = helper.make_tensor_type_proto(code, shape)
    if kind.kind == "sequence":
        return helper.make_sequence_type_proto(tensor)
    return helper.make_optional_type_proto(tensor) if kind.kind == "optional" else tensor


def tensor_type(proto: onnx.TypeProto) -> TensorType | None:
    """Our form of an onnx type; None where it says nothing or is a map."""
    kind = proto.WhichOneof("value")
    if kind in ("sequence_type", "optional_type"):
        inner = tensor_type(getattr(proto, kind).elem_type)
        outer = kind.removesuffix("_type")
        return (
            TensorType(inner.dtype, inner.shape, outer) if inner else TensorType("?", None, outer)
        )
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return None
    tensor = getattr(proto, kind)
    shape = None
    if tensor.HasField("shape"):
        shape = tuple(
            d.dim_value if d.WhichOneof("value") == "dim_value" else d.dim_param or None
            for d in tensor.shape.dim
        )
    name = "tensor" if kind == "tensor_type" else "sparse"
    return TensorType(dtype_name(tensor.elem_type) or "?", shape, name)


def tensor_proto(name: str, array: np.ndarray) -> onnx.TensorProto:
    """An array as onnx's tensor; object arrays hold strings."""
    return numpy_helper.from_array(np.asarray(array), name)
