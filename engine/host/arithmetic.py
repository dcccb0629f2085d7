"""Elementwise arithmetic, comparisons and logic, with numpy's broadcasting (ONNX's own rule).

Before version 7 these operators broadcast by the attributes ``broadcast`` and ``axis``, which are
refused by name; without them the shapes were equal, which is the same rule.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable

import numpy as np

from ..ops.use import OpUse
from .dtypes import is_integer, largest_numbers, require_broadcast_room, widened
from .table import host
from .values import Value

Array = np.ndarray


@host("Add", versions=(1, 14))
def add(use: OpUse, a: Array, b: Array) -> Value:
    """The sum; whole numbers wrap."""
    require_broadcast_room(use, a, b)
    return a + b


@host("Sub", versions=(1, 14))
def subtract(use: OpUse, a: Array, b: Array) -> Value:
    """The difference; whole numbers wrap."""
    require_broadcast_room(use, a, b)
    return a - b


@host("Mul", versions=(1, 14))
def multiply(use: OpUse, a: Array, b: Array) -> Value:
    """The product; whole numbers wrap."""
    require_broadcast_room(use, a, b)
    return a * b


@host("Div", versions=(1, 14))
def divide(use: OpUse, a: Array, b: Array) -> Value:
    """The quotient; of whole numbers truncated towards zero, as in C."""
    require_broadcast_room(use, a, b)
    if not is_integer(a.dtype):
        return a / b
    _require_divisor(use, b)
    if a.dtype.kind == "u":
        return a // b
    quotient = np.floor_divide(a, b)
    inexact = quotient * b != a
    return quotient + (inexact & ((a < 0) != (b < 0)))


def _require_divisor(use: OpUse, b: Array) -> None:
    if not np.all(b):
        raise use.error("division of whole numbers by 0")


@host("Mod", versions=(10, 28), attributes=("fmod",))
def modulo(use: OpUse, a: Array, b: Array) -> Value:
    """The remainder: with the divisor's sign, or with ``fmod`` the dividend's."""
    require_broadcast_room(use, a, b)
    if is_integer(a.dtype):
        _require_divisor(use, b)
    elif 0 < use.since_version < 28 and not use.attr("fmod", 0):
        raise use.error("floating-point inputs need the attribute fmod=1 before version 28")
    return np.fmod(a, b) if use.attr("fmod", 0) else np.mod(a, b)


@host("Pow", versions=(1, 15))
def power(use: OpUse, base: Array, exponent: Array) -> Value:
    """The power, in the base's type."""
    require_broadcast_room(use, base, exponent)
    if is_integer(base.dtype) and is_integer(exponent.dtype) and not np.any(exponent < 0):
        return np.power(base, exponent.astype(base.dtype))
    wide = np.power(base.astype(np.float64), exponent.astype(np.float64))
    return wide.astype(base.dtype)


@host("Max", versions=(1, 13))
def maximum(use: OpUse, *values: Array) -> Array:
    """The largest of the inputs; NaN where one is NaN."""
    return _folded(use, np.maximum, values)


@host("Min", versions=(1, 13))
def minimum(use: OpUse, *values: Array) -> Array:
    """The smallest of the inputs; NaN where one is NaN."""
    return _folded(use, np.minimum, values)


@host("Sum", versions=(1, 13))
def add_all(use: OpUse, *values: Array) -> Array:
    """The sum of the inputs."""
    wide = _folded(use, operator.add, tuple(map(widened, values)))
    return wide.astype(values[0].dtype)


@host("Mean", versions=(1, 13))
def mean_of_all(use: OpUse, *values: Array) -> Array:
    """The mean of the inputs."""
    wide = _folded(use, operator.add, tuple(map(widened, values)))
    return (wide / len(values)).astype(values[0].dtype)


def _folded(use: OpUse, combine: Callable[..., Array], values: tuple[Array, ...]) -> Array:
    if not values:
        raise use.error("there is no input")
    require_broadcast_room(use, *values)
    return functools.reduce(combine, values)


