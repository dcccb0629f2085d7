"""Plain text: tables and findings. Names come from untrusted files: each is shown printable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..diagnostics import Diagnostic


def one_line(text: str) -> str:
    r"""``text`` without line breaks, terminal codes and the like: they become ``\n``, ``\x1b``."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns aligned by spaces; the first row is the heading."""
    rows = [[one_line(cell) for cell in row] for row in rows]
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
        lines.append(one_line(f"{d.severity.value}: [{d.code}]{target}{where} {d.text}"))
        if d.versions:
            lines.append(one_line(f"    affects: {d.versions}"))
        if d.remedy:
            lines.append(one_line(f"    remedy: {d.remedy}"))
        lines += [one_line(f"    see: {link}") for link in d.links]
    return lines
