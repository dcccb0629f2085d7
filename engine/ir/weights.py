"""Constant tensors of a file: what is known at once, and how their values are read when asked for.

External data is memory-mapped, and only from a regular file whose path, symbolic links resolved,
lies in the model's folder; offset and length are checked against the file's size first.
"""

from __future__ import annotations

import math
import os
import stat
from dataclasses import dataclass

import numpy as np
import onnx
import onnx_ir as ir
from onnx_ir import serde

from ..errors import ModelFileError
from .dtypes import bits, dtype_code, dtype_name, numpy_dtype, stored_bytes
from .model import Weight

MAX_DENSE_BYTES = 2**31
"""A sparse tensor is made dense up to this size: few bytes in a file can ask for any amount."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a tensor cannot be read: a diagnostic's code, the reason, and what helps."""

    code: str
    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class External:
    """Values of a tensor that lie in a file of their own.

    Attributes:
        folder: the model's folder, or None for a model that is not a file.
        location: the file as the model states it, relative to ``folder``.
        offset, length: bytes; length is None where the model does not state it.
    """

    folder: str | None
    location: str
    offset: int
    length: int | None
    dtype: str
    shape: tuple[int, ...]

    @property
    def path(self) -> str:
        """The file with all symbolic links resolved."""
        return os.path.realpath(os.path.join(self.folder or "", self.location))

    def problem(self) -> Problem | None:
        """Why the values cannot be read; None if they can. Looks at names and sizes alone."""
        what = f"external data '{self.location}'"
        if self.folder is None:
            reason = f"{what} cannot be found for a model that was not opened from a file"
            return Problem("external-data-missing", f"{reason}; not read", "Open the file itself.")
        if not self.is_contained():
            return Problem(
                "external-data-outside",
                f"{what} leaves the model's folder, so it was not read",
                "Move the file into the model's folder and correct its location in the model.",
            )
        try:
            status = os.stat(self.path)
        except OSError as error:
            reason = f"{what} is not there ({error.strerror}), so it was not read"
            remedy = "Put the file there; its name is relative to the model's folder."
            return Problem("external-data-missing", reason, remedy)
        if not stat.S_ISREG(status.st_mode):
            reason = f"{what} is no regular file, so it was not read"
            return Problem("external-data-missing", reason, "Put a plain file in its place.")
        needed = stored_bytes(self.dtype, self.shape)
        reason = ""
        if self.length is not None and self.length != needed:
            reason = f"is stated as {self.length:,} bytes, but {self._wants(needed)}"
        elif self.offset + needed > status.st_size:
            reason = (
                f"has {status.st_size:,} bytes, but {self._wants(needed)} from byte {self.offset:,}"
            )
        if not reason:
            return None
        return Problem(
            "external-data-size", f"{what} {reason}; not read", "Fetch the complete file again."
        )

    def _wants(self, needed: int) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"{self.dtype}[{shape}] takes {needed:,}"

    def is_contained(self) -> bool:
        """Whether the file, symbolic links resolved, lies in the model's folder."""
        # The text alone is tried first: a path out of the folder is not even looked up.
        text = os.path.normpath(self.location.replace("\\", "/"))
        if "\0" in text or os.path.isabs(text) or text.split(os.sep)[0] == os.pardir:
            return False
        if os.path.splitdrive(text)[0]:
            return False
        folder = os.path.realpath(self.folder or "")
        return os.path.commonpath((folder, self.path)) == folder

    def read(self) -> np.ndarray:
        """The values, of ``shape``: a read-only map of the file where elements are whole bytes."""
        count = math.prod(self.shape)
        if count == 0:
            return np.zeros(self.shape, numpy_dtype(self.dtype))
        if bits(self.dtype) >= 8:
            dtype = numpy_dtype(self.dtype).newbyteorder("<")
            return np.memmap(self.path, dtype, "r", self.offset, self.shape)
        packed = np.memmap(
            self.path, np.uint8, "r", self.offset, (stored_bytes(self.dtype, self.shape),)
        )
        return _decode(self.dtype, self.shape, packed.tobytes())


def external_weight(where: str, name: str, data: External) -> Weight:
    """A weight in a file of its own; ``where`` begins its errors (the model's path)."""

    def read() -> np.ndarray:
        problem = data.problem()
        if problem is not None:
            raise ModelFileError(f"{where}: tensor '{name}': {problem.reason}")
        try:
            return data.read()
        except (OSError, ValueError) as error:
            raise ModelFileError(
                f"{where}: tensor '{name}': external data '{data.location}' was not read: {error}"
            ) from error

    size = stored_bytes(data.dtype, data.shape)
    return Weight(name, data.dtype, data.shape, size, data.location, read)


