"""Arrays between ONNX's dtypes and the device's element types (see ops.steps.STORAGE)."""

from __future__ import annotations

import numpy as np

_WORDS = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "u32": np.uint32}


def to_device(array: np.ndarray, element: str) -> np.ndarray:
    """The bytes of ``array`` as the device stores them, as a flat contiguous array.

    Args:
        array: any shape; a dtype of STORAGE.
        element: WGSL type of one stored element; "vec2<u32>" takes 64-bit integers.
    """
    if element == "vec2<u32>":
        return np.ascontiguousarray(array).reshape(-1).view(np.uint32)
    return np.ascontiguousarray(array, dtype=_WORDS[element]).reshape(-1)


def from_device(
    raw: memoryview | np.ndarray, element: str, dtype: str, shape: tuple[int, ...]
) -> np.ndarray:
    """The array that ``raw`` (bytes in the device's layout, perhaps padded) holds; a copy."""
    count = int(np.prod(shape, dtype=np.int64))
    target = np.dtype(dtype)
    if element == "vec2<u32>":
        return np.frombuffer(raw, target, count).reshape(shape).copy()
    return np.frombuffer(raw, _WORDS[element], count).astype(target).reshape(shape)
