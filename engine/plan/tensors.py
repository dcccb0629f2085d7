"""Device tensors of values while planning, and how long each stretch of memory is needed."""

from __future__ import annotations

from collections.abc import Sequence

from ..device.profile import DeviceProfile
from ..ir.model import TensorType
from ..ops.steps import STORAGE, Tensor
from ..ops.use import OpUse
from .builder import check_size
from .memory import Lifetimes, Memory
from .types import GpuSegment, HostSegment, ValueId
from .values import Values


class DeviceValues:
    """Gives each value its tensor on first use: a constant is uploaded, others get memory."""

    def __init__(self, values: Values, memory: Memory, profile: DeviceProfile) -> None:
        self._values = values
        self._memory = memory
        self._profile = profile

    def check(self, use: OpUse, what: str, kind: TensorType) -> None:
        """LimitError where a tensor of ``kind`` does not fit the device; ``what`` names it."""
        size = self._memory.size_bytes(kind.dtype, kind.dims)
        check_size(use, size, f"{what} {list(kind.dims)} {kind.dtype}", self._profile)

    def tensor(self, value: ValueId | None, use: OpUse) -> Tensor:
        """The tensor of an input of ``use``.

        Raises:
            NodeError: the input is absent, or of a type that the device cannot hold.
            LimitError: it is too large.
        """
        if value is None:
            raise use.error("an input that its kernel needs is missing")
        found = self._values.tensors.get(value)
        if found is None:
            kind = self._values.types[value]
            if kind.dtype not in STORAGE:
                raise use.error(f"{value[1]!r} is {kind.dtype}, which the device cannot hold")
            self.check(use, f"its input '{value[1]}'", kind)
            if self._values.is_known(value):
                found = self._memory.constant(self._values.known(value), kind.dtype)
            else:
                found = self._memory.allocate(kind.dtype, kind.dims)
            self._values.tensors[value] = found
        return found


def lifetimes_of(
    values: Values,
    segments: Sequence[GpuSegment | HostSegment],
    outputs: Sequence[tuple[str, ValueId]],
    stats: Tensor | None,
    watch: Tensor | None,
) -> dict[int, tuple[int, int]]:
    """Storage id -> first and last position of use; inputs live from -1, outputs to the end."""
    lifetimes = Lifetimes()
    lifetimes.touch((values.tensors[v] for v in values.inputs if v in values.tensors), -1)
    position = 0
    for segment in segments:
        if isinstance(segment, GpuSegment):
            for dispatch in segment.dispatches:
                lifetimes.touch_dispatch(dispatch, position)
                position += 1
        else:
            ends = (*segment.inputs, *segment.outputs, *segment.captured.values())
            tensors = (values.tensors[v] for v in ends if v is not None and v in values.tensors)
            lifetimes.touch(tensors, position)
            position += 1
    lifetimes.touch((values.tensors[v] for _, v in outputs if v in values.tensors), position)
    if stats is not None:
        lifetimes.touch((stats,), position)
    if watch is not None:  # zero between the runs, so nobody may share its memory
        lifetimes.touch((watch,), -1)
        lifetimes.touch((watch,), position)
    return lifetimes.spans
