"""Checks a fixed model, compares its outputs with the old one's, and writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import FeedError
from ..feeds import random_feeds
from ..ir.edit_file import checker_objection, refuse_target, save
from ..ir.load import load_model
from ..ir.model import Model
from ..live import LivePlacement, LiveSession
from ..providers.targets import target as target_of
from ..session import Session
from .equality import (
    LIVE_TOLERANCE,
    LIVE_TOLERANCE_F16,
    ORT_CPU_TOLERANCE,
    TOLERANCE,
    Comparison,
    compare_live,
    compare_on_gpu,
    compare_on_host,
)
from .pipeline import Fix
from .rule import DiffersError, RefusedError

CPU = "ort-cpu"


@dataclass(frozen=True)
class Demand:
    """How the result is to be written.

    Attributes:
        force: another file may be replaced.
        compare: both models are run first.
        live: the installed ORT is asked about every target, too.
        feeds: inputs to run with; None draws them with ``seed``.
        tolerance: relative L2 distance allowed; None takes the rules' own.
    """

    force: bool = False
    compare: bool = True
    live: bool = False
    feeds: Mapping[str, np.ndarray] | None = None
    seed: int = 0
    tolerance: float | None = None


@dataclass(frozen=True)
class Live:
    """Where the installed ORT runs the nodes of both models."""

    target: str
    before: LivePlacement | None
    after: LivePlacement | None


@dataclass(frozen=True)
class Saved:
    """What was done to write a file.

    Attributes:
        checker: what onnx.checker says of it.
        comparisons: of the outputs, one for each engine.
        copies: files of external data that were copied.
    """

    path: str
    checker: str
    comparisons: tuple[Comparison, ...]
    live: tuple[Live, ...] = ()
    copies: tuple[str, ...] = ()


def save_fix(fix: Fix, path: str, demand: Demand) -> Saved:
    """Write the fixed model as ``path``, after it was checked and compared.

    Raises:
        UsageError: the file may not or cannot be written.
        RefusedError: onnx.checker does not pass the result, though it passes the model.
        DiffersError: the outputs differ, or nobody here can run the model to compare them.
    """
    source = fix.before.model.path
    refuse_target(source, path, fix.before.data, force=demand.force)
    found: list[Saved] = []

    def inspect(temporary: str) -> None:
        checker = _checked(source, temporary)
        comparisons, live = _compared(fix, load_model(temporary), demand)
        found.append(Saved(path, checker, comparisons, live))

    copies = save(fix.after.data, source, path, force=demand.force, inspect=inspect)
    done = found[0]
    return Saved(path, done.checker, done.comparisons, done.live, copies)


def _checked(source: str, temporary: str) -> str:
    """What onnx.checker says; RefusedError where it was content before and is not now."""
    before = checker_objection(source, full=False)
    if before:
        now = checker_objection(temporary, full=False)
        if not now:
            return f"passed, unlike the unchanged model ({before})"
        if now.replace(temporary, "") == before.replace(source, ""):
            return f"it does not pass the unchanged model either ({before})"
        shown = now.replace(temporary, "the new file")
        return f"it passes neither the unchanged model ({before}) nor the new file ({shown})"
    full_before = checker_objection(source, full=True)
    now = checker_objection(temporary, full=not full_before)
    if now:
        shown = now.replace(temporary, "the new file")
        raise RefusedError(f"{source}: the fixed model does not pass onnx.checker: {shown}")
    if full_before:
        return f"passed (its full check does not pass the unchanged model: {full_before})"
    return "passed, with every type and shape inferred"


def _compared(
    fix: Fix, new: Model, demand: Demand
) -> tuple[tuple[Comparison, ...], tuple[Live, ...]]:
    old = fix.before.model
    if not demand.compare:
        return (), ()
    try:
        feeds = demand.feeds or _feeds(fix, demand.seed)
    except FeedError as error:
        raise DiffersError(
            f"{error}; without inputs both cannot be compared (--inputs FILE gives some, "
            "--no-compare writes the file all the same)"
        ) from error
    rounding = None if fix.exact else _allowed(demand, TOLERANCE)
    heals = not fix.exact
    comparisons = [compare_on_host(old, new, feeds, rounding, heals)]
    gpu_limit = _allowed(demand, max(rounding or 0.0, _live_tolerance(old)))
    comparisons.append(compare_on_gpu(Session(), old, new, feeds, gpu_limit, heals))
    live = []
    with LiveSession() as session:
        cpu_limit = _allowed(demand, ORT_CPU_TOLERANCE if rounding is None else rounding)
        comparisons.append(compare_live(session, CPU, old, new, feeds, cpu_limit, heals)[0])
        for name in fix.before.options.targets if demand.live else ():
            if target_of(name).family in ("opscope", CPU):
                continue
            limit = _allowed(demand, _live_tolerance(old))
            comparison, before, after = compare_live(session, name, old, new, feeds, limit, heals)
            comparisons.append(comparison)
            live.append(Live(name, before, after))
    for comparison in comparisons:
        if comparison.failure:
            raise DiffersError(f"{old.path}: nothing is written: {comparison.text}")
    if all(comparison.skipped for comparison in comparisons):
        raise DiffersError(
            f"{old.path}: nobody here can run both to compare them: "
            f"{'; '.join(c.text for c in comparisons)} (--no-compare writes the file all the same)"
        )
    return tuple(comparisons), tuple(live)


def _allowed(demand: Demand, default: float) -> float:
    return default if demand.tolerance is None else demand.tolerance


def _live_tolerance(model: Model) -> float:
    halves = ("float16", "bfloat16")
    weights = (w.dtype for graph in model.graphs() for w in graph.initializers.values())
    inputs = (p.type.dtype for p in model.graph.inputs if p.type is not None)
    is_half = any(dtype in halves for dtype in (*weights, *inputs))
    return LIVE_TOLERANCE_F16 if is_half else LIVE_TOLERANCE


def _feeds(fix: Fix, seed: int) -> Mapping[str, np.ndarray]:
    options = fix.before.options
    return random_feeds(fix.before.model, options.shapes, options.dims, seed).arrays
