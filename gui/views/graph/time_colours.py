"""Colours by time: a ramp from the fastest node to the slowest."""

from __future__ import annotations

from collections.abc import Mapping

from ....engine.ir.model import Model, NodeId
from ....engine.results import ENGINE_NAME
from ....engine.units import counted
from ...format import share_text, time_text
from .colouring import Colouring, LegendEntry, Mode, Paint

_LEGEND_OPERATORS = 5
_LEAST_SHARE = 0.001  # of all time, to be worth a number on the box


def by_time(
    model: Model,
    times_ns: Mapping[NodeId, float],
    *,
    total_ns: float | None = None,
    source: str = ENGINE_NAME,
    statistic: str = "",
) -> Colouring:
    """Colour by the time each node took.

    Args:
        model: whose nodes they are.
        times_ns: time per node of the file.
        total_ns: what shares are of; by default the sum of these times.
        source: who measured.
        statistic: what the times are, such as "median of 50 runs".
    """
    timed = sum(times_ns.values())
    total = total_ns or timed
    slowest = max(times_ns.values(), default=0.0)
    operators: dict[str, list[NodeId]] = {}
    paints: dict[NodeId, Paint] = {}
    for node in sorted(times_ns, key=lambda node: -times_ns[node]):
        paints[node] = _paint(times_ns[node], total, slowest, source)
        op = model.nodes[node].op_type if node in model.nodes else "?"
        operators.setdefault(op, []).append(node)
    sums = {op: sum(times_ns[node] for node in nodes) for op, nodes in operators.items()}
    longest = sorted(sums, key=lambda op: -sums[op])[:_LEGEND_OPERATORS]
    return Colouring(
        Mode.TIME,
        f"Time: {source}, {statistic}" if statistic else f"Time: {source}",
        paints,
        tuple(
            LegendEntry(
                op,
                paints[operators[op][0]].kind,  # the slowest node's
                f"{time_text(sums[op])} \N{MIDDLE DOT} {share_text(_share(sums[op], total))}",
                tuple(operators[op]),
            )
            for op in longest
        ),
        summary=f"{time_text(timed)} in {counted(len(times_ns), 'node')}",
        source=source,
    )


def _paint(time_ns: float, total_ns: float, slowest_ns: float, source: str) -> Paint:
    share = _share(time_ns, total_ns)
    place = _share(time_ns, slowest_ns) ** 0.5  # short times are told apart, too
    text = share_text(share) if share >= _LEAST_SHARE else ""
    return Paint(place, text, f"{time_text(time_ns)} ({share_text(share)}) on {source}")


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
