"""Plans the statistics of intermediates: one row of four words per float value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..ir.model import NodeId
from ..numerics.statistics import (
    ROW_WORDS,
    StatsRow,
    stats_invocations,
    stats_variables,
)
from ..ops.steps import Dispatch, Tensor
from .builder import NodeBuilder, pack_params
from .memory import Memory
from .types import GpuSegment, HostSegment


class StatsCollector:
    """Collects rows while the nodes are planned; the buffer's size is known at the end."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._buffer: Tensor | None = None
        self._first: tuple[NodeId, str]
        self.rows: list[StatsRow] = []

    def gather(self, builder: NodeBuilder, names: Sequence[str]) -> None:
        """Gather each float output of a node; ``names`` are its outputs', "" for unwanted ones."""
        for index, name in enumerate(names):
            tensor = builder.outputs.get(index)
            if name and tensor is not None and tensor.element in ("f32", "f16"):
                row = StatsRow(builder.node, name, tensor.dtype, tensor.size)
                self._add(row, tensor, builder)

    def _add(self, row: StatsRow, tensor: Tensor, builder: NodeBuilder) -> None:
        if self._buffer is None:
            self._buffer = self._memory.allocate("uint32", (0,))
            self._first = builder.node, builder.use.op
        threads = stats_invocations(tensor)
        builder.dispatch(
            "stats",
            reads=(tensor,),
            writes=(self._buffer,),
            groups=builder.grid(threads),
            params=(tensor.size, len(self.rows), threads),
            variables=stats_variables(tensor),
        )
        self.rows.append(row)

    def finish(
        self, segments: Sequence[GpuSegment | HostSegment]
    ) -> tuple[Tensor | None, list[GpuSegment | HostSegment]]:
        """The buffer of all rows, and the segments with its clearing put first."""
        if self._buffer is None:
            return None, list(segments)
        buffer = replace(self._buffer, shape=(ROW_WORDS * len(self.rows),))
        self._memory.resize(buffer)
        node, op = self._first
        clear = Dispatch(
            node=node,
            op=op,
            kernel="clear",
            shader="clear",
            variables={},
            reads=(),
            writes=(buffer,),
            params=pack_params((buffer.size,)),
            groups=(-(-buffer.size // 256), 1, 1),
        )
        changed = list(segments)
        for index, segment in enumerate(changed):
            if isinstance(segment, GpuSegment):
                changed[index] = GpuSegment((clear, *segment.dispatches))
                return buffer, changed
        return buffer, [*changed, GpuSegment((clear,))]  # every float value has a zero size
