"""Rows that a workgroup walks together: how long they may be, and how large the workgroup is.

Reductions, softmax and the normalizations; the last two go over each row thrice.
"""

from __future__ import annotations

from ..providers.support import SUPPORTED, Reason, Support, refused
from .tiles import MOST_TURNS
from .use import OpUse

GROUP = 256  # invocations of a workgroup that shares a long row
SHARED_FROM = 32  # elements per row from which a workgroup shares the row
SHORT_ROW = 1_024
WALKS = 3
LONGEST_ROW = MOST_TURNS * GROUP // WALKS


def group_size(length: int) -> int:
    """Invocations for a row of ``length``: few for a short one, whose parts then add up sooner."""
    return GROUP if length > SHORT_ROW else 64


def row_support(use: OpUse, length: int) -> Support:
    """Whether rows of ``length`` elements are taken; past the limit their sums could be cut off."""
    if length <= LONGEST_ROW:
        return SUPPORTED
    detail = f"{use.op} over {length:,} elements; the kernel goes to {LONGEST_ROW:,}"
    return refused(Reason.SHAPE, detail, length=length, longest=LONGEST_ROW)
