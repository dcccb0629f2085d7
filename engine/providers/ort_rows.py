"""Kernel rows against a node: its schema version and its types, and both in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ir.model import TensorType
from ..ir.schema import newest_opset, schema
from ..ops.use import OpUse
from .tables import KernelRow

Kinds = tuple[tuple[str, str] | None, ...]
Signature = tuple[str, str, int, Kinds, Kinds]


def signature(use: OpUse) -> Signature:
    """All that kernel rows are compared with: operator, schema version, types."""
    return (
        use.domain,
        use.op_type,
        use.since_version,
        tuple(None if t is None else (t.dtype, t.kind) for t in use.inputs),
        tuple(None if t is None else (t.dtype, t.kind) for t in use.outputs),
    )


def registered_versions(rows: tuple[KernelRow, ...]) -> str:
    """The rows' versions in words: ``7-13 and exactly 14``."""
    spans: list[tuple[int, int]] = []
    exact = sorted({row.since for row in rows if row.until is None})
    for since, until in sorted({(r.since, r.until) for r in rows if r.until is not None}):
        if spans and since <= spans[-1][1] + 1:
            spans[-1] = (spans[-1][0], max(spans[-1][1], until))
        else:
            spans.append((since, until))
    texts = [str(low) if low == high else f"{low}-{high}" for low, high in spans]
    texts += [f"exactly {version}" for version in exact]
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:]))) or "none"


def newest_matching_opset(use: OpUse, rows: tuple[KernelRow, ...]) -> int | None:
    """The newest opset below the node's own at which a row matches; None if there is none."""
    for opset in range((use.opset or newest_opset(use.domain)) - 1, 0, -1):
        found = schema(use.domain, use.op_type, opset)
        if found is None:
            return None
        if any(row.matches(found.since_version) for row in rows):
            return opset
    return None


def rows_data(rows: tuple[KernelRow, ...]) -> list[dict[str, Any]]:
    """Versions and types of the rows, for a verdict's data."""
    return [
        {"since": r.since, "until": r.until, "types": {k: sorted(v) for k, v in r.types.items()}}
        for r in rows
    ]


def allowed_types(row: KernelRow, parameter: str, *, int64: bool) -> frozenset[str] | None:
    """The types that a row lists for a parameter, those of enableInt64 too; None for no list."""
    allowed = row.types.get(parameter)
    if allowed is not None and int64:
        allowed = allowed | row.types_int64.get(parameter, frozenset())
    return allowed


def type_gap(row: KernelRow, use: OpUse, *, int64: bool) -> tuple[str, str] | None:
    """(parameter, element type) of the first type that ``row`` does not list; None if all match."""
    for parameter, kind in actual_types(use).items():
        allowed = allowed_types(row, parameter, int64=int64)
        if allowed is not None and not _lists(allowed, kind):
            return parameter, type_name(kind)
    return None


def _lists(allowed: frozenset[str], kind: TensorType) -> bool:
    """Whether a type is among those of a kernel row.

    What an optional or a map holds is not known as exactly as ORT lists it.
    """
    if kind.kind == "optional":
        return any(a.startswith("optional(") and f"({kind.dtype})" in a for a in allowed)
    if kind.kind == "map":
        return any("map(" in a for a in allowed)
    return type_name(kind) in allowed


def type_name(kind: TensorType) -> str:
    """A type as the kernel tables write it."""
    if kind.kind == "tensor":
        return kind.dtype
    return f"{'seq' if kind.kind == 'sequence' else kind.kind}({kind.dtype})"


def actual_types(use: OpUse) -> Mapping[str, TensorType]:
    """Type parameter, and name of each input and output -> the type, where it is known."""
    found = use.schema
    actual: dict[str, TensorType] = {}
    if found is None:
        return actual
    for formal_of, types in ((found.input, use.inputs), (found.output, use.outputs)):
        for index, kind in enumerate(types):
            formal = formal_of(index)
            if kind is None or formal is None or kind.dtype == "?":
                continue
            actual.setdefault(formal.type_param, kind)
            actual.setdefault(formal.name, kind)
    return actual
