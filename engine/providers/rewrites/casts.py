"""Casts that undo each other, those that ORT puts around float16 nodes included (the last step).

A node that the CPU provider has in float32 alone gets a Cast to float32 before each float16 input
and one back after each float16 output. Then ORT takes out what is left between two such nodes, and
the user's own Casts that become pointless by it.

Source: InsertCastTransformer and RemoveDuplicateCastTransformer in
onnxruntime/core/optimizer/insert_cast_transformer.cc.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ...ir.model import NodeId
from .graph import Work
from .left import Left
from .removals import STEP

CASTS = ("Cast", "CastLike")
HALF, SINGLE = "float16", "float32"
DETAIL = "ORT drops it: the float16 nodes beside it are computed in float32"
UNDONE = "ORT drops it: another Cast undoes it, or does its work"

_GROUPS = {
    "bool": "bool",
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "integer"),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), "unsigned"),
    **dict.fromkeys(("float16", "bfloat16", "float32", "float64"), "float"),
}
_BITS = {
    "bool": 1,
    **dict.fromkeys(("int8", "uint8"), 8),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 16),
    **dict.fromkeys(("int32", "uint32", "float32"), 32),
    **dict.fromkeys(("int64", "uint64", "float64"), 64),
}


def apply(work: Work, sides: Mapping[NodeId, str], widened: Collection[NodeId]) -> None:
    """The pass over the graph after placing and all fusions.

    Args:
        work: the graph, which is edited.
        sides: where each node is: "gpu", "cpu" or "".
        widened: the nodes that run in float32 between Casts of ORT's own.
    """
    for left in list(work):
        current = work.get(left.id)
        if current is None:
            continue
        if current.id in widened:
            _after(work, current)
        elif current.op in CASTS:
            _before(work, current, sides, widened)


def _after(work: Work, widened: Left) -> None:
    """ORT's Cast back to float16, and the user's to float32 behind it, are nothing."""
    for name in widened.outputs:
        if work.type(name).dtype != HALF:
            continue
        for reader in work.readers(name):
            widens = reader.op in CASTS and _made(work, reader) == SINGLE
            if widens and not work.is_end(reader.outputs[0]):
                work.drop(reader, name, DETAIL, STEP)


def _before(
    work: Work, cast: Left, sides: Mapping[NodeId, str], widened: Collection[NodeId]
) -> None:
    """What ``cast`` and the Casts that read it come to."""
    behind = _Behind.of(work, cast, widened)
    if behind is None:
        return
    source, made = work.type(cast.input(0)).dtype, _made(work, cast)
    loses = unsafe(source, made)
    if loses and any(unsafe(_made(work, c), made) for c in behind.casts):
        return
    undone = [c for c in behind.casts if _made(work, c) == source and not work.is_end(c.outputs[0])]
    for reader in undone:
        work.drop(reader, cast.input(0), UNDONE, STEP)
    kept = [c for c in behind.casts if c not in undone]
    elsewhere = {sides.get(c.id, "") for c in kept}
    if behind.widened and source != SINGLE:
        elsewhere.add("cpu")  # where ORT's own Cast to float32 stays
    if behind.others or work.is_end(cast.outputs[0]) or elsewhere - {sides.get(cast.id, "")}:
        return
    if loses and any(_made(work, c) == "bool" for c in kept):
        return
    if behind.casts or behind.widened:
        current = work.get(cast.id)
        if current is not None:
            detail = DETAIL if behind.widened else UNDONE
            work.drop(current, current.input(0), detail, STEP)


@dataclass(frozen=True)
class _Behind:
    """Who reads a Cast: Casts, nodes that get a Cast to float32 before them, others."""

    casts: tuple[Left, ...]
    widened: bool
    others: bool

    @classmethod
    def of(cls, work: Work, cast: Left, widened: Collection[NodeId]) -> _Behind | None:
        """None where a type is not known."""
        made = _made(work, cast)
        readers = work.readers(cast.outputs[0])
        casts = tuple(r for r in readers if r.op in CASTS and r.input(0) == cast.outputs[0])
        kinds = (work.type(cast.input(0)).dtype, made, *(_made(work, c) for c in casts))
        if any(kind not in _GROUPS for kind in kinds):
            return None
        rest = [r for r in readers if r not in casts]
        wide = [r for r in rest if r.id in widened and made == HALF]
        return cls(casts, bool(wide), len(wide) < len(rest))


def _made(work: Work, cast: Left) -> str:
    return work.type(cast.outputs[0]).dtype


def unsafe(source: str, made: str) -> bool:
    """Whether ORT takes a Cast of the user's from ``source`` to ``made`` to lose something."""
    before, after = _GROUPS[source], _GROUPS[made]
    if after == "unsigned" and before not in ("bool", "unsigned"):
        return True
    if before == "float" and after != "float":
        return True
    narrow = _BITS[made] <= _BITS[source]
    if (before, after) in (("unsigned", "integer"), ("integer", "float"), ("unsigned", "float")):
        return narrow
    return {source, made} == {"float16", "bfloat16"} or _BITS[source] > _BITS[made]
