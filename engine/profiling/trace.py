"""A run as a Chrome trace (the JSON that Perfetto and chrome://tracing open).

Format: the "Trace Event Format" document, complete events ("ph": "X"), times in microseconds.
"""

from __future__ import annotations

from typing import Any

from ..plan.types import Plan
from ..results import RunResult


def chrome_trace(result: RunResult, plan: Plan) -> dict[str, Any]:
    """Nodes one after another on a GPU and a host track; gaps between them are not known."""
    names = {p.node: p.name for p in plan.placement}
    events: list[dict[str, Any]] = [
        {"name": "thread_name", "ph": "M", "pid": 0, "tid": tid, "args": {"name": name}}
        for tid, name in enumerate(("GPU", "host"))
    ]
    start = 0.0
    for time in result.times:
        duration = time.time_ns / 1e3
        events.append(
            {
                "name": names.get(time.node) or time.op,
                "cat": time.op,
                "ph": "X",
                "ts": start,
                "dur": duration,
                "pid": 0,
                "tid": int(time.kernel == "host"),
                "args": {"node": str(time.node), "kernel": time.kernel, "op": time.op},
            }
        )
        start += duration
    return {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"engine": result.engine, "timing": result.timing_source},
    }
