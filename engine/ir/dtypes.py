"""Element types: ONNX's numbers, our names for them, and numpy's types."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import onnx_ir as ir

from .model import TensorType

_NAMES = {
    ir.DataType.UNDEFINED: "?",
    ir.DataType.FLOAT: "float32",
    ir.DataType.DOUBLE: "float64",
}
_BY_NAME = {_NAMES.get(code, code.name.lower()): code for code in ir.DataType}


def dtype_name(code: int) -> str | None:
    """Our name of ONNX's element type number ``code``; None if there is no such type."""
    try:
        found = ir.DataType(code)
    except ValueError:
        return None
    return _NAMES.get(found, found.name.lower())


def dtype_code(name: str) -> int:
    """ONNX's number of the element type; ValueError if there is none of that name."""
    if name not in _BY_NAME:
        raise ValueError(f"'{name}' is no ONNX element type")
    return int(_BY_NAME[name])


@cache
def numpy_dtype(name: str) -> np.dtype:
    """The numpy type that holds such elements: ml_dtypes' for what numpy lacks, object for string.

    Raises:
        ValueError: for "?" and for what is no element type.
    """
    if name == "?" or name not in _BY_NAME:
        raise ValueError(f"'{name}' is no element type that can be read")
    return np.dtype(object) if name == "string" else np.dtype(_BY_NAME[name].numpy())


def dtype_of(array: np.ndarray) -> str:
    """Our name of an array's element type; ValueError where ONNX has none for it."""
    if array.dtype.kind in "OSUT":
        return "string"
    found = ir.DataType.from_numpy(array.dtype)
    return _NAMES.get(found, found.name.lower())


def bits(name: str) -> int:
    """Bits that one element takes in a file; 0 for strings and unknown types."""
    return 0 if name in ("string", "?") else int(_BY_NAME[name].bitwidth)


def stored_bytes(name: str, shape: tuple[int, ...]) -> int:
    """Bytes that a tensor takes in a file; elements under 8 bits are packed."""
    return -(-math.prod(shape) * bits(name) // 8)


def array_type(array: np.ndarray) -> TensorType:
    """The type of an array."""
    return TensorType(dtype_of(array), tuple(array.shape))
