"""The steps of a plan in order: dispatches gather until a host node, or the end, needs them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..ir.model import TensorType
from ..ops.steps import Dispatch
from .types import GpuSegment, HostSegment, ValueId
from .values import Origin, Values


class Segments:
    """Collects the segments while the nodes are planned."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._pending: list[Dispatch] = []
        self._from_host: set[ValueId] = set()
        self.done: list[GpuSegment | HostSegment] = []

    def add_dispatches(self, dispatches: Iterable[Dispatch]) -> None:
        """Work for the GPU segment that is open."""
        self._pending += dispatches

    def add_host(self, origin: Origin, types: Sequence[TensorType | None]) -> None:
        """A node that runs on the host, once the GPU has what it reads.

        Args:
            origin: the node.
            types: of its outputs.
        """
        values = self._values
        reads = (*origin.inputs, *origin.captured.values())
        self.flush(reads)
        self.done.append(HostSegment(origin.use, origin.inputs, origin.outputs, origin.captured))
        for value in reads:
            if value is not None and values.is_known(value):
                values.known(value)  # the run takes it from Plan.known
        for kind, output in zip(types, origin.outputs, strict=False):
            if output is not None and kind is not None and not values.is_known(output):
                values.types[output] = kind
                self._from_host.add(output)

    def flush(self, wanted: Iterable[ValueId | None]) -> None:
        """End the GPU segment. It may be empty: what is ``wanted`` is read back at its end."""
        missing = any(v is not None and not self._on_host(v) for v in wanted)
        if self._pending or missing:
            self.done.append(GpuSegment(tuple(self._pending)))
            self._pending = []

    def _on_host(self, value: ValueId) -> bool:
        """True if the run has ``value`` in the host's memory anyway."""
        values = self._values
        return value in self._from_host or value in values.inputs or values.is_known(value)
