"""Where and Clip. ONNX: Where 9-16, Clip 6-13.

Where moves elements of any type. Clip keeps NaN; its upper bound wins where the bounds cross.
A bound that is left out is the lowest or largest number of the type: infinities are cut.
Refused: Clip of 64-bit integers.
"""

from __future__ import annotations

import numpy as np

from ..ir.model import TensorType
from .binary import apply_binary
from .broadcast import broadcast
from .elementwise import FLOATS, NUMBERS, VALUE, walk_together
from .registry import Kernel, kernel
from .steps import TYPES, Activation, StepBuilder, Tensor
from .use import OpUse

LARGEST = {"float32": 3.4028234663852886e38, "float16": 65504.0}


@kernel("Where", since=(9, 16))
class Where(Kernel):
    """X where the condition holds, else Y."""

    types = {"B": frozenset(("bool",)), "T": TYPES.movable}

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The broadcast of all three."""
        shape = broadcast(use, use.dims(0), use.dims(1), use.dims(2))
        return (TensorType(use.input(1).dtype, shape),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        operands, target = [steps.input(i) for i in range(3)], steps.output()
        walk = walk_together(target.shape, operands)
        condition, if_true, if_false = walk.arrays
        steps.dispatch(
            "where",
            reads=operands,
            writes=[target],
            groups=steps.grid(walk.count),
            params=(walk.count, 0, 0, 0, *walk.words(3)),
            variables={
                "condition": condition,
                "if_true": if_true,
                "if_false": if_false,
                "target": walk.lanes.of(target.element),
                "words": walk.lanes.of("u32"),
                "rank": len(walk.dims),
            },
            variant=f"rank {len(walk.dims)}, {walk.lanes.of(target.element)}",
        )


@kernel("Clip", since=(6, 11, 12, 13))
class Clip(Kernel):
    """min(max(x, lower), upper), either bound being optional."""

    types = {"T": NUMBERS}
    attributes = frozenset(("min", "max"))

    def activation(self, use: OpUse) -> Activation | None:
        """Where both bounds are known, a producer may clip as it stores."""
        if use.input(0).dtype not in FLOATS:
            return None
        bounds = []
        for index, name in ((1, "min"), (2, "max")):
            value = use.value(index) if use.has(index) else _without_input(use, name)
            if value is None:
                return None
            bounds.append(float(np.asarray(value).reshape(-1)[0]))
        return Activation("clip", *bounds)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        for index in (1, 2):
            if use.has(index) and use.dims(index) not in ((), (1,)):
                raise use.error(f"the bound of input {index} has the shape {use.dims(index)}")
        return (TensorType(use.input(0).dtype, use.dims(0)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch for each bound; whole numbers need none for one that is left out."""
        source, target = steps.input(0), steps.output()
        bounds: list[tuple[str, Tensor]] = []
        for index, name in ((1, "min"), (2, "max")):
            bound = self._bound(use, steps, index, name)
            if bound is not None:
                bounds.append((name, bound))
        if not bounds:
            steps.alias(0, source)
            return
        for step, (name, bound) in enumerate(bounds):
            last = step == len(bounds) - 1
            result = target if last else steps.scratch(source.shape, use.input(0).dtype)
            # A bound that is NaN bounds nothing, so max and min may drop it, but never x.
            function = {"min": "max", "max": "min"}[name]
            expression = f"{function}(x, y)"
            if VALUE[source.element] == "f32":
                expression = f"select({expression}, x, is_nan(x))"
            apply_binary(steps, source, bound, result, expression, name=f"Clip {name}")
            source = result

    @staticmethod
    def _bound(use: OpUse, steps: StepBuilder, index: int, name: str) -> Tensor | None:
        if use.has(index):
            bound = steps.input(index)
            return Tensor(bound.storage_id, bound.dtype, (), bound.element)
        value, dtype = _without_input(use, name), use.input(0).dtype
        return None if value is None else steps.constant(np.array(value, dtype), dtype)


def _without_input(use: OpUse, name: str) -> float | None:
    """The bound that an attribute gives, else the type's own; None for whole numbers."""
    largest = LARGEST.get(use.input(0).dtype)
    if largest is None:
        return None
    value = use.attr(name, {"min": -largest, "max": largest}[name])
    return float(np.clip(value, -largest, largest))
