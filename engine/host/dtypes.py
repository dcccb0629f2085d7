"""Element types to compute in, and the limit on what the host allocates."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from ..errors import LimitError
from ..ir.dtypes import dtype_name, numpy_dtype
from ..ops.use import OpUse

MAX_VALUE_BYTES = 2 << 30  # of one value that the host makes; a hostile shape must not eat memory
_SURELY_FITS = 1 << 20  # elements

BFLOAT16 = numpy_dtype("bfloat16")
FLOAT4 = numpy_dtype("float4e2m1")
FLOAT8_E8M0 = numpy_dtype("float8e8m0")
_HALF = frozenset({np.dtype(np.float16), BFLOAT16})
FLOAT8 = frozenset(
    numpy_dtype(f"float8{kind}") for kind in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0")
)
FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64), *_HALF, *FLOAT8, FLOAT4})


def dtype_of(use: OpUse, code: int) -> np.dtype:
    """The numpy dtype of a TensorProto.DataType number; NodeError if it is none."""
    name = dtype_name(code)
    if name is None or name == "?":
        raise use.error(f"{code} is not an element type of ONNX")
    return numpy_dtype(name)


def is_integer(dtype: np.dtype) -> bool:
    """Whether ``dtype`` is a whole-number type of 8 bits or more."""
    return dtype.kind in "iu"


def is_half(dtype: np.dtype) -> bool:
    """Whether ``dtype`` is float16 or bfloat16, whose sums are to be taken in float32."""
    return dtype in _HALF


def largest_numbers(dtype: np.dtype) -> tuple[float, float]:
    """The lowest and the largest finite number of a whole-number or floating-point type."""
    if is_integer(dtype):
        whole = np.iinfo(dtype)
        return int(whole.min), int(whole.max)
    limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return float(limits.min), float(limits.max)


def widened(array: np.ndarray) -> np.ndarray:
    """``array`` in a type to compute in: float32 for 16-bit floats, itself otherwise."""
    return array.astype(np.float32) if array.dtype in _HALF else array


def require_room(use: OpUse, shape: tuple[int, ...], dtype: np.dtype) -> None:
    """LimitError where a value of ``shape`` is more than the host allocates at once."""
    needed = math.prod(shape) * dtype.itemsize
    if needed > MAX_VALUE_BYTES:
        raise LimitError(
            use.node,
            use.label,
            use.op,
            f"an output of shape {list(shape)} takes {needed:,} bytes; "
            f"the host makes at most {MAX_VALUE_BYTES:,} at once",
            limit="maxHostValueBytes",
            needed=needed,
            allowed=MAX_VALUE_BYTES,
        )


def require_broadcast_room(use: OpUse, *arrays: np.ndarray) -> None:
    """LimitError where arrays that broadcast against each other make too large a value."""
    bound = 1
    for array in arrays:
        bound *= array.size
    if bound > _SURELY_FITS:  # shape arithmetic stops here
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        require_room(use, shape, max((a.dtype for a in arrays), key=lambda d: d.itemsize))
