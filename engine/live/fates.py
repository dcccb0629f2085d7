"""What may become of a node: run, by itself or within another, folded, dropped, or not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..providers.support import Status
from .answer import CPU, LiveNode
from .assignments import Assigned

_DROPPED = "dropped"


def unknown(how: str) -> LiveNode:
    """It cannot be told, and why."""
    return LiveNode(Status.UNKNOWN, "", how)


def folded(how: str = "folded") -> LiveNode:
    """Nothing of it is left to do."""
    return LiveNode(Status.FOLDED, "", how)


def dropped(why: str = "") -> LiveNode:
    """Folded since it did nothing: who read its output reads its input now."""
    return folded(_DROPPED + why)


def was_dropped(fate: LiveNode) -> bool:
    """Whether :func:`dropped` says so."""
    return fate.status is Status.FOLDED and fate.how.startswith(_DROPPED)


def run_by(item: Assigned, how: str) -> LiveNode:
    """It is there still, as ``item``."""
    return LiveNode(status_on(item.provider), item.provider, how)


def status_on(provider: str) -> Status:
    """The status of a node that a provider runs."""
    return Status.HOST if provider == CPU else Status.GPU


def together(items: Sequence[Assigned]) -> LiveNode:
    """One node, in as many places as its function was opened."""
    providers = Counter(item.provider for item in items)
    if len(providers) == 1:
        provider = items[0].provider
        how = "same name" if len(items) == 1 else f"same name, in {len(items)} places"
        return LiveNode(status_on(provider), provider, how)
    each = ", ".join(f"{n} on {provider}" for provider, n in providers.items())
    return LiveNode(Status.UNKNOWN, "", f"not the same in each place where it is: {each}")


def fused(item: Assigned) -> LiveNode:
    """Computed by a node that ORT made of it and others."""
    domain = f"{item.domain}::" if item.domain else ""
    return into(item, f"fused into {domain}{item.op_type}")


def into(item: Assigned, how: str) -> LiveNode:
    """Computed by ``item``, another node."""
    return LiveNode(Status.FUSED, item.provider, how)
