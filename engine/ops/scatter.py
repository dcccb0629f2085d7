"""ScatterND, ScatterElements, Scatter: a copy of the data with some elements replaced or changed.

With a reduction, every slice (ScatterND) or line (ScatterElements) is worked through by one
invocation in the order of the updates, so sums are exact for integers and the same in every run.
Without one, all updates are written at once: ONNX forbids repeated indices there.
ONNX: Scatter 9-11, ScatterElements 11-18, ScatterND 11-18. Refused: a reduction of types that are
only moved (64-bit integers, bool).
"""

from __future__ import annotations

import math

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import Shape, axis_of, strides_of
from .elementwise import INTEGERS, VALUE, wrapped
from .indices import INDEX_TYPES, check_indices, index_axes, index_variables
from .registry import Kernel, kernel
from .steps import TYPES, IndexWatch, StepBuilder, Tensor, Variable
from .strided import copy_strided
from .use import OpUse

MOST_TURNS = 16_384  # updates that an invocation takes one after another in one dispatch

_REDUCTIONS = {
    "none": {"f32": "y", "i32": "y", "u32": "y"},
    "add": {"f32": "x + y", "i32": "x + y", "u32": "x + y"},
    "mul": {"f32": "x * y", "i32": "x * y", "u32": "x * y"},
    "max": {"f32": "max_or_nan(x, y)", "i32": "max(x, y)", "u32": "max(x, y)"},
    "min": {"f32": "min_or_nan(x, y)", "i32": "min(x, y)", "u32": "min(x, y)"},
}


def _check_reduction(use: OpUse) -> Support:
    name, data = use.attr("reduction", "none"), use.inputs[0]
    if name not in _REDUCTIONS:
        return refused(Reason.ATTRIBUTE, f"{use.op} has the reduction {name!r}", reduction=name)
    if name != "none" and data and data.dtype not in (*TYPES.floats, *INTEGERS, "?"):
        detail = f"{use.op} with reduction {name!r} of {data.dtype}, which the GPU only moves"
        return refused(Reason.TYPE, detail, dtype=data.dtype)
    return SUPPORTED


def _variables(use: OpUse, data: Tensor, indices: Tensor, watch: IndexWatch) -> dict[str, Variable]:
    """Template variables that both shaders share."""
    name = use.attr("reduction", "none")
    moved = name == "none"
    value = data.element if moved else VALUE[data.element]
    merge = "y" if moved else wrapped(_REDUCTIONS[name][value], data.dtype)
    return {
        "element": data.element,
        "value": value,
        "merge": merge,
        **index_variables(indices, watch),
    }


def _copied(steps: StepBuilder, data: Tensor) -> Tensor:
    target = steps.output()
    copy_strided(steps, data, target, data.shape, strides_of(data.shape))
    return target


