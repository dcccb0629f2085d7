"""What the installed ONNX Runtime answered, beside the prediction, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..guard.results import LiveTable
from ..units import counted
from .text import one_line, table


def live_lines(live: LiveTable, verbose: bool) -> list[str]:
    """Prediction and reality side by side, by operator; nodes on which they differ one by one."""
    if live.unavailable:
        return [one_line(f"live {live.target}: not asked: {live.unavailable}")]
    versions = ", ".join(f"{name} {number}" for name, number in live.versions.items())
    head = f"live {live.target} ({versions})" if versions else f"live {live.target}"
    if live.error:
        return [one_line(f"{head}: no session: {live.error}")]
    agree = sum(row["agrees"] is True for row in live.rows)
    lines = [one_line(f"{head}: {agree:,} of {counted(len(live.rows), 'node')} as predicted")]
    heading = ("operator", "nodes", "predicted", "installed", "")
    lines.append(table([heading, *_live_rows(live.rows)]))
    differ = [row for row in live.rows if row["agrees"] is not True]
    if verbose and differ:
        rows = [
            (row["node"]["name"], row["op"], row["predicted"], row["live"], _word(row["agrees"]))
            for row in differ
        ]
        lines += ["", table([("node", "operator", "predicted", "installed", ""), *rows])]
    return lines


def _live_rows(rows: Sequence[Mapping[str, object]]) -> list[tuple[str, ...]]:
    numbers: dict[tuple[str, ...], int] = {}
    for row in rows:
        key = (str(row["op"]), str(row["predicted"]), str(row["live"]), _word(row["agrees"]))
        numbers[key] = numbers.get(key, 0) + 1
    ranked = sorted(numbers.items(), key=lambda item: (item[0][3] == "", item[0][0], -item[1]))
    return [
        (op, f"{number:,}", predicted, live, word) for (op, predicted, live, word), number in ranked
    ]


def _word(agrees: object) -> str:
    return "not known" if agrees is None else "" if agrees else "differs"
