"""Cast and CastLike between ONNX's element types.

Whole numbers wrap; floats truncate towards zero into whole numbers; "saturate" (for float8 alone)
clamps instead of giving NaN or infinity. What ONNX leaves undefined (a float outside the integer's
range) is what numpy does.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from onnx import numpy_helper

from ..ir.dtypes import numpy_dtype
from ..ops.use import OpUse
from .dtypes import BFLOAT16, FLOAT8, FLOAT8_E8M0, dtype_of
from .table import host
from .values import Value

Array = np.ndarray
# Narrow whole numbers and the types whose low bits they are.
_NARROW = {
    numpy_dtype(name): numpy_dtype(wide)
    for name, wide in (("uint4", "uint8"), ("int4", "int8"), ("uint2", "uint8"), ("int2", "int8"))
}


@host("Cast", versions=(6, 28), attributes=("to", "saturate", "round_mode"))
def cast(use: OpUse, data: Array) -> Value:
    """The input in the element type ``to``."""
    return cast_to(use, data, dtype_of(use, use.attr("to", 0)))


@host("CastLike", versions=(15, 25), attributes=("saturate", "round_mode"))
def cast_like(use: OpUse, data: Array, target: Array) -> Value:
    """The input in the element type of ``target``."""
    return cast_to(use, data, np.dtype(object) if target.dtype.kind in "OUS" else target.dtype)


def cast_to(use: OpUse, data: Array, dtype: np.dtype) -> Value:
    """``data`` in ``dtype`` by ONNX's rules, with the node's saturate and round_mode."""
    if dtype.kind == "O":
        return data if data.dtype.kind in "OUS" else data.astype(np.str_).astype(object)
    if data.dtype.kind in "OUS":
        data = _from_text(use, data, dtype)
    if dtype in FLOAT8:
        saturate = bool(use.attr("saturate", 1))
        if dtype == FLOAT8_E8M0:
            mode = use.attr("round_mode", "up")
            return numpy_helper.to_float8e8m0(data, saturate, mode).astype(dtype)
        if saturate:
            wide = data.astype(np.float32) if data.dtype != np.float64 else data
            limit = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
            return np.clip(wide, float(limit.min), float(limit.max)).astype(dtype)
    if dtype in _NARROW and data.dtype.kind != "V":
        # Truncated, then wrapped to the low bits, as for the wider integers.
        return data.astype(np.int64).astype(_NARROW[dtype]).astype(dtype)
    return data.astype(dtype)


def _from_text(use: OpUse, data: Array, dtype: np.dtype) -> Array:
    parse = float if dtype.kind in "fcV" or dtype == BFLOAT16 else int
    try:
        values = [parse(text) for text in data.reshape(-1).tolist()]
    except ValueError as error:
        raise use.error(f"text that is no number: {error}") from error
    return np.array(values, np.float64 if parse is float else np.int64).reshape(data.shape)


@host("BitCast", versions=(26, 26), attributes=("to",))
def bit_cast(use: OpUse, data: Array) -> Array:
    """The same bits read as another type of the same size."""
    dtype = dtype_of(use, use.attr("to", 0))
    if dtype.itemsize != data.dtype.itemsize or "O" in (dtype.kind, data.dtype.kind):
        raise use.error(f"{data.dtype} and {dtype} have different sizes")
    return np.ascontiguousarray(data).view(dtype).reshape(data.shape)
