"""Sequences (Python lists), optionals (a value or None), and text."""

from __future__ import annotations

import numpy as np

from ..ir.dtypes import dtype_of as name_of
from ..ops.use import OpUse
from .shape_ops import normal_axis
from .table import host
from .values import Value

Array = np.ndarray


@host("SequenceConstruct", versions=(11, 11))
def sequence_construct(use: OpUse, *items: Array) -> list[Value]:
    """A sequence of the inputs."""
    return list(items)


@host("SequenceEmpty", versions=(11, 11), attributes=("dtype",))
def sequence_empty(use: OpUse) -> list[Value]:
    """A sequence of nothing; the element type lives in the graph's types."""
    return []


def _position(use: OpUse, position: Array, length: int, last: int) -> int:
    at = int(position.reshape(-1)[0])
    if not -length <= at <= last:
        raise use.error(f"position {at} is out of range for a sequence of {length}")
    return at + length if at < 0 else at


@host("SequenceAt", versions=(11, 11))
def sequence_at(use: OpUse, items: list[Value], position: Array) -> Value:
    """One element."""
    return items[_position(use, position, len(items), len(items) - 1)]


@host("SequenceInsert", versions=(11, 11))
def sequence_insert(
    use: OpUse, items: list[Value], item: Value, position: Array | None = None
) -> list[Value]:
    """A copy with ``item`` before ``position`` (at the end by default)."""
    count = len(items)
    at = count if position is None else _position(use, position, count, count)
    return [*items[:at], item, *items[at:]]


@host("SequenceErase", versions=(11, 11))
def sequence_erase(use: OpUse, items: list[Value], position: Array | None = None) -> list[Value]:
    """A copy without one element (the last by default)."""
    count = len(items)
    at = count - 1 if position is None else _position(use, position, count, count - 1)
    if not items:
        raise use.error("the sequence is empty")
    return [*items[:at], *items[at + 1 :]]


@host("SequenceLength", versions=(11, 11))
def sequence_length(use: OpUse, items: list[Value]) -> Array:
    """The number of elements."""
    return np.array(len(items), np.int64)


@host("SplitToSequence", versions=(11, 24), attributes=("axis", "keepdims"))
def split_to_sequence(use: OpUse, data: Array, split: Array | None = None) -> list[Value]:
    """Pieces along ``axis``: of a size, of given sizes, or single slices."""
    axis = normal_axis(use, use.attr("axis", 0), data.ndim)
    length = data.shape[axis]
    if split is None:
        parts = np.split(data, range(1, length), axis) if length else []
        return [p if use.attr("keepdims", 1) else p.squeeze(axis) for p in parts]
    if split.ndim == 0:
        cuts = list(range(int(split), length, int(split)))
    else:
        if split.sum() != length or split.min(initial=0) < 0:
            raise use.error(f"the sizes {split.tolist()} do not add up to {length}")
        cuts = np.cumsum(split)[:-1].tolist()
    return list(np.split(data, cuts, axis))


@host("ConcatFromSequence", versions=(11, 11), attributes=("axis", "new_axis"))
def concat_from_sequence(use: OpUse, items: list[Value]) -> Array:
    """All elements joined along an axis, or stacked along a new one."""
    axis = use.attr("axis")
    if axis is None:
        raise use.error("the attribute axis is required")
    return np.stack(items, axis) if use.attr("new_axis", 0) else np.concatenate(items, axis)


@host("Optional", versions=(15, 28), attributes=("type",))
def optional(use: OpUse, item: Value = None) -> Value:
    """An optional with the input as its element, or without one."""
    return item


@host("OptionalHasElement", versions=(15, 28))
def optional_has_element(use: OpUse, item: Value = None) -> Array:
    """Whether there is an element."""
    return np.array(item is not None)


@host("OptionalGetElement", versions=(15, 28))
def optional_get_element(use: OpUse, item: Value) -> Value:
    """The element."""
    if item is None:
        raise use.error("the optional is empty")
    return item


@host("StringConcat", versions=(20, 20))
def string_concat(use: OpUse, a: Array, b: Array) -> Array:
    """Texts joined elementwise, with broadcasting."""
    return np.asarray(a.astype(object) + b.astype(object), object)


@host(
    "StringNormalizer",
    versions=(10, 10),
    attributes=("case_change_action", "is_case_sensitive", "locale", "stopwords"),
)
def string_normalizer(use: OpUse, x: Array) -> Array:
    """Stop words removed, then the case changed; an empty result is one empty text."""
    if use.attr("locale", "en_US") not in ("en_US", "en_US.UTF-8", "C", ""):
        raise use.error(f"the locale {use.attr('locale')!r} is not supported")
    if name_of(x) != "string" or x.ndim > 2 or (x.ndim == 2 and x.shape[0] != 1):
        raise use.error(f"the input must be text of shape [C] or [1, C], not {list(x.shape)}")
    sensitive = bool(use.attr("is_case_sensitive", 0))
    stop = {w if sensitive else w.lower() for w in use.attr("stopwords", ())}
    kept = [t for t in map(str, x.reshape(-1)) if (t if sensitive else t.lower()) not in stop]
    action = use.attr("case_change_action", "NONE")
    if action not in ("NONE", "LOWER", "UPPER"):
        raise use.error(f"case_change_action {action!r} is unknown")
    if action != "NONE":
        kept = [t.lower() if action == "LOWER" else t.upper() for t in kept]
    found = np.array(kept or [""], object)
    return found.reshape(1, -1) if x.ndim == 2 else found
