"""Plain text: tables and findings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..diagnostics import Diagnostic


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned by spaces; the first row is the heading."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def diagnostic_lines(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Each finding as a line, its remedy and links beneath, the worst first."""
    lines = []
    for d in sorted(diagnostics, key=lambda d: d.severity.rank):
        where = ""
        if d.op:
            label = f"'{d.name}'" if d.name else f"#{d.node}" if d.node else ""
            where = f" {label} ({d.op}):" if label else f" ({d.op}):"
        target = f" {d.target}:" if d.target else ""
        lines.append(f"{d.severity.value}: [{d.code}]{target}{where} {d.text}")
        if d.versions:
            lines.append(f"    affects: {d.versions}")
        if d.remedy:
            lines.append(f"    remedy: {d.remedy}")
        lines += [f"    see: {link}" for link in d.links]
    return lines
