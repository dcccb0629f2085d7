"""Checks a fixed model, compares its outputs with the old one's, and writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..errors import FeedError
from ..feeds import check_feeds, random_feeds
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
INPUTS_SHOWN = 6
_READS_NO_DATA = "Cannot parse data from external tensors"
"""What the full check says where a constant that shapes hang on lies in a file of its own."""


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
        inputs: what both were run with; "" if they were not.
        comparisons: of the outputs, one for each engine.
        copies: files of external data that were copied.
    """

    path: str
    checker: str
    inputs: str
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
        checker = checked(source, temporary)
        if not demand.compare:
            found.append(Saved(path, checker, "", ()))
            return
        feeds, inputs = _feeds(fix, demand)
        comparisons, live = _compared(fix, load_model(temporary), feeds, demand)
        found.append(Saved(path, checker, inputs, comparisons, live))

    copies = save(fix.after.data, source, path, force=demand.force, inspect=inspect)
    return replace(found[0], copies=copies)


def checked(source: str, temporary: str) -> str:
    """What onnx.checker says of ``temporary``, the fixed model of the file ``source``.

    Raises:
        RefusedError: it was content with ``source`` and is not now.
    """
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
    unread = now if _READS_NO_DATA in now else ""
    if unread:
        now = checker_objection(temporary, full=False)
    if now:
        shown = now.replace(temporary, "the new file")
        raise RefusedError(f"{source}: the fixed model does not pass onnx.checker: {shown}")
    if full_before:
        return f"passed (its full check does not pass the unchanged model: {full_before})"
    if unread:
        return f"passed (its full check reads no external data: {unread})"
    return "passed, with every type and shape inferred"


def _compared(
    fix: Fix, new: Model, feeds: Mapping[str, np.ndarray], demand: Demand
) -> tuple[tuple[Comparison, ...], tuple[Live, ...]]:
    """Both models on everybody who can run them; DiffersError where they differ, or nobody can."""
    where = f"{fix.before.model.path}: nothing is written"
    try:
        check_feeds(new, feeds)
    except FeedError as error:
        text = str(error).replace(new.path, "the fixed model")
        raise DiffersError(f"{where}: the inputs do not fit: {text}") from error
    comparisons, live = _on_all(fix, new, feeds, demand)
    texts = [c.text.replace(new.path, "the fixed model") for c in comparisons]
    for comparison, text in zip(comparisons, texts, strict=True):
        if comparison.failure:
            raise DiffersError(f"{where}: {text}")
    if all(comparison.skipped for comparison in comparisons):
        raise DiffersError(
            f"{where}: nobody here can run both to compare them: {'; '.join(texts)} "
            "(--no-compare writes the file all the same)"
        )
    told = (replace(c, skipped=c.skipped.replace(new.path, "the fixed model")) for c in comparisons)
    return tuple(told), tuple(live)


def _on_all(
    fix: Fix, new: Model, feeds: Mapping[str, np.ndarray], demand: Demand
) -> tuple[list[Comparison], list[Live]]:
    old, heals = fix.before.model, not fix.exact
    rounding = None if fix.exact else _allowed(demand, TOLERANCE)
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
    return comparisons, live


def _allowed(demand: Demand, default: float) -> float:
    return default if demand.tolerance is None else demand.tolerance


def _live_tolerance(model: Model) -> float:
    halves = ("float16", "bfloat16")
    weights = (w.dtype for graph in model.graphs() for w in graph.initializers.values())
    inputs = (p.type.dtype for p in model.graph.inputs if p.type is not None)
    is_half = any(dtype in halves for dtype in (*weights, *inputs))
    return LIVE_TOLERANCE_F16 if is_half else LIVE_TOLERANCE


def _feeds(fix: Fix, demand: Demand) -> tuple[Mapping[str, np.ndarray], str]:
    """What both models are run with, and that in words."""
    if demand.feeds is not None:
        return demand.feeds, f"given: {_listed(demand.feeds)}"
    options = fix.before.options
    try:
        feeds = random_feeds(fix.before.model, options.shapes, options.dims, demand.seed)
    except FeedError as error:
        raise DiffersError(
            f"{error}; without inputs both cannot be compared (--inputs FILE gives some, "
            "--no-compare writes the file all the same)"
        ) from error
    text = f"random, seed {demand.seed}: {_listed(feeds.arrays)}"
    if feeds.assumed:
        text += f"; assumed: {', '.join(f'{k} = {v:,}' for k, v in feeds.assumed.items())}"
    return feeds.arrays, text


def _listed(feeds: Mapping[str, np.ndarray]) -> str:
    if not feeds:
        return "the model has none"
    shown = [f"{name} {a.dtype.name}{list(a.shape)}" for name, a in feeds.items()]
    more = len(shown) - INPUTS_SHOWN
    return ", ".join(shown[:INPUTS_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