def stored_weight(where: str, name: str, proto: onnx.TensorProto) -> Weight:
    """A weight stored in the model file itself; its values are decoded when asked for."""
    dtype = dtype_name(proto.data_type) or "?"
    shape = tuple(proto.dims)

    def read() -> np.ndarray:
        problem = _stored_problem(proto, dtype, shape)
        if problem:
            raise ModelFileError(f"{where}: tensor '{name}': {problem}, so it was not read")
        if dtype == "string":
            return _strings(where, name, list(proto.string_data)).reshape(shape)
        try:
            return serde.TensorProtoTensor(proto).numpy()
        except (ValueError, AssertionError, TypeError) as error:
            raise ModelFileError(f"{where}: tensor '{name}' was not read: {error}") from error

    size = sum(map(len, proto.string_data)) if dtype == "string" else stored_bytes(dtype, shape)
    return Weight(name, dtype, shape, size, "", read)


def string_weight(where: str, tensor: ir.TensorProtocol) -> Weight:
    """A weight of strings, as onnx-ir holds it."""
    values = list(tensor.numpy().ravel())
    shape = tuple(int(d) for d in tensor.shape if isinstance(d, int))
    name = tensor.name or ""

    def read() -> np.ndarray:
        return _strings(where, name, values).reshape(shape)

    return Weight(name, "string", shape, sum(map(len, values)), "", read)


def unreadable_weight(where: str, name: str, shape: tuple[int, ...], reason: str) -> Weight:
    """A weight of which the file tells too little to read it."""

    def read() -> np.ndarray:
        raise ModelFileError(f"{where}: tensor '{name}': {reason}, so it was not read")

    return Weight(name, "?", shape, 0, "", read)


def sparse_weight(where: str, name: str, proto: onnx.SparseTensorProto) -> Weight:
    """A sparse tensor as the dense one it stands for.

    Its indices are linear, (NNZ,) int64, or one row of coordinates each, (NNZ, rank) int64.
    """
    values, indices = (
        stored_weight(where, f"{name}.{part}", tensor)
        for part, tensor in (("values", proto.values), ("indices", proto.indices))
    )
    shape = tuple(proto.dims)
    size = stored_bytes(values.dtype, shape)

    def read() -> np.ndarray:
        if size > MAX_DENSE_BYTES:
            raise ModelFileError(
                f"{where}: sparse tensor '{name}' would take {size:,} bytes when dense, more than "
                f"the {MAX_DENSE_BYTES:,} allowed, so it was not read"
            )
        try:
            dense = np.zeros(shape, numpy_dtype(values.dtype))
            at = indices.read()
            flat = at if at.ndim == 1 else np.ravel_multi_index(tuple(at.T), shape)
            dense.reshape(-1)[flat] = values.read()
        except (ValueError, IndexError) as error:
            raise ModelFileError(
                f"{where}: sparse tensor '{name}' was not read: {error}"
            ) from error
        return dense

    return Weight(name, values.dtype, shape, size, "", read)


def _strings(where: str, name: str, values: list[bytes]) -> np.ndarray:
    decoded = np.empty(len(values), object)
    for index, value in enumerate(values):
        try:
            decoded[index] = value.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelFileError(
                f"{where}: tensor '{name}': string {index} is not valid UTF-8, so it was not read"
            ) from error
    return decoded


def _stored_problem(proto: onnx.TensorProto, dtype: str, shape: tuple[int, ...]) -> str:
    """What is wrong with the size of the stored values, or ""; onnx-ir would make up zeros."""
    if dtype == "?":
        return f"its element type {proto.data_type} cannot be read"
    count = math.prod(shape)
    what = f"{dtype}[{', '.join(map(str, shape))}]"
    if proto.HasField("raw_data"):
        needed, found, unit = stored_bytes(dtype, shape), len(proto.raw_data), "bytes"
    else:
        unit = "values"
        found = sum(
            len(getattr(proto, f"{kind}_data"))
            for kind in ("float", "int32", "int64", "uint64", "double", "string")
        )
        needed = 2 * count if dtype.startswith("complex") else count
        if bits(dtype) in (2, 4):
            needed = stored_bytes(dtype, shape)
    return "" if found == needed else f"{what} takes {needed:,} {unit}, but {found:,} are stored"


def _decode(dtype: str, shape: tuple[int, ...], raw: bytes) -> np.ndarray:
    proto = onnx.TensorProto(data_type=dtype_code(dtype), dims=shape, raw_data=raw)
    return serde.TensorProtoTensor(proto).numpy()
