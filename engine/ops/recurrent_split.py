"""How workgroups share a GRU's or LSTM's recurrent product: by whole sequences, or by steps."""

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

# Invocations that share the product of one unit in a step; a CPU pays for each of them.
LANES = {"CPU": 16}
DEFAULT_LANES = 32


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


@dataclass(frozen=True, slots=True)
class StepTile:
    """What a workgroup does of one step: ``rows`` batch rows of ``units`` units.

    Attributes:
        lanes: invocations per unit; at least 4 * rows, a multiple of 4.
    """

    rows: int
    units: int
    lanes: int


def choose_tile(node: Recurrence, profile: DeviceProfile) -> StepTile:
    """The tile of one dispatch per step; several rows share each read of the weights.

    A single row on a discrete GPU is a race of latencies: small workgroups, and as many lanes as
    leave each of them one vec4 of the state (measured by ``bench_gru.py --tune`` on an H200).
    """
    rows = node.batch if node.batch < 3 else 4
    lanes = LANES.get(profile.kind, DEFAULT_LANES)
    if rows == 1 and profile.kind == "DiscreteGPU":
        return StepTile(1, 4, 64 if node.hidden <= 256 else lanes)
    return StepTile(rows, 8 if rows < 4 else 4, lanes)
