"""The few C calls of the hot path: wgpu-py's classes cost four times as much per dispatch.

Source of the signatures: webgpu.h and wgpu.h as shipped with wgpu-native 29.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wgpu.backends.wgpu_native import ffi, lib

from ..errors import RunError
from ..ops.steps import Groups

NO_OFFSETS = ffi.NULL


class Command:
    """One dispatch, ready to be encoded: raw handles and numbers.

    The wgpu-py objects are kept so that the handles stay alive.
    """

    __slots__ = ("bind_group", "groups", "keep", "offset", "offset_count", "pipeline")

    def __init__(self, pipeline: Any, bind_group: Any, offset: int | None, groups: Groups) -> None:
        self.keep = (pipeline, bind_group)
        self.pipeline = pipeline._internal
        self.bind_group = bind_group._internal
        self.offset_count = 0 if offset is None else 1
        self.offset = NO_OFFSETS if offset is None else ffi.new("uint32_t[]", [offset])
        self.groups = groups


def encode(compute_pass: Any, commands: Iterable[Command]) -> None:
    """Record ``commands`` into an open compute pass."""
    handle = compute_pass._internal
    set_pipeline = lib.wgpuComputePassEncoderSetPipeline
    set_bind_group = lib.wgpuComputePassEncoderSetBindGroup
    dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
    last = None
    for command in commands:
        if command.pipeline != last:
            set_pipeline(handle, command.pipeline)
            last = command.pipeline
        set_bind_group(handle, 0, command.bind_group, command.offset_count, command.offset)
        dispatch(handle, *command.groups)


def write_timestamp(compute_pass: Any, query_set: Any, index: int) -> None:
    """Stamp the time inside a compute pass (feature timestamp-query-inside-passes)."""
    lib.wgpuComputePassEncoderWriteTimestamp(compute_pass._internal, query_set._internal, index)


class Mapping:
    """Maps a read-back buffer, waiting for the GPU; use as a context manager.

    Entering gives a memoryview of the buffer, valid until the block ends.
    """

    def __init__(self, device: Any, buffer: Any, size: int) -> None:
        self._device = device._internal
        self._buffer = buffer._internal
        self._size = size
        self._status: list[int] = []

    def __enter__(self) -> memoryview:
        # The callback runs inside wgpuDevicePoll below, on this thread.
        @ffi.callback("void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)")
        def done(status: int, _message: Any, _data1: Any, _data2: Any) -> None:
            self._status.append(status)

        info = ffi.new("WGPUBufferMapCallbackInfo *")
        info.mode = lib.WGPUCallbackMode_AllowProcessEvents
        info.callback = done
        lib.wgpuBufferMapAsync(self._buffer, lib.WGPUMapMode_Read, 0, self._size, info[0])
        lib.wgpuDevicePoll(self._device, 1, ffi.NULL)
        if self._status != [lib.WGPUMapAsyncStatus_Success]:
            raise RunError(f"reading back {self._size:,} bytes failed; the device may be lost")
        pointer = lib.wgpuBufferGetConstMappedRange(self._buffer, 0, self._size)
        if pointer == ffi.NULL:
            raise RunError(f"mapping {self._size:,} bytes failed; the device may be lost")
        return memoryview(ffi.buffer(pointer, self._size))

    def __exit__(self, *_: object) -> None:
        if self._status == [lib.WGPUMapAsyncStatus_Success]:
            lib.wgpuBufferUnmap(self._buffer)
