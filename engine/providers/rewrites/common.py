"""Nodes that compute the same: ORT keeps the first (level 1).

Source: onnxruntime/core/optimizer/common_subexpression_elimination.cc. Constants of one element or
few that are equal count as one value (constant_sharing.cc).
"""

from __future__ import annotations

from typing import Any

from ...ir.model import Weight
from .folding import RANDOM
from .graph import ONNX, Work
from .left import Left

STEP = "equal nodes"
SHARED = 8
"""Constants of at most so many elements are compared by value."""


def apply(work: Work) -> None:
    """One pass over the graph."""
    same: dict[str, Any] = {}  # value -> what it is the same as
    first: dict[Any, Left] = {}
    for left in work:
        key = _key(work, left, same)
        kept = left if key is None else first.setdefault(key, left)
        # The ends of the graph must keep their names: a node that gives one stays.
        if kept is not left and not any(work.is_end(n) for n in left.outputs):
            _keep_first(work, kept, left, same)


def _keep_first(work: Work, kept: Left, left: Left, same: dict[str, Any]) -> None:
    """The readers of ``left`` read what ``kept`` gives, as far as both are still there."""
    current, again = work.get(kept.id), work.get(left.id)
    if current is None:
        return
    passed = dict(zip(left.outputs, kept.outputs, strict=True))
    same |= {mine: _value(work, its, same) for mine, its in passed.items()}
    if again is not None:
        detail = f"ORT keeps one of equal nodes: '{current.node.label}' computes the same"
        work.merge(again, current, {a: b for a, b in passed.items() if a}, detail, STEP)


def _key(work: Work, left: Left, same: dict[str, Any]) -> Any:
    """What equal nodes have in common; None for a node that is never one with another."""
    if not left.sound or left.use.domain not in ONNX or left.op in RANDOM or left.node.subgraphs:
        return None
    attributes = _attributes(left)
    if attributes is None:
        return None
    inputs = tuple(_value(work, n, same) if n else None for n in left.inputs)
    wanted = tuple(bool(n) for n in left.outputs)
    return (left.op, left.use.since_version, attributes, inputs, wanted)


def _value(work: Work, name: str, same: dict[str, Any]) -> Any:
    if name not in same:
        same[name] = _constant_key(work, name)
    return same[name]


def _constant_key(work: Work, name: str) -> Any:
    if not work.is_constant(name):
        return name
    dims = work.dims(name)
    if dims is None or len(dims) > 1 or (dims and dims[0] > SHARED):
        return name
    array = work.constant(name)
    if array is None or array.dtype.kind not in "fiub":
        return name
    return (array.dtype.str, array.shape, array.tobytes())


def _attributes(left: Left) -> Any:
    """The attributes as something that can be compared; None where that cannot be told."""
    found = []
    for name, given in sorted(left.use.attributes.items()):
        if isinstance(given, Weight):
            return None
        found.append((name, tuple(given) if isinstance(given, list | tuple) else given))
    try:
        hash(tuple(found))
    except TypeError:
        return None
    return tuple(found)
