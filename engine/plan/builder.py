"""The step builder that the planner hands to a kernel for one node."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..device.profile import DeviceProfile
from ..errors import LimitError
from ..ir.model import NodeId, TensorType
from ..ops.steps import (
    NOT_WATCHED,
    Activation,
    Dispatch,
    Groups,
    IndexWatch,
    Tensor,
    Variable,
)
from ..ops.use import OpUse
from ..units import mebibytes
from .memory import Memory
from .watch import IndexWatcher

# Multiply-adds that fit about 50 ms at a cautious throughput for each kind of adapter: desktop
# systems end a dispatch that takes seconds, and a window that shares the GPU stutters long before.
WORK_LIMIT: Mapping[str, int] = {
    "DiscreteGPU": 50_000_000_000,
    "IntegratedGPU": 5_000_000_000,
    "CPU": 50_000_000,
}
DEFAULT_WORK_LIMIT = 5_000_000_000


@dataclass
class NodeBuilder:
    """Implements :class:`~opscope.engine.ops.steps.StepBuilder` for one node.

    Attributes:
        reader: gives the device tensor of input ``i`` (uploads a constant on first use).
        output_types: concrete type per output.
    """

    profile: DeviceProfile
    memory: Memory
    watcher: IndexWatcher
    use: OpUse
    node: NodeId
    reader: Callable[[int], Tensor]
    output_types: Sequence[TensorType]
    activation: Activation = Activation()  # noqa: RUF009  (frozen)

    def __post_init__(self) -> None:
        self.dispatches: list[Dispatch] = []
        self.outputs: dict[int, Tensor] = {}

    def input(self, index: int) -> Tensor:
        """See :class:`StepBuilder`."""
        if not self.use.has(index):
            raise self.use.error(f"input {index} is missing")
        return self.reader(index)

    def output(self, index: int = 0) -> Tensor:
        """See :class:`StepBuilder`."""
        if index not in self.outputs:
            kind = self.output_types[index]
            self._check_size(kind.dims, kind.dtype, f"its output {index}")
            self.outputs[index] = self.memory.allocate(kind.dtype, kind.dims)
        return self.outputs[index]

    def scratch(self, shape: Sequence[int], dtype: str = "float32") -> Tensor:
        """See :class:`StepBuilder`."""
        self._check_size(tuple(shape), dtype, "its scratch memory")
        return self.memory.allocate(dtype, tuple(int(d) for d in shape))

    def constant(self, array: np.ndarray, dtype: str | None = None) -> Tensor:
        """See :class:`StepBuilder`."""
        kind = dtype or array.dtype.name
        self._check_size(array.shape, kind, "its constant")
        return self.memory.constant(array, kind)

    def alias(self, output: int, source: Tensor) -> None:
        """See :class:`StepBuilder`."""
        kind = self.output_types[output]
        self.outputs[output] = Tensor(source.storage_id, kind.dtype, kind.dims, source.element)

    def watch_indices(self, index: int, extents: Sequence[int]) -> IndexWatch:
        """See :class:`StepBuilder`."""
        if index in self.use.values:
            return NOT_WATCHED
        if 0 in extents and 0 not in self.use.dims(index):
            raise self.use.error(f"input {index} has indices into an axis without elements")
        return self.watcher.watch(self.use, index, extents)

    def grid(self, items: int, group_size: int = 256) -> Groups:
        """See :class:`StepBuilder`."""
        groups = -(-items // group_size)
        most = self.profile.limits.max_compute_workgroups_per_dimension
        if groups <= most:
            return (groups, 1, 1)
        rows = -(-groups // most)
        if rows > most:
            raise self._limit(
                "max_compute_workgroups_per_dimension", groups, most * most, "workgroups"
            )
        return (-(-groups // rows), rows, 1)

    def work_limit(self) -> int:
        """See :class:`StepBuilder`."""
        return WORK_LIMIT.get(self.profile.kind, DEFAULT_WORK_LIMIT)

    def dispatch(
        self,
        shader: str,
        *,
        reads: Sequence[Tensor] = (),
        writes: Sequence[Tensor],
        groups: Groups,
        params: Sequence[int | float] = (),
        variables: Mapping[str, Variable] | None = None,
        variant: str = "",
        trusted: bool = False,
    ) -> None:
        """See :class:`StepBuilder`."""
        if 0 in groups:
            return
        self._check_limits(groups, len(reads) + len(writes))
        written = {t.storage_id for t in writes}
        if len(written) != len(writes) or any(t.storage_id in written for t in reads):
            raise self.use.error(f"shader {shader} writes what it also binds")
        self.dispatches.append(
            Dispatch(
                self.node,
                self.use.op,
                f"{shader} {variant}".strip(),
                shader,
                dict(variables or {}),
                tuple(reads),
                tuple(writes),
                pack_params(params),
                groups,
                trusted,
            )
        )

    def _check_limits(self, groups: Groups, bindings: int) -> None:
        limits = self.profile.limits
        most = limits.max_compute_workgroups_per_dimension
        if max(groups) > most:
            raise self._limit(
                "max_compute_workgroups_per_dimension", max(groups), most, "workgroups"
            )
        allowed = limits.max_storage_buffers_per_shader_stage
        if bindings > allowed:
            raise self._limit("max_storage_buffers_per_shader_stage", bindings, allowed, "bindings")

    def _check_size(self, shape: Sequence[int], dtype: str, what: str) -> None:
        size = self.memory.size_bytes(dtype, shape)
        check_size(self.use, size, f"{what} {list(shape)} {dtype}", self.profile)

    def _limit(self, limit: str, needed: int, allowed: int, unit: str) -> LimitError:
        reason = f"needs {needed:,} {unit}; {limit} of this device is {allowed:,}"
        return LimitError(
            self.node,
            self.use.label,
            self.use.op,
            reason,
            limit=limit,
            needed=needed,
            allowed=allowed,
        )


def check_size(use: OpUse, size: int, what: str, profile: DeviceProfile) -> None:
    """Refuse a tensor over the device's limits before anything is allocated.

    Raises:
        LimitError: ``size`` bytes do not fit one binding or one buffer; names both limits.
    """
    limits = profile.limits
    allowed = min(limits.max_buffer_size, limits.max_storage_buffer_binding_size)
    if size > allowed:
        raise LimitError(
            use.node,
            use.label,
            use.op,
            f"{what} needs {mebibytes(size)} ({size:,} bytes); {profile.allow} "
            f"{mebibytes(limits.max_buffer_size)} per buffer and "
            f"{mebibytes(limits.max_storage_buffer_binding_size)} per binding, so the node cannot "
            "run on the GPU (found while planning, nothing was allocated)",
            limit="max_storage_buffer_binding_size",
            needed=size,
            allowed=allowed,
        )


def pack_params(params: Sequence[int | float]) -> bytes:
    """The uniform block of ``params``: 4 bytes each, filled up to a multiple of 16.

    Raises:
        ValueError: an integer fits neither u32 nor i32.
    """
    words = []
    for value in params:
        if isinstance(value, (float, np.floating)):
            words.append(struct.pack("<f", value))
        elif 0 <= value < 2**32:
            words.append(struct.pack("<I", value))
        elif -(2**31) <= value < 0:
            words.append(struct.pack("<i", value))
        else:
            raise ValueError(f"the parameter {value} does not fit 32 bits")
    block = b"".join(words)
    return block + bytes(-len(block) % 16)
