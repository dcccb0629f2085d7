"""Numbers in words: bytes, and how many of a thing."""

from __future__ import annotations

import re
from fractions import Fraction

from .errors import UsageError

_UNITS = {"": 1, "b": 1}
_UNITS |= {p + "b": 1000**n for n, p in enumerate("kmgt", 1)}
_UNITS |= {p + "ib": 1024**n for n, p in enumerate("kmgt", 1)}


def counted(count: int, what: str, plural: str = "") -> str:
    """``1 node``, ``2 nodes``; ``plural`` where that is not ``what`` with an s."""
    return f"{count:,} {what if count == 1 else plural or what + 's'}"


def mebibytes(size: int) -> str:
    """``size`` in the unit that reads well: ``48 bytes``, ``3.2 KiB``, ``310 MiB``, ``2 TiB``."""
    if size < 1024:
        return f"{size:,} byte{'s' if size != 1 else ''}"
    scaled, unit = size / 1024, "KiB"
    if size >= 1024**2:
        scaled, unit = size / 1024**2, "MiB"
    if size >= 1024**4:
        scaled, unit = size / 1024**4, "TiB"
    return f"{f'{scaled:,.1f}'.removesuffix('.0')} {unit}"


def told_apart(needed: int, allowed: int) -> tuple[str, str]:
    """Both in MiB or the like; as bytes where these would read the same."""
    texts = mebibytes(needed), mebibytes(allowed)
    return texts if texts[0] != texts[1] else (f"{needed:,} bytes", f"{allowed:,} bytes")


def parse_bytes(text: str) -> int:
    """``"50 MiB"``, ``"1.5GB"`` or ``"1024"`` as bytes.

    Raises:
        UsageError: it is not a number of bytes.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([a-z]*)", text.strip().lower())
    if found is None or found[2] not in _UNITS:
        raise UsageError(f"{text!r} is not a number of bytes, such as '50 MiB' or '1.5 GB'")
    return int(Fraction(found[1]) * _UNITS[found[2]])
