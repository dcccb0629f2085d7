"""A judged model in numbers: nodes by verdict, by operator, by graph."""

from __future__ import annotations

from collections.abc import Sequence

from ..checks.judge import Judgement
from ..ir.model import Graph, Model
from ..providers.support import Status


def counts(judged: Judgement, target_id: str) -> dict[str, int]:
    """Number of nodes by status, of every graph."""
    found: dict[str, int] = {}
    for status in Status:
        number = sum(v.status is status for v in judged.verdicts[target_id].values())
        if number:
            found[status.value] = number
    return found


def operators(judged: Judgement, ids: Sequence[str]) -> dict[str, dict[str, dict[str, int]]]:
    """Operator -> target -> verdict -> number of nodes; the most frequent operator first."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    numbers: dict[str, int] = {}
    for node in judged.model.nodes.values():
        numbers[node.op] = numbers.get(node.op, 0) + 1
        per_target = found.setdefault(node.op, {t: {} for t in ids})
        for t in ids:
            verdict = judged.verdicts[t].get(node.id)
            status = verdict.status.value if verdict is not None else Status.UNKNOWN.value
            if verdict is not None and verdict.reason.value and status in ("host", "unsupported"):
                status += f" ({verdict.reason.value})"
            per_target[t][status] = per_target[t].get(status, 0) + 1
    return {op: found[op] for op in sorted(found, key=lambda op: (-numbers[op], op))}


def graph_rows(model: Model) -> tuple[tuple[str, str, int], ...]:
    """(name, within, nodes) of each graph."""
    functions = {f.graph.path: f for f in model.functions.values()}
    owners = {
        graph.path: (attribute, node)
        for node in model.nodes.values()
        for attribute, graph in node.subgraphs
    }

    def row(graph: Graph) -> tuple[str, str, int]:
        name, within = "main", ""
        if graph.path in owners:
            name, node = owners[graph.path]
            within = f"'{node.label}' ({node.op})"
        elif graph.path in functions:
            function = functions[graph.path]
            name = f"function {function.domain}::{function.name}"
        return name, within, len(graph.nodes)

    return tuple(map(row, model.graphs()))
