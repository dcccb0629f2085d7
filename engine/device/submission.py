"""One submit: a pass with its time stamps, the read-backs, and the wait."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import wgpu

from ..ir.model import NodeId
from ..results import NodeTime
from .gpu import Gpu
from .native import Command, Mapping, encode, write_timestamp

QUERY_SET_SIZE = 4096  # WebGPU's maximum
TICK_BYTES = 8


@dataclass(frozen=True)
class Timed:
    """The commands that one time covers: those of a node."""

    node: NodeId
    op: str
    kernel: str
    commands: tuple[Command, ...]

    def split(self) -> list[tuple[int | None, tuple[Command, ...]]]:
        """Each command alone, numbered."""
        return [(i, (c,)) for i, c in enumerate(self.commands)]


@dataclass
class Done:
    """A finished submit.

    Attributes:
        data: the bytes read back, in the order asked for; valid until :meth:`release`.
        gpu_ns: from the first stamp to the last, or of the CPU clock around the submit.
        read_ns: waiting and mapping.
    """

    data: list[memoryview]
    times: list[NodeTime]
    gpu_ns: int
    encode_ns: int
    read_ns: int
    mapping: Mapping | None = field(default=None, repr=False)

    def release(self) -> None:
        """Give the read-back buffer free for the next run."""
        self.data.clear()
        if self.mapping is not None:
            self.mapping.__exit__()


class Submission:
    """Encodes and submits the same nodes each time it runs.

    Args:
        places: (buffer, offset, bytes) of each tensor to read back.
    """

    def __init__(
        self, gpu: Gpu, nodes: Sequence[Timed], places: Sequence[tuple[Any, int, int]]
    ) -> None:
        self._gpu = gpu
        self._nodes = nodes
        self._places = places
        self._offsets: list[int] = []
        end = 0
        for _, _, size in places:
            self._offsets.append(end)
            end += -(-size // 256) * 256
        self._data_bytes = end
        self._stamps: dict[bool, _Stamps] = {}
        self._staging: dict[int, Any] = {}

    def run(self, timing: bool, per_dispatch: bool) -> Done:
        """Submit once, wait, and give the bytes and the times."""
        if timing and self._gpu.timing_source == "cpu-clock":
            return self._run_by_clock(per_dispatch)
        stamps = self._stamps_for(per_dispatch) if timing else None
        begin = time.perf_counter_ns()
        encoder = self._gpu.device.create_command_encoder()
        if stamps is None:
            compute = encoder.begin_compute_pass()
            for node in self._nodes:
                encode(compute, node.commands)
            compute.end()
        else:
            stamps.record(encoder)
        size = self._data_bytes + (stamps.resolve_bytes if stamps else 0)
        staging = self._staging_buffer(size)
        self._copy(encoder, staging)
        if stamps is not None:
            stamps.resolve(encoder, staging, self._data_bytes)
        self._gpu.queue.submit([encoder.finish()])
        encoded = time.perf_counter_ns()
        if staging is None:
            self._gpu.wait()
            waited = time.perf_counter_ns() - encoded
            return Done([], [], waited, encoded - begin, waited)
        mapping = Mapping(self._gpu.device, staging, size)
        view = mapping.__enter__()
        waited = time.perf_counter_ns() - encoded
        done = Done(self._slices(view), [], waited, encoded - begin, waited, mapping)
        if stamps is not None:
            done.times, done.gpu_ns = stamps.decode(view[self._data_bytes :])
        return done

    def _run_by_clock(self, per_dispatch: bool) -> Done:
        """Without time stamps: one submit per span, timed by the CPU."""
        times: list[NodeTime] = []
        begin = time.perf_counter_ns()
        for node, number, commands in _spans(self._nodes, per_dispatch):
            before = time.perf_counter_ns()
            encoder = self._gpu.device.create_command_encoder()
            compute = encoder.begin_compute_pass()
            encode(compute, commands)
            compute.end()
            self._gpu.queue.submit([encoder.finish()])
            self._gpu.wait()
            spent = time.perf_counter_ns() - before
            times.append(NodeTime(node.node, node.op, node.kernel, len(commands), spent, number))
        gpu_ns = time.perf_counter_ns() - begin
        begin = time.perf_counter_ns()
        staging = self._staging_buffer(self._data_bytes)
        if staging is None:
            return Done([], times, gpu_ns, 0, 0)
        encoder = self._gpu.device.create_command_encoder()
        self._copy(encoder, staging)
        self._gpu.queue.submit([encoder.finish()])
        mapping = Mapping(self._gpu.device, staging, self._data_bytes)
        view = mapping.__enter__()
        read_ns = time.perf_counter_ns() - begin
        return Done(self._slices(view), times, gpu_ns, 0, read_ns, mapping)

    def _copy(self, encoder: Any, staging: Any) -> None:
        for (buffer, offset, size), target in zip(self._places, self._offsets, strict=True):
            encoder.copy_buffer_to_buffer(buffer, offset, staging, target, size)

    def _slices(self, view: memoryview) -> list[memoryview]:
        ends = zip(self._offsets, self._places, strict=True)
        return [view[offset : offset + size] for offset, (_, _, size) in ends]

    def _staging_buffer(self, size: int) -> Any:
        if size == 0:
            return None
        if size not in self._staging:
            usage = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
            self._staging[size] = self._gpu.buffer(size, usage)
        return self._staging[size]

    def _stamps_for(self, per_dispatch: bool) -> _Stamps:
        if per_dispatch not in self._stamps:
            self._stamps[per_dispatch] = _Stamps(self._gpu, self._nodes, per_dispatch)
        return self._stamps[per_dispatch]


Span = tuple[Timed, int | None, tuple[Command, ...]]  # node, number of the dispatch, what it times


def _spans(nodes: Sequence[Timed], per_dispatch: bool) -> list[Span]:
    """What is timed together: the commands of a node, or each alone, numbered."""
    return [
        (node, number, commands)
        for node in nodes
        for number, commands in (node.split() if per_dispatch else [(None, node.commands)])
    ]


class _Stamps:
    """Time stamps of a submission: a pair around each node (or dispatch)."""

    def __init__(self, gpu: Gpu, nodes: Sequence[Timed], per_dispatch: bool) -> None:
        self._gpu = gpu
        self._spans = _spans(nodes, per_dispatch)
        count = 2 * len(self._spans)
        sizes = [min(QUERY_SET_SIZE, count - i) for i in range(0, count, QUERY_SET_SIZE)]
        self._sets = [gpu.device.create_query_set(type="timestamp", count=n) for n in sizes]
        self._sizes = sizes
        self.resolve_bytes = count * TICK_BYTES
        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        self._buffer = gpu.buffer(max(self.resolve_bytes, TICK_BYTES), usage)

    def record(self, encoder: Any) -> None:
        """Encode every span with its stamps, inside one pass or at pass boundaries."""
        if self._gpu.timing_source == "inside-pass":
            compute = encoder.begin_compute_pass()
            for i, (_, _, commands) in enumerate(self._spans):
                self._stamp(compute, 2 * i)
                encode(compute, commands)
                self._stamp(compute, 2 * i + 1)
            compute.end()
            return
        for i, (_, _, commands) in enumerate(self._spans):
            chosen, index = divmod(2 * i, QUERY_SET_SIZE)
            compute = encoder.begin_compute_pass(
                timestamp_writes={
                    "query_set": self._sets[chosen],
                    "beginning_of_pass_write_index": index,
                    "end_of_pass_write_index": index + 1,
                }
            )
            encode(compute, commands)
            compute.end()

    def _stamp(self, compute: Any, index: int) -> None:
        chosen, within = divmod(index, QUERY_SET_SIZE)
        write_timestamp(compute, self._sets[chosen], within)

    def resolve(self, encoder: Any, staging: Any, offset: int) -> None:
        """Copy the stamps behind the read-back data."""
        for i, (query_set, count) in enumerate(zip(self._sets, self._sizes, strict=True)):
            start = i * QUERY_SET_SIZE * TICK_BYTES
            encoder.resolve_query_set(query_set, 0, count, self._buffer, start)
        if self.resolve_bytes:
            encoder.copy_buffer_to_buffer(self._buffer, 0, staging, offset, self.resolve_bytes)

    def decode(self, raw: memoryview) -> tuple[list[NodeTime], int]:
        """(time per span, from first stamp to last), in nanoseconds."""
        ticks = np.frombuffer(raw, np.uint64, 2 * len(self._spans)).astype(np.int64).reshape(-1, 2)
        spent = (np.maximum(ticks[:, 1] - ticks[:, 0], 0) * self._gpu.tick_ns).astype(np.int64)
        times = [
            NodeTime(node.node, node.op, node.kernel, len(commands), int(ns), number)
            for (node, number, commands), ns in zip(self._spans, spent, strict=True)
        ]
        total = int((ticks.max() - ticks.min()) * self._gpu.tick_ns) if len(ticks) else 0
        return times, total
