"""Runs a model before and after a fix on the same inputs, and says how far the outputs are apart.

Both are run by our own host provider, by our GPU engine where there is an adapter, and by an
installed ONNX Runtime in a child process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DeviceError, FeedError, ModelFileError, OpscopeError
from ..host.evaluate import evaluate_model
from ..ir.model import Model
from ..live import LivePlacement, LiveSession, LiveUnavailable
from ..numerics.compare import compare
from ..session import Session
from ..units import counted

TOLERANCE = 5e-3
"""Relative L2 distance allowed where a rule changes what is rounded."""
ORT_CPU_TOLERANCE = 1e-5
"""The same for ORT's CPU provider where nothing is rounded otherwise: it may fuse other nodes."""
LIVE_TOLERANCE = 1e-3
"""The same where nodes move to another provider, in f32."""
LIVE_TOLERANCE_F16 = 2e-2

Feeds = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Comparison:
    """One engine's outputs before and after.

    Attributes:
        by: who ran both.
        skipped: why they could not be compared; "" if they were.
        rel_l2, max_abs: of the worst output.
        worst: that output's name.
        exact: whether all outputs are the same bit for bit.
        outputs, elements: how many were compared.
        finite: whether any of the elements is neither infinite nor NaN.
        allowed: the relative L2 distance that is allowed; None where they must be the same.
        healed: elements that were infinite or NaN and are finite now, which is no difference where
            a rule computes in a wider type.
        failure: why the outputs count as different; "" if they do not.
    """

    by: str
    skipped: str = ""
    rel_l2: float = 0.0
    max_abs: float = 0.0
    worst: str = ""
    exact: bool = False
    outputs: int = 0
    elements: int = 0
    finite: bool = True
    allowed: float | None = None
    healed: int = 0
    failure: str = ""

    @property
    def text(self) -> str:
        """One line."""
        if self.skipped:
            return f"{self.by}: not compared: {self.skipped}"
        if self.failure:
            return f"{self.by}: {self.failure}"
        of = f"{counted(self.outputs, 'output')}, {counted(self.elements, 'element')}"
        if self.exact:
            text = f"{self.by}: all outputs are the same bit for bit ({of})"
        else:
            text = (
                f"{self.by}: outputs differ by {self.rel_l2:.1e} at most, relative (L2), and "
                f"{self.max_abs:.1e} in one element ('{self.worst}'; {of}); "
                f"{self.allowed:g} is allowed"
            )
        if self.healed:
            text += f"; finite now, and infinite or NaN before: {counted(self.healed, 'element')}"
        if not self.finite:
            text += "; all are infinite or NaN, which says little: give other --inputs"
        return text


def compare_on_host(
    old: Model, new: Model, feeds: Feeds, allowed: float | None, heals: bool = False
) -> Comparison:
    """Both on our host provider; the arguments are those of :func:`judge`."""
    by = "Opscope's host provider"
    try:
        before = evaluate_model(old, feeds)
    except OpscopeError as error:
        return Comparison(by, skipped=f"it cannot run the model: {error}")
    if _draws(old) and _moved(before, evaluate_model(old, feeds)):
        return Comparison(by, skipped=_AT_RANDOM)
    try:
        after = evaluate_model(new, feeds)
    except OpscopeError as error:
        return _fails(by, error)
    return judge(by, before, after, allowed, heals)


def compare_on_gpu(
    session: Session, old: Model, new: Model, feeds: Feeds, allowed: float, heals: bool = False
) -> Comparison:
    """Both on our GPU engine, where there is an adapter; the arguments are those of :func:`judge`.

    Opening the first device takes about a second; the session keeps it.
    """
    by = "Opscope's GPU engine"
    try:
        before = session.run(old, feeds, timing=False).outputs
        if _draws(old) and _moved(before, session.run(old, feeds, timing=False).outputs):
            return Comparison(by, skipped=_AT_RANDOM)
    except DeviceError as error:
        return Comparison(by, skipped=str(error))
    except OpscopeError as error:
        return Comparison(by, skipped=f"it cannot run the model: {error}")
    finally:
        session.forget(old)
    try:
        after = session.run(new, feeds, timing=False).outputs
    except OpscopeError as error:
        return _fails(by, error)
    finally:
        session.forget(new)
    return judge(by, before, after, allowed, heals)


def _fails(by: str, error: OpscopeError) -> Comparison:
    """The comparison where only the changed model fails.

    An engine may lack the older version of an operator or run out of memory, which says nothing
    of the model; that it takes other inputs, or cannot be read, does.
    """
    if isinstance(error, FeedError | ModelFileError):
        return Comparison(by, failure=f"the changed model fails: {error}")
    return Comparison(by, skipped=f"it cannot run the changed model: {error}")


_AT_RANDOM = "two runs of the unchanged model differ: it draws at random"


def _draws(model: Model) -> bool:
    """Whether the model may draw random numbers, so that one run is no yardstick."""
    drawing = ("Random", "Bernoulli", "Multinomial", "Dropout")
    return any(n.op_type.startswith(drawing) for n in model.nodes.values())