_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "Equal": operator.eq,
    "Greater": operator.gt,
    "GreaterOrEqual": operator.ge,
    "Less": operator.lt,
    "LessOrEqual": operator.le,
}


@host(*_COMPARE, versions=(1, 19))
def compare(use: OpUse, a: Array, b: Array) -> Array:
    """A comparison; False with NaN. Text compares too (Equal-19)."""
    require_broadcast_room(use, a, b)
    return np.asarray(_COMPARE[use.op_type](a, b)).astype(bool)


_LOGIC: dict[str, Callable[[Array, Array], Array]] = {
    "And": np.logical_and,
    "Or": np.logical_or,
    "Xor": np.logical_xor,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
    "BitwiseXor": np.bitwise_xor,
}


@host(*_LOGIC, versions=(1, 18))
def logic(use: OpUse, a: Array, b: Array) -> Array:
    """Logic of two booleans, or of the bits of two whole numbers."""
    require_broadcast_room(use, a, b)
    return _LOGIC[use.op_type](a, b)


@host("Not", versions=(1, 1))
def logical_not(use: OpUse, a: Array) -> Value:
    """Negation of booleans."""
    return np.logical_not(a)


@host("BitwiseNot", versions=(18, 18))
def bitwise_not(use: OpUse, a: Array) -> Value:
    """Negation of every bit."""
    return np.bitwise_not(a)


@host("BitShift", versions=(11, 28), attributes=("direction",))
def bit_shift(use: OpUse, a: Array, count: Array) -> Array:
    """Bits of ``a`` moved by ``count``; a shift by too many (or under 0) leaves the sign alone."""
    direction = use.attr("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise use.error(f"the direction is {direction!r}; LEFT or RIGHT is needed")
    beyond = (count < 0) | (count >= 8 * a.dtype.itemsize)
    count = np.where(beyond, 0, count).astype(a.dtype)
    if direction == "LEFT":
        return np.where(beyond, 0, np.left_shift(a, count)).astype(a.dtype)
    return np.where(beyond, np.where(a < 0, -1, 0), np.right_shift(a, count)).astype(a.dtype)


@host("Where", versions=(9, 16))
def where(use: OpUse, condition: Array, a: Array, b: Array) -> Array:
    """The first value where the condition is true, else the second."""
    require_broadcast_room(use, condition, a, b)
    return np.where(condition, a, b)


@host("Clip", versions=(1, 10), attributes=("min", "max"))
def clip_by_attributes(use: OpUse, data: Array) -> Array:
    """Clip-1 and 6: bounds in attributes, at most the largest numbers of the type."""
    lowest, highest = largest_numbers(data.dtype)
    low, high = use.attr("min", lowest), use.attr("max", highest)
    bounds = np.clip((low, high), lowest, highest).astype(data.dtype)
    return _clipped(data, *bounds)


@host("Clip", versions=(11, 13))
def clip(use: OpUse, data: Array, low: Array | None = None, high: Array | None = None) -> Array:
    """Clip-11 and later: bounds as inputs; ``high`` wins where it is below ``low``.

    A bound that is left out is the lowest or largest number of the type, which cuts infinities.
    """
    lowest, highest = (np.asarray(bound, data.dtype) for bound in largest_numbers(data.dtype))
    return _clipped(data, lowest if low is None else low, highest if high is None else high)


def _clipped(data: Array, low: Array, high: Array) -> Array:
    clipped: Array = np.minimum(np.maximum(data, low), high)
    return clipped


@host("IsNaN", versions=(9, 20))
def is_nan(use: OpUse, data: Array) -> Value:
    """True where the value is NaN."""
    return np.isnan(data)


@host("IsInf", versions=(10, 20), attributes=("detect_negative", "detect_positive"))
def is_infinite(use: OpUse, data: Array) -> Value:
    """True where the value is an infinity of a sign that is looked for."""
    infinite = np.isinf(data)
    if not use.attr("detect_negative", 1):
        infinite &= ~(data < 0)
    if not use.attr("detect_positive", 1):
        infinite &= ~(data > 0)
    return infinite
