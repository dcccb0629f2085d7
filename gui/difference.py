"""Two targets' verdicts on the same nodes: where they part, and how."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from ..engine.ir.model import NodeId
from ..engine.providers.support import Support
from .verdict import Side, side_of


class Difference(StrEnum):
    """How two verdicts on one node relate."""

    ONLY_FIRST = "only the first on the GPU"
    ONLY_SECOND = "only the second on the GPU"
    OTHERWISE = "otherwise"  # folded by one, failing for one, not known for one, ...
    SAME = "same"


_ELSEWHERE = (Side.CPU, Side.FAILS)


def difference(first: Support, second: Support) -> Difference:
    """How two verdicts relate: by where the work is done, not by the reasons for it.

    That a target has the node on the GPU *alone* is said only where the other is known to have it
    elsewhere.
    """
    a, b = side_of(first), side_of(second)
    if a is b:
        return Difference.SAME
    if a is Side.GPU and b in _ELSEWHERE:
        return Difference.ONLY_FIRST
    if b is Side.GPU and a in _ELSEWHERE:
        return Difference.ONLY_SECOND
    return Difference.OTHERWISE


def differences(
    first: Mapping[NodeId, Support], second: Mapping[NodeId, Support]
) -> dict[NodeId, Difference]:
    """The relation of every node that both have a verdict on, in the first one's order."""
    return {
        node: difference(verdict, second[node]) for node, verdict in first.items() if node in second
    }
