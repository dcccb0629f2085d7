"""A plan on a device: run it again and again without making a GPU object."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from ..errors import FeedError
from ..numerics.statistics import decode_statistics
from ..ops.indices import stray_index
from ..ops.steps import Tensor
from ..plan.types import GpuSegment, HostSegment, Plan, ValueId
from ..plan.values import array_type
from ..results import NodeTime, RunResult, ValueStats
from .gpu import Gpu
from .layout import from_device, to_device
from .native import Command
from .pipelines import Pipelines
from .resources import Resources
from .submission import Submission, Timed

Evaluate = Callable[[HostSegment, Sequence[Any], Mapping[str, Any]], Sequence[Any]]


@dataclass(frozen=True)
class _GpuStep:
    """A GPU segment, ready to be submitted.

    Attributes:
        watched: the words of the plan's watch are read back first.
        downloads: the values that are read back then.
        stats: the rows of statistics are read back last.
    """

    watched: bool
    downloads: tuple[ValueId, ...]
    stats: bool
    submission: Submission


@dataclass
class _Tally:
    """What a run has taken so far, in ns, and what it gave besides the values."""

    gpu_ns: int | None
    upload_ns: int = 0
    encode_ns: int = 0
    download_ns: int = 0
    host_ns: int = 0
    times: list[NodeTime] = field(default_factory=list)
    stats: tuple[ValueStats, ...] = ()


class Program:
    """A compiled plan.

    Args:
        evaluate: runs a host segment: (segment, input values, captured values) -> outputs.
    """

    def __init__(self, gpu: Gpu, pipelines: Pipelines, plan: Plan, evaluate: Evaluate) -> None:
        self.plan = plan
        self._gpu = gpu
        self._evaluate = evaluate
        self._runs = 0
        size = sum(plan.arena) + sum(s.size_bytes for s in plan.storages if s.slot is None)
        with gpu.work(f"taking {size:,} bytes of its memory and compiling kernels"):
            self._resources = Resources(gpu, pipelines, plan)
            self._steps = self._compile()

    def _compile(self) -> list[_GpuStep | HostSegment]:
        steps: list[_GpuStep | HostSegment] = []
        number = 0
        segments = list(self.plan.segments)
        wanted = self._downloads(segments)
        last = _last_gpu(segments)
        for segment, downloads in zip(segments, wanted, strict=True):
            if isinstance(segment, HostSegment):
                steps.append(segment)
                continue
            commands = self._resources.commands(segment.dispatches, number)
            number += len(commands)
            steps.append(self._gpu_step(segment, commands, downloads, segment is last))
        return steps

    def _gpu_step(
        self,
        segment: GpuSegment,
        commands: list[Command],
        downloads: tuple[ValueId, ...],
        last: bool,
    ) -> _GpuStep:
        plan = self.plan
        watch = plan.watch if plan.watch is not None and _writes(segment, plan.watch) else None
        stats = plan.stats if last else None
        tensors = (watch, *(plan.tensors[v] for v in downloads), stats)
        places = [(*self._resources.place(t), _copy_bytes(t)) for t in tensors if t is not None]
        submission = Submission(self._gpu, _by_node(segment, commands), places)
        return _GpuStep(watch is not None, downloads, stats is not None, submission)

    def _downloads(self, segments: list[GpuSegment | HostSegment]) -> list[tuple[ValueId, ...]]:
        """Per segment the device values that a host segment or the end needs after it."""
        plan = self.plan
        on_host = set(plan.known) | {((), name) for name in plan.inputs}
        for segment in segments:
            if isinstance(segment, HostSegment):
                on_host |= {v for v in segment.outputs if v is not None}
        wanted: list[dict[ValueId, None]] = [{} for _ in segments]
        last = -1
        for index, segment in enumerate(segments):
            if isinstance(segment, GpuSegment):
                last = index
                continue
            for value in (*segment.inputs, *segment.captured.values()):
                if value is not None and value not in on_host:
                    wanted[last][value] = None
                    on_host.add(value)
        for _, value in plan.outputs:
            if value not in on_host:
                wanted[last][value] = None
        return [tuple(w) for w in wanted]

    def run(
        self, feeds: Mapping[str, np.ndarray], *, timing: bool = True, per_dispatch: bool = False
    ) -> RunResult:
        """Run once.

        Args:
            feeds: graph input -> array of the planned shape and dtype.
            timing: take a time stamp around each node (about a microsecond each).
            per_dispatch: a stamp around each dispatch instead.

        Raises:
            FeedError: an array does not have the planned shape or dtype.
            NodeError: an index that only the run knows is out of range.
            RunError: the device failed.
        """
        with self._gpu.work("running"):
            return self._run(feeds, timing, per_dispatch)

    def _run(self, feeds: Mapping[str, np.ndarray], timing: bool, per_dispatch: bool) -> RunResult:
        start = time.perf_counter_ns()
        values: dict[ValueId, Any] = dict(self.plan.known)
        self._upload_feeds(feeds, values)
        tally = _Tally(0 if timing else None, time.perf_counter_ns() - start)
        for step in self._steps:
            if isinstance(step, HostSegment):
                self._run_host(step, values, tally)
            else:
                self._run_gpu(step, values, tally, timing, per_dispatch)
        outputs = {name: values[value] for name, value in self.plan.outputs}
        self._runs += 1
        return RunResult(
            outputs=outputs,
            wall_ns=time.perf_counter_ns() - start,
            upload_ns=tally.upload_ns,
            encode_ns=tally.encode_ns,
            download_ns=tally.download_ns,
            host_ns=tally.host_ns,
            gpu_ns=tally.gpu_ns,
            timing_source=self._gpu.timing_source,
            first=self._runs == 1,
            times=tuple(tally.times),
            stats=tally.stats,
            diagnostics=self.plan.diagnostics,
        )

    def _run_gpu(
        self,
        step: _GpuStep,
        values: dict[ValueId, Any],
        tally: _Tally,
        timing: bool,
        per_dispatch: bool,
    ) -> None:
        done = step.submission.run(timing, per_dispatch)
        begin = time.perf_counter_ns()
        try:
            self._read_back(step, done.data, values, tally)
        finally:
            done.release()
        tally.encode_ns += done.encode_ns
        if tally.gpu_ns is not None:
            tally.gpu_ns += done.gpu_ns
        tally.times += done.times
        tally.download_ns += done.read_ns + time.perf_counter_ns() - begin

    def _read_back(
        self, step: _GpuStep, data: list[memoryview], values: dict[ValueId, Any], tally: _Tally
    ) -> None:
        pieces = iter(data)
        if step.watched:
            self._check_indices(next(pieces))
        for value in step.downloads:
            tensor = self.plan.tensors[value]
            raw = next(pieces)
            values[value] = from_device(raw, tensor.element, tensor.dtype, tensor.shape)
        if step.stats:
            tally.stats = decode_statistics(next(pieces), self.plan.stats_rows)

    def _check_indices(self, raw: memoryview) -> None:
        """NodeError if an index of the run left its axis; the words are zero again for the next."""
        stray = stray_index(raw, self.plan.watched)
        if stray is not None:
            assert self.plan.watch is not None
            buffer, offset = self._resources.place(self.plan.watch)
            self._gpu.write(buffer, offset, np.zeros(len(self.plan.watched), np.uint32))
            raise stray

    def _upload_feeds(self, feeds: Mapping[str, np.ndarray], values: dict[ValueId, Any]) -> None:
        for name in self.plan.inputs:
            if name not in feeds:
                raise FeedError(f"input {name!r} is missing")
            array, planned = feeds[name], self.plan.types[((), name)]
            given = array_type(array)
            if given != planned:
                raise FeedError(f"input {name!r} is {given}, planned was {planned}")
            values[((), name)] = array
            self._upload(((), name), array)

    def _upload(self, value: ValueId, array: Any) -> None:
        tensor = self.plan.tensors.get(value)
        if tensor is not None:
            buffer, offset = self._resources.place(tensor)
            self._gpu.write(buffer, offset, to_device(array, tensor.element))

    def _run_host(self, segment: HostSegment, values: dict[ValueId, Any], tally: _Tally) -> None:
        begin = time.perf_counter_ns()
        inputs = [None if v is None else values[v] for v in segment.inputs]
        captured = {name: values[v] for name, v in segment.captured.items()}
        results = self._evaluate(segment, inputs, captured)
        for value, result in zip(segment.outputs, results, strict=False):
            if value is None:
                continue
            planned = self.plan.types[value].known_dims
            if isinstance(result, np.ndarray) and planned is not None and result.shape != planned:
                raise segment.use.error(
                    f"gave shape {result.shape} on the host, planned was {planned}"
                )
            values[value] = result
            self._upload(value, result)
        spent = time.perf_counter_ns() - begin
        tally.host_ns += spent
        if segment.use.node is not None:
            tally.times.append(NodeTime(segment.use.node, segment.use.op, "host", 0, spent))


def _last_gpu(segments: Sequence[GpuSegment | HostSegment]) -> GpuSegment | None:
    return next((s for s in reversed(segments) if isinstance(s, GpuSegment)), None)


def _writes(segment: GpuSegment, tensor: Tensor) -> bool:
    return any(t.storage_id == tensor.storage_id for d in segment.dispatches for t in d.writes)


def _copy_bytes(tensor: Tensor) -> int:
    return -(-max(tensor.size_bytes, 4) // 4) * 4


def _by_node(segment: GpuSegment, commands: list[Command]) -> tuple[Timed, ...]:
    """Group consecutive dispatches of one node; a node's kernels are named once each."""
    found: list[Timed] = []
    pairs = zip(segment.dispatches, commands, strict=True)
    for node, group in groupby(pairs, key=lambda pair: pair[0].node):
        members = list(group)
        kernels = dict.fromkeys(dispatch.kernel for dispatch, _ in members)
        own = tuple(command for _, command in members)
        found.append(Timed(node, members[0][0].op, " + ".join(kernels), own))
    return tuple(found)
