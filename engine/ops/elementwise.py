"""What elementwise kernels share: types of values, four lanes at a time, wrapping of small integers.

A shader computes on values (f32 for both float types, i32, u32) and stores elements (f16 where
the tensor is). The function is scalar; where shapes allow it, an invocation applies it to four
neighbours that it loads and stores as one vector.
"""

from __future__ import annotations

from dataclasses import dataclass

GROUP = 256

INTEGERS = frozenset(("int32", "uint32", "int16", "uint16", "int8", "uint8"))
SIGNED = frozenset(("int32", "int16", "int8"))

# storage element -> type that is computed with
VALUE = {"f32": "f32", "f16": "f32", "i32": "i32", "u32": "u32"}

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


def lanes_for(*counts: int) -> Lanes:
    """Four lanes where every count is a multiple of four, else one."""
    return Lanes(4 if counts and all(c % 4 == 0 for c in counts) else 1)
