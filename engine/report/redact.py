"""Replacing the names of a report's nodes and values by numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .data import Report


def redacted(report: Report) -> Report:
    """``report`` with every name of a node or value replaced, in texts too."""
    names: dict[str, str] = {}
    for node in report.nodes:
        if node.name:
            names.setdefault(node.name, f"node_{node.index}")
    for name in (*report.values, *report.weights, *_touched(report)):
        names.setdefault(name, f"value_{len(names)}")
    for finding in report.findings:
        node = finding["node"]
        if node and node["name"]:
            names.setdefault(node["name"], f"node_{node['index']}")
    symbols = {d for _, shape in report.values.values() for d in shape or () if isinstance(d, str)}
    for symbol in sorted(symbols | set(report.assumed)):
        names.setdefault(symbol, f"dim_{len(names)}")
    words = _replacer(names)

    def kinds(found: Mapping[str, Any]) -> dict[str, Any]:
        return {
            names.get(name, name): (
                dtype,
                None if shape is None else tuple(names.get(d, d) for d in shape),
            )
            for name, (dtype, shape) in found.items()
        }

    return replace(
        report,
        nodes=tuple(
            replace(
                n,
                name=names.get(n.name, n.name),
                inputs=tuple(names.get(v, v) for v in n.inputs),
                outputs=tuple(names.get(v, v) for v in n.outputs),
            )
            for n in report.nodes
        ),
        values=kinds(report.values),
        weights=kinds(report.weights),
        assumed={names.get(k, k): v for k, v in report.assumed.items()},
        verdicts={
            target: {i: (s, r, words(detail)) for i, (s, r, detail) in verdicts.items()}
            for target, verdicts in report.verdicts.items()
        },
        findings=tuple(_finding(f, names, words) for f in report.findings),
    )


def _touched(report: Report) -> list[str]:
    return [v for n in report.nodes for v in (*n.inputs, *n.outputs) if v]


def _finding(finding: Mapping[str, Any], names: Mapping[str, str], words: Any) -> dict[str, Any]:
    node = finding["node"]
    if node:
        node = {**node, "name": names.get(node["name"], node["name"])}
    return {**finding, "node": node, "text": words(finding["text"])}


def _replacer(names: Mapping[str, str]) -> Any:
    """A function that replaces each name where a text quotes it: 'name'."""
    if not names:
        return lambda text: text
    pattern = re.compile("'(" + "|".join(re.escape(n) for n in sorted(names, key=len)[::-1]) + ")'")
    return lambda text: pattern.sub(lambda found: f"'{names[found[1]]}'", text)
