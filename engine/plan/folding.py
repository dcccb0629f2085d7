"""What is computed on the host while planning: operators of known values, and of shapes alone."""

from __future__ import annotations

import math

import numpy as np

from ..host.evaluate import can_evaluate
from ..ir.infer import infer_node
from ..ir.model import TensorType
from ..ops.use import OpUse
from ..providers.support import Status
from .values import KNOWN_LIMIT_BYTES, Origin, Values, known_among

SHAPE_ONLY = frozenset(("Shape", "Size"))
_WIDEST_BYTES = 8  # of an element, whatever its type


def fold(values: Values, origin: Origin) -> bool:
    """Compute a node's outputs now, where nothing but the plan decides them; False where not."""
    use = origin.use
    if use.draws:
        return False
    if use.op in SHAPE_ONLY:
        return _fold_shape(values, origin)
    if not known_among(values, (*origin.inputs, *origin.captured.values())):
        return False
    if can_evaluate(use).status is not Status.HOST or _is_large(use):
        return False
    values.compute(origin)
    return True


def _fold_shape(values: Values, origin: Origin) -> bool:
    kind = origin.use.input(0)
    if kind.known_dims is None:
        return False
    stand_in = np.broadcast_to(np.zeros((), np.int8), kind.dims)
    (result,) = values.evaluate(origin.use, [stand_in])
    assert result is not None
    values.add_known(next(o for o in origin.outputs if o is not None), result)
    return True


def _is_large(use: OpUse) -> bool:
    return any(_most_bytes(t) > KNOWN_LIMIT_BYTES for t in infer_node(use) if t is not None)


def _most_bytes(kind: TensorType) -> int:
    return _WIDEST_BYTES * math.prod(kind.known_dims or (0,))
