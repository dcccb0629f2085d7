"""Adapters and the opened device: what exists here, with which limits and features."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache, cached_property
from threading import RLock
from typing import Any

import numpy as np
import wgpu
from wgpu.backends.wgpu_native import ffi, lib
from wgpu.backends.wgpu_native.extras import set_instance_extras

from ..errors import DeviceError, RunError
from .profile import DeviceProfile, Limits

# Names of OPSCOPE_WITHOUT -> the features that it hides, so that each fallback can be tested.
MASKS = {
    "f16": ("shader-f16",),
    "timestamps": (
        "timestamp-query",
        "timestamp-query-inside-encoders",
        "timestamp-query-inside-passes",
    ),
    "inside-pass": ("timestamp-query-inside-passes",),
    "subgroups": ("subgroup", "subgroup-barrier"),
}
WANTED = frozenset(("shader-f16", "subgroup", "subgroup-barrier", *MASKS["timestamps"]))


@dataclass(frozen=True)
class AdapterChoice:
    """An adapter as it can be listed and chosen; ``adapter`` is wgpu's object."""

    profile: DeviceProfile
    adapter: Any


def masked_features() -> frozenset[str]:
    """The features that the environment variable OPSCOPE_WITHOUT hides.

    Raises:
        DeviceError: it names something unknown.
    """
    hidden: set[str] = set()
    for word in filter(None, os.environ.get("OPSCOPE_WITHOUT", "").split(",")):
        if word.strip() not in MASKS:
            known = ", ".join(MASKS)
            raise DeviceError(f"OPSCOPE_WITHOUT names {word.strip()!r}; it knows {known}")
        hidden.update(MASKS[word.strip()])
    return frozenset(hidden)


def default_limits_asked() -> bool:
    """True if OPSCOPE_LIMITS=default holds every device to the limits that WebGPU guarantees.

    Raises:
        DeviceError: it names something else.
    """
    asked = os.environ.get("OPSCOPE_LIMITS", "")
    if asked not in ("", "default"):
        raise DeviceError(f"OPSCOPE_LIMITS is {asked!r}; it knows 'default' alone")
    return asked == "default"


def list_adapters() -> tuple[AdapterChoice, ...]:
    """Every adapter of this machine, the likely best first; empty where there is none."""
    rank = {"DiscreteGPU": 0, "IntegratedGPU": 1, "VirtualGPU": 2, "CPU": 3}
    try:
        _limit_backends()
        found = wgpu.gpu.enumerate_adapters_sync()
    except RuntimeError as error:
        raise DeviceError(f"the GPU libraries cannot be used: {error}") from error
    choices = [AdapterChoice(_profile(a), a) for a in found]
    return tuple(sorted(choices, key=lambda c: rank.get(c.profile.kind, 4)))


@cache
def _limit_backends() -> None:
    """Leave OpenGL out: it lacks what the kernels need, and asks for a window system.

    Without a user session Mesa's device selection layer complains on standard error that it finds
    no window system; it only orders devices, which :func:`list_adapters` does itself.
    """
    if "XDG_RUNTIME_DIR" not in os.environ:
        os.environ.setdefault("NODEVICE_SELECT", "1")
    set_instance_extras(backends=("Vulkan", "Metal", "DX12"))


def _profile(adapter: Any) -> DeviceProfile:
    info = adapter.info
    limits = {
        f.name: int(adapter.limits[f.name.replace("_", "-")])
        for f in fields(Limits)
        if f.name.replace("_", "-") in adapter.limits
    }
    return DeviceProfile(
        name=info["device"],
        vendor=info["vendor"],
        driver=info["description"],
        backend=info["backend_type"],
        kind=info["adapter_type"],
        limits=Limits() if default_limits_asked() else Limits(**limits),
        features=frozenset(adapter.features) & WANTED - masked_features(),
    )


def open_gpu(name: str | None = None) -> Gpu:
    """Open the first adapter, or the first whose name contains ``name`` (in any case).

    Raises:
        DeviceError: there is no such adapter, or it gives no device; says what helps.
    """
    choices = list_adapters()
    if not choices:
        raise DeviceError(
            "no GPU adapter was found; install a Vulkan driver (on Debian: apt install "
            "libvulkan1 mesa-vulkan-drivers, which also brings a software adapter)"
        )
    matching = [c for c in choices if name is None or name.lower() in c.profile.name.lower()]
    if not matching:
        names = ", ".join(repr(c.profile.name) for c in choices)
        raise DeviceError(f"no adapter is called {name!r}; there are {names}")
    choice = matching[0]
    limits = {
        f.name.replace("_", "-"): getattr(choice.profile.limits, f.name) for f in fields(Limits)
    }
    try:
        device = choice.adapter.request_device_sync(
            required_features=sorted(choice.profile.features), required_limits=limits
        )
    except (RuntimeError, wgpu.GPUError) as error:
        raise DeviceError(f"{choice.profile.name} gives no device: {error}") from error
    return Gpu(choice.profile, device)


class Gpu:
    """An opened device. Threads take turns: see :meth:`work`."""

    def __init__(self, profile: DeviceProfile, device: Any) -> None:
        self.profile = profile
        self.device = device
        self.queue = device.queue
        self._turn = RLock()

    @contextmanager
    def work(self, doing: str) -> Iterator[None]:
        """Hold the device, from the first upload of a run until its last read-back.

        A submit while another thread reads a buffer back would end the process. wgpu's errors, a
        lost device among them, come at once on the calling thread; they become a RunError.
        """
        with self._turn:
            try:
                yield
            except wgpu.GPUError as error:
                reason = " ".join(str(error).split())
                raise RunError(f"the GPU failed while {doing}: {reason}") from error

    def buffer(self, size: int, usage: int) -> Any:
        """A buffer of ``size`` bytes (a positive multiple of 4)."""
        if size <= 0 or size % 4:
            raise ValueError(f"a buffer cannot have {size} bytes")
        return self.device.create_buffer(size=size, usage=usage)

    def wait(self) -> None:
        """Block until everything that was submitted is done."""
        lib.wgpuDevicePoll(self.device._internal, 1, ffi.NULL)

    @cached_property
    def timing_source(self) -> str:
        """How node times are taken here: "inside-pass", "pass" or "cpu-clock"."""
        if "timestamp-query" not in self.profile.features:
            return "cpu-clock"
        inside = "timestamp-query-inside-passes" in self.profile.features
        return "inside-pass" if inside else "pass"

    @cached_property
    def tick_ns(self) -> float:
        """Nanoseconds per timestamp tick."""
        return float(lib.wgpuQueueGetTimestampPeriod(self.queue._internal))

    def write(self, buffer: Any, offset: int, data: np.ndarray) -> None:
        """Upload a contiguous array; the tail is padded to a multiple of 4 bytes."""
        if data.nbytes == 0:
            return
        rest = data.nbytes % 4
        if rest:
            padded = np.zeros(data.nbytes + 4 - rest, np.uint8)
            padded[: data.nbytes] = data.view(np.uint8).reshape(-1)
            data = padded
        self.queue.write_buffer(buffer, offset, data)
