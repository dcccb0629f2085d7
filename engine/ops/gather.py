"""Gather, GatherElements, GatherND: elements picked by an index tensor, of any type and rank.

Negative indices count from the end. An index out of range is an error where it is known while
planning; one that is only found on the device reads the nearest element there is.
ONNX: Gather 1-13, GatherElements 11-13, GatherND 11-13.
"""

from __future__ import annotations

import math

import numpy as np

from ..ir.model import TensorType
from .broadcast import Shape, axis_of, split_at, strides_of
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder, Tensor
from .strided import WIDE
from .use import OpUse

INDEX_TYPES = frozenset(("int32", "int64"))


def check_indices(use: OpUse, index: int, extents: int | np.ndarray) -> None:
    """NodeError if the known value of input ``index`` leaves ``extents`` (along its last axis)."""
    value = use.value(index)
    if value is None or value.size == 0:
        return
    wrong = (value < -np.asarray(extents)) | (value >= np.asarray(extents))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise use.error(
            f"index {int(value[where])} at {where} of input {index} is outside of the extent "
            f"{int(np.broadcast_to(extents, value.shape)[where])}"
        )


def index_load(tensor: Tensor) -> str:
    """WGSL that turns a stored index ``i`` into an i32."""
    return "bitcast<i32>(i.x)" if tensor.element == "vec2<u32>" else "i"


def gather_axis(
    steps: StepBuilder,
    data: Tensor,
    indices: Tensor,
    target: Tensor,
    sizes: tuple[int, int, int],
    name: str,
) -> None:
    """One dispatch: ``target[o, j, i] = data[o, indices[j], i]``.

    Args:
        steps: where the dispatch goes.
        data: (outer, extent, inner), of any element type.
        indices: int32 or int64, flattened.
        target: (outer, number of indices, inner).
        sizes: (outer, extent, inner).
        name: what tables show.
    """
    _, extent, inner = sizes
    wide, element = WIDE[data.element]
    if inner % wide:
        wide, element = 1, data.element
    count = target.size // wide
    steps.dispatch(
        "gather_axis",
        reads=[data, indices],
        writes=[target],
        groups=steps.grid(count),
        params=(count, indices.size, inner // wide, extent),
        variables={
            "element": element,
            "index": indices.element,
            "index_load": index_load(indices),
        },
        variant=f"{name}, {element}",
    )


@kernel("Gather", since=(1, 11, 13))
class Gather(Kernel):
    """Slices of the data along one axis, in the order of the indices."""

    types = {"T": TYPES.movable, "Tind": INDEX_TYPES}
    attributes = frozenset(("axis",))

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The data's shape with the indices' in place of the axis."""
        dims, axis = use.dims(0), self._axis(use)
        check_indices(use, 1, dims[axis])
        return (TensorType(use.input(0).dtype, (*dims[:axis], *use.dims(1), *dims[axis + 1 :])),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        sizes = split_at(use.dims(0), self._axis(use))
        gather_axis(steps, steps.input(0), steps.input(1), steps.output(), sizes, "Gather")

    @staticmethod
    def _axis(use: OpUse) -> int:
        return axis_of(use, int(use.attr("axis", 0)), len(use.dims(0)))


@kernel("GatherElements", since=(11, 13))
class GatherElements(Kernel):
    """output[i][j][k] = data[i][indices[i][j][k]][k] for axis 1 of 3."""

    types = {"T": TYPES.movable, "Tind": INDEX_TYPES}
    attributes = frozenset(("axis",))

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The indices' shape."""
        dims, taken = use.dims(0), use.dims(1)
        axis = self._axis(use)
        if len(dims) != len(taken) or any(
            t > d for k, (d, t) in enumerate(zip(dims, taken, strict=True)) if k != axis
        ):
            raise use.error(f"indices of shape {taken} for data of shape {dims}, axis {axis}")
        check_indices(use, 1, dims[axis])
        return (TensorType(use.input(0).dtype, taken),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        data, indices, target = steps.input(0), steps.input(1), steps.output()
        axis, own = self._axis(use), strides_of(use.dims(0))
        shape = use.dims(1) or (1,)
        strides = tuple(0 if k == axis else s for k, s in enumerate(own)) or (0,)
        steps.dispatch(
            "gather_elements",
            reads=[data, indices],
            writes=[target],
            groups=steps.grid(target.size),
            params=(
                target.size,
                use.dims(0)[axis],
                own[axis],
                0,
                *(w for pair in zip(shape, strides, strict=True) for w in (*pair, 0, 0)),
            ),
            variables={
                "element": data.element,
                "index": indices.element,
                "index_load": index_load(indices),
                "rank": len(shape),
            },
            variant=f"rank {len(shape)}, {data.element}",
        )

    @staticmethod
    def _axis(use: OpUse) -> int:
        return axis_of(use, int(use.attr("axis", 0)), len(use.dims(0)))


@kernel("GatherND", since=(11, 12, 13))
class GatherND(Kernel):
    """Slices of the data, each at a tuple of indices; leading axes may be a common batch."""

    types = {"T": TYPES.movable, "indices": frozenset(("int64",))}
    attributes = frozenset(("batch_dims",))

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Batch and index axes, then what a tuple leaves of the data's."""
        dims, tuples, batch, depth = self._parts(use)
        check_indices(use, 1, np.array(dims[batch : batch + depth]))
        return (TensorType(use.input(0).dtype, (*tuples[:-1], *dims[batch + depth :])),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        data, indices, target = steps.input(0), steps.input(1), steps.output()
        dims, tuples, batch, depth = self._parts(use)
        inner = math.prod(dims[batch + depth :])
        steps.dispatch(
            "gather_nd",
            reads=[data, indices],
            writes=[target],
            groups=steps.grid(target.size),
            params=(
                target.size,
                inner,
                math.prod(tuples[batch:-1]),
                math.prod(dims[batch:]),
                *index_axes(dims[batch:], depth),
            ),
            variables={
                "element": data.element,
                "index": indices.element,
                "index_load": index_load(indices),
                "depth": depth,
            },
            variant=f"depth {depth}, {data.element}",
        )

    @staticmethod
    def _parts(use: OpUse) -> tuple[Shape, Shape, int, int]:
        """(data shape, indices shape, batch axes, indices per tuple)."""
        dims, tuples, batch = use.dims(0), use.dims(1), int(use.attr("batch_dims", 0))
        if not tuples or not dims:
            raise use.error(f"data of shape {dims} and indices of shape {tuples}")
        if not 0 <= batch < len(tuples) or dims[:batch] != tuples[:batch]:
            raise use.error(f"batch_dims {batch} for data {dims} and indices {tuples}")
        if not 1 <= tuples[-1] <= len(dims) - batch:
            raise use.error(f"tuples of {tuples[-1]} indices into {len(dims) - batch} axes")
        return dims, tuples, batch, tuples[-1]


def index_axes(dims: Shape, depth: int) -> tuple[int, ...]:
    """Parameters for a tuple of ``depth`` indices into ``dims``: extent and stride of each axis."""
    strides = strides_of(dims)
    return tuple(w for k in range(depth) for w in (dims[k], strides[k], 0, 0))