@kernel("ScatterND", since=(11, 13, 16, 18))
class ScatterND(Kernel):
    """Slices of the data, each at a tuple of indices, take the updates."""

    types = {"T": TYPES.movable, "indices": frozenset(("int64",))}
    attributes = frozenset(("reduction",))

    def check(self, use: OpUse) -> Support:
        """Reductions of computable types only."""
        return _check_reduction(use)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The data's shape."""
        dims, tuples, updates = use.dims(0), use.dims(1), use.dims(2)
        if not tuples or not 1 <= tuples[-1] <= len(dims):
            raise use.error(f"indices of shape {tuples} into data of shape {dims}")
        depth = tuples[-1]
        if updates != (*tuples[:-1], *dims[depth:]):
            raise use.error(
                f"updates of shape {updates}; indices {tuples} and data {dims} "
                f"need {(*tuples[:-1], *dims[depth:])}"
            )
        check_indices(use, 1, dims[:depth])
        return (TensorType(use.input(0).dtype, dims),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A copy, then the updates: all at once, or for each slice position in turn."""
        data, indices, updates = (steps.input(i) for i in range(3))
        target = _copied(steps, data)
        depth = use.dims(1)[-1]
        inner = math.prod(use.dims(0)[depth:])
        rows = math.prod(use.dims(1)[:-1])
        in_turn = use.attr("reduction", "none") != "none"
        # In turn: an invocation walks all rows of its position; at once: it has one row.
        walkers, turns = (inner, rows) if in_turn else (inner * rows, 1)
        if rows == 0:
            return
        watch = steps.watch_indices(1, use.dims(0)[:depth])
        for first in range(0, turns, MOST_TURNS):
            last = min(first + MOST_TURNS, turns)
            steps.dispatch(
                "scatter_nd",
                reads=[indices, updates],
                writes=[target, *watch.words],
                groups=steps.grid(walkers),
                params=(
                    *(walkers, inner, first, last, watch.first, 0, 0, 0),
                    *index_axes(use.dims(0), depth),
                ),
                variables={**_variables(use, data, indices, watch), "depth": depth},
                variant=f"{use.attr('reduction', 'none')}, {data.element}",
            )


@kernel("ScatterElements", since=(11, 13, 16, 18))
class ScatterElements(Kernel):
    """output[i][indices[i][j][k]][k] = updates[i][j][k] for axis 1 of 3."""

    types = {"T": TYPES.movable, "Tind": INDEX_TYPES}
    attributes = frozenset(("axis", "reduction"))

    def check(self, use: OpUse) -> Support:
        """Reductions of computable types only."""
        return _check_reduction(use)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The data's shape."""
        dims, taken, updates = use.dims(0), use.dims(1), use.dims(2)
        axis = self._axis(use)
        if updates != taken:
            raise use.error(f"indices of shape {taken} and updates of shape {updates}")
        if len(dims) != len(taken) or any(
            t > d for k, (d, t) in enumerate(zip(dims, taken, strict=True)) if k != axis
        ):
            raise use.error(f"indices of shape {taken} for data of shape {dims}, axis {axis}")
        check_indices(use, 1, dims[axis])
        return (TensorType(use.input(0).dtype, dims),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A copy, then the updates: all at once, or for each line in turn."""
        data, indices, updates = (steps.input(i) for i in range(3))
        target = _copied(steps, data)
        axis, taken = self._axis(use), use.dims(1)
        if 0 in taken:
            return
        in_turn = use.attr("reduction", "none") != "none"
        turns = taken[axis] if in_turn else 1
        # The walk: every axis of the updates but, in turn, the one that is scattered along.
        shape = tuple(1 if in_turn and k == axis else d for k, d in enumerate(taken))
        own, given = strides_of(use.dims(0)), strides_of(taken)
        axes = self._axes(shape, tuple(0 if k == axis else s for k, s in enumerate(own)), given)
        walkers = math.prod(shape)
        extent = use.dims(0)[axis]
        watch = steps.watch_indices(1, (extent,))
        for first in range(0, turns, MOST_TURNS):
            last = min(first + MOST_TURNS, turns)
            steps.dispatch(
                "scatter_elements",
                reads=[indices, updates],
                writes=[target, *watch.words],
                groups=steps.grid(walkers),
                params=(
                    *(walkers, given[axis], extent, own[axis], first, last, watch.first, 0),
                    *axes,
                ),
                variables={**_variables(use, data, indices, watch), "rank": len(shape)},
                variant=f"{use.attr('reduction', 'none')}, {data.element}",
            )

    @staticmethod
    def _axes(shape: Shape, target: Shape, given: Shape) -> tuple[int, ...]:
        return tuple(w for axis in zip(shape, target, given, strict=True) for w in (*axis, 0))

    @staticmethod
    def _axis(use: OpUse) -> int:
        rank = len(use.dims(0))
        if rank == 0:
            raise use.error("the data is a scalar")
        return axis_of(use, int(use.attr("axis", 0)), rank)


@kernel("Scatter", since=(9, 11))
class Scatter(ScatterElements):
    """The older name of ScatterElements, without reductions."""

    attributes = frozenset(("axis",))
