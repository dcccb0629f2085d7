"""The verdict on one node: who runs it, or why not. Data only; every provider speaks this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class Status(StrEnum):
    """Where a node ends up."""

    GPU = "gpu"
    HOST = "host"
    FOLDED = "folded"  # computed while planning: no work is left at run time
    FUSED = "fused"  # computed inside another node's kernel
    FAILS = "fails"  # placed on the GPU, then fails (at session creation or at run time)
    UNSUPPORTED = "unsupported"
    UNKNOWN = "unknown"


class Reason(StrEnum):
    """Why a node is not on the GPU."""

    NONE = ""
    NO_KERNEL = "no kernel"
    SCHEMA_VERSION = "schema version"
    TYPE = "type"
    SHAPE = "shape"
    ATTRIBUTE = "attribute"
    LIMIT = "limit"
    HOST_ON_PURPOSE = "on the host on purpose"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Support:
    """A provider's answer for one node.

    Attributes:
        status: where the node runs.
        reason: why it is not on the GPU; ``Reason.NONE`` when it is.
        detail: one sentence with the numbers, versions or types that decided.
        data: the same as data: kernel rows, versions, the deciding step.
    """

    status: Status
    reason: Reason = Reason.NONE
    detail: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def on_gpu(self) -> bool:
        """True where the GPU (or a kernel on it) does the node's work."""
        if self.status is Status.FUSED:
            return self.data.get("provider") != "cpu"
        return self.status is Status.GPU


SUPPORTED = Support(Status.GPU)


def refused(reason: Reason, detail: str, **data: Any) -> Support:
    """The GPU provider declines: the node goes to the host."""
    return Support(Status.HOST, reason, detail, MappingProxyType(data))
