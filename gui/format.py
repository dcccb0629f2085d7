"""Numbers as text: times, bytes, counts, shapes. Tables sort by the raw numbers, never by these."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..engine.diagnostics import Severity
from ..engine.ir.model import Dim, TensorType

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


def bytes_text(size_bytes: float) -> str:
    """A size in bytes, KiB, MiB or GiB."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= size:
            return f"{size_bytes / size:.1f} {unit}"
    return f"{size_bytes:.0f} B"


def count_text(number: int, noun: str, plural: str = "") -> str:
    """``1 node``, ``1,234 nodes``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


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


def severity_text(severity: Severity) -> str:
    """``error``, ``warning`` or ``note``: one word for it wherever the window counts or lists."""
    return "note" if severity is Severity.INFO else severity.value


def sentence_text(text: str) -> str:
    """``text`` with a capital first letter."""
    return text[:1].upper() + text[1:]
