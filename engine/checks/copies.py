"""Copies at the borders between GPU and CPU: how many, and how many bytes."""

from __future__ import annotations

from collections.abc import Iterator

from ..diagnostics import Diagnostic, Severity
from ..units import mebibytes
from .context import Context, finding

CODE = "copies"
LISTED = 100


def check(context: Context) -> Iterator[Diagnostic]:
    """One finding per target with borders inside the model."""
    for name in context.verdicts:
        _, found = context.flow(name)
        if not found:
            continue
        known = sum(c.size_bytes or 0 for c in found)
        unknown = sum(c.size_bytes is None for c in found)
        up = sum(c.to_gpu for c in found)
        subject = "value crosses" if len(found) == 1 else "values cross"
        text = (
            f"{len(found):,} {subject} between GPU and CPU in each run ({up:,} up, "
            f"{len(found) - up:,} down)"
        )
        text += f": {mebibytes(known)}" if known else ""
        text += f", {unknown:,} of unknown size" if unknown else ""
        yield finding(
            CODE,
            Severity.INFO,
            None,
            text,
            "each copy waits for the GPU: keep the nodes between two borders on one side",
            target=name,
            data={
                "count": len(found),
                "up": up,
                "bytes": known,
                "unknown": unknown,
                "values": [[*c.graph, c.value] for c in found[:LISTED]],
            },
        )
