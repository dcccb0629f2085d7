"""The few C calls of the hot path: wgpu-py's classes cost four times as much per dispatch.

Source of the signatures: webgpu.h and wgpu.h as shipped with wgpu-native 29.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wgpu.backends.wgpu_native import ffi, lib

from ..errors import RunError
from ..ops.steps import Groups

Binding = tuple[Any, int, Any]  # bind group handle, number of dynamic offsets, the offsets


def binding(bind_group: Any, offset: int | None) -> Binding:
    """What :func:`encode` binds; commands that bind the same must share the object."""
    if offset is None:
        return (bind_group._internal, 0, ffi.NULL)
    return (bind_group._internal, 1, ffi.new("uint32_t[]", [offset]))


class Command:
    """A dispatch, ready to be encoded; equal ones share the object.

    The pipeline object is kept alive with its handle.
    """

    __slots__ = ("_keep", "binding", "groups", "pipeline")

    def __init__(self, pipeline: Any, bound: Binding, groups: Groups) -> None:
        self._keep = pipeline
        self.pipeline = pipeline._internal
        self.binding = bound
        self.groups = groups


def encode(compute_pass: Any, commands: Iterable[Command]) -> None:
    """Record ``commands`` into an open compute pass, leaving out what is bound already."""
    handle = compute_pass._internal
    set_pipeline = lib.wgpuComputePassEncoderSetPipeline
    set_bind_group = lib.wgpuComputePassEncoderSetBindGroup
    dispatch = lib.wgpuComputePassEncoderDispatchWorkgroups
    last = pipeline = bound = None
    x = y = z = 0
    for command in commands:
        if command is last:  # the steps of a sequence
            dispatch(handle, x, y, z)
            continue
        last = command
        if command.pipeline is not pipeline:
            pipeline = command.pipeline
            set_pipeline(handle, pipeline)
        if command.binding is not bound:
            bound = command.binding
            set_bind_group(handle, 0, *bound)
        x, y, z = command.groups
        dispatch(handle, x, y, z)


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
        @ffi.callback(  # type: ignore[untyped-decorator]
            "void(WGPUMapAsyncStatus, WGPUStringView, void *, void *)"
        )
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
