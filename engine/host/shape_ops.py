"""Shape arithmetic: the operators that make or change shapes. All exact, most without a copy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ir.model import Weight
from ..ops.use import OpUse
from .dtypes import dtype_of, is_integer, require_room
from .table import host
from .values import Value

Array = np.ndarray


@host(
    "Constant",
    versions=(1, 25),
    attributes=(
        "value",
        "value_float",
        "value_floats",
        "value_int",
        "value_ints",
        "value_string",
        "value_strings",
    ),
)
def constant(use: OpUse) -> Array:
    """The one attribute's value as a tensor."""
    if len(use.attributes) != 1:
        raise use.error(f"a Constant has one attribute with its value, not {len(use.attributes)}")
    name, value = next(iter(use.attributes.items()))
    if name == "value":
        return tensor_attribute(use, value)
    kind = name.removeprefix("value_").rstrip("s")
    dtype = {"float": np.float32, "int": np.int64, "string": object}[kind]
    return np.array(value, dtype)


def tensor_attribute(use: OpUse, value: Any) -> Array:
    """The values of a tensor attribute."""
    if isinstance(value, Weight):
        return value.numpy()
    if isinstance(value, np.ndarray):
        return value
    raise use.error(f"a tensor attribute was expected, not {type(value).__name__}")


@host("ConstantOfShape", versions=(9, 25), attributes=("value",))
def constant_of_shape(use: OpUse, shape: Array) -> Array:
    """A tensor of ``shape`` filled with the attribute's single value (float32 0 by default)."""
    fill = np.zeros(1, np.float32)
    if "value" in use.attributes:
        fill = tensor_attribute(use, use.attributes["value"])
    if fill.size != 1:
        raise use.error(f"the attribute 'value' has {fill.size} elements; 1 is needed")
    dims = tuple(shape.tolist())
    if any(d < 0 for d in dims):
        raise use.error(f"the shape {list(dims)} has a negative dimension")
    require_room(use, dims, fill.dtype)
    return np.full(dims, fill.reshape(())[()], fill.dtype)


@host("Shape", versions=(1, 25), attributes=("start", "end"))
def shape_of(use: OpUse, data: Array) -> Array:
    """The shape, or its part from ``start`` to ``end`` (clamped), as int64."""
    return np.array(data.shape[use.attr("start", 0) : use.attr("end")], np.int64)


@host("Size", versions=(1, 25))
def size_of(use: OpUse, data: Array) -> Array:
    """The number of elements as an int64 scalar."""
    return np.array(data.size, np.int64)


@host("Identity", versions=(1, 25))
def identity(use: OpUse, data: Any) -> Any:
    """The input itself: a tensor, a sequence or an optional."""
    return data


@host("Reshape", versions=(5, 25), attributes=("allowzero",))
def reshape(use: OpUse, data: Array, shape: Array) -> Array:
    """0 keeps the input's dimension (unless ``allowzero``); one -1 takes what is left."""
    dims = shape.tolist()
    if not use.attr("allowzero", 0):
        for axis, dim in enumerate(dims):
            if dim == 0:
                if axis >= data.ndim:
                    raise use.error(
                        f"the shape {dims} keeps dimension {axis}, but the input has only "
                        f"{data.ndim}"
                    )
                dims[axis] = data.shape[axis]
    elif 0 in dims and -1 in dims:
        raise use.error(f"with allowzero the shape {dims} may not have both 0 and -1")
    return reshaped(use, data, dims)


def reshaped(use: OpUse, data: Array, dims: list[int]) -> Array:
    """``data`` in the shape ``dims``, of which one may be -1; NodeError if it does not fit."""
    try:
        return data.reshape(dims)
    except ValueError as error:
        raise use.error(
            f"{data.size} elements of shape {list(data.shape)} do not fit the shape {dims}"
        ) from error


@host("Flatten", versions=(1, 25), attributes=("axis",))
def flatten(use: OpUse, data: Array) -> Array:
    """Two dimensions: those before ``axis`` in one, the rest in the other."""
    axis = use.attr("axis", 1)
    if not -data.ndim <= axis <= data.ndim:
        raise use.error(f"axis {axis} is out of range for rank {data.ndim}")
    axis = axis + data.ndim if axis < 0 else axis
    return data.reshape(math.prod(data.shape[:axis]), math.prod(data.shape[axis:]))


def axes_of(use: OpUse, axes: Array | None) -> list[int] | None:
    """The axes, which later versions have as an input and earlier ones as an attribute."""
    if axes is not None:
        return [int(a) for a in axes.reshape(-1)]
    listed = use.attr("axes")
    return None if listed is None else list(listed)


