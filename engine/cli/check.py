"""``opscope check``: who would run each node, and what is risky, without running anything."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..checks.judge import Judgement, judge
from ..checks.required import REQUIRED, STRICT, required, strict
from ..device.profiles import named_profile
from ..diagnostics import Severity, merge
from ..errors import FeedError, ModelFileError, UsageError
from ..ir.model import Graph, Model
from ..ir.summary import model_json
from ..providers.support import Status
from ..providers.targets import Target, targets
from ..report.model import ReportedModel
from ..report.reopen import open_model, stated
from .common import (
    add_shape_arguments,
    counts_line,
    model_line,
    parse_dims,
    parse_shapes,
)
from .text import diagnostic_lines, one_line, table

HELP = "say who would run each node of models, and what is risky, without running them"
FAILED, UNREADABLE = 1, 2


@dataclass(frozen=True)
class Checked:
    """One file of the call: what was judged, or why it cannot be read.

    Attributes:
        judged: None where the file cannot be read.
        error: one line, "" where it can.
        exit_code: what this file alone would give.
    """

    path: str
    judged: Judgement | None
    error: str
    exit_code: int


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("models", nargs="+", metavar="MODEL")
    names = ", ".join(t.id for t in targets())
    parser.add_argument(
        "--target", action="append", metavar="NAME", help=f"of {names} (repeatable; default all)"
    )
    parser.add_argument(
        "--require", metavar="OP,OP", default="", help="operators that every target must cover"
    )
    parser.add_argument(
        "--strict", action="store_true", help="fail if a GRU, LSTM or RNN is off a target's GPU"
    )
    parser.add_argument("--fail-on", choices=("error", "warning"), default="error")
    add_shape_arguments(parser, seed=False)
    parser.add_argument("--limits", metavar="FILE", help="limits saved by 'opscope devices --json'")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to a file")


def main(options: argparse.Namespace) -> int:
    """Judge each model and print; the worst exit code of all files is the command's."""
    chosen = _targets(options.target)
    checked = [_check(path, options, chosen) for path in options.models]
    if options.format == "json":
        text = json.dumps(check_json(checked, chosen), indent=1, allow_nan=False) + "\n"
    else:
        parts = [_text(c.judged, chosen) for c in checked if c.judged is not None]
        text = "\n\n".join(parts) + "\n" if parts else ""
    if options.output:
        try:
            Path(options.output).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options.output} cannot be written: {error.strerror}") from error
    else:
        print(text, end="")
    for c in checked:
        if c.error:
            print(one_line(f"opscope: error: {c.error}"), file=sys.stderr)
    return max(c.exit_code for c in checked)


