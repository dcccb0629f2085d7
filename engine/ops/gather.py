"""Gather, GatherElements, GatherND: elements picked by an index tensor, of any type and rank.

Negative indices count from the end; one out of range is an error (see :mod:`indices`).
ONNX: Gather 1-13, GatherElements 11-13, GatherND 11-13.
"""

from __future__ import annotations

import math

from ..ir.model import TensorType
from .broadcast import Shape, axis_of, split_at, strides_of
from .indices import INDEX_TYPES, check_indices, index_axes, index_variables
from .registry import Kernel, kernel
from .steps import NOT_WATCHED, TYPES, IndexWatch, StepBuilder, Tensor
from .strided import WIDE
from .use import OpUse


def gather_axis(
    steps: StepBuilder,
    data: Tensor,
    indices: Tensor,
    target: Tensor,
    sizes: tuple[int, int, int],
    name: str,
    watch: IndexWatch = NOT_WATCHED,
) -> None:
    """One dispatch: ``target[o, j, i] = data[o, indices[j], i]``.

    Args:
        steps: where the dispatch goes.
        data: (outer, extent, inner), of any element type.
        indices: int32 or int64, flattened.
        target: (outer, number of indices, inner).
        sizes: (outer, extent, inner).
        name: what tables show.
        watch: of the indices, where they are not known.
    """
    _, extent, inner = sizes
    wide, element = WIDE[data.element]
    if inner % wide:
        wide, element = 1, data.element
    count = target.size // wide
    steps.dispatch(
        "gather_axis",
        reads=[data, indices],
        writes=[target, *watch.words],
        groups=steps.grid(count),
        params=(count, indices.size, inner // wide, extent, watch.first),
        variables={"element": element, **index_variables(indices, watch)},
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
        data, indices, target = steps.input(0), steps.input(1), steps.output()
        sizes = split_at(use.dims(0), self._axis(use))
        watch = steps.watch_indices(1, sizes[1:2])
        gather_axis(steps, data, indices, target, sizes, "Gather", watch)

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
        extent = use.dims(0)[axis]
        watch = steps.watch_indices(1, (extent,))
        steps.dispatch(
            "gather_elements",
            reads=[data, indices],
            writes=[target, *watch.words],
            groups=steps.grid(target.size),
            params=(
                target.size,
                extent,
                own[axis],
                watch.first,
                *(w for pair in zip(shape, strides, strict=True) for w in (*pair, 0, 0)),
            ),
            variables={
                "element": data.element,
                **index_variables(indices, watch),
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
        check_indices(use, 1, dims[batch : batch + depth])
        return (TensorType(use.input(0).dtype, (*tuples[:-1], *dims[batch + depth :])),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        data, indices, target = steps.input(0), steps.input(1), steps.output()
        dims, tuples, batch, depth = self._parts(use)
        inner = math.prod(dims[batch + depth :])
        watch = steps.watch_indices(1, dims[batch : batch + depth])
        steps.dispatch(
            "gather_nd",
            reads=[data, indices],
            writes=[target, *watch.words],
            groups=steps.grid(target.size),
            params=(
                target.size,
                inner,
                math.prod(tuples[batch:-1]),
                math.prod(dims[batch:]),
                *(watch.first, 0, 0, 0),
                *index_axes(dims[batch:], depth),
            ),
            variables={
                "element": data.element,
                **index_variables(indices, watch),
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
