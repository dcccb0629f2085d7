"""The CPU provider's front: one operator evaluated exactly, and whether it can be.

Importing this module loads the handlers of every family.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ops.use import OpUse
from ..providers.support import Support
from . import (  # noqa: F401  (each fills the table)
    arithmetic,
    casts,
    control,
    convolution,
    elementwise,
    indexing,
    layout,
    linear,
    ml,
    normalization,
    pooling,
    quantize,
    recurrent,
    reductions,
    resize,
    sequences,
    shape_ops,
)
from .dispatch import evaluate_use, support_of
from .interpreter import call_function, evaluate_model, run_graph
from .scope import Scope
from .values import Value

__all__ = ["can_evaluate", "evaluate", "evaluate_model", "run_graph"]


def evaluate(use: OpUse, arrays: Sequence[Value], scope: Scope | None = None) -> list[Value]:
    """The outputs of one operator, None where nobody wants one.

    Args:
        use: the operator. Attributes that it does not know are refused.
        arrays: the inputs, None where absent: arrays of the exact dtype, sequences as lists.
            They are not changed; an output may share an input's memory (Identity, Reshape).
        scope: functions, and outer values that subgraphs capture.

    Returns:
        One value per output of ``use``: dense row-major arrays, lists, or dicts (maps).

    Raises:
        NodeError: it cannot be computed; the text names the node and the numbers.
        LimitError: an output would take more memory than the host allows.
    """
    if scope is not None and scope.functions:
        function = scope.functions.get((use.domain, use.op_type, ""))
        if function is not None:
            return call_function(function, use, arrays, scope)
    return evaluate_use(use, arrays, scope)


def can_evaluate(use: OpUse) -> Support:
    """HOST where :func:`evaluate` computes ``use``, else UNSUPPORTED and why.

    Subgraphs are not looked into; a node of theirs that cannot be computed raises when reached.
    """
    return support_of(use)
