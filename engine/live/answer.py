"""What an installed ONNX Runtime answered: data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import OpscopeError
from ..ir.model import NodeId
from ..providers.support import Status

CPU = "CPUExecutionProvider"
WEBGPU = "WebGpuExecutionProvider"
PACKAGES: Mapping[str, str] = {
    CPU: "onnxruntime",
    WEBGPU: "onnxruntime onnxruntime-ep-webgpu",
    "CUDAExecutionProvider": "onnxruntime-gpu",
    "DmlExecutionProvider": "onnxruntime-directml",
}
"""What pip installs an ORT with a provider from."""


def install(provider: str) -> str:
    """What helps where a provider's packages are not installed, or too old."""
    return f"install it with: pip install -U {PACKAGES[provider]}"


class LiveUnavailable(OpscopeError):  # noqa: N818 - the name is part of the interface
    """No onnxruntime, no such provider in it, or no adapter; the text says what helps."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class LiveNode:
    """Where the installed ORT runs one node.

    Attributes:
        status: GPU (any provider but the CPU's), HOST, FOLDED (nothing is left of it), FUSED (into
            another node's kernel), or UNKNOWN where it cannot be told.
        provider: ORT's name of the provider, such as ``WebGpuExecutionProvider``; "" where none.
        how: how that was told: "same name", "fused into 'conv' (FusedConv)", "folded", ...
    """

    status: Status
    provider: str = ""
    how: str = ""

    @property
    def place(self) -> str:
        """Where its work is done: "gpu", "cpu", "none" (no work is left), or "" (not known)."""
        if self.status is Status.FOLDED:
            return "none"
        if self.status is Status.UNKNOWN or not self.provider:
            return ""
        return "cpu" if self.provider == CPU else "gpu"


@dataclass(frozen=True)
class LivePlacement:
    """Where the installed ORT runs each node of a model.

    Attributes:
        target: id of the target that was asked.
        versions: of "onnxruntime" and of the provider's plugin, where it is one.
        nodes: of every node; empty where the session could not be made.
        error: why session creation failed, "" if it did not. A child that died is told here too.
        failed_node: the node that ``error`` names, where it names one.
        notes: what else is to be said, such as a table of another version than the installed one.
        ran: whether the model was also run.
        run_error: why the run failed; "" if it did not, or was not asked for.
        outputs: of that run, by name.
    """

    target: str
    versions: Mapping[str, str]
    nodes: Mapping[NodeId, LiveNode]
    error: str = ""
    failed_node: NodeId | None = None
    notes: tuple[str, ...] = ()
    ran: bool = False
    run_error: str = ""
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)

    @property
    def installed(self) -> str:
        """The versions in words: ``ORT 1.32.0, onnxruntime-ep-webgpu 0.4.0``."""
        named = {"onnxruntime": "ORT"}
        return ", ".join(f"{named.get(name, name)} {v}" for name, v in self.versions.items())
