"""Plans the watch over indices that only the run knows: one word for each axis they lead into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..ops.indices import WatchedIndex
from ..ops.steps import IndexWatch, Tensor
from ..ops.use import OpUse
from .memory import Memory


class IndexWatcher:
    """Collects the axes while the nodes are planned; the tensor's size is known at the end."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._words: Tensor | None = None
        self.watched: list[WatchedIndex] = []

    def watch(self, use: OpUse, index: int, extents: Sequence[int]) -> IndexWatch:
        """A word for each of ``extents``, which input ``index`` of ``use`` must not leave."""
        if self._words is None:
            self._words = self._memory.allocate("uint32", (0,))
        first = len(self.watched)
        self.watched += [
            WatchedIndex(use.node, use.label, use.op, index, extent) for extent in extents
        ]
        return IndexWatch((self._words,), first)

    def finish(self) -> Tensor | None:
        """The tensor of all words; None where no index is watched."""
        if self._words is None:
            return None
        words = replace(self._words, shape=(len(self.watched),))
        self._memory.resize(words)
        return words
