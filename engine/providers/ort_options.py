"""Options of the WebGPU provider that change where ORT runs a node, under ORT's own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .tables import ProviderTable


@dataclass(frozen=True)
class OrtOptions:
    """Options of the WebGPU provider that change the placement, under ORT's own names.

    Attributes:
        enable_int64: the option enableInt64 (graph capture implies it).
        preferred_layout: "NHWC" (ORT's default) or "NCHW".
        force_cpu_node_names: names of nodes that the user keeps off the GPU.
    """

    enable_int64: bool = False
    preferred_layout: str = "NHWC"
    force_cpu_node_names: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, table: ProviderTable, assignments: Iterable[str]) -> OrtOptions:
        """Options from ``name=value`` texts; forceCpuNodeNames may be given for each name.

        Raises:
            ValueError: the provider has no such option, or not that value for it, or the texts
                contradict each other.
        """
        options, forced = cls(), set[str]()
        given: dict[str, str] = {}
        for assignment in assignments:
            name, equals, value = assignment.partition("=")
            allowed = OPTION_VALUES.get(name) if table.options else None
            if not equals or allowed is None:
                there = ", ".join(map(_spelt, table.options)) or "none"
                raise ValueError(f"{assignment!r} is no option; there is {there}")
            if allowed and value not in allowed:
                raise ValueError(f"{name} is {' or '.join(allowed)}, not {value!r}")
            if allowed and given.setdefault(name, value) != value:
                raise ValueError(f"{name} is given as {given[name]} and as {value}")
            if name == "enableInt64":
                options = replace(options, enable_int64=value == "1")
            elif name == "preferredLayout":
                options = replace(options, preferred_layout=value)
            else:
                forced.add(value)
        return replace(options, force_cpu_node_names=frozenset(forced))

    def stated(self) -> tuple[str, ...]:
        """The ``name=value`` texts of what differs from the defaults."""
        texts = ["enableInt64=1"] if self.enable_int64 else []
        if self.preferred_layout != "NHWC":
            texts.append(f"preferredLayout={self.preferred_layout}")
        texts += [f"forceCpuNodeNames={name}" for name in sorted(self.force_cpu_node_names)]
        return tuple(texts)


def _spelt(name: str) -> str:
    """An option as it is given: ``enableInt64=0|1``."""
    return f"{name}={'|'.join(OPTION_VALUES.get(name, ())) or 'NAME'}"


OPTION_VALUES: Mapping[str, tuple[str, ...]] = {
    "enableInt64": ("0", "1"),
    "preferredLayout": ("NHWC", "NCHW"),
    "forceCpuNodeNames": (),  # any
}
