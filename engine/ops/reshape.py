"""Reshape, Squeeze, Unsqueeze, Flatten, Identity, Dropout: the same memory in another shape.

No dispatch is made. Dropout is the identity, as it is wherever nobody trains; its mask is then
all true. ONNX: Reshape 5-25, Squeeze and Unsqueeze 1-25, Flatten 1-25, Identity 1-25,
Dropout 7-22. Refused: Reshape 1 and Dropout 1-6 (attributes of the first opsets), a Dropout with
training_mode.
"""

from __future__ import annotations

import math

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import Shape, axes_of, axis_of, host_ints
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder
from .use import OpUse


class View(Kernel):
    """An operator whose output is its input's memory."""

    types = {"T": TYPES.movable}

    def shape(self, use: OpUse) -> Shape:
        """The output's shape."""
        raise NotImplementedError

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type in the new shape."""
        return (TensorType(use.input(0).dtype, self.shape(use)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """No work."""
        steps.alias(0, steps.input(0))


@kernel("Reshape", since=(5, 13, 14, 19, 21, 23, 24, 25))
class Reshape(View):
    """0 keeps the input's extent (unless allowzero), -1 takes what is left."""

    attributes = frozenset(("allowzero",))
    host_inputs = (1,)

    def shape(self, use: OpUse) -> Shape:
        """The requested shape with 0 and -1 resolved."""
        dims, wanted = use.dims(0), list(host_ints(use, 1))
        if not use.attr("allowzero", 0):
            for axis, extent in enumerate(wanted):
                if extent == 0:
                    if axis >= len(dims):
                        raise use.error(f"shape {wanted} copies axis {axis} of {dims}")
                    wanted[axis] = dims[axis]
        total = math.prod(dims)
        if wanted.count(-1) > 1 or any(d < -1 for d in wanted):
            raise use.error(f"{wanted} is no shape to reshape {dims} to")
        if -1 in wanted:
            rest = math.prod(d for d in wanted if d != -1)
            if rest == 0 or total % rest:
                raise use.error(f"{total} elements of {dims} do not fill the shape {wanted}")
            wanted[wanted.index(-1)] = total // rest
        if math.prod(wanted) != total:
            raise use.error(f"{total} elements of {dims} do not fill the shape {wanted}")
        return tuple(wanted)


def _axes(use: OpUse) -> tuple[int, ...] | None:
    """The axes, from the attribute or from input 1; None where neither is given."""
    if use.has(1):
        return host_ints(use, 1)
    axes = use.attr("axes")
    return None if axes is None else tuple(axes)


@kernel("Squeeze", since=(1, 11, 13, 21, 23, 24, 25))
class Squeeze(View):
    """Drops axes of extent 1: those named, or all."""

    attributes = frozenset(("axes",))
    host_inputs = (1,)

    def shape(self, use: OpUse) -> Shape:
        """The extents that stay."""
        dims, axes = use.dims(0), _axes(use)
        if axes is None:
            return tuple(d for d in dims if d != 1)
        dropped = axes_of(use, axes, len(dims))
        for axis in dropped:
            if dims[axis] != 1:
                raise use.error(f"axis {axis} of {dims} has extent {dims[axis]}, not 1")
        return tuple(d for axis, d in enumerate(dims) if axis not in dropped)


@kernel("Unsqueeze", since=(1, 11, 13, 21, 23, 24, 25))
class Unsqueeze(View):
    """Inserts axes of extent 1; the axes count in the output."""

    attributes = frozenset(("axes",))
    host_inputs = (1,)

    def shape(self, use: OpUse) -> Shape:
        """The input's extents with ones between."""
        dims, axes = use.dims(0), _axes(use)
        if axes is None:
            raise use.error("no axes are given")
        rank = len(dims) + len(axes)
        added = axes_of(use, axes, rank)
        rest = iter(dims)
        return tuple(1 if axis in added else next(rest) for axis in range(rank))


@kernel("Flatten", since=(1, 9, 11, 13, 21, 23, 24, 25))
class Flatten(View):
    """Two axes: what is before ``axis`` and the rest."""

    attributes = frozenset(("axis",))

    def shape(self, use: OpUse) -> Shape:
        """(elements before, elements from axis on)."""
        dims = use.dims(0)
        axis = axis_of(use, int(use.attr("axis", 1)), len(dims), extra=1)
        return math.prod(dims[:axis]), math.prod(dims[axis:])


@kernel("Identity", since=(1, 13, 14, 16, 19, 21, 23, 24, 25))
class Identity(View):
    """The input."""

    types = {"T": TYPES.movable, "V": TYPES.movable}

    def shape(self, use: OpUse) -> Shape:
        """The input's shape."""
        return use.dims(0)


@kernel("Dropout", since=(7, 10, 12, 13, 22))
class Dropout(View):
    """The input, as at inference; the ratio and the seed then play no part."""

    types = {"T": TYPES.floats}
    attributes = frozenset(("ratio", "seed"))
    host_inputs = (1, 2)

    def check(self, use: OpUse) -> Support:
        """Not while training, nor where that is not known."""
        if use.has(2):
            training = use.value(2)
            if training is None:
                return refused(Reason.ATTRIBUTE, f"{use.op} has a training_mode not known yet")
            if bool(training.reshape(-1)[0]):
                return refused(Reason.ATTRIBUTE, f"{use.op} is in training_mode")
        return SUPPORTED

    def shape(self, use: OpUse) -> Shape:
        """The input's shape."""
        return use.dims(0)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Output and mask; before version 10 the mask has the data's type."""
        data = super().shapes(use)[0]
        mask = data.dtype if use.since_version and use.since_version < 10 else "bool"
        return data, TensorType(mask, data.shape)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """No work; a mask that is wanted is a constant."""
        super().build(use, steps)
        if use.wants(1):
            mask = self.shapes(use)[1]
            steps.alias(1, steps.constant(np.ones(mask.dims, mask.dtype), mask.dtype))
