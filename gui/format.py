"""Numbers as text: times, shares, shapes, types. Tables sort by the raw numbers, never by these.

Bytes and counts are written as the command line writes them: see ``engine.units``.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable

from ..engine.diagnostics import Severity
from ..engine.ir.model import Dim, TensorType
from ..engine.units import counted

MISSING = "\N{EN DASH}"


def time_text(time_ns: float | None) -> str:
    """A time with three significant digits in ns, µs, ms or s; a dash where there is none."""
    if time_ns is None or math.isnan(time_ns):
        return MISSING
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(time_ns) >= size * 0.9995:
            return f"{_three_digits(time_ns / size)} {unit}"
    return f"{time_ns:.0f} ns"


def _three_digits(value: float) -> str:
    size = abs(value)
    return f"{value:.2f}" if size < 9.995 else f"{value:.1f}" if size < 99.95 else f"{value:,.0f}"


def share_text(share: float) -> str:
    """A share in percent, with a digit after the point below 10 %."""
    percent = 100 * share
    return f"{percent:.1f} %" if percent < 9.95 else f"{percent:.0f} %"


def shape_text(shape: Iterable[Dim] | None) -> str:
    """``1 x 64 x 257`` with real multiplication signs; ``scalar`` for no axes, ``?`` if unknown."""
    if shape is None:
        return "?"
    dims = ["?" if d is None else str(d) for d in shape]
    return " \N{MULTIPLICATION SIGN} ".join(dims) if dims else "scalar"


def type_text(found: TensorType | None) -> str:
    """Element type and shape: ``float32  1 x 64``; a dash for an absent or unknown type."""
    if found is None:
        return MISSING
    text = f"{found.dtype}  {shape_text(found.shape)}"
    return text if found.kind == "tensor" else f"{found.kind} of {text}"


def number_text(value: float) -> str:
    """A statistic with four significant digits."""
    return f"{value:.4g}"


def severity_count(severity: Severity, count: int) -> str:
    """``1 error``, ``2 warnings``, ``3 info``: as the command line counts findings."""
    return f"{count:,} info" if severity is Severity.INFO else counted(count, severity.value)


def sentence_text(text: str) -> str:
    """``text`` with a capital first letter."""
    return text[:1].upper() + text[1:]


def plain_tip(text: str) -> str:
    """``text`` for a tool tip, where Qt takes for HTML what looks so: texts of files never are."""
    if "<" not in text:
        return text
    lines = html.escape(text).split("\n")
    return f"<qt>{'<br>'.join(lines)}</qt>"
