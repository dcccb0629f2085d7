"""Buffers, bind groups and commands of one plan: everything a run binds, made once."""

from __future__ import annotations

from typing import Any

import numpy as np
import wgpu

from ..ops.steps import Dispatch, Groups, Tensor
from ..plan.types import Plan
from .gpu import Gpu
from .native import Binding, Command, binding
from .pipelines import Pipelines

STORAGE_USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_DST | wgpu.BufferUsage.COPY_SRC
SLAB_BYTES = 32 << 20  # small constants share buffers of this size


class Resources:
    """GPU memory of a plan, with the bind groups that refer to it."""

    def __init__(self, gpu: Gpu, pipelines: Pipelines, plan: Plan) -> None:
        self._gpu = gpu
        self._pipelines = pipelines
        self._plan = plan
        self._places: dict[int, tuple[Any, int]] = {}
        self._groups: dict[tuple[object, ...], Any] = {}
        self._commands: dict[tuple[int, int, Groups], Command] = {}
        self._bindings: dict[tuple[int, int | None], Binding] = {}
        self._params, self._offsets = self._upload_params()
        self._arena = [gpu.buffer(size, STORAGE_USAGE) for size in plan.arena]
        self._upload_constants()

    def place(self, tensor: Tensor) -> tuple[Any, int]:
        """(buffer, byte offset) where ``tensor`` lives."""
        storage = self._plan.storages[tensor.storage_id]
        if storage.slot is not None:
            return self._arena[storage.slot], 0
        return self._places[tensor.storage_id]

    def _range(self, tensor: Tensor) -> tuple[int, int, int]:
        """What a binding of ``tensor`` covers: tensors that reuse a buffer share bind groups."""
        storage = self._plan.storages[tensor.storage_id]
        if storage.slot is not None:
            return (0, storage.slot, storage.size_bytes)
        return (1, tensor.storage_id, storage.size_bytes)

    def commands(self, dispatches: tuple[Dispatch, ...], start: int) -> list[Command]:
        """Ready commands for the plan's dispatches number ``start`` and following."""
        return [self._command(d, start + i) for i, d in enumerate(dispatches)]

    def _command(self, dispatch: Dispatch, number: int) -> Command:
        offset = self._offsets[number] if dispatch.params else None
        pipeline = self._pipelines.get(dispatch)
        bound = self._binding(dispatch, offset)
        key = (id(pipeline), id(bound), dispatch.groups)
        if key not in self._commands:
            self._commands[key] = Command(pipeline, bound, dispatch.groups)
        return self._commands[key]

    def _binding(self, dispatch: Dispatch, offset: int | None) -> Binding:
        group = self._bind_group(dispatch)
        key = (id(group), offset)
        if key not in self._bindings:
            self._bindings[key] = binding(group, offset)
        return self._bindings[key]

    def _bind_group(self, dispatch: Dispatch) -> Any:
        tensors = (*dispatch.reads, *dispatch.writes)
        key = (len(dispatch.reads), len(dispatch.params), *map(self._range, tensors))
        if key not in self._groups:
            entries = []
            if dispatch.params:
                resource = {"buffer": self._params, "offset": 0, "size": len(dispatch.params)}
                entries.append({"binding": 0, "resource": resource})
            for i, tensor in enumerate(tensors):
                buffer, start = self.place(tensor)
                size = self._plan.storages[tensor.storage_id].size_bytes
                resource = {"buffer": buffer, "offset": start, "size": size}
                entries.append({"binding": 1 + i, "resource": resource})
            layout = self._pipelines.layout(
                len(dispatch.reads), len(dispatch.writes), bool(dispatch.params)
            )
            self._groups[key] = self._gpu.device.create_bind_group(layout=layout, entries=entries)
        return self._groups[key]

    def _upload_params(self) -> tuple[Any, list[int]]:
        align = self._gpu.profile.limits.min_uniform_buffer_offset_alignment
        offsets: list[int] = []
        known: dict[bytes, int] = {}
        block = bytearray()
        for dispatch in self._plan.dispatches:
            params = dispatch.params
            if params not in known:
                known[params] = len(block)
                block += params + bytes(-len(params) % align)
            offsets.append(known[params])
        usage = wgpu.BufferUsage.UNIFORM | wgpu.BufferUsage.COPY_DST
        buffer = self._gpu.buffer(max(len(block), 16), usage)
        self._gpu.write(buffer, 0, np.frombuffer(bytes(block), np.uint8))
        return buffer, offsets

    def _upload_constants(self) -> None:
        align = self._gpu.profile.limits.min_storage_buffer_offset_alignment
        slab: list[tuple[int, int]] = []  # (storage id, offset)
        used = 0
        for index, storage in enumerate(self._plan.storages):
            if storage.constant is None:
                continue
            if used and used + storage.size_bytes > SLAB_BYTES:
                self._write_slab(slab, used)
                slab, used = [], 0
            slab.append((index, used))
            used += -(-storage.size_bytes // align) * align
        if slab:
            self._write_slab(slab, used)

    def _write_slab(self, slab: list[tuple[int, int]], size: int) -> None:
        last, offset = slab[-1]
        size = offset + self._plan.storages[last].size_bytes
        buffer = self._gpu.buffer(size, STORAGE_USAGE)
        for index, offset in slab:
            constant = self._plan.storages[index].constant
            assert constant is not None
            self._gpu.write(buffer, offset, constant)
            self._places[index] = (buffer, offset)
