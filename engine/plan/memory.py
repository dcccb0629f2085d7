"""Device memory while planning: tensors, constants, and arena slots assigned by lifetime."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..device.layout import to_device
from ..ops.steps import STORAGE, STORAGE_BYTES, Dispatch, Tensor
from .types import Storage

ALIGN = 16  # a vec4 of words: shaders may read the tail of a tensor as one


class Memory:
    """Allocates the storages of one plan; :meth:`finish` gives them arena slots."""

    def __init__(self, f16: bool) -> None:
        self._f16 = f16
        self._sizes: list[int] = []
        self._constants: dict[int, np.ndarray] = {}

    def element(self, dtype: str) -> str:
        """WGSL element type that ``dtype`` is stored as; KeyError if the device cannot hold it."""
        element = STORAGE[dtype]
        return "f32" if element == "f16" and not self._f16 else element

    def size_bytes(self, dtype: str, shape: Sequence[int]) -> int:
        """Bytes of a tensor in device memory."""
        return math.prod(shape) * STORAGE_BYTES[self.element(dtype)]

    def allocate(self, dtype: str, shape: tuple[int, ...]) -> Tensor:
        """A new tensor of the arena."""
        size = max(self.size_bytes(dtype, shape), 1)
        self._sizes.append(-(-size // ALIGN) * ALIGN)
        return Tensor(len(self._sizes) - 1, dtype, tuple(shape), self.element(dtype))

    def constant(self, array: np.ndarray, dtype: str) -> Tensor:
        """A tensor with fixed contents."""
        tensor = self.allocate(dtype, array.shape)
        self._constants[tensor.storage_id] = to_device(array, tensor.element)
        return tensor

    def resize(self, tensor: Tensor) -> None:
        """Give the storage of ``tensor`` the size that its shape now asks for."""
        size = max(tensor.size_bytes, 1)
        self._sizes[tensor.storage_id] = -(-size // ALIGN) * ALIGN

    def finish(
        self, lifetimes: dict[int, tuple[int, int]]
    ) -> tuple[tuple[Storage, ...], tuple[int, ...]]:
        """Storages and the bytes of each arena buffer.

        Args:
            lifetimes: storage id -> (first, last) position of use; unused ones get no memory.
        """
        slots, arena = assign_slots(
            {
                i: (*span, self._sizes[i])
                for i, span in lifetimes.items()
                if i not in self._constants
            }
        )
        storages = tuple(
            Storage(size, slots.get(i), self._constants.get(i) if i in lifetimes else None)
            for i, size in enumerate(self._sizes)
        )
        return storages, arena


def assign_slots(
    spans: dict[int, tuple[int, int, int]],
) -> tuple[dict[int, int], tuple[int, ...]]:
    """Reuse buffers whose tensors are dead: best fit, in order of first use.

    Args:
        spans: id -> (first use, last use, bytes).

    Returns:
        id -> slot, and the bytes of each slot. Two ids whose spans overlap never share a slot.
    """
    slots: dict[int, int] = {}
    sizes: list[int] = []
    free: list[int] = []  # slot indices
    active: list[tuple[int, int]] = []  # (last use, slot)
    for key, (first, last, size) in sorted(spans.items(), key=lambda item: (item[1][0], item[0])):
        while active and active[0][0] < first:
            free.append(heapq.heappop(active)[1])
        fitting = [s for s in free if sizes[s] >= size]
        if fitting:
            slot = min(fitting, key=lambda s: sizes[s])
        elif free:
            slot = max(free, key=lambda s: sizes[s])
            sizes[slot] = size
        else:
            slot = len(sizes)
            sizes.append(size)
        if slot in free:
            free.remove(slot)
        slots[key] = slot
        heapq.heappush(active, (last, slot))
    return slots, tuple(sizes)


class Lifetimes:
    """First and last position at which each storage is touched."""

    def __init__(self) -> None:
        self.spans: dict[int, tuple[int, int]] = {}

    def touch(self, tensors: Iterable[Tensor], position: int) -> None:
        """Note that ``tensors`` are used at ``position``."""
        for tensor in tensors:
            first, last = self.spans.get(tensor.storage_id, (position, position))
            self.spans[tensor.storage_id] = (min(first, position), max(last, position))

    def touch_dispatch(self, dispatch: Dispatch, position: int) -> None:
        """Note what a dispatch binds."""
        self.touch(dispatch.reads, position)
        self.touch(dispatch.writes, position)
