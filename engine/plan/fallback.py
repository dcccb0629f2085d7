"""What is said about nodes that the GPU does not run."""

from __future__ import annotations

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic, Severity
from ..ir.model import TensorType
from ..ops.use import OpUse
from ..providers.borders import value_bytes
from .types import NodePlacement

RECURRENT = frozenset(("GRU", "LSTM", "RNN"))


def crossing_bytes(types: tuple[TensorType | None, ...]) -> int:
    """Bytes of the tensors of ``types``: what a copy between host and GPU moves."""
    return sum(value_bytes(kind) or 0 for kind in types)


def host_diagnostic(placed: NodePlacement, use: OpUse) -> Diagnostic:
    """A node on the host: why, and what the copies at its borders move."""
    severity = Severity.ERROR if placed.op in RECURRENT else Severity.WARNING
    dynamic = tuple(t for i, t in enumerate(placed.inputs) if i not in use.values)
    size = crossing_bytes(dynamic) + crossing_bytes(placed.outputs)
    return Diagnostic(
        "host-node",
        severity,
        f"{placed.op} runs on the CPU: {placed.support.detail}; its inputs and outputs cross "
        f"between GPU and CPU ({size:,} bytes per run)",
        "avoid the operator, or keep its neighbours on the CPU as well",
        placed.source,
        placed.name,
        placed.op,
        "opscope",
        {"reason": placed.support.reason.value, "copied_bytes": size},
    )


def unsupported_diagnostic(placed: NodePlacement) -> Diagnostic:
    """A node that nobody here can run."""
    return Diagnostic(
        "unsupported-node",
        Severity.ERROR,
        f"{placed.op} cannot be run: {placed.support.detail}",
        "the graph can be inspected; to run it, replace the operator",
        placed.source,
        placed.name,
        placed.op,
        "opscope",
        {"reason": placed.support.reason.value},
    )


def f16_unavailable(profile: DeviceProfile) -> Diagnostic:
    """The adapter has no f16: tensors are kept in f32."""
    return Diagnostic(
        "f16-unavailable",
        Severity.INFO,
        f"{profile.name} has no shader-f16: f16 tensors are kept and computed in f32, so results "
        "are closer to f32's, and memory is twice that of f16",
        "choose an adapter with shader-f16 to see the behaviour in f16",
        target="opscope",
    )