def _moved(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return any(not _same(first[name], value) for name, value in second.items())


def compare_live(
    session: LiveSession,
    target: str,
    old: Model,
    new: Model,
    feeds: Feeds,
    allowed: float | None,
    heals: bool = False,
) -> tuple[Comparison, LivePlacement | None, LivePlacement | None]:
    """Both on the installed ORT, and where it runs their nodes."""
    by = f"the installed ORT ({target})"
    try:
        before = session.ask(old, target, feeds=feeds)
        if before.error or before.run_error:
            why = f"it cannot run the unchanged model: {before.error or before.run_error}"
            return Comparison(by, skipped=why), before, None
        if _draws(old) and _moved(before.outputs, session.ask(old, target, feeds=feeds).outputs):
            return Comparison(by, skipped=_AT_RANDOM), before, None
        after = session.ask(new, target, feeds=feeds)
    except (LiveUnavailable, ModelFileError) as error:
        return Comparison(by, skipped=str(error)), None, None
    except OpscopeError as error:  # feeds that it does not take
        return Comparison(by, skipped=f"it cannot be asked: {error}"), None, None
    if after.error or after.run_error:
        text = f"the changed model fails: {after.error or after.run_error}"
        return Comparison(by, failure=text), before, after
    return judge(by, before.outputs, after.outputs, allowed, heals), before, after


def judge(
    by: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    allowed: float | None,
    heals: bool = False,
) -> Comparison:
    """How far outputs are apart, and whether that is too far.

    Args:
        by: who computed them.
        before: by output name: arrays, sequences or maps.
        after: the same of the changed model.
        allowed: relative L2 distance; None where they must be the same bit for bit.
        heals: finite values may stand where there was an infinity or NaN.
    """
    if set(before) != set(after):
        return Comparison(by, failure="the changed model has other outputs")
    elements, finite = _extent(list(before.values()))
    if not elements:
        return Comparison(by, skipped="the outputs hold no element that could be compared")
    exact, worst, rel, largest, healed = True, "", -1.0, 0.0, 0
    for name, expected in before.items():
        if _same(expected, after[name]):
            continue
        exact = False
        if heals:
            expected, count = _healed(expected, after[name])
            healed += count
        apart = _distance(after[name], expected)
        if apart is None:
            return Comparison(by, worst=name, failure=f"output '{name}' is another one")
        largest = max(largest, apart[1])
        if apart[0] > rel:
            worst, rel = name, apart[0]
    rel = max(rel, 0.0)
    failure = ""
    if not exact and (allowed is None or not rel <= allowed):
        limit = "must be the same bit for bit" if allowed is None else f"{allowed:g} is allowed"
        failure = (
            f"output '{worst}' differs by {rel:.1e}, relative (L2), and {largest:.1e} in one "
            f"element; {limit}"
        )
    return Comparison(
        by,
        rel_l2=rel,
        max_abs=largest,
        worst=worst,
        exact=exact,
        outputs=len(before),
        elements=elements,
        finite=finite,
        allowed=allowed,
        healed=healed,
        failure=failure,
    )


def _extent(value: Any) -> tuple[int, bool]:
    """How many elements a value holds, and whether any of them is neither infinite nor NaN."""
    if isinstance(value, Sequence | Mapping) and not isinstance(value, str):
        inner = value.values() if isinstance(value, Mapping) else value
        parts = [_extent(item) for item in inner]
        return sum(count for count, _ in parts), any(finite for _, finite in parts)
    array = np.asarray(value)
    if array.dtype.kind in "OUSbiu":
        return array.size, array.size > 0
    return array.size, bool(np.isfinite(array.astype(np.complex128)).any())


def _healed(expected: Any, actual: Any) -> tuple[Any, int]:
    """``expected`` with what is finite only in ``actual`` taken from there, and how many it is."""
    arrays = isinstance(expected, np.ndarray) and isinstance(actual, np.ndarray)
    if not arrays or expected.shape != actual.shape or expected.dtype.kind in "OUSbiu":
        return expected, 0
    wide, found = expected.astype(np.complex128), actual.astype(np.complex128)
    where = ~np.isfinite(wide) & np.isfinite(found)
    mended = expected.copy()
    mended[where] = actual[where]
    return mended, int(where.sum())


def _same(a: Any, b: Any) -> bool:
    """Whether two values are the same bit for bit."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind in "OUS":
            return bool((a.astype(str) == b.astype(str)).all())
        return np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return False
    if isinstance(a, Sequence) and isinstance(b, Sequence) and not isinstance(a, str):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return list(a) == list(b) and all(_same(a[k], b[k]) for k in a)
    return bool(a == b) or (a != a and b != b)


def _distance(a: Any, b: Any) -> tuple[float, float] | None:
    """(relative L2, largest) distance; None where values cannot be subtracted."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape or a.dtype.kind in "OUSb":
            return None
        found = compare(a, b)
        return found.rel_l2, found.max_abs
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        parts = [_distance(x, y) for x, y in zip(a, b, strict=True)]
        known = [p for p in parts if p is not None]
        if known and len(known) == len(parts):
            return max(p[0] for p in known), max(p[1] for p in known)
    return None
