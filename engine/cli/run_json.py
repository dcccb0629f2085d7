"""The file of ``opscope run --json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..diagnostics import Diagnostic
from ..feeds import Feeds
from ..ir.model import Model, NodeId
from ..ir.summary import model_json
from ..plan.types import NodePlacement, Plan
from ..profiling.stats import NodeSummary, Samples, Spread
from ..results import ENGINE_NAME, RunResult, ValueStats
from .common import memory_json


@dataclass(frozen=True)
class Ran:
    """What a command ran, and what came of it.

    Attributes:
        last: the last run, with value statistics where they were asked for.
        samples: the times of all runs.
    """

    model: Model
    feeds: Feeds
    plan: Plan
    last: RunResult
    samples: Samples
    diagnostics: Sequence[Diagnostic]


def run_json(ran: Ran) -> dict[str, Any]:
    """The same as plain data (schema 1)."""
    plan, last, samples = ran.plan, ran.last, ran.samples
    places = {p.node: p for p in plan.placement}
    return {
        "schema": 1,
        "engine": ENGINE_NAME,
        "model": model_json(ran.model),
        "adapter": plan.profile.to_json(),
        "placement": plan.counts(),
        "assumed": dict(ran.feeds.assumed),
        "timing": {"source": last.timing_source},
        "diagnostics": [d.to_json() for d in ran.diagnostics],
        "runs": samples.runs,
        **{f"{part}_ms": _parts(spread, 1e6) for part, spread in samples.parts().items()},
        "kernels": [_kernel(s, places.get(s.node)) for s in samples.summary()],
        "stats": [_stats(s) for s in last.stats],
        "outputs": {
            n: {"dtype": a.dtype.name, "shape": list(a.shape)}
            for n, a in last.outputs.items()
            if isinstance(a, np.ndarray)
        },
        "memory": memory_json(plan),
    }


def _kernel(summary: NodeSummary, place: NodePlacement | None) -> dict[str, Any]:
    return {
        "node": {**_node(summary.node), "name": place.name if place else ""},
        "op": summary.op,
        "kernel": summary.kernel,
        "dispatches": summary.dispatches,
        "gpu_us": _parts(summary.time, 1e3),
        "flops": place.cost.flops if place else 0,
        "bytes": place.cost.bytes if place else 0,
    }


def _stats(stats: ValueStats) -> dict[str, Any]:
    """NaN where there is no finite value has no place in JSON: None."""
    return {
        "node": _node(stats.node),
        "output": stats.output,
        "dtype": stats.dtype,
        "elements": stats.elements,
        "min": None if np.isnan(stats.minimum) else stats.minimum,
        "max": None if np.isnan(stats.maximum) else stats.maximum,
        "nan": stats.nan,
        "inf": stats.inf,
    }


def _node(node: NodeId) -> dict[str, Any]:
    return {"graph": list(node.graph), "index": node.index}


def _parts(spread: Spread, unit: float) -> dict[str, float | None]:
    """first, min, p50 and p95; with a single run the warm ones are the first run's."""
    first = None if spread.first_ns is None else spread.first_ns / unit
    if not spread.n:
        return {"first": first, "min": first, "p50": first, "p95": first}
    warm = {"min": spread.min_ns, "p50": spread.p50_ns, "p95": spread.p95_ns}
    return {"first": first, **{k: v / unit for k, v in warm.items()}}
