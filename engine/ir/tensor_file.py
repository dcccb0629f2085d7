"""A tensor alone in a file: the ``input_0.pb`` of ONNX's test data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from ..errors import FeedError
from .weights import stored_weight

MAX_TENSOR_BYTES = 2**31 - 1  # protobuf's own limit of a message


def read_tensor_file(path: Path) -> np.ndarray:
    """The tensor that a TensorProto file holds.

    Raises:
        FeedError: the file cannot be read, is no tensor, or points to another file.
        ModelFileError: the stored values do not fill the tensor's shape.
    """
    try:
        size = path.stat().st_size
        if size > MAX_TENSOR_BYTES:
            raise FeedError(f"{path}: {size:,} bytes are more than a tensor file can hold")
        proto = onnx.TensorProto()
        proto.ParseFromString(path.read_bytes())
    except OSError as error:
        raise FeedError(f"{path}: the file cannot be read: {error.strerror}") from error
    except DecodeError as error:
        raise FeedError(f"{path}: this is no ONNX tensor, or it is damaged") from error
    if proto.data_location == onnx.TensorProto.EXTERNAL or proto.external_data:
        raise FeedError(f"{path}: the tensor points to another file, which is not read")
    if proto.data_type == onnx.TensorProto.UNDEFINED:
        raise FeedError(f"{path}: this is no ONNX tensor (sequences and maps are not read)")
    return stored_weight(str(path), proto.name or path.name, proto).numpy()
