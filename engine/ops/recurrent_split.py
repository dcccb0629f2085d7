"""Whether the recurrent weights of a GRU or LSTM fit the registers of one workgroup, and how."""

from __future__ import annotations

from dataclasses import dataclass

from ..device.profile import DeviceProfile
from .recurrent import Recurrence

# A workgroup's register file, what an invocation needs beside weights, and the most weights that
# one may hold: integrated GPUs have half the registers per invocation and spill beyond.
WORKGROUP_REGISTERS = 65_536
OTHER_REGISTERS = 32
WEIGHT_REGISTERS = {"DiscreteGPU": 112, "CPU": 112}
DEFAULT_WEIGHT_REGISTERS = 64
FEW_WEIGHTS = 48  # no further segments below this: they would only add to the reduction


@dataclass(frozen=True, slots=True)
class Split:
    """How a workgroup shares the recurrent weights: ``segments`` of ``chunk`` vec4s per unit."""

    segments: int
    chunk: int


def choose_split(node: Recurrence, profile: DeviceProfile) -> Split | None:
    """The split for one dispatch per sequence, or None where the weights do not fit."""
    limits, gates = profile.limits, node.cell.gates
    invocations = min(
        limits.max_compute_invocations_per_workgroup, limits.max_compute_workgroup_size_x
    )
    most_weights = WEIGHT_REGISTERS.get(profile.kind, DEFAULT_WEIGHT_REGISTERS)
    quads = -(-node.hidden // 4)
    best: Split | None = None
    for segments in range(1, quads + 1):
        threads, chunk = segments * node.hidden, -(-quads // segments)
        if threads > invocations:
            break
        weights = 4 * gates * chunk
        registers = threads * (weights + OTHER_REGISTERS)
        memory = 4 * gates * threads + 3 * 16 * segments * chunk
        fits = registers <= WORKGROUP_REGISTERS and memory <= (
            limits.max_compute_workgroup_storage_size
        )
        if weights <= most_weights and fits:
            best = Split(segments, chunk)
            if weights <= FEW_WEIGHTS:
                break
    return best
