"""Tensors of indices: negative ones count from the end, and none may leave its axis.

An index that is known while planning is checked then. Others are watched in the run: the kernel
stays within the tensor, tells of the index, and the run ends in an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import NodeError
from ..ir.model import NodeId
from .broadcast import Shape, strides_of
from .steps import IndexWatch, Tensor, Variable
from .use import OpUse

INDEX_TYPES = frozenset(("int32", "int64"))


def check_indices(use: OpUse, index: int, extents: int | Sequence[int]) -> None:
    """NodeError if the known value of input ``index`` leaves ``extents`` (along its last axis)."""
    value = use.value(index)
    if value is None or value.size == 0:
        return
    wrong = (value < -np.asarray(extents)) | (value >= np.asarray(extents))
    if wrong.any():
        where = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise use.error(
            f"index {int(value[where])} at {where} of input {index} is outside of the extent "
            f"{int(np.broadcast_to(extents, value.shape)[where])}"
        )


def index_variables(indices: Tensor, watch: IndexWatch) -> dict[str, Variable]:
    """Template variables of lib/index.wgsl; ``index_load`` makes an i32 of a stored index ``i``."""
    watched = bool(watch.words)
    words = "saturated_int32(i)" if watched else "bitcast<i32>(i.x)"
    return {
        "index": indices.element,
        "index_load": words if indices.element == "vec2<u32>" else "i",
        "watched": watched,
    }


def index_axes(dims: Shape, depth: int) -> tuple[int, ...]:
    """Parameters for a tuple of ``depth`` indices into ``dims``: extent and stride of each axis."""
    strides = strides_of(dims)
    return tuple(w for k in range(depth) for w in (dims[k], strides[k], 0, 0))


@dataclass(frozen=True, slots=True)
class WatchedIndex:
    """What one word of a plan's watch speaks of: an axis that an input of a node indexes."""

    node: NodeId | None
    label: str
    op: str
    input: int
    extent: int

    def error(self, index: int) -> NodeError:
        """That ``index`` came up; 64-bit ones arrive as the nearest of 32 bits."""
        beyond = {-(2**31): " or below", 2**31 - 1: " or above"}.get(index, "")
        reason = (
            f"index {index}{beyond} of input {self.input} is outside of the extent {self.extent}: "
            f"{-self.extent} to {self.extent - 1} are allowed (found in the run)"
        )
        return NodeError(self.node, self.label, self.op, reason)


def stray_index(raw: memoryview, watched: Sequence[WatchedIndex]) -> NodeError | None:
    """The error of the first watched axis that an index left in the run, or None.

    Args:
        raw: a word for each of ``watched``: 0, or the bits of an index out of range (never 0
            itself: an axis without elements is refused while planning).
        watched: what the words speak of.
    """
    words = np.frombuffer(raw, np.int32, len(watched))
    strays = np.flatnonzero(words)
    return watched[strays[0]].error(int(words[strays[0]])) if strays.size else None
