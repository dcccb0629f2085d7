"""Writes docs/placement.md from results/placement.json; ``placement.py --page`` calls it."""

from __future__ import annotations

import json
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
_COLUMNS = ("models", "no_session", "nodes", "agree", "unknown", "differ")

HEAD = """\
# Predicted placement against the installed ONNX Runtime

Made by `python tests/bench/placement.py` (`--page` makes this page alone) from
`tests/bench/results/placement.json`. Asked was {versions}; the prediction is that of `opscope
check` from the tables {tables}.

- *ONNX's single-node tests* are all of `onnx.backend.test.loader.load_model_tests(kind="node")`,
  those with the operator's definition written out as nodes included. *Real models* are those of the
  test data's catalogue. *Edge models* are made by `tests/bench/edge_models`; some ask with
  options of the provider.
- **A node** is each node of the main graph, of subgraphs and of function bodies (once, however
  often the function is called). Not counted are `Constant`, which is an initializer in another
  spelling, and calls of local functions, whose bodies are counted instead.
- **Live** is what ORT recorded while it made the session, with all its optimizations
  (`session.record_ep_graph_assignment_info`). Each node of the model that it gets has a name of its
  own; a node whose name is gone is traced by values through the graph that ORT saved.
- **Agree**: both say that the same place does the node's work: the GPU, the CPU, or nobody, because
  it was folded or dropped. A fused node is where the kernel is that it went into, a Transpose that
  ORT moved where the moved one is, a node that ORT replaced by its definition where the node is
  that gives the output.
- **Unknown** is a node of which the prediction or the live answer says so. It does not agree.
- **Without session**: ORT refuses the model. That is one answer for all its nodes, which agree if a
  failure at session creation was predicted for one of them. Nothing is run here: a node that is
  predicted to fail at run time counts as placed.
"""


def table(results: Mapping[str, Any]) -> str:
    """Nodes that agree, by set and target."""
    lines = [
        "| set | target | models | without session | nodes | agree | unknown | differ | share |",
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
    # Rounded down: 99.499 is not 99.50.
    share = f"{10_000 * agree // nodes / 100:.2f} %" if nodes else "-"
    cells = " | ".join(f"{counts.get(k, 0):,}" for k in _COLUMNS)
    return f"| {name} | {provider} | {cells} | {share} |"


def grouped(misses: Iterable[Mapping[str, Any]]) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Misses of one operator with the same two answers together, the most frequent first."""
    groups: dict[tuple[str, ...], list[Any]] = {}
    for miss in misses:
        provider = miss["target"].partition(",")[0].partition("@")[0]
        key = (provider, miss["op"], miss["predicted"], _kind(miss["live"]))
        groups.setdefault(key, []).append(miss)
    return sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1]), item[0]))


def _kind(live: str) -> str:
    """A live answer without the names of nodes in it."""
    kind = live.partition(" '")[0].rstrip(",")
    kind += ")" * (kind.count("(") - kind.count(")"))
    return kind if len(kind) <= 140 else f"{kind[:139]}…"


REASONS = (
    (
        "string_normalizer",
        "ORT asks the operating system for a locale (en_US unless the node names one) and refuses "
        "where it is not installed: that depends on the machine, not on the model",
    ),
    (
        "no session",
        "ORT refuses the model while it loads it, for a reason that this prediction does not look "
        "for: it answers for models that ORT accepts",
    ),
    (
        "quantizers moved",
        "ORT moves quantizers along with the Transposes beside them, which is not repeated here",
    ),
    (
        "Cast: folded or dropped",
        "ORT recorded the Cast as placed, and took it out afterwards together with those that it "
        "had put around float16 nodes itself",
    ),
    (
        "moved behind its readers",
        "ORT's own Transposes do not tell whose they are: the live answer takes the next one "
        "behind the node for it, the prediction follows each of them",
    ),
    (
        "whose provider is unclear",
        "the Cast of the definition has no name, and none of its neighbours tells where it is",
    ),
)
"""What occurs in operator, prediction and live answer of a miss -> why they part."""


def reason(miss: Mapping[str, Any]) -> str:
    """Why prediction and ORT part, as far as understood; else what the prediction rests on."""
    said = f"{miss['op']}: {miss['predicted']}; {miss['live']}"
    for sign, text in REASONS:
        if sign in said:
            return text
    if miss["state"] == "unknown":
        return "one of the two cannot tell, and says so instead of guessing"
    return f"the prediction rests on: {miss['why'] or 'no reason'}"


def misses(found: Iterable[Mapping[str, Any]]) -> str:
    """Every miss: one row for each operator and pair of answers, with all models that have it."""
    lines = [
        "| target | nodes | operator | predicted | live | where | reason |",
        "|---|---|---|---|---|---|---|",
    ]
    for (provider, op, predicted, live), group in grouped(found):
        where = "; ".join(_where(group))
        cells = (provider, str(len(group)), op, predicted, live, where, reason(group[0]))
        lines.append("| " + " | ".join(_cell(c) for c in cells) + " |")
    return "\n".join(lines)


def _where(group: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Each model with its nodes: their names, or their places where they have none."""
    nodes: dict[str, list[str]] = {}
    for miss in group:
        nodes.setdefault(miss["model"], []).append(miss["name"] or f"#{miss['node']}")
    for model, names in nodes.items():
        yield f"{model}: {', '.join(names)}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def text() -> str:
    """The page."""
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    versions = " with ".join(f"{name} {v}" for name, v in results["versions"].items())
    tables = " and ".join(f"{name} {v}" for name, v in results["tables"].items())
    head = HEAD.format(versions=versions, tables=tables)
    number, kinds = len(results["misses"]), len(grouped(results["misses"]))
    return (
        f"{head}\n## Result\n\n{table(results)}\n\n## Every miss\n\n"
        f"{number:,} nodes, counted for each target, in {kinds:,} kinds.\n\n"
        f"{misses(results['misses'])}\n"
    )
