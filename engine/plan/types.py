"""A plan: all that a run will do, decided from concrete shapes, without a GPU object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic
from ..ir.model import GraphPath, NodeId, TensorType
from ..numerics.statistics import StatsRow
from ..ops.indices import WatchedIndex
from ..ops.steps import Cost, Dispatch, Tensor
from ..ops.use import OpUse
from ..providers.support import Status, Support

ValueId = tuple[GraphPath, str]  # the graph (or inlined call) and the value's name in it


@dataclass(frozen=True, slots=True)
class Storage:
    """A stretch of device memory that tensors of a plan live in.

    Attributes:
        size_bytes: at least 16, a multiple of 4.
        slot: index of the arena's buffer that holds it during its life; None for constants.
        constant: its contents in the device's layout, for weights and folded values.
    """

    size_bytes: int
    slot: int | None = None
    constant: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class GpuSegment:
    """Dispatches that go to the GPU in one submit."""

    dispatches: tuple[Dispatch, ...]


@dataclass(frozen=True, slots=True)
class HostSegment:
    """One node on the host provider: downloads, evaluation, uploads.

    Attributes:
        inputs: per input the value to take; None where absent.
        outputs: per output the value to set; None where unwanted.
        captured: outer values that the node's subgraphs read, by name.
    """

    use: OpUse
    inputs: tuple[ValueId | None, ...]
    outputs: tuple[ValueId | None, ...]
    captured: Mapping[str, ValueId] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodePlacement:
    """Where one node of the flattened graph ended up.

    Attributes:
        node: identity in the flattened graph (function calls inlined).
        source: identity in the file, which the canvas draws.
        fused_into: the node whose kernel does the work, for status FUSED.
        inputs, outputs: concrete types, None where absent.
    """

    node: NodeId
    source: NodeId
    name: str
    op: str
    support: Support
    inputs: tuple[TensorType | None, ...]
    outputs: tuple[TensorType | None, ...]
    fused_into: NodeId | None = None
    cost: Cost = field(default_factory=Cost)

    @property
    def label(self) -> str:
        """What the user calls the node."""
        return self.name or f"{self.op.rpartition('::')[2]} #{self.node.index}"

    @property
    def status(self) -> Status:
        """Short for ``support.status``."""
        return self.support.status


@dataclass(frozen=True)
class Plan:
    """The whole plan for one set of input shapes (and host-read values).

    Attributes:
        types: concrete type of every value.
        tensors: device tensor of each value that lives on the device.
        known: values known before the run (constants, folded, read from the feed).
        inputs: graph inputs that are uploaded, outputs: (name, value) to hand back.
        host_keyed: graph inputs whose *values* shaped this plan.
        assumed: symbolic dimension -> the number that was assumed for it.
    """

    segments: tuple[GpuSegment | HostSegment, ...]
    storages: tuple[Storage, ...]
    arena: tuple[int, ...]  # bytes of each arena buffer
    tensors: Mapping[ValueId, Tensor]
    types: Mapping[ValueId, TensorType]
    known: Mapping[ValueId, np.ndarray]
    inputs: tuple[str, ...]
    outputs: tuple[tuple[str, ValueId], ...]
    placement: tuple[NodePlacement, ...]
    profile: DeviceProfile
    host_keyed: tuple[str, ...] = ()
    assumed: Mapping[str, int] = field(default_factory=dict)
    stats: Tensor | None = None  # rows of value statistics, read back at the end
    stats_rows: tuple[StatsRow, ...] = ()
    watch: Tensor | None = None  # a word for each of ``watched``, zero between the runs
    watched: tuple[WatchedIndex, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def blocked(self) -> NodePlacement | None:
        """The first node that nobody can run; such a plan can be looked at, not run."""
        return next((p for p in self.placement if p.status is Status.UNSUPPORTED), None)

    @property
    def dispatches(self) -> tuple[Dispatch, ...]:
        """Every dispatch in order."""
        return tuple(d for s in self.segments if isinstance(s, GpuSegment) for d in s.dispatches)

    def counts(self) -> dict[str, int]:
        """Number of nodes by status: gpu, host, unsupported, folded, fused."""
        counts = dict.fromkeys(("gpu", "host", "unsupported", "folded", "fused"), 0)
        for p in self.placement:
            counts[p.status.value] = counts.get(p.status.value, 0) + 1
        return counts
