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
    names: dict[str, Any] = {}
    first: dict[Any, Left] = {}

    def value(name: str) -> Any:
        if name not in names:
            names[name] = _constant_key(work, name)
        return names[name]

    for left in work:
        if (
            not left.sound
            or left.use.domain not in ONNX
            or left.op in RANDOM
            or left.node.subgraphs
        ):
            continue
        attributes = _attributes(left)
        if attributes is None:
            continue
        key = (
            left.op,
            left.use.since_version,
            attributes,
            tuple(value(n) if n else None for n in left.inputs),
            tuple(bool(n) for n in left.outputs),
        )
        kept = first.setdefault(key, left)
        if kept is left:
            continue
        if any(work.is_end(n) for n in left.outputs):
            # The outputs' names must stay: such a node is kept, and its readers use the first's.
            continue
        passed = dict(zip(left.outputs, kept.outputs, strict=True))
        current = work.get(kept.id)
        if current is None:
            continue
        for mine, its in passed.items():
            names[mine] = value(its)
        detail = f"ORT keeps one of equal nodes: '{current.node.label}' computes the same"
        again = work.get(left.id)
        if again is not None:
            work.merge(again, current, {a: b for a, b in passed.items() if a}, detail, STEP)


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
