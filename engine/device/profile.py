"""What an adapter offers, as data: it can be saved, shown, and planned for on another machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

DEFAULT_NAME = "WebGPU default limits"


@dataclass(frozen=True, slots=True)
class Limits:
    """WebGPU's limits that planning depends on; the defaults are the specification's.

    Source of the defaults: https://www.w3.org/TR/webgpu/#limits
    """

    max_buffer_size: int = 268_435_456
    max_storage_buffer_binding_size: int = 134_217_728
    max_uniform_buffer_binding_size: int = 65_536
    max_storage_buffers_per_shader_stage: int = 8
    max_compute_workgroups_per_dimension: int = 65_535
    max_compute_workgroup_storage_size: int = 16_384
    max_compute_invocations_per_workgroup: int = 256
    max_compute_workgroup_size_x: int = 256
    max_compute_workgroup_size_y: int = 256
    max_compute_workgroup_size_z: int = 64
    min_uniform_buffer_offset_alignment: int = 256
    min_storage_buffer_offset_alignment: int = 256


@dataclass(frozen=True, slots=True)
class DeviceProfile:
    """An adapter: its names, limits and the optional features that Opscope uses.

    Attributes:
        features: of WebGPU's and wgpu-native's names: "shader-f16", "timestamp-query",
            "timestamp-query-inside-passes", "subgroup".
        kind: "DiscreteGPU", "IntegratedGPU", "CPU", "VirtualGPU" or "Unknown".
    """

    name: str = DEFAULT_NAME
    vendor: str = ""
    driver: str = ""
    backend: str = ""
    kind: str = "Unknown"
    limits: Limits = field(default_factory=Limits)
    features: frozenset[str] = frozenset()

    @property
    def allow(self) -> str:
        """The name with its verb, before what is allowed."""
        return f"{self.name} {'allow' if self.name == DEFAULT_NAME else 'allows'}"

    @property
    def f16(self) -> bool:
        """True if shaders can hold f16."""
        return "shader-f16" in self.features

    @property
    def subgroups(self) -> bool:
        """True if shaders can use subgroup operations."""
        return "subgroup" in self.features

    def to_json(self) -> dict[str, Any]:
        """Plain data, as ``opscope devices --json`` prints it."""
        return {
            "name": self.name,
            "vendor": self.vendor,
            "driver": self.driver,
            "backend": self.backend,
            "kind": self.kind,
            "limits": {f.name: getattr(self.limits, f.name) for f in fields(Limits)},
            "features": sorted(self.features),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DeviceProfile:
        """The profile that :meth:`to_json` wrote; ValueError names what does not fit."""
        known = {f.name for f in fields(Limits)}
        limits = dict(data.get("limits", {}))
        for key, value in limits.items():
            if key not in known:
                raise ValueError(f"unknown limit {key!r}")
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise ValueError(f"limit {key!r} must be a positive integer, not {value!r}")
        texts = {k: str(data.get(k, "")) for k in ("name", "vendor", "driver", "backend", "kind")}
        features = data.get("features", ())
        if not isinstance(features, (list, tuple)):
            raise ValueError("features must be a list of names")
        return cls(**texts, limits=Limits(**limits), features=frozenset(map(str, features)))
