"""What flows on the host: tensors as arrays, sequences as lists, maps as dicts, absence as None."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.dtypes import dtype_of
from ..ir.model import TensorType

# A tensor (np.ndarray), a sequence (list), an optional without element (None), a map (dict).
Value = Any


def type_of(value: Value) -> TensorType:
    """The type of a value."""
    if isinstance(value, np.ndarray):
        return TensorType(dtype_of(value), value.shape)
    if isinstance(value, list):
        return TensorType(type_of(value[0]).dtype if value else "?", None, "sequence")
    return TensorType("?", None, "map" if isinstance(value, dict) else "optional")


def dense(value: Value) -> Value:
    """Numbers as arrays, arrays row-major without gaps; the rest as it is."""
    if isinstance(value, np.ndarray):
        return value if value.flags.c_contiguous else np.asarray(value, order="C")
    return np.asarray(value) if isinstance(value, np.generic) else value
