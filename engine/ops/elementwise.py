"""What elementwise kernels share: value types, four lanes at a time, wrapping of small integers.

A shader computes on values (f32 for both float types, i32, u32) and stores elements (f16 where
the tensor is). The function is scalar; where shapes allow it, an invocation applies it to four
neighbours that it loads and stores as one vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .broadcast import Shape, broadcast_strides, merge_axes
from .steps import TYPES, Tensor

INTEGERS = frozenset(("int32", "uint32", "int16", "uint16", "int8", "uint8"))
SIGNED = frozenset(("int32", "int16", "int8"))
FLOATS = TYPES.floats
NUMBERS = INTEGERS | FLOATS

# storage element -> type that is computed with
VALUE = {"f32": "f32", "f16": "f32", "i32": "i32", "u32": "u32", "vec2<u32>": "vec2<u32>"}

_WRAP = {
    "int8": "((({0}) << 24u) >> 24u)",
    "int16": "((({0}) << 16u) >> 16u)",
    "uint8": "(({0}) & 0xffu)",
    "uint16": "(({0}) & 0xffffu)",
}


def wrapped(expression: str, dtype: str) -> str:
    """``expression`` brought back to the range of ``dtype``, as its own arithmetic would be."""
    return _WRAP.get(dtype, "{0}").format(expression)


@dataclass(frozen=True, slots=True)
class Lanes:
    """How many neighbours an invocation handles, as WGSL text.

    Attributes:
        width: 1 or 4.
    """

    width: int

    def of(self, scalar: str) -> str:
        """The type of ``width`` elements of the type ``scalar``."""
        return scalar if self.width == 1 else f"vec4<{scalar}>"

    def call(self, function: str, result: str, *operands: str) -> str:
        """``function`` of each lane of ``operands``, gathered as ``width`` values."""
        if self.width == 1:
            return f"{function}({', '.join(operands)})"
        lanes = (f"{function}({', '.join(f'{o}.{c}' for o in operands)})" for c in "xyzw")
        return f"vec4<{result}>({', '.join(lanes)})"


def lanes_for(tensor: Tensor) -> Lanes:
    """Four lanes where the tensor divides into fours, else one."""
    return Lanes(4 if tensor.size % 4 == 0 and tensor.element != "vec2<u32>" else 1)


@dataclass(frozen=True, slots=True)
class Walk:
    """How broadcast operands are read, side by side, along a dense target.

    Attributes:
        lanes: neighbours an invocation handles.
        dims: merged extents; the last counts groups of ``lanes.width``.
        strides: per operand and axis, counted in what the operand's array holds.
        arrays: WGSL type of what each operand's array holds.
    """

    lanes: Lanes
    dims: Shape
    strides: tuple[Shape, ...]
    arrays: tuple[str, ...]

    @property
    def count(self) -> int:
        """Invocations that are needed."""
        return math.prod(self.dims)

    def words(self, operands: int) -> Iterator[int]:
        """Parameters per axis: its extent, then ``operands`` strides (zero where too many)."""
        padding = ((0,) * len(self.dims),) * (operands - len(self.strides))
        for axis in zip(self.dims, *self.strides, *padding, strict=True):
            yield from axis


def walk_together(shape: Sequence[int], operands: Sequence[Tensor]) -> Walk:
    """The walk of ``operands``, broadcast to ``shape``: four lanes where strides allow it."""
    dims, strides = merge_axes(shape, *(broadcast_strides(t.shape, shape) for t in operands))
    if not dims:
        dims, strides = (1,), ((0,),) * len(operands)
    inner = [s[-1] for s in strides]
    wide = (
        dims[-1] % 4 == 0
        and all(t.element != "vec2<u32>" for t in operands)
        and set(inner) <= {0, 1}
        and all(s[-1] == 0 or all(n % 4 == 0 for n in s[:-1]) for s in strides)
    )
    if not wide:
        return Walk(Lanes(1), dims, strides, tuple(t.element for t in operands))
    lanes = Lanes(4)
    return Walk(
        lanes,
        (*dims[:-1], dims[-1] // 4),
        tuple((*(n // 4 for n in s[:-1]), 1) if s[-1] else s for s in strides),
        tuple(
            lanes.of(t.element) if step else t.element
            for t, step in zip(operands, inner, strict=True)
        ),
    )
