"""MaxPool, AveragePool (1 to 22), LpPool (2 to 22), GlobalAveragePool, GlobalMaxPool (1, 22).

One to three spatial axes, f32 and f16 (summed in f32); strides, dilations, pads, ``auto_pad`` and
``ceil_mode`` as :mod:`window` has them. A window more under ``ceil_mode`` never starts in the
padding at the end. AveragePool divides by the taps on the input, or with ``count_include_pad`` by
those on the input or its padding. A maximum with a NaN in its window is NaN. MaxPool's indices are
int64, the first of equal maxima. Declined: other ranks, ``pads`` together with ``auto_pad``,
integer tensors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .conv_geometry import axis_params
from .index_policy import INDEX_POLICY
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder, Variable
from .tiles import MOST_TURNS, spans, turns
from .use import OpUse
from .window import MAX_SPATIAL_AXES, Axis, check_window, pool_axes, three_axes

_MINUS_INFINITY = 0xFF800000  # the bits of the f32
_WINDOW = ("auto_pad", "kernel_shape", "pads", "strides")


class Pool(Kernel):
    """What all pools over windows share.

    Attributes:
        mode: "max", "average" or "norm" in pool_window.wgsl.
    """

    types = MappingProxyType({"T": TYPES.floats})
    mode: ClassVar[str]

    def check(self, use: OpUse) -> Support:
        """Ranks of three to five, one kind of padding, no window too large for one invocation."""
        window = tuple(use.attr("kernel_shape", ()))
        if (needed := turns(*(1,) * (MAX_SPATIAL_AXES - len(window)), *window)) > MOST_TURNS:
            return refused(
                Reason.LIMIT,
                f"the window {list(window)} has {math.prod(window):,} elements: {needed:,} loop "
                f"turns for one invocation, which may have {MOST_TURNS:,}",
                taps=math.prod(window),
            )
        return check_window(use)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(N, C, spatial...)."""
        x = use.dims(0)
        spatial = tuple(a.output for a in pool_axes(use, x[2:]))
        return (TensorType(use.input(0).dtype, (*x[:2], *spatial)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch, in pieces where it would take too long."""
        x = use.dims(0)
        axes = three_axes(pool_axes(use, x[2:]))
        geometry = [value for axis in axes for value in axis_params(axis)]
        outputs = [steps.output()] + ([steps.output(1)] if use.wants(1) else [])
        variables: dict[str, Variable] = {
            "element": outputs[0].element,
            "index": INDEX_POLICY.index_type,
            "mode": self.mode,
            "indices": use.wants(1),
        }
        for first, count in spans(outputs[0].size, _taps(axes), steps.work_limit()):
            steps.dispatch(
                "pool_window",
                reads=(steps.input(0),),
                writes=outputs,
                groups=steps.grid(count),
                params=(
                    first,
                    count,
                    int(use.attr("count_include_pad", 0)),
                    int(use.attr("storage_order", 0)),
                    float(use.attr("p", 2)),
                    _MINUS_INFINITY,
                    *(0, 0),
                    *(a.end for a in axes),
                    0,
                    *geometry,
                ),
                variables=variables,
                variant=self.mode,
            )

    def cost(self, use: OpUse) -> Cost:
        """One operation per tap and output element."""
        axes = pool_axes(use, use.dims(0)[2:])
        outputs = math.prod(use.dims(0)[:2]) * math.prod(a.output for a in axes)
        return Cost(outputs * _taps(axes), super().cost(use).bytes)


def _taps(axes: Sequence[Axis]) -> int:
    return math.prod(a.kernel for a in axes)


@kernel("MaxPool", since=(1, 8, 10, 11, 12, 22))
class MaxPool(Pool):
    """The maximum of each window, and on demand where it is."""

    attributes = frozenset((*_WINDOW, "ceil_mode", "dilations", "storage_order"))
    mode = "max"

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(N, C, spatial...), twice."""
        (values,) = super().shapes(use)
        return values, TensorType("int64", values.shape)


@kernel("AveragePool", since=(1, 7, 10, 11, 19, 22))
class AveragePool(Pool):
    """The mean of each window."""

    attributes = frozenset((*_WINDOW, "ceil_mode", "count_include_pad", "dilations"))
    mode = "average"


@kernel("LpPool", since=(2, 11, 18, 22))
class LpPool(Pool):
    """The p-norm of each window."""

    attributes = frozenset((*_WINDOW, "ceil_mode", "dilations", "p"))
    mode = "norm"


class GlobalPool(Kernel):
    """One value per channel, whatever the number of spatial axes.

    Attributes:
        mode: "max" or "average" in pool_global.wgsl.
        start: bits of the f32 that a reduction starts from.
    """

    types = MappingProxyType({"T": TYPES.floats})
    mode: ClassVar[str]
    start: ClassVar[int]

    def check(self, use: OpUse) -> Support:
        """At least batch, channels and one spatial axis."""
        shape = use.inputs[0].shape if use.inputs and use.inputs[0] is not None else None
        if shape is not None and len(shape) < 3:
            return refused(Reason.SHAPE, f"the input has {len(shape)} dimensions; 3 are needed")
        return SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(N, C, 1...)."""
        x = use.dims(0)
        if math.prod(x[2:]) == 0:
            raise use.error(f"the input {list(x)} has no element to pool")
        return (TensorType(use.input(0).dtype, (*x[:2], *(1,) * (len(x) - 2))),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One workgroup a channel."""
        x, y = use.dims(0), steps.output()
        per_channel = math.prod(x[2:])
        for first, count in spans(y.size, per_channel, steps.work_limit()):
            steps.dispatch(
                "pool_global",
                reads=(steps.input(0),),
                writes=(y,),
                groups=steps.grid(count, 1),
                params=(first, count, per_channel, self.start),
                variables={
                    "element": y.element,
                    "index": INDEX_POLICY.index_type,
                    "mode": self.mode,
                },
                variant=self.mode,
            )

    def cost(self, use: OpUse) -> Cost:
        """One operation per input element."""
        return Cost(math.prod(use.dims(0)), super().cost(use).bytes)


@kernel("GlobalAveragePool", since=(1, 22))
class GlobalAveragePool(GlobalPool):
    """The mean of each channel."""

    mode = "average"
    start = 0


@kernel("GlobalMaxPool", since=(1, 22))
class GlobalMaxPool(GlobalPool):
    """The maximum of each channel."""

    mode = "max"
    start = _MINUS_INFINITY