def normal_axes(use: OpUse, axes: list[int], rank: int) -> tuple[int, ...]:
    """``axes`` counted from 0; NodeError if one is out of range or named twice."""
    found = []
    for axis in axes:
        if not -rank <= axis < rank:
            raise use.error(f"axis {axis} is out of range for rank {rank}")
        found.append(axis + rank if axis < 0 else axis)
    if len(set(found)) != len(found):
        raise use.error(f"the axes {axes} name one twice")
    return tuple(found)


def normal_axis(use: OpUse, axis: int, rank: int) -> int:
    """``axis`` counted from 0; NodeError if it is out of range."""
    if not -rank <= axis < rank:
        raise use.error(f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


@host("Squeeze", versions=(1, 25), attributes=("axes",))
def squeeze(use: OpUse, data: Array, axes: Array | None = None) -> Array:
    """Drop the axes named, or all of length 1."""
    named = axes_of(use, axes)
    if named is None:
        return data.reshape([d for d in data.shape if d != 1])
    gone = normal_axes(use, named, data.ndim)
    for axis in gone:
        if data.shape[axis] != 1:
            raise use.error(f"axis {axis} has length {data.shape[axis]}; only 1 can be dropped")
    return data.reshape([d for i, d in enumerate(data.shape) if i not in gone])


@host("Unsqueeze", versions=(1, 25), attributes=("axes",))
def unsqueeze(use: OpUse, data: Array, axes: Array | None = None) -> Array:
    """Insert axes of length 1, counted in the output."""
    named = axes_of(use, axes)
    if named is None:
        raise use.error("no axes are given")
    rank = data.ndim + len(named)
    new = normal_axes(use, named, rank)
    dims = iter(data.shape)
    return data.reshape([1 if i in new else next(dims) for i in range(rank)])


@host("Expand", versions=(8, 25))
def expand(use: OpUse, data: Array, shape: Array) -> Array:
    """Broadcast both ways against ``shape``."""
    wanted = tuple(shape.tolist())
    try:
        dims = np.broadcast_shapes(data.shape, wanted)
    except ValueError as error:
        raise use.error(
            f"the shape {list(data.shape)} does not broadcast to {list(wanted)}"
        ) from error
    require_room(use, dims, data.dtype)
    return np.broadcast_to(data, dims)


@host("Tile", versions=(6, 25))
def tile(use: OpUse, data: Array, repeats: Array) -> Array:
    """Repeat along each axis."""
    times = tuple(repeats.tolist())
    if len(times) != data.ndim:
        raise use.error(f"{len(times)} repeats are given for rank {data.ndim}")
    require_room(use, tuple(d * r for d, r in zip(data.shape, times, strict=True)), data.dtype)
    return np.tile(data, times)


@host("Transpose", versions=(1, 25), attributes=("perm",))
def transpose(use: OpUse, data: Array) -> Array:
    """Reorder the axes by ``perm``, or reverse them."""
    perm = use.attr("perm")
    if perm is not None and sorted(perm) != list(range(data.ndim)):
        raise use.error(f"perm {list(perm)} does not permute {data.ndim} axes")
    return data.transpose(perm)


@host("Range", versions=(11, 27), attributes=("stash_type",))
def arange(use: OpUse, start: Array, limit: Array, delta: Array) -> Value:
    """start, start + delta, ... below (or above) limit."""
    dtype = start.dtype
    first, last, step = (a.reshape(-1)[0] for a in (start, limit, delta))
    if step == 0:
        raise use.error("delta is 0")
    if is_integer(dtype):
        numbers = range(int(first), int(last), int(step))
        require_room(use, (len(numbers),), dtype)
        return np.fromiter(numbers, dtype, len(numbers))
    count = max(0, math.ceil((float(last) - float(first)) / float(step)))
    require_room(use, (count,), dtype)
    wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    begin, by = (np.asarray(a).astype(wide) for a in (first, step))
    return (begin + np.arange(count).astype(wide) * by).astype(dtype)


@host("EyeLike", versions=(9, 22), attributes=("dtype", "k"))
def eye_like(use: OpUse, data: Array) -> Array:
    """Ones on the k-th diagonal of a matrix of the input's shape."""
    if data.ndim != 2:
        raise use.error(f"the input has rank {data.ndim}; 2 is needed")
    dtype = dtype_of(use, use.attr("dtype")) if "dtype" in use.attributes else data.dtype
    rows, columns = data.shape
    return np.eye(rows, columns, use.attr("k", 0)).astype(dtype)
