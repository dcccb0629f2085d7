"""How long a row one workgroup may walk: softmax and the normalizations go over each row thrice."""

from __future__ import annotations

from ..providers.support import SUPPORTED, Reason, Support, refused
from .elementwise import GROUP
from .tiles import MOST_TURNS
from .use import OpUse

WALKS = 3
LONGEST_ROW = MOST_TURNS * GROUP // WALKS


def row_support(use: OpUse, length: int) -> Support:
    """Whether rows of ``length`` elements are taken; past the limit their sums could be cut off."""
    if length <= LONGEST_ROW:
        return SUPPORTED
    detail = f"{use.op} over {length:,} elements; the kernel goes to {LONGEST_ROW:,}"
    return refused(Reason.SHAPE, detail, length=length, longest=LONGEST_ROW)