def _targets(names: Sequence[str] | None) -> tuple[Target, ...]:
    known = {t.id: t for t in targets()}
    for name in names or ():
        if name not in known:
            raise UsageError(f"--target {name}: there is {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names or known))


def _check(path: str, options: argparse.Namespace, chosen: Sequence[Target]) -> Checked:
    profile = named_profile(options.limits) if options.limits else None
    shapes, dims = parse_shapes(options.shape), parse_dims(options.dim)
    try:
        model = open_model(path)
        ids = [t.id for t in chosen]
        if isinstance(model, ReportedModel):
            judged = stated(model, ids)
        else:
            judged = judge(model, ids, shapes=shapes, dims=dims, profile=profile)
    except (ModelFileError, FeedError) as error:
        return Checked(path, None, str(error), UNREADABLE)
    operators = [op.strip() for op in options.require.split(",") if op.strip()]
    more = [*required(judged, operators), *(strict(judged) if options.strict else ())]
    judged = replace(judged, diagnostics=merge((*more, *judged.diagnostics), ()))
    limit = Severity(options.fail_on).rank
    failed = any(d.severity.rank <= limit for d in judged.diagnostics)
    return Checked(path, judged, "", FAILED if failed else 0)


# -- text ------------------------------------------------------------------------------------------


def _text(judged: Judgement, chosen: Sequence[Target]) -> str:
    model = judged.model
    lines = [model_line(model)]
    for t in chosen:
        lines.append(f"{t.label:<18}{counts_line(counts(judged, t.id))}")
    for symbol, size in judged.assumed.items():
        lines.append(one_line(f"assumed           {symbol} = {size}"))
    graphs = list(model.graphs())
    if len(graphs) > 1:
        lines += ["", table([("graph", "within", "nodes"), *_graph_rows(model, graphs)])]
    rows = _operator_rows(judged, chosen)
    lines += ["", table([("operator", "nodes", *(t.label for t in chosen)), *rows])]
    if judged.diagnostics:
        lines += ["", *diagnostic_lines(judged.diagnostics)]
    totals = {s: sum(d.severity is s for d in judged.diagnostics) for s in Severity}
    lines += ["", ", ".join(f"{n} {s.value}{_plural(s, n)}" for s, n in totals.items())]
    return "\n".join(lines)


def _plural(severity: Severity, count: int) -> str:
    return "" if count == 1 or severity is Severity.INFO else "s"


def _graph_rows(model: Model, graphs: Sequence[Graph]) -> list[tuple[str, str, str]]:
    functions = {f.graph.path: f for f in model.functions.values()}
    owners = {
        graph.path: (attribute, node)
        for node in model.nodes.values()
        for attribute, graph in node.subgraphs
    }
    rows = []
    for graph in graphs:
        name, within = "main", ""
        if graph.path in owners:
            name, node = owners[graph.path]
            within = f"'{node.label}' ({node.op})"
        elif graph.path in functions:
            function = functions[graph.path]
            name = f"function {function.domain}::{function.name}"
        rows.append((name, within, f"{len(graph.nodes):,}"))
    return rows


def counts(judged: Judgement, target: str) -> dict[str, int]:
    """Number of nodes by status, of every graph, for one target."""
    found: dict[str, int] = {}
    for status in Status:
        number = sum(v.status is status for v in judged.verdicts[target].values())
        if number:
            found[status.value] = number
    return found


def _operators(judged: Judgement, chosen: Sequence[Target]) -> dict[str, dict[str, dict[str, int]]]:
    """Operator -> target -> verdict -> number of nodes; the most frequent operator first."""
    nodes = judged.model.nodes
    found: dict[str, dict[str, dict[str, int]]] = {}
    for node in nodes.values():
        per_target = found.setdefault(node.op, {t.id: {} for t in chosen})
        for t in chosen:
            verdict = judged.verdicts[t.id].get(node.id)
            status = verdict.status.value if verdict is not None else Status.UNKNOWN.value
            if verdict is not None and verdict.status in (Status.HOST, Status.UNSUPPORTED):
                status += f" ({verdict.reason.value})"
            per_target[t.id][status] = per_target[t.id].get(status, 0) + 1
    return found


def _number(per_target: Mapping[str, Mapping[str, int]]) -> int:
    return sum(next(iter(per_target.values()), {}).values())


def _operator_rows(judged: Judgement, chosen: Sequence[Target]) -> list[tuple[str, ...]]:
    found = _operators(judged, chosen)
    rows = []
    for op in sorted(found, key=lambda op: (-_number(found[op]), op)):
        cells = (counts_line(found[op][t.id]) for t in chosen)
        rows.append((op, f"{_number(found[op]):,}", *cells))
    return rows


# -- JSON ------------------------------------------------------------------------------------------


def check_json(checked: Sequence[Checked], chosen: Sequence[Target]) -> dict[str, Any]:
    """The output of ``--format json`` (schema 1)."""
    return {
        "schema": 1,
        "targets": [{"id": t.id, "label": t.label} for t in chosen],
        "files": [_file_json(c, chosen) for c in checked],
    }


def _file_json(checked: Checked, chosen: Sequence[Target]) -> dict[str, Any]:
    judged = checked.judged
    if judged is None:
        return {"path": checked.path, "error": checked.error, "exit_code": checked.exit_code}
    return {
        "path": checked.path,
        "exit_code": checked.exit_code,
        "model": model_json(judged.model),
        "assumed": dict(judged.assumed),
        "placement": {t.id: counts(judged, t.id) for t in chosen},
        "operators": _operators(judged, chosen),
        "uncovered": sum(d.code in (REQUIRED, STRICT) for d in judged.diagnostics),
        "diagnostics": [d.to_json() for d in judged.diagnostics],
    }
