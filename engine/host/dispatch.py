"""One operator on the CPU: its handler from the table, or else onnx.reference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import OpscopeError
from ..ops.use import OpUse
from ..providers.support import Reason, Status, Support
from ..units import counted
from . import reference
from .scope import Scope
from .table import Entry, find, operators
from .values import Value, dense

_HOST = Support(Status.HOST)
_EMPTY = Scope()


def evaluate_use(use: OpUse, inputs: Sequence[Value], scope: Scope | None = None) -> list[Value]:
    """See :func:`opscope.engine.host.evaluate.evaluate`, which also loads the handlers."""
    entry = find(use)
    if entry is None:
        verdict = support_of(use)
        if verdict.status is not Status.HOST:
            raise use.error(verdict.detail)
    elif refusal := _wrong(use) or _refusal(entry, use, len(inputs)):
        raise use.error(refusal.detail)
    try:
        with np.errstate(all="ignore"):  # IEEE 754: infinities and NaN are results
            if entry is None:
                found = reference.evaluate(use, inputs)
            elif entry.scoped:
                found = entry.compute(use, *inputs, scope=scope or _EMPTY)
            else:
                found = entry.compute(use, *inputs)
    except OpscopeError:
        raise
    except Exception as error:
        # Inputs that contradict the ONNX text reach numpy in a hundred ways; each is this node's.
        reason = " ".join(str(error).split()) or type(error).__name__
        if lacking := use.missing_input:
            reason = f"{use.op} lacks the input {lacking!r}, which ONNX requires"
        raise use.error(f"the host cannot compute it: {reason}") from error
    return _outputs(use, found)


def _outputs(use: OpUse, found: Value) -> list[Value]:
    results = list(found) if isinstance(found, tuple) else [found]
    wanted = len(use.outputs)
    if len(results) < wanted and any(use.wants(i) for i in range(len(results), wanted)):
        raise use.error(f"the node has {wanted} outputs; the operator gives {len(results)}")
    results = results[:wanted] + [None] * (wanted - len(results))
    return [dense(v) if use.wants(i) else None for i, v in enumerate(results)]


def support_of(use: OpUse) -> Support:
    """See :func:`opscope.engine.host.evaluate.can_evaluate`."""
    if refusal := _wrong(use):
        return refusal
    entry = find(use)
    if entry is not None:
        return _refusal(entry, use, None) or _HOST
    if ("" if use.domain == "ai.onnx" else use.domain, use.op_type) in operators():
        detail = f"the host does not compute schema version {use.since_version} of {use.op}"
        return Support(Status.UNSUPPORTED, Reason.SCHEMA_VERSION, detail)
    return reference.support(use)


def _wrong(use: OpUse) -> Support | None:
    if (wrong := use.wrong_attribute()) is None:
        return None
    _, fault = wrong
    return Support(Status.UNSUPPORTED, Reason.ATTRIBUTE, f"the node {fault}")


def _refusal(entry: Entry, use: OpUse, count: int | None) -> Support | None:
    if use.attributes and not entry.attributes.issuperset(use.attributes):
        unknown = min(set(use.attributes) - entry.attributes)
        detail = f"the attribute {unknown!r} is not supported on the host"
        return Support(Status.UNSUPPORTED, Reason.ATTRIBUTE, detail)
    given = len(use.inputs) if count is None else count
    if not entry.fewest <= given <= entry.most:
        needs = str(entry.fewest) if entry.fewest == entry.most else f"{entry.fewest} or more"
        detail = f"the node has {counted(given, 'input')}; the operator takes {needs}"
        return Support(Status.UNSUPPORTED, Reason.UNKNOWN, detail)
    return None
