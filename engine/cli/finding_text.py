"""Findings as text: each with its remedy, many of one kind in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..diagnostics import Diagnostic, Severity
from ..guard.results import Found
from ..providers.targets import target
from ..units import counted
from .text import diagnostic_lines, one_line

GROUPED_FROM = 41
"""So many findings of one kind become one line, whatever their severity and texts."""
LIKE_FROM = 2
"""So many warnings of one kind become one line where they say the same."""
NOTES_FROM = 4
"""So many of one kind become one line where nothing is to be done, or the same for one reason."""
FIRST_NAMES = 5
MOST_OPERATORS = 6

Kind = tuple[str, str, str, str]


def finding_lines(findings: Sequence[Found], *, verbose: bool = False) -> list[str]:
    """Each finding with its remedy, in the order given; many of one kind in one line."""
    every = [found.diagnostic for found in findings]
    groups: dict[Kind, list[Diagnostic]] = {}
    for d in every:
        groups.setdefault(_kind(d), []).append(d)
    lines: list[str] = []
    told: set[Kind] = set()
    for d in every:
        kind = _kind(d)
        if verbose or not _is_one_line(groups[kind]):
            lines += diagnostic_lines([_without_echo(d)])
        elif kind not in told:
            told.add(kind)
            lines += _group_lines(groups[kind])
    return lines


def _kind(d: Diagnostic) -> Kind:
    """What findings of one line share; where nothing is to be done, operators may differ."""
    return d.severity.value, d.code, d.target, "" if d.severity is Severity.INFO else d.op


def _is_one_line(group: Sequence[Diagnostic]) -> bool:
    """True if findings of one kind are told as one; an error is told by itself up to 40."""
    first = group[0]
    if len(group) >= GROUPED_FROM:
        return True
    if first.severity is Severity.INFO:
        return len(group) >= NOTES_FROM
    if first.severity is Severity.ERROR:
        return False
    if all((d.text, d.remedy) == (first.text, first.remedy) for d in group):
        return len(group) >= LIKE_FROM
    return len(group) >= NOTES_FROM and _is_one_reason(group)


def _is_one_reason(group: Sequence[Diagnostic]) -> bool:
    """True where texts differ in shapes and the like alone: a verdict's reason is one of few."""
    reasons = {(d.data.get("reason"), d.remedy) for d in group}
    return len(reasons) == 1 and "reason" in group[0].data


def _without_echo(d: Diagnostic) -> Diagnostic:
    """``d`` without versions that say the target once more."""
    return replace(d, versions="") if d.target and d.versions == target(d.target).label else d


def _group_lines(group: Sequence[Diagnostic]) -> list[str]:
    """One line for all, with their names, of many the first.

    Where the texts differ, the first one's stands, and is so marked.
    """
    first = _without_echo(group[0])
    target_text = f" {first.target}:" if first.target else ""
    same = all(d.text == first.text for d in group)
    lines = [
        f"{first.severity.value}: [{first.code}]{target_text} {_number(group)}: "
        f"{_of_each(first.text) if same else f'the first: {first.text}'}",
        *_names(group),
    ]
    if first.versions:
        lines.append(f"    affects: {first.versions}")
    lines += [f"    remedy: {r}" for r in dict.fromkeys(d.remedy for d in group if d.remedy)]
    links = dict.fromkeys(link for d in group for link in d.links)
    return [one_line(line) for line in (*lines, *(f"    see: {link}" for link in links))]


def _of_each(text: str) -> str:
    """A sentence about one node, said of several: "it falls" becomes "each falls"."""
    return f"each {rest}" if (rest := text.removeprefix("it ")) != text else text


def _number(group: Sequence[Diagnostic]) -> str:
    """How many, and of which operators: ``4 nodes (Gather)``, ``5 nodes (Gather 3, Size 2)``."""
    nodes = all(d.node is not None for d in group)
    number = counted(len(group), "node" if nodes else "finding")
    ops = Counter(d.op for d in group if d.op).most_common()
    if not ops:
        return number
    if len(ops) == 1:
        return f"{number} ({ops[0][0]})"
    shown = [f"{op} {n:,}" for op, n in ops[:MOST_OPERATORS]]
    return f"{number} ({', '.join(shown)}{', ...' if len(ops) > len(shown) else ''})"


def _names(group: Sequence[Diagnostic]) -> list[str]:
    """A line with the nodes' names, of many or of what costs nothing the first few."""
    labels = [f"'{d.name}'" if d.name else f"#{d.node}" for d in group if d.node is not None]
    if not labels:
        return ["    --verbose shows each"] if len({d.text for d in group}) > 1 else []
    few = group[0].severity is Severity.INFO or len(group) >= GROUPED_FROM
    shown = labels[:FIRST_NAMES] if few else labels
    more = ", ... (--verbose shows each)" if len(shown) < len(labels) else ""
    return [f"    nodes: {', '.join(shown)}{more}"]
