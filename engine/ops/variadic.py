"""Max, Min, Sum and Mean of any number of inputs, broadcast together. ONNX 8-13.

Two inputs at a time; partial results of floats are kept in f32 and rounded once, at the end.
Refused: 64-bit integers; versions before 8, which had no broadcasting, are the same otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..ir.model import TensorType
from .binary import apply_binary
from .broadcast import broadcast
from .elementwise import FLOATS, NUMBERS, VALUE
from .registry import Kernel, kernel
from .steps import StepBuilder
from .use import OpUse


class Variadic(Kernel):
    """f(f(x0, x1), x2) and so on.

    Attributes:
        expressions: value type -> WGSL of x (so far) and y (the next input).
        last: the same for the last step where it differs; ``scale`` is the number of inputs.
    """

    fuses_activation = True
    expressions: ClassVar[Mapping[str, str]] = {}
    last: ClassVar[Mapping[str, str]] = {}

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The broadcast of all inputs."""
        dims = (use.dims(i) for i in range(len(use.inputs)))
        return (TensorType(use.input(0).dtype, broadcast(use, *dims)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch less than there are inputs, but at least one."""
        count, dtype = len(use.inputs), use.input(0).dtype
        partial = "float32" if dtype in FLOATS else dtype
        so_far = steps.input(0)
        if count == 1:
            value = VALUE[so_far.element]
            apply_binary(steps, so_far, so_far, steps.output(), "x", name=f"{self.op_type} {value}")
            return
        for index in range(1, count):
            final = index == count - 1
            operand = steps.input(index)
            shape = broadcast(use, so_far.shape, operand.shape)
            target = steps.output() if final else steps.scratch(shape, partial)
            value = VALUE[so_far.element]
            formulas = {**self.expressions, **self.last} if final else self.expressions
            apply_binary(
                steps,
                so_far,
                operand,
                target,
                formulas[value],
                name=self.op_type,
                scale=float(count),
                activation=final,
            )
            so_far = target


@kernel("Max", since=(6, 8, 12, 13))
class Max(Variadic):
    """The largest; NaN where any is."""

    expressions = {"f32": "max_or_nan(x, y)", "i32": "max(x, y)", "u32": "max(x, y)"}
    types = {"T": NUMBERS}


@kernel("Min", since=(6, 8, 12, 13))
class Min(Variadic):
    """The smallest; NaN where any is."""

    expressions = {"f32": "min_or_nan(x, y)", "i32": "min(x, y)", "u32": "min(x, y)"}
    types = {"T": NUMBERS}


@kernel("Sum", since=(6, 8, 13))
class Sum(Variadic):
    """The sum."""

    expressions = {"f32": "x + y"}
    types = {"T": FLOATS}


@kernel("Mean", since=(6, 8, 13))
class Mean(Variadic):
    """The arithmetic mean."""

    expressions = {"f32": "x + y"}
    last = {"f32": "divide(x + y, scale)"}
    types = {"T": FLOATS}
