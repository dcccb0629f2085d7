"""Replacing the names of a report's nodes, values and dimensions by numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .data import FORCED, Kind, Report, ReportCopy, ReportLive, ReportTarget

LEFT_OUT = "(left out: it may name nodes)"
_WORDS = frozenset(("float16", "float32", "float64", "int8", "int32", "int64", "f16", "f32"))


@dataclass(frozen=True)
class Aliases:
    """What stands for each name. A name that is no key is left as it is.

    Attributes:
        nodes: a node's own name -> ``node_7``, after its index.
        values: a value's name -> ``value_3``.
        dims: a symbolic dimension -> ``dim_1``.
    """

    nodes: Mapping[str, str]
    values: Mapping[str, str]
    dims: Mapping[str, str]


def redacted(report: Report, names: Aliases) -> Report:
    """``report`` with every name of a node, value or dimension replaced, in texts too.

    Texts of attributes are kept for ONNX's own operators alone.

    Args:
        report: what :func:`aliases` was asked for.
        names: its answer.
    """
    words = _texts(report, _replacer(names, {n.op for n in report.nodes}))
    ids = {name: _target_id(name, names) for name in _target_names(report)}
    return replace(
        report,
        graph=tuple(f"graph_{i}" for i in range(len(report.graph))),
        nodes=tuple(
            replace(
                n,
                name=names.nodes.get(n.name, n.name),
                inputs=tuple(names.values.get(v, v) for v in n.inputs),
                outputs=tuple(names.values.get(v, v) for v in n.outputs),
                attributes={
                    k: v for k, v in n.attributes.items() if "::" not in n.op or _is_number(v)
                },
            )
            for n in report.nodes
        ),
        target=ids[report.target],
        values=_kinds(report.values, names),
        weights=_kinds(report.weights, names),
        assumed={_assumed(k, names): v for k, v in report.assumed.items()},
        verdicts={
            ids[target]: {i: (s, r, words(detail)) for i, (s, r, detail) in verdicts.items()}
            for target, verdicts in report.verdicts.items()
        },
        decided={ids[target]: found for target, found in report.decided.items()},
        targets={ids[t]: _target(found, names) for t, found in report.targets.items()},
        live={ids[t]: _live(answer, words) for t, answer in report.live.items()},
        copies={
            ids[t]: tuple(_copy(c, names) for c in copies) for t, copies in report.copies.items()
        },
        findings=tuple(
            {**_finding(f, names, words), "target": ids[f["target"]]} for f in report.findings
        ),
        told=tuple(ids[t] for t in report.told),
        file_name="",
    )


def aliases(report: Report) -> Aliases:
    """The numbers that stand for the names of ``report``."""
    nodes: dict[str, str] = {}
    for node in report.nodes:
        if node.name:
            nodes.setdefault(node.name, f"node_{node.index}")
    for number, finding in enumerate(report.findings):
        if finding["node"] and finding["node"]["name"]:
            nodes.setdefault(finding["node"]["name"], f"other_{number}")
    for number, name in enumerate(_forced(report)):
        nodes.setdefault(name, f"forced_{number}")
    kinds = (*report.values.values(), *report.weights.values())
    symbols = {d for _, shape in kinds for d in shape or () if isinstance(d, str)}
    symbols |= {key for key in report.assumed if not _AXIS.fullmatch(key)}
    touched = (v for n in report.nodes for v in (*n.inputs, *n.outputs) if v)
    copied = (c.value for copies in report.copies.values() for c in copies)
    inputs = (found[1] for key in report.assumed if (found := _AXIS.fullmatch(key)))
    return Aliases(
        nodes,
        _numbered("value", (*touched, *report.values, *report.weights, *copied, *inputs)),
        _numbered("dim", sorted(symbols)),
    )


_AXIS = re.compile(r"(.*)(\[\d+\])", re.DOTALL)  # how a dimension without a symbol is called


def _numbered(kind: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{kind}_{i}" for i, name in enumerate(dict.fromkeys(names))}


def _kinds(found: Mapping[str, Kind], names: Aliases) -> dict[str, Kind]:
    return {
        names.values.get(name, name): (
            dtype,
            None
            if shape is None
            else tuple(names.dims.get(d, d) if isinstance(d, str) else d for d in shape),
        )
        for name, (dtype, shape) in found.items()
    }


def _assumed(key: str, names: Aliases) -> str:
    axis = _AXIS.fullmatch(key)
    if axis is not None and axis[1] in names.values:
        return names.values[axis[1]] + axis[2]
    return names.dims.get(key, key)


def _finding(
    finding: Mapping[str, Any], names: Aliases, words: Callable[[str], str]
) -> dict[str, Any]:
    node = finding["node"]
    if node:
        graph = [f"graph_{i}" for i in range(len(node["graph"]))]
        node = {**node, "graph": graph, "name": names.nodes.get(node["name"], node["name"])}
    texts = {key: words(finding[key]) for key in ("text", "remedy")}
    return {**finding, **texts, "node": node}


def _target_names(report: Report) -> dict[str, None]:
    """The ids of all targets that the report speaks of; "" is none."""
    by_target = (report.verdicts, report.decided, report.targets, report.live, report.copies)
    named = (name for found in by_target for name in found)
    found = (f["target"] for f in report.findings)
    return dict.fromkeys((report.target, *named, *report.told, *found))


def _forced(report: Report) -> dict[str, None]:
    """The names of nodes in the targets' ids and options."""
    parts = [part for name in _target_names(report) for part in name.split(",")]
    parts += [option for found in report.targets.values() for option in found.options]
    return dict.fromkeys(p.removeprefix(FORCED) for p in parts if p.startswith(FORCED))


