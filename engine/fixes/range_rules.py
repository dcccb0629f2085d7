"""Bounds of an operator's integer outputs from those of its inputs, operator by operator."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import ModelFileError
from ..ir.model import Model, Node, TensorType, Weight
from ..ops.use import OpUse

Bound = tuple[int, int]
"""The least and the greatest value that can occur, both included."""

INT64: Bound = (-(2**63), 2**63 - 1)
MAX_ELEMENTS = 1 << 16
"""Constants of more elements are not read."""

_OWN_BOUNDS: Mapping[str, Bound] = {
    "bool": (0, 1),
    **{f"int{b}": (-(2 ** (b - 1)), 2 ** (b - 1) - 1) for b in (2, 4, 8, 16, 32)},
    **{f"uint{b}": (0, 2**b - 1) for b in (2, 4, 8, 16, 32)},
}
_LIMITS: Mapping[str, Bound] = {**_OWN_BOUNDS, "int64": INT64, "uint64": (0, 2**64 - 1)}
# Operators whose outputs hold values of the inputs at these positions and no others.
_MOVES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(
        (
            *("Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose"),
            *("Expand", "Tile", "Slice", "Gather", "GatherND", "GatherElements", "Split"),
            *("ReverseSequence", "Compress", "DepthToSpace", "SpaceToDepth"),
        ),
        (0,),
    ),
    "Where": (1, 2),
    "OneHot": (2,),
}
_ALL_MOVE = frozenset(("Concat",))
EXACT = frozenset((*_MOVES, *_ALL_MOVE, "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Abs", "Min")) | {
    *("Max", "Clip", "Range", "ReduceMax", "ReduceMin", "ReduceSum", "CumSum", "Equal", "Less"),
    *("Greater", "LessOrEqual", "GreaterOrEqual", "Cast", "ScatterND", "ScatterElements", "Sign"),
    *("Pad", "Trilu", "ArgMax", "ArgMin", "NonZero", "TopK"),
}
"""Operators that give in int32 exactly what they give in int64, while all values fit."""


def limits_of(kind: TensorType) -> Bound | None:
    """What a tensor of integers can hold; None for others."""
    return _LIMITS.get(kind.dtype) if kind.kind == "tensor" else None


def of_weight(weight: Weight) -> Bound | None:
    """The bound of a stored constant; None where it is no integer, too large or unreadable."""
    if "int" not in weight.dtype or math.prod(weight.shape) > MAX_ELEMENTS:
        return None
    try:
        return of_values(np.asarray(weight.numpy()))
    except (ModelFileError, ValueError):
        return None  # the file's own findings say why it cannot be read


def of_values(values: np.ndarray) -> Bound | None:
    """The least and the greatest of integers; None where there are none."""
    if not values.size:
        return None
    if values.dtype != np.uint64:  # 4-bit types have no minimum of their own
        values = values.astype(np.int64)
    return int(values.min()), int(values.max())


def output_bounds(
    model: Model, node: Node, use: OpUse, ins: tuple[Bound | None, ...]
) -> list[Bound | None]:
    """The bounds of a node's outputs from those of its inputs; None where nothing is proven.

    They say nothing of what wraps around in the output's type: that is the caller's.
    """
    count = len(node.outputs)
    if node.domain or model.function_of(node) is not None:
        return [None] * count
    if node.op_type in _ALL_MOVE:
        return [_hull(*ins)] * count
    if node.op_type in _MOVES:
        return [_hull(*(_at(ins, i) for i in _MOVES[node.op_type]))] * count
    rule = _RULES.get(node.op_type)
    bound = rule(use, ins) if rule is not None else None
    if node.op_type == "TopK":
        return [_at(ins, 0), bound, *[None] * count][:count]
    return [bound, *[None] * count][:count]  # a broken node may have none


def _at(ins: tuple[Bound | None, ...], index: int) -> Bound | None:
    return ins[index] if index < len(ins) else None


def _hull(*bounds: Bound | None) -> Bound | None:
    known = [b for b in bounds if b is not None]
    if not known or len(known) < len(bounds):
        return None
    return min(b[0] for b in known), max(b[1] for b in known)


def _corners(combine: Callable[[int, int], int]) -> Callable[..., Bound | None]:
    """The bound of a function that is monotonic in each of two arguments."""

    def rule(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
        a, b = _at(ins, 0), _at(ins, 1)
        if a is None or b is None:
            return None
        values = [combine(x, y) for x in a for y in b]
        return min(values), max(values)

    return rule


def _divide(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    by = _at(ins, 1)
    if by is None or by[0] <= 0 <= by[1]:
        return None
    return _corners(lambda x, y: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))(use, ins)


def _modulo(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    by = _at(ins, 1)
    if by is None or by[0] <= 0:
        return None
    return (1 - by[1] if use.attr("fmod", 0) else 0), by[1] - 1


def _negate(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    a = _at(ins, 0)
    return None if a is None else (-a[1], -a[0])


def _absolute(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    a = _at(ins, 0)
    if a is None:
        return None
    return (0 if a[0] <= 0 <= a[1] else min(map(abs, a))), max(map(abs, a))


def _whole(use: OpUse) -> Bound:
    """What the type of the output can hold; any integer where that is not known."""
    kind = use.outputs[0] if use.outputs else None
    return (None if kind is None else limits_of(kind)) or (INT64[0], _LIMITS["uint64"][1])


def _least(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    whole = [_whole(use) if b is None else b for b in ins]
    return min(b[0] for b in whole), min(b[1] for b in whole)


def _greatest(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    whole = [_whole(use) if b is None else b for b in ins]
    return max(b[0] for b in whole), max(b[1] for b in whole)


def _clip(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    kind = use.inputs[0] if use.inputs else None
    if kind is None or "int" not in kind.dtype:
        return None
    low, high = _at(ins, 0) or _whole(use)
    if use.has(1):
        least = _at(ins, 1) or _whole(use)
        low, high = max(low, least[0]), max(high, least[1])
    if use.has(2):
        most = _at(ins, 2) or _whole(use)
        low, high = min(low, most[0]), min(high, most[1])
    return low, high


def _cast(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    kind = use.inputs[0] if use.inputs else None
    own = None if kind is None else _OWN_BOUNDS.get(kind.dtype)
    return _at(ins, 0) or own


def _shape(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    kind = use.inputs[0] if use.inputs else None
    if kind is None or kind.shape is None:
        return None
    dims = kind.shape[use.attr("start", 0) : use.attributes.get("end")]
    known = [d for d in dims if isinstance(d, int)]
    return (min(known), max(known)) if known and len(known) == len(dims) else None


def _size(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    dims = _dims(use, 0)
    return None if dims is None else (math.prod(dims), math.prod(dims))


def _dims(use: OpUse, index: int) -> tuple[int, ...] | None:
    kind: TensorType | None = use.inputs[index] if index < len(use.inputs) else None
    return None if kind is None else kind.known_dims


def _axis_index(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    """A position along an axis."""
    kind: TensorType | None = use.inputs[0] if use.inputs else None
    dims = None if kind is None else kind.shape
    axis = use.attr("axis", -1 if use.op_type == "TopK" else 0)
    if not dims or not -len(dims) <= axis < len(dims):
        return None
    size = dims[axis]
    return (0, size - 1) if isinstance(size, int) and size > 0 else None


def _any_index(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    dims = _dims(use, 0)
    return (0, max(dims) - 1) if dims and max(dims) > 0 else None


def _reduced(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    """The least or greatest of some values, of which there is at least one."""
    dims = _dims(use, 0)
    return _at(ins, 0) if dims is not None and math.prod(dims) > 0 else None


def _summed(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    """Sums of at most all elements; running ones too."""
    a, dims = _at(ins, 0), _dims(use, 0)
    if a is None or dims is None:
        return None
    count = math.prod(dims)
    return min(0, a[0] * count), max(0, a[1] * count)


def _progression(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    start, limit, delta = (_at(ins, i) for i in range(3))
    if start is None or limit is None or delta is None:
        return None
    # An int32 kernel may step once past the limit.
    step = max(map(abs, delta))
    return min(start[0], limit[0]) - step, max(start[1], limit[1]) + step


def _scattered(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    if str(use.attr("reduction", "none")) != "none":
        return None
    return _hull(_at(ins, 0), _at(ins, 2))


def _padded(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    """Values of the input, and what is put beside them: a constant, or those very values."""
    if str(use.attr("mode", "constant")) != "constant":
        return _at(ins, 0)
    return _hull(_at(ins, 0), _at(ins, 2) if use.has(2) else (0, 0))


def _triangle(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    return _hull(_at(ins, 0), (0, 0))


def _constant(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    value: Any = use.attributes.get("value")
    if isinstance(value, Weight):
        return of_weight(value)
    if use.op_type == "ConstantOfShape":
        return None  # zeros of f32
    number, numbers = use.attributes.get("value_int"), use.attributes.get("value_ints")
    if isinstance(number, int):
        return number, number
    return (min(numbers), max(numbers)) if numbers else None


def _sign(use: OpUse, ins: tuple[Bound | None, ...]) -> Bound | None:
    return -1, 1


_RULES: Mapping[str, Callable[[OpUse, tuple[Bound | None, ...]], Bound | None]] = {
    "Add": _corners(lambda x, y: x + y),
    "Sub": _corners(lambda x, y: x - y),
    "Mul": _corners(lambda x, y: x * y),
    "Div": _divide,
    "Mod": _modulo,
    "Neg": _negate,
    "Abs": _absolute,
    "Min": _least,
    "Max": _greatest,
    "Clip": _clip,
    "Cast": _cast,
    "Shape": _shape,
    "Size": _size,
    "ArgMax": _axis_index,
    "ArgMin": _axis_index,
    "TopK": _axis_index,
    "NonZero": _any_index,
    "ReduceMax": _reduced,
    "ReduceMin": _reduced,
    "ReduceSum": _summed,
    "CumSum": _summed,
    "Range": _progression,
    "ScatterND": _scattered,
    "ScatterElements": _scattered,
    "Constant": _constant,
    "ConstantOfShape": _constant,
    "Sign": _sign,
    "Pad": _padded,
    "Trilu": _triangle,
}
