"""Operators of two inputs, element by element with broadcasting: z = f(x, y).

Float types compute in f32 and round once as they store; integers wrap at their own width. Division
gives exact quotients exactly and powers of negative bases are IEEE's (lib/math, lib/power).
ONNX: from version 7 on, where broadcasting became numpy's. Refused: 64-bit integers, except for
comparing them, and an integer to a float power.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import broadcast
from .elementwise import FLOATS, INTEGERS, NUMBERS, SIGNED, VALUE, walk_together, wrapped
from .registry import Kernel, kernel
from .steps import StepBuilder, Tensor
from .use import OpUse

WIDE_INTEGERS = frozenset(("int64", "uint64"))
BOOL = frozenset(("bool",))


def apply_binary(
    steps: StepBuilder,
    left: Tensor,
    right: Tensor,
    target: Tensor,
    expression: str,
    *,
    name: str,
    scale: float = 0.0,
    activation: bool = True,
) -> None:
    """One dispatch: ``target = expression`` of ``x`` from ``left`` and ``y`` from ``right``.

    Args:
        steps: where the dispatch goes.
        left: x, broadcast to the target's shape.
        right: y, likewise.
        target: written.
        expression: WGSL of x, y and ``scale``; its type is that of the target's values.
        name: what tables show.
        scale: a parameter of the expression.
        activation: apply the activation that the planner fused.
    """
    walk = walk_together(target.shape, (left, right))
    lanes, result = walk.lanes, VALUE[target.element]
    fused = steps.activation if activation and result == "f32" else None
    formula = expression if result == "f32" else wrapped(expression, target.dtype)
    if fused is not None and fused.name != "identity":
        formula = f"activate_{fused.name}({formula}, params.alpha, params.beta)"
        name = f"{name} + {fused.name}"
    steps.dispatch(
        "binary",
        reads=[left, right],
        writes=[target],
        groups=steps.grid(walk.count),
        params=(
            walk.count,
            fused.alpha if fused else 0.0,
            fused.beta if fused else 0.0,
            scale,
            *walk.words(3),
        ),
        variables={
            "expression": formula,
            "left_value": VALUE[left.element],
            "right_value": VALUE[right.element],
            "result": result,
            "left": walk.arrays[0],
            "right": walk.arrays[1],
            "target": lanes.of(target.element),
            "load_left": lanes.of(VALUE[left.element]),
            "load_right": lanes.of(VALUE[right.element]),
            "wide_left": lanes.of(left.element),
            "wide_right": lanes.of(right.element),
            "call": lanes.call("apply", result, "x", "y"),
            "rank": len(walk.dims),
        },
        variant=f"{name}, rank {len(walk.dims)}, {lanes.of(target.element)}",
    )


class Binary(Kernel):
    """z = f(x, y).

    Attributes:
        expressions: ONNX element type, or value type, of x -> WGSL expression of x and y.
        result: element type of the output; "" for that of x.
    """

    fuses_activation = True
    expressions: ClassVar[Mapping[str, str]] = {}
    result: ClassVar[str] = ""

    def expression(self, use: OpUse, left: Tensor, right: Tensor) -> str:
        """The WGSL expression for these operands."""
        return self.expressions.get(left.dtype) or self.expressions[VALUE[left.element]]

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The broadcast shape."""
        dtype = self.result or use.input(0).dtype
        return (TensorType(dtype, broadcast(use, use.dims(0), use.dims(1))),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        left, right = steps.input(0), steps.input(1)
        expression = self.expression(use, left, right)
        apply_binary(steps, left, right, steps.output(), expression, name=self.op_type)


def _arithmetic(op_type: str, floats: str, integers: str) -> None:
    members = {
        "__doc__": f"z = {floats}",
        "expressions": {"f32": floats, "i32": integers, "u32": integers},
        "types": {"T": NUMBERS},
    }
    kernel(op_type, since=(7, 13, 14))(type(op_type, (Binary,), members))


_arithmetic("Add", "x + y", "x + y")
_arithmetic("Sub", "x - y", "x - y")
_arithmetic("Mul", "x * y", "x * y")
_arithmetic("Div", "divide(x, y)", "x / y")


def _comparison(op_type: str, since: tuple[int, ...], signed: str, unsigned: str) -> None:
    """Register a comparison; ``{0}`` is "x < y" in the 64-bit forms, "x > y" with them swapped."""
    operator = {"Less": "<", "LessOrEqual": "<=", "Greater": ">", "GreaterOrEqual": ">="}[op_type]
    narrow = f"u32(x {operator} y)"
    members = {
        "__doc__": f"1 where x {operator} y",
        "expressions": {
            **dict.fromkeys(("f32", "i32", "u32"), narrow),
            "int64": f"u32({signed})",
            "uint64": f"u32({unsigned})",
        },
        "types": {"T": NUMBERS | WIDE_INTEGERS},
        "result": "bool",
    }
    kernel(op_type, since=since)(type(op_type, (Binary,), members))


_comparison("Less", (7, 9, 13), "less_signed(x, y)", "less_unsigned(x, y)")
_comparison("Greater", (7, 9, 13), "less_signed(y, x)", "less_unsigned(y, x)")
_comparison("LessOrEqual", (12, 16), "!less_signed(y, x)", "!less_unsigned(y, x)")
_comparison("GreaterOrEqual", (12, 16), "!less_signed(x, y)", "!less_unsigned(x, y)")


@kernel("Equal", since=(7, 11, 13, 19))
class Equal(Binary):
    """1 where x and y are equal."""

    expressions: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("f32", "i32", "u32"), "u32(x == y)"),
        "vec2<u32>": "u32(all(x == y))",
    }
    types = {"T": NUMBERS | WIDE_INTEGERS | BOOL}
    result = "bool"


