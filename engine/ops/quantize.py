"""QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear.

    quantized = saturate(round half to even(x / scale) + zero)
    x         = (quantized - zero) * scale

with one scale for the tensor, one for each slice along ``axis``, or one for each block of it.
ONNX: 10 to 28 of the first two, DynamicQuantizeLinear 11. Refused: 4- and 8-bit floats and 4-bit
integers.
"""

from __future__ import annotations

import math

import numpy as np

from ..ir.dtypes import dtype_name
from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import axis_of
from .elementwise import FLOATS, VALUE
from .reduction import LARGEST, SMALLEST, Layout, reduce_axes, reduction_support
from .registry import Kernel, kernel
from .steps import StepBuilder, Tensor
from .use import OpUse

QUANTIZED = frozenset(("int8", "uint8", "int16", "uint16"))


class _Linear(Kernel):
    """What both directions share: which scale an element takes."""

    host_inputs = ()

    def check(self, use: OpUse) -> Support:
        """An output type that the device can hold."""
        dtype = self.result(use)
        if dtype not in self.results:
            return refused(Reason.TYPE, f"{use.op} to {dtype}", dtype=dtype)
        return SUPPORTED

    results = frozenset[str]()

    def result(self, use: OpUse) -> str:
        """The output's element type."""
        raise NotImplementedError

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's shape."""
        self._scale_index(use)
        return (TensorType(self.result(use), use.dims(0)),)

    @staticmethod
    def _scale_index(use: OpUse) -> tuple[int, int, int, int]:
        """(inner, extent, block, blocks) of shaders/quantize.wgsl; NodeError on odd shapes."""
        dims, scales = use.dims(0), use.dims(1)
        if use.has(2) and use.dims(2) != scales and {use.dims(2), scales} != {(), (1,)}:
            raise use.error(f"scale of shape {scales}, zero point of shape {use.dims(2)}")
        if math.prod(scales) == 1 and len(scales) <= 1:
            return max(1, math.prod(dims)), 1, 1, 0
        axis = axis_of(use, int(use.attr("axis", 1)), len(dims))
        inner, extent = math.prod(dims[axis + 1 :]), dims[axis]
        block = int(use.attr("block_size", 0))
        if not block:
            if scales != (extent,):
                raise use.error(f"scales of shape {scales} for the extent {extent} of axis {axis}")
            return inner, extent, 1, 0
        blocks = -(-extent // block)
        if scales != (*dims[:axis], blocks, *dims[axis + 1 :]):
            raise use.error(f"scales of shape {scales} for {dims} in blocks of {block}")
        return inner, extent, block, blocks

    def dispatch(
        self, use: OpUse, steps: StepBuilder, zero: Tensor, expression: str, bounds: tuple[int, int]
    ) -> None:
        """One dispatch of the expression of x, scale, zero, low and high."""
        source, scale, target = steps.input(0), steps.input(1), steps.output()
        inner, extent, block, blocks = self._scale_index(use)
        low, high = bounds
        steps.dispatch(
            "quantize",
            reads=[source, scale, zero],
            writes=[target],
            groups=steps.grid(target.size),
            params=(target.size, inner, extent, block, blocks, low, high, 0),
            variables={
                "source": source.element,
                "scale": scale.element,
                "zero": zero.element,
                "zero_value": VALUE[zero.element],
                "target": target.element,
                "expression": expression,
            },
            variant=f"{self.op_type} {source.dtype} to {target.dtype}",
        )


@kernel("DequantizeLinear", since=(10, 13, 19, 21, 23, 24, 25, 28))
class DequantizeLinear(_Linear):
    """(x - zero point) * scale."""

    types = {
        "T": frozenset(("int8", "uint8", "int32")),
        "T1": QUANTIZED | {"int32"},
        "T2": FLOATS,
        "x_scale": FLOATS,
    }
    attributes = frozenset(("axis", "block_size", "output_dtype"))
    results = FLOATS

    def result(self, use: OpUse) -> str:
        """The attribute's type, or the scale's."""
        code = int(use.attr("output_dtype", 0))
        return (dtype_name(code) or "?") if code else use.input(1).dtype

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        zero = (
            steps.input(2)
            if use.has(2)
            else steps.constant(np.zeros(use.dims(1), use.input(0).dtype), use.input(0).dtype)
        )
        # 32-bit words of int32 may not fit f32 one by one; their difference is taken first.
        self.dispatch(use, steps, zero, "f32(i32(x) - i32(zero)) * scale", (0, 0))


@kernel("QuantizeLinear", since=(10, 13, 19, 21, 23, 24, 25, 28))
class QuantizeLinear(_Linear):
    """x / scale, rounded half to even, plus the zero point, within the type's range."""

    types = {
        "T1": FLOATS | {"int32"},
        "T2": FLOATS | QUANTIZED,
        "T3": QUANTIZED,
        "y_scale": FLOATS,
    }
    # saturate speaks of 8-bit floats, precision of the division, which is f32 here.
    attributes = frozenset(("axis", "block_size", "output_dtype", "precision", "saturate"))
    results = QUANTIZED

    def check(self, use: OpUse) -> Support:
        """Also: a division in f32 at most."""
        precision = dtype_name(int(use.attr("precision", 0))) or "?"
        if use.attr("precision", 0) and precision not in ("float32", "float16"):
            return refused(Reason.ATTRIBUTE, f"{use.op} has the precision {precision}")
        return super().check(use)

    def result(self, use: OpUse) -> str:
        """The zero point's type, or the attribute's, or uint8."""
        if use.has(2):
            return use.input(2).dtype
        code = int(use.attr("output_dtype", 0))
        return (dtype_name(code) or "?") if code else "uint8"

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        dtype = self.result(use)
        zero = steps.input(2) if use.has(2) else steps.constant(np.zeros(use.dims(1), dtype), dtype)
        info = np.iinfo(dtype)
        expression = (
            f"{VALUE[zero.element]}(clamp(round(divide(f32(x), scale)) + f32(zero), "
            "f32(params.low), f32(params.high)))"
        )
        self.dispatch(use, steps, zero, expression, (int(info.min), int(info.max)))


@kernel("DynamicQuantizeLinear", since=(11,))
class DynamicQuantizeLinear(Kernel):
    """To uint8 with the scale that the data's own range asks for."""

    types = {"T1": frozenset(("float32",))}

    def check(self, use: OpUse) -> Support:
        """Not more elements than can be reduced."""
        dims = use.known_dims(0)
        if dims is None:
            return SUPPORTED
        return reduction_support(use, Layout.of(dims, tuple(range(len(dims)))), SMALLEST)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The quantized data, its scale and its zero point."""
        dims = use.dims(0)
        return TensorType("uint8", dims), TensorType("float32", ()), TensorType("uint8", ())

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """The range by two reductions, then the scale by one invocation, then the data."""
        source, dims = steps.input(0), use.dims(0)
        if 0 in dims:
            raise use.error(f"the input {dims} has no elements to take a range of")
        low, high = steps.scratch(()), steps.scratch(())
        layout = Layout.of(dims, tuple(range(len(dims))))
        reduce_axes(steps, source, low, layout, SMALLEST, "smallest")
        reduce_axes(steps, source, high, layout, LARGEST, "largest")
        scale, zero, target = steps.output(1), steps.output(2), steps.output(0)
        steps.dispatch(
            "quantize_range",
            reads=[low, high],
            writes=[scale, zero],
            groups=(1, 1, 1),
            variant="scale and zero point",
        )
        steps.dispatch(
            "quantize",
            reads=[source, scale, zero],
            writes=[target],
            groups=steps.grid(target.size),
            params=(target.size, target.size, 1, 1, 0, 0, 255, 0),
            variables={
                "source": "f32",
                "scale": "f32",
                "zero": "u32",
                "zero_value": "u32",
                "target": "u32",
                "expression": "u32(clamp(round(divide(f32(x), scale)) + f32(zero), 0.0, 255.0))",
            },
            variant="float32 to uint8",
        )
