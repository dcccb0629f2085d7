"""Writes docs/placement.md from results/placement.json: ``python tests/bench/placement.py --page``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results") / "placement.json"
TARGET = Path(__file__).resolve().parents[2] / "docs" / "placement.md"
SETS = {
    "onnx": "ONNX's single-node tests",
    "models": "real models",
    "edge": "edge models",
}
_EXAMPLES = 3


def table(results: Mapping[str, Any]) -> str:
    """Nodes that agree, by set and target."""
    lines = [
        "| models | target | models | without session | nodes | agree | unknown | differ | agree |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    sums: dict[str, Counter[str]] = {}
    for name, targets in results["totals"].items():
        for provider, counts in targets.items():
            sums.setdefault(provider, Counter()).update(counts)
            lines.append(_row(SETS.get(name, name), provider, counts))
    for provider, counts in sums.items():
        lines.append(_row("**all**", provider, counts))
    return "\n".join(lines)


def _row(name: str, provider: str, counts: Mapping[str, int]) -> str:
    nodes, agree = counts.get("nodes", 0), counts.get("agree", 0)
    share = f"{100 * agree / nodes:.2f} %" if nodes else "-"
    cells = (counts.get(k, 0) for k in ("models", "no_session", "nodes", "agree", "unknown", "differ"))
    return f"| {name} | {provider} | " + " | ".join(f"{c:,}" for c in cells) + f" | {share} |"


def grouped(misses: Iterable[Mapping[str, Any]]) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Misses of one operator with the same two answers together, the most frequent first."""
    groups: dict[tuple[str, ...], list[Any]] = {}
    for miss in misses:
        provider = miss["target"].partition(",")[0]
        key = (provider, miss["op"], miss["predicted"], _without_names(miss["live"]))
        groups.setdefault(key, []).append(miss)
    return sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))


def _without_names(text: str) -> str:
    return text.partition(" '")[0][:160]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def text() -> str:
    """The page."""
    return ""
