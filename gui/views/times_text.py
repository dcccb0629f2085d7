"""Sentences about a run's times: how many runs, whose, measured how."""

from __future__ import annotations

from ...engine.results import ENGINE_NAME, TIMING_SOURCES
from ...engine.units import counted
from ..document import Document
from ..format import time_text


def source_text(source: str) -> str:
    """How a timing source measures, in words."""
    return TIMING_SOURCES.get(source, source)


def runs_text(document: Document) -> str:
    """``Opscope on wgpu: first run and 20 warm runs, GPU 1.20 ms (p50), ...``."""
    samples, source = document.samples, document.timing_source
    if not source:
        return ""
    if document.reported is not None:
        runs = counted(document.warm_runs, "warm run") if document.warm_runs else "the first run"
        return f"{ENGINE_NAME}, as the report states: {runs}. {source_text(source)}."
    parts = samples.parts()
    runs = [*(["the first run"] if samples.runs > samples.warm_runs else [])]
    if samples.warm_runs:
        runs.append(counted(samples.warm_runs, "warm run"))
    text = f"{ENGINE_NAME}: {' and '.join(runs)}"
    for name, title in (("gpu", "GPU"), ("wall", "wall")):
        spread = parts[name]
        if spread.n:
            text += f", {title} {time_text(spread.p50_ns)} (p50)"
        elif spread.first_ns is not None:
            text += f", {title} {time_text(spread.first_ns)} (first run)"
    return f"{text}. {source_text(source)}."