@kernel("And", since=(7,))
class And(Binary):
    """1 where both are."""

    expressions = {"u32": "x & y"}
    types = {"T": BOOL}
    result = "bool"


@kernel("Or", since=(7,))
class Or(Binary):
    """1 where either is."""

    expressions = {"u32": "x | y"}
    types = {"T": BOOL}
    result = "bool"


@kernel("Xor", since=(7,))
class Xor(Binary):
    """1 where one is and the other is not."""

    expressions = {"u32": "x ^ y"}
    types = {"T": BOOL}
    result = "bool"


def _bitwise(op_type: str, operator: str) -> None:
    expression = f"x {operator} y"
    members = {
        "__doc__": f"z = {expression}",
        "expressions": {"i32": expression, "u32": expression},
        "types": {"T": INTEGERS},
    }
    kernel(op_type, since=(18,))(type(op_type, (Binary,), members))


_bitwise("BitwiseAnd", "&")
_bitwise("BitwiseOr", "|")
_bitwise("BitwiseXor", "^")


@kernel("BitShift", since=(11, 28))
class BitShift(Binary):
    """x shifted by y bits; nothing is left of it beyond its width."""

    types = {"T": INTEGERS - SIGNED}
    attributes = frozenset(("direction",))

    def expression(self, use: OpUse, left: Tensor, right: Tensor) -> str:
        """By the direction."""
        shift = {"LEFT": "<<", "RIGHT": ">>"}.get(use.attr("direction", ""))
        if shift is None:
            raise use.error(f"direction is {use.attr('direction')!r}, neither LEFT nor RIGHT")
        return f"select(x {shift} (y & 31u), 0u, y > 31u)"


@kernel("PRelu", since=(7, 9, 16))
class PRelu(Binary):
    """x, times the slope where it is negative; the slope broadcasts to x."""

    expressions = {
        "f32": "select(x, x * y, x < 0.0)",
        "i32": "select(x, x * y, x < 0)",
        "u32": "x",
    }
    types = {"T": FLOATS | {"int32", "uint32"}}

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The shape of x."""
        (result,) = super().shapes(use)
        if result.dims != use.dims(0):
            raise use.error(f"the slope {use.dims(1)} does not broadcast to {use.dims(0)}")
        return (result,)


@kernel("Pow", since=(7, 12, 13, 15))
class Pow(Binary):
    """x to the power of y, whose type may differ."""

    types = {"T": FLOATS | {"int32"}, "T1": NUMBERS | WIDE_INTEGERS}

    def check(self, use: OpUse) -> Support:
        """No float or 64-bit powers of integers: f32 would round them."""
        base, exponent = use.inputs[0], use.inputs[1]
        if base and exponent and base.dtype == "int32" and exponent.dtype not in INTEGERS:
            detail = f"{use.op} of int32 to the power of {exponent.dtype}; the kernel takes int32"
            return refused(Reason.TYPE, detail, input=1, dtype=exponent.dtype)
        return SUPPORTED

    def expression(self, use: OpUse, left: Tensor, right: Tensor) -> str:
        """By the types of base and exponent."""
        if left.dtype == "int32":
            if VALUE[right.element] == "u32":
                return "bitcast<i32>(integer_power(bitcast<u32>(x), y))"
            return "signed_power(x, y)"
        exponents = {"int64": "signed_to_f32(y)", "uint64": "unsigned_to_f32(y)"}
        return f"power(x, {exponents.get(right.dtype, 'f32(y)')})"


@kernel("Mod", since=(10, 13, 28))
class Mod(Binary):
    """The remainder: with the divisor's sign, or with fmod the dividend's."""

    types = {"T": NUMBERS}
    attributes = frozenset(("fmod",))

    def check(self, use: OpUse) -> Support:
        """Before version 28 floats have C's fmod only, by the ONNX text."""
        first = use.inputs[0] if use.inputs else None
        old = use.since_version < 28
        if old and first is not None and first.dtype in FLOATS and not use.attr("fmod", 0):
            return refused(Reason.ATTRIBUTE, f"{use.op} of {first.dtype} has fmod = 0")
        return SUPPORTED

    def expression(self, use: OpUse, left: Tensor, right: Tensor) -> str:
        """By the type and the attribute."""
        if VALUE[left.element] == "f32":
            return f"float_{'' if use.attr('fmod', 0) else 'floor_'}remainder(x, y)"
        if VALUE[left.element] == "i32":
            return "signed_remainder(x, y)" if use.attr("fmod", 0) else "floor_remainder(x, y)"
        return "x % y"