def _option(text: str, names: Aliases) -> str:
    name = text.removeprefix(FORCED)
    return f"{FORCED}{names.nodes.get(name, name)}" if text.startswith(FORCED) else text


def _target_id(name: str, names: Aliases) -> str:
    return ",".join(_option(part, names) for part in name.split(","))


def _target(found: ReportTarget, names: Aliases) -> ReportTarget:
    return replace(found, options=tuple(_option(text, names) for text in found.options))


def _live(answer: ReportLive, words: Callable[[str], str]) -> ReportLive:
    return replace(
        answer,
        nodes={i: (s, p, words(how)) for i, (s, p, how) in answer.nodes.items()},
        error=words(answer.error),
        notes=tuple(map(words, answer.notes)),
        run_error=words(answer.run_error),
    )


def _copy(copy: ReportCopy, names: Aliases) -> ReportCopy:
    return replace(copy, value=names.values.get(copy.value, copy.value))


def _texts(report: Report, words: Callable[[str], str]) -> Callable[[str], str]:
    """``words``, without what ONNX Runtime said itself: its texts name nodes of the whole model."""
    answers = report.live.values()
    said = sorted({t for a in answers for t in (a.error, a.run_error) if t}, key=len, reverse=True)

    def replaced(text: str) -> str:
        for quoted in said:
            text = text.replace(quoted, LEFT_OUT)
        return words(text)

    return replaced


def _is_word(name: str) -> bool:
    """Whether a sentence may hold ``name`` without meaning it: our texts quote names."""
    return re.fullmatch(r"[A-Za-z]+|\d+", name) is not None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _replacer(names: Aliases, operators: set[str]) -> Callable[[str], str]:
    """A function that replaces names in a text: quoted ones, and bare ones that are no words."""
    known = {**names.dims, **names.nodes, **names.values}
    if not known:
        return lambda text: text
    kept = _WORDS | {op.rpartition("::")[2] for op in operators}
    quoted = sorted(known, key=len, reverse=True)
    bare = [n for n in quoted if len(n) > 1 and n not in kept and not _is_word(n)]
    parts = [f"'(?P<quoted>{'|'.join(map(re.escape, quoted))})'"]
    if bare:
        parts.append(rf"(?<![\w/.:])(?P<bare>{'|'.join(map(re.escape, bare))})(?![\w/:])")
    pattern = re.compile("|".join(parts))

    def replacement(found: re.Match[str]) -> str:
        if found["quoted"] is not None:
            return f"'{known[found['quoted']]}'"
        return known[found["bare"]]

    return lambda text: pattern.sub(replacement, text)
