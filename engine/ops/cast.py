"""Cast and CastLike. ONNX: Cast 6-28, CastLike 15-25.

Between f32, f16, 8- to 64-bit integers and bool. Floats lose their fraction on the way to an
integer; integers that do not fit keep their low bits, as in C; anything but zero is true, NaN too.
From 64-bit integers to floats the nearest is taken. ``saturate`` and ``round_mode`` speak of
8-bit floats alone, which are refused like float64, bfloat16, strings and 4-bit integers.
"""

from __future__ import annotations

from ..ir.dtypes import dtype_name
from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .elementwise import VALUE, wrapped
from .registry import Kernel, kernel
from .steps import STORAGE, TYPES, StepBuilder, Tensor
from .unary import apply_unary
from .use import OpUse

_TRUE = {
    "f32": "u32((bitcast<u32>(x) & 0x7fffffffu) != 0u)",
    "i32": "u32(x != 0)",
    "u32": "u32(x != 0u)",
    "vec2<u32>": "u32(any(x != vec2<u32>(0u)))",
}
# value type of the source -> value type of the target -> expression of x
_CONVERT = {
    "f32": {"f32": "x", "i32": "i32(x)", "u32": "u32(x)", "vec2<u32>": "f32_to_int64(x)"},
    "i32": {
        "f32": "f32(x)",
        "i32": "x",
        "u32": "bitcast<u32>(x)",
        "vec2<u32>": "vec2<u32>(bitcast<u32>(x), bitcast<u32>(x >> 31u))",
    },
    "u32": {
        "f32": "f32(x)",
        "i32": "bitcast<i32>(x)",
        "u32": "x",
        "vec2<u32>": "vec2<u32>(x, 0u)",
    },
    "vec2<u32>": {
        "f32": "signed_to_f32(x)",
        "i32": "bitcast<i32>(x.x)",
        "u32": "x.x",
        "vec2<u32>": "x",
    },
}


def conversion(source: Tensor, target: Tensor) -> str:
    """The WGSL expression of x that turns values of ``source`` into those of ``target``."""
    value, result = VALUE[source.element], VALUE[target.element]
    if target.dtype == "bool":
        return _TRUE[value]
    if source.dtype == "uint64" and result == "f32":
        return "unsigned_to_f32(x)"
    if value == "f32" and target.dtype in ("uint8", "uint16"):
        return wrapped("u32(i32(x))", target.dtype)
    return wrapped(_CONVERT[value][result], target.dtype)


@kernel("Cast", since=(6, 9, 13, 19, 21, 23, 24, 25, 28))
class Cast(Kernel):
    """The input's values in another element type."""

    types = {"T1": TYPES.movable}
    attributes = frozenset(("to", "saturate", "round_mode"))

    def target(self, use: OpUse) -> str:
        """The element type that is asked for; "?" if unknown."""
        return dtype_name(int(use.attr("to"))) or "?"

    def check(self, use: OpUse) -> Support:
        """Only types that the device can hold."""
        dtype = self.target(use)
        if dtype not in STORAGE:
            return refused(Reason.TYPE, f"{use.op} to {dtype}; the GPU holds no such type")
        return SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's shape."""
        return (TensorType(self.target(use), use.dims(0)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch; none where the type stays."""
        source = steps.input(0)
        if source.dtype == self.target(use):
            steps.alias(0, source)
            return
        target = steps.output()
        name = f"Cast {source.dtype} to {target.dtype}"
        apply_unary(steps, source, target, conversion(source, target), name=name)


@kernel("CastLike", since=(15, 19, 21, 23, 24, 25))
class CastLike(Cast):
    """The first input's values in the second's element type."""

    types = {"T1": TYPES.movable, "T2": TYPES.movable}
    attributes = frozenset(("saturate", "round_mode"))

    def target(self, use: OpUse) -> str:
        """The second input's element type."""
        return use.input(1).dtype
