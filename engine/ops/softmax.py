"""Softmax, LogSoftmax and Hardmax.

    softmax(x) = exp(x - max) / sum(exp(x - max))        log_softmax(x) = x - max - log(sum(..))

over one axis from version 13 on; before, over all axes from ``axis`` on, flattened. Sums in f32.
ONNX: 1-13 of all three.
"""

from __future__ import annotations

import math
from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Support
from .broadcast import axis_of, split_at
from .registry import Kernel, kernel
from .rows import SHARED_FROM, WALKS, group_size, row_support
from .steps import TYPES, StepBuilder
from .tiles import MOST_TURNS
from .use import OpUse

MANY_ROWS = 4_096
LONG_ROW = MOST_TURNS // WALKS  # what one invocation may walk alone


class _Rows(Kernel):
    """A function of rows: the elements along the axis.

    Attributes:
        result: WGSL of x, largest (the row's), total (sum of exp(x - largest)), and is_first
            (x is the row's first largest).
    """

    types = {"T": TYPES.floats}
    attributes = frozenset(("axis",))
    result: ClassVar[str]

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        return (TensorType(use.input(0).dtype, use.dims(0)),)

    def check(self, use: OpUse) -> Support:
        """Rows that a workgroup can walk."""
        known = use.known_dims(0)
        return SUPPORTED if known is None else row_support(use, self._rows(use)[1])

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch: an invocation for each row, or a workgroup where rows are long."""
        source, target = steps.input(0), steps.output()
        outer, extent, inner = self._rows(use)
        rows = outer * inner if extent else 0
        # Rows that lie side by side are read well by neighbouring invocations, if there are enough.
        shared = extent >= SHARED_FROM and (inner == 1 or rows < MANY_ROWS or extent > LONG_ROW)
        steps.dispatch(
            "softmax_group" if shared else "softmax_serial",
            reads=[source],
            writes=[target],
            groups=steps.grid(rows, 1) if shared else steps.grid(rows),
            params=(rows, extent, inner, 0),
            variables={
                "element": source.element,
                "result": self.result,
                **({"group_size": group_size(extent)} if shared else {}),
            },
            variant=f"{self.op_type}, {source.element}",
        )

    @staticmethod
    def _rows(use: OpUse) -> tuple[int, int, int]:
        """The input as (outer, extent, inner): rows along the middle axis."""
        dims = use.dims(0)
        if use.since_version and use.since_version < 13:
            axis = axis_of(use, int(use.attr("axis", 1)), len(dims), extra=1)
            return math.prod(dims[:axis]), math.prod(dims[axis:]), 1
        if not dims:
            return 1, 1, 1
        return split_at(dims, axis_of(use, int(use.attr("axis", -1)), len(dims)))


@kernel("Softmax", since=(1, 11, 13))
class Softmax(_Rows):
    """The share of each element in the sum of exponentials."""

    result = "exp(x - largest) / total"


@kernel("LogSoftmax", since=(1, 11, 13))
class LogSoftmax(_Rows):
    """The logarithm of the softmax, without computing it first."""

    result = "(x - largest) - log(total)"


@kernel("Hardmax", since=(1, 11, 13))
class Hardmax(_Rows):
    """One for the first largest element, zero for the others."""

    result = "select(0.0, 1.0, is_first)"
