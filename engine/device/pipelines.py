"""Compute pipelines, cached by shader, variables and binding layout."""

from __future__ import annotations

from typing import Any

import wgpu
from wgpu.backends.wgpu_native import _api, ffi, lib

from ...shaders import compose
from ..errors import RunError
from ..ops.steps import Dispatch
from .gpu import Gpu

Key = tuple[str, tuple[tuple[str, object], ...], int, int, bool, bool]


class Pipelines:
    """Creates each pipeline once per device."""

    def __init__(self, gpu: Gpu) -> None:
        self._gpu = gpu
        self._layouts: dict[tuple[int, int, bool], tuple[Any, Any]] = {}
        self._pipelines: dict[Key, Any] = {}

    def __len__(self) -> int:
        return len(self._pipelines)

    def layout(self, reads: int, writes: int, params: bool) -> Any:
        """The bind group layout of the shader convention (see ops.steps)."""
        return self._layout(reads, writes, params)[0]

    def _layout(self, reads: int, writes: int, params: bool) -> tuple[Any, Any]:
        key = (reads, writes, params)
        if key not in self._layouts:
            entries = []
            if params:
                uniform = {"type": "uniform", "has_dynamic_offset": True}
                entries.append(_entry(0, uniform))
            entries += [_entry(1 + i, {"type": "read-only-storage"}) for i in range(reads)]
            entries += [_entry(1 + reads + i, {"type": "storage"}) for i in range(writes)]
            group = self._gpu.device.create_bind_group_layout(entries=entries)
            whole = self._gpu.device.create_pipeline_layout(bind_group_layouts=[group])
            self._layouts[key] = (group, whole)
        return self._layouts[key]

    def get(self, dispatch: Dispatch) -> Any:
        """The pipeline of ``dispatch``, made now if it is new.

        Raises:
            RunError: the WGSL does not compile; names the kernel and the driver's reason.
        """
        reads, writes, params = len(dispatch.reads), len(dispatch.writes), bool(dispatch.params)
        variables = tuple(sorted(dispatch.variables.items()))
        key = (dispatch.shader, variables, reads, writes, params, dispatch.trusted)
        if key not in self._pipelines:
            code = compose(dispatch.shader, dispatch.variables)
            try:
                module = self._module(code, dispatch.trusted)
                self._pipelines[key] = self._gpu.device.create_compute_pipeline(
                    layout=self._layout(reads, writes, params)[1],
                    compute={"module": module, "entry_point": "main"},
                )
            except wgpu.GPUError as error:
                text = f"the kernel {dispatch.kernel} does not compile: {self._reason(code, error)}"
                raise RunError(text) from error
        return self._pipelines[key]

    def _reason(self, code: str, error: wgpu.GPUError) -> str:
        """Why the WGSL is refused: a trusted module's own error says only that it is invalid."""
        try:
            self._gpu.device.create_shader_module(code=code)
        except wgpu.GPUError as checked:
            error = checked
        return " ".join(str(error).split())

    def _module(self, code: str, trusted: bool) -> Any:
        device = self._gpu.device
        if not trusted:
            return device.create_shader_module(code=code)
        text = code.encode()
        chars = ffi.new("char[]", text)
        source = ffi.new("WGPUShaderSourceWGSL *")
        source.chain.sType = lib.WGPUSType_ShaderSourceWGSL
        source.code.data = chars
        source.code.length = len(text)
        descriptor = ffi.new("WGPUShaderModuleDescriptor *")
        descriptor.nextInChain = ffi.cast("WGPUChainedStruct *", source)
        module = lib.wgpuDeviceCreateShaderModuleTrusted(device._internal, descriptor, 0)
        return _api.GPUShaderModule("", module, device)


def _entry(binding: int, buffer: dict[str, object]) -> dict[str, object]:
    return {"binding": binding, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": buffer}
