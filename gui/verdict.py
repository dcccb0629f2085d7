"""Verdicts in the window's words: their sign, their word, the step that decided, and the side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from ..engine.ir.model import NodeId
from ..engine.providers.support import Reason, Status, Support

if TYPE_CHECKING:
    from ..engine.live.answer import LivePlacement

_AS_IT_IS = "same name"  # how the engine tells of a node that ORT did not rewrite


class Home(StrEnum):
    """What a status alone does not tell."""

    CPU = "at home on the CPU"  # a target that is the CPU: the node runs where it should


class Side(StrEnum):
    """Where a node's work is done."""

    GPU = "gpu"
    CPU = "cpu"
    NONE = "none"  # folded: no work is left
    FAILS = "fails"  # nobody does it
    UNKNOWN = "unknown"


Sign = Status | Home

WORDS: Mapping[Sign, str] = {
    Status.GPU: "GPU",
    Status.HOST: "CPU",
    Home.CPU: "CPU",
    Status.FOLDED: "folded",
    Status.FUSED: "fused",
    Status.FAILS: "fails",
    Status.UNSUPPORTED: "unsupported",
    Status.UNKNOWN: "unknown",
}
WORST_FIRST: tuple[Sign, ...] = (
    Status.UNSUPPORTED,
    Status.FAILS,
    Status.HOST,
    Status.UNKNOWN,
    Status.GPU,
    Home.CPU,
    Status.FUSED,
    Status.FOLDED,
)
OFF = frozenset((Status.HOST, Status.FAILS, Status.UNSUPPORTED))
"""The signs of nodes that are not where their target should run them."""


def sign_of(verdict: Support) -> Sign:
    """The class that a verdict is drawn as."""
    if verdict.status is Status.HOST and verdict.reason is Reason.NONE:
        return Home.CPU
    return verdict.status


def is_off(verdict: Support) -> bool:
    """True where a node is not where its target should run it: off the GPU, or failing."""
    return sign_of(verdict) in OFF


def side_of(verdict: Support) -> Side:
    """Where the node's work is done; a fused node's where the kernel is that it went into."""
    match verdict.status:
        case Status.GPU:
            return Side.GPU
        case Status.HOST:
            return Side.CPU
        case Status.FUSED:
            return Side.CPU if verdict.data.get("provider") == "cpu" else Side.GPU
        case Status.FOLDED:
            return Side.NONE
        case Status.FAILS | Status.UNSUPPORTED:
            return Side.FAILS
    return Side.UNKNOWN


def step_text(verdict: Support) -> str:
    """The step that decided, in two or three words; the kind of reason where none is named."""
    return str(verdict.data.get("step") or verdict.reason.value)


def reason_text(verdict: Support) -> str:
    """Why, in one sentence; "" where there is nothing to say."""
    if verdict.reason is Reason.NONE:
        return verdict.detail
    return f"{verdict.reason.value}: {verdict.detail}" if verdict.detail else verdict.reason.value


def live_text(live: LivePlacement, node: NodeId) -> str:
    """The installed runtime's answer about a node, in one sentence; "" where it has none."""
    if live.error:
        return f"The installed {live.installed} makes no session: {live.error}"
    if (found := live.nodes.get(node)) is None:
        return ""
    told = found.provider or WORDS[found.status]
    how = f" ({found.how})" if found.how not in ("", told, _AS_IT_IS) else ""
    return f"The installed {live.installed}: {told}{how}"


def summary_text(verdicts: Iterable[Support]) -> str:
    """A target's answer in a few words: ``2 of 20 off the GPU``, ``all on the GPU``."""
    counts = Counter(sign_of(v) for v in verdicts)
    total = sum(counts.values())
    if not total:
        return ""
    failing = counts[Status.FAILS] + counts[Status.UNSUPPORTED]
    if failing:
        return f"{failing:,} of {total:,} fail{'s' if failing == 1 else ''}"
    if counts[Home.CPU]:
        return "on the CPU"
    if counts[Status.HOST] == total:
        return "nothing on the GPU"
    if counts[Status.HOST]:
        return f"{counts[Status.HOST]:,} of {total:,} off the GPU"
    if counts[Status.UNKNOWN]:
        return f"{counts[Status.UNKNOWN]:,} unknown"
    return "all on the GPU"


def into(verdict: Support, nodes: Iterable[NodeId]) -> NodeId | None:
    """The node whose kernel computes a fused one, where the verdict names it."""
    wanted = verdict.data.get("into")
    if not isinstance(wanted, str):
        return None
    return next((node for node in nodes if str(node) == wanted), None)
