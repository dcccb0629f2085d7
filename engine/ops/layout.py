"""Transpose, Expand, Tile, DepthToSpace, SpaceToDepth: every element keeps its value.

Each is one strided copy (see strided.py). ONNX: Transpose 1-25, Expand 8-13, Tile 6-13,
DepthToSpace 1-28, SpaceToDepth 1-28. Refused: Tile 1 (its inputs differ).
"""

from __future__ import annotations

import math

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import Shape, broadcast, broadcast_strides, host_ints, strides_of
from .registry import Kernel, kernel
from .steps import TYPES, StepBuilder
from .strided import copy_strided
from .use import OpUse


@kernel("Transpose", since=(1, 13, 21, 23, 24, 25))
class Transpose(Kernel):
    """output[..., i_perm[k] , ...] = data[..., i_k, ...]."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("perm",))

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's extents, permuted."""
        dims = use.dims(0)
        return (TensorType(use.input(0).dtype, tuple(dims[a] for a in self._perm(use))),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A copy through permuted strides; none where only axes of extent 1 move."""
        dims, perm = use.dims(0), self._perm(use)
        moving = [a for a in perm if dims[a] != 1]
        if moving == sorted(moving):
            steps.alias(0, steps.input(0))
            return
        strides = strides_of(dims)
        shape = tuple(dims[a] for a in perm)
        copy_strided(steps, steps.input(0), steps.output(), shape, tuple(strides[a] for a in perm))

    @staticmethod
    def _perm(use: OpUse) -> Shape:
        rank = len(use.dims(0))
        perm = tuple(use.attr("perm", ()))
        if not perm:
            return tuple(reversed(range(rank)))
        if sorted(perm) != list(range(rank)):
            raise use.error(f"perm {perm} is no permutation of the {rank} axes")
        return perm


@kernel("Expand", since=(8, 13))
class Expand(Kernel):
    """The input, broadcast with a given shape (which may be the smaller of the two)."""

    types = {"T": TYPES.movable}
    host_inputs = (1,)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The broadcast of the input's shape and the given one."""
        wanted = host_ints(use, 1)
        return (TensorType(use.input(0).dtype, broadcast(use, use.dims(0), wanted)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A copy through strides of zero; none where nothing grows."""
        (result,) = self.shapes(use)
        if math.prod(result.dims) == math.prod(use.dims(0)):
            steps.alias(0, steps.input(0))
            return
        strides = broadcast_strides(use.dims(0), result.dims)
        copy_strided(steps, steps.input(0), steps.output(), result.dims, strides)


@kernel("Tile", since=(6, 13))
class Tile(Kernel):
    """The input repeated along each axis."""

    types = {"T": TYPES.movable}
    host_inputs = (1,)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Each extent times its repeats."""
        dims, repeats = use.dims(0), host_ints(use, 1)
        if len(repeats) != len(dims):
            raise use.error(f"{len(repeats)} repeats for a tensor of rank {len(dims)}")
        if any(r < 0 for r in repeats):
            raise use.error(f"the repeats {repeats} hold a negative number")
        shape = tuple(d * r for d, r in zip(dims, repeats, strict=True))
        return (TensorType(use.input(0).dtype, shape),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """Each axis becomes two: the repeats, with stride zero, and the axis itself."""
        dims, repeats = use.dims(0), host_ints(use, 1)
        strides = strides_of(dims)
        shape = tuple(e for pair in zip(repeats, dims, strict=True) for e in pair)
        steps_of = tuple(s for stride in strides for s in (0, stride))
        copy_strided(steps, steps.input(0), steps.output(), shape, steps_of)


def _blocks(use: OpUse) -> tuple[int, int, int, int, int]:
    """(batch, channels, height, width, block size) of a 4-D input."""
    dims, block = use.dims(0), int(use.attr("blocksize", 0))
    if len(dims) != 4:
        raise use.error(f"the input has {len(dims)} axes, not 4")
    if block < 1:
        raise use.error(f"blocksize is {block}")
    return (*dims, block)


class _Blocks(Kernel):
    """What DepthToSpace and SpaceToDepth share."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("blocksize", "mode"))

    def check(self, use: OpUse) -> Support:
        """Only the modes that ONNX names."""
        mode = use.attr("mode", "DCR")
        if mode not in ("DCR", "CRD"):
            return refused(Reason.ATTRIBUTE, f"{use.op} has the mode {mode!r}", attribute="mode")
        return SUPPORTED


@kernel("DepthToSpace", since=(1, 11, 13, 28))
class DepthToSpace(_Blocks):
    """Blocks of channels become blocks of pixels."""

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(n, c / b^2, h b, w b)."""
        n, c, h, w, b = _blocks(use)
        if c % (b * b):
            raise use.error(f"{c} channels are no multiple of the block's {b * b}")
        return (TensorType(use.input(0).dtype, (n, c // (b * b), h * b, w * b)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A copy over (n, channel, row, row in block, column, column in block)."""
        n, c, h, w, b = _blocks(use)
        depth, pixels = c // (b * b), h * w
        if use.attr("mode", "DCR") == "DCR":
            channel, row, column = pixels, b * depth * pixels, depth * pixels
        else:
            channel, row, column = b * b * pixels, b * pixels, pixels
        shape = (n, depth, h, b, w, b)
        strides = (c * pixels, channel, w, row, 1, column)
        copy_strided(steps, steps.input(0), steps.output(), shape, strides)


@kernel("SpaceToDepth", since=(1, 13, 28))
class SpaceToDepth(_Blocks):
    """Blocks of pixels become blocks of channels."""

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """(n, c b^2, h / b, w / b)."""
        n, c, h, w, b = _blocks(use)
        if h % b or w % b:
            raise use.error(f"{h} x {w} pixels do not divide into blocks of {b} x {b}")
        return (TensorType(use.input(0).dtype, (n, c * b * b, h // b, w // b)),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A copy over (n, three channel axes in the order of the mode, row, column)."""
        n, c, h, w, b = _blocks(use)
        rows, columns = h // b, w // b
        if use.attr("mode", "DCR") == "DCR":
            shape = (n, b, b, c, rows, columns)
            strides = (c * h * w, w, 1, h * w, w * b, b)
        else:
            shape = (n, c, b, b, rows, columns)
            strides = (c * h * w, h * w, w, 1, w * b, b)
        copy_strided(steps, steps.input(0), steps.output(), shape, strides)
