"""Runs a fixed model and the unchanged one on whoever can, on the same inputs, and judges.

What could not be compared is told, never taken for equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..errors import FeedError
from ..feeds import Feeds, check_feeds, random_feeds
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
from .rule import DiffersError

CPU = "ort-cpu"
INPUTS_SHOWN = 6
_WAY_OUT = "--no-compare writes the file all the same"


@dataclass(frozen=True)
class Trial:
    """How both models are run.

    Attributes:
        live: the installed ORT is asked about every target, too.
        feeds: inputs to run with; None draws them with ``seed``.
        tolerance: relative L2 distance allowed; None takes the rules' own.
    """

    live: bool = False
    feeds: Mapping[str, np.ndarray] | None = None
    seed: int = 0
    tolerance: float | None = None

    def allowed(self, default: float) -> float:
        """The distance that is allowed where ``default`` is the rules' own."""
        return default if self.tolerance is None else self.tolerance


@dataclass(frozen=True)
class Live:
    """Where the installed ORT runs the nodes of both models."""

    target: str
    before: LivePlacement | None
    after: LivePlacement | None


@dataclass(frozen=True)
class Compared:
    """What came of it: no comparison in it has failed, and one at least was made.

    Attributes:
        inputs: what both were run with, in words.
        comparisons: one for each engine, and one with other sizes where sizes were assumed.
    """

    inputs: str
    comparisons: tuple[Comparison, ...]
    live: tuple[Live, ...] = ()


def run_both(fix: Fix, new: Model, trial: Trial) -> Compared:
    """Run the unchanged model and ``new``, the fixed one as it was read from its file.

    Raises:
        DiffersError: the outputs differ, or nobody here can run both, or there are no inputs.
    """
    old = fix.before.model
    feeds = _feeds(fix, trial)
    try:
        check_feeds(new, feeds.arrays)
    except FeedError as error:
        text = str(error).replace(new.path, "the fixed model")
        raise DiffersError(f"{old.path}: nothing is written: {text}") from error
    comparisons, live = _on_all(fix, new, feeds.arrays, trial)
    if all(comparison.skipped for comparison in comparisons):
        texts = "; ".join(c.text.replace(new.path, "the fixed model") for c in comparisons)
        raise DiffersError(f"{old.path}: nobody here can run both to compare: {texts} ({_WAY_OUT})")
    if shapes := _other_shapes(fix, feeds):
        comparisons.append(_with_shapes(fix, new, shapes, trial))
    comparisons = [
        replace(c, skipped=c.skipped.replace(new.path, "the fixed model")) for c in comparisons
    ]
    for comparison in comparisons:
        if comparison.failure:
            text = comparison.text.replace(new.path, "the fixed model")
            raise DiffersError(f"{old.path}: nothing is written: {text}")
    return Compared(_told(feeds), tuple(comparisons), tuple(live))


def _on_host(fix: Fix, new: Model, feeds: Mapping[str, np.ndarray], trial: Trial) -> Comparison:
    allowed = None if fix.exact else trial.allowed(TOLERANCE)
    return compare_on_host(fix.before.model, new, feeds, allowed, not fix.exact)


def _on_all(
    fix: Fix, new: Model, feeds: Mapping[str, np.ndarray], trial: Trial
) -> tuple[list[Comparison], list[Live]]:
    old, heals = fix.before.model, not fix.exact
    rounding = 0.0 if fix.exact else TOLERANCE
    moved = LIVE_TOLERANCE_F16 if _is_half(old) else LIVE_TOLERANCE
    comparisons = [_on_host(fix, new, feeds, trial)]
    gpu_limit = trial.allowed(max(rounding, moved))
    comparisons.append(compare_on_gpu(Session(), old, new, feeds, gpu_limit, heals))
    live = []
    with LiveSession() as session:
        cpu_limit = trial.allowed(max(rounding, ORT_CPU_TOLERANCE))
        comparisons.append(compare_live(session, CPU, old, new, feeds, cpu_limit, heals)[0])
        for name in fix.before.options.targets if trial.live else ():
            if target_of(name).family in ("opscope", CPU):
                continue
            limit = trial.allowed(max(rounding, moved))
            comparison, before, after = compare_live(session, name, old, new, feeds, limit, heals)
            comparisons.append(comparison)
            live.append(Live(name, before, after))
    return comparisons, live


def _is_half(model: Model) -> bool:
    halves = ("float16", "bfloat16")
    weights = (w.dtype for graph in model.graphs() for w in graph.initializers.values())
    inputs = (p.type.dtype for p in model.graph.inputs if p.type is not None)
    return any(dtype in halves for dtype in (*weights, *inputs))


def _feeds(fix: Fix, trial: Trial) -> Feeds:
    if trial.feeds is not None:
        return Feeds(trial.feeds)
    options = fix.before.options
    try:
        return random_feeds(fix.before.model, options.shapes, options.dims, trial.seed)
    except FeedError as error:
        raise DiffersError(
            f"{error}; without inputs both cannot be compared (--inputs FILE gives some, "
            f"{_WAY_OUT})"
        ) from error


def _other_shapes(fix: Fix, feeds: Feeds) -> Mapping[str, tuple[int, ...]]:
    """The inputs' shapes with each assumed batch 2 instead of 1; none where none was assumed.

    What a rule would wrongly take from one size of the inputs is right for that size.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    assumed = {dim for dim, size in feeds.assumed.items() if size == 1}
    for port in fix.before.model.graph.inputs:
        dims = port.type.shape if port.type is not None else None
        if dims is None:
            return {}
        sizes = zip(dims, feeds.arrays[port.name].shape, strict=True)
        shapes[port.name] = tuple(
            2 if (dim or f"{port.name}[{axis}]") in assumed else size
            for axis, (dim, size) in enumerate(sizes)
        )
    if not assumed or "fix-shapes" in {step.rule for step in fix.steps if step.changed}:
        return {}
    return shapes


def _with_shapes(
    fix: Fix, new: Model, shapes: Mapping[str, tuple[int, ...]], trial: Trial
) -> Comparison:
    try:
        feeds = random_feeds(fix.before.model, shapes, {}, trial.seed).arrays
    except FeedError as error:
        return Comparison("Opscope's host provider, with a batch of 2", skipped=str(error))
    found = _on_host(fix, new, feeds, trial)
    return replace(found, by=f"{found.by}, with {_listed(feeds)}")


def _told(feeds: Feeds) -> str:
    """The inputs in words."""
    origin = "given" if feeds.seed is None else f"random, seed {feeds.seed}"
    text = f"{origin}: {_listed(feeds.arrays)}"
    if feeds.assumed:
        text += f"; assumed: {', '.join(f'{k} = {v:,}' for k, v in feeds.assumed.items())}"
    return text


def _listed(feeds: Mapping[str, np.ndarray]) -> str:
    if not feeds:
        return "the model has none"
    shown = [f"{name} {a.dtype.name}{list(a.shape)}" for name, a in feeds.items()]
    more = len(shown) - INPUTS_SHOWN
    return ", ".join(shown[:INPUTS_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
