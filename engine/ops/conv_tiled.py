"""Convolutions as tiled matrix products: their phases, and their weights packed for them.

A transposed convolution falls apart into phases: along an axis of stride s, output positions
r, r + s, r + 2s, ... read the same taps, at input positions that move by one. So each phase is a
convolution of stride 1 with its own taps, and no tap is computed in vain. An ordinary convolution
is the case of a single phase. All phases and groups go into one dispatch.

The terms of a sum are (input channel, tap) pairs; a table says where each one's input lies. The
packed weight holds, phase after phase, [group][term][output channel], with zeros that fill up the
terms to a multiple of the tile's depth and the output channels to one of 4.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from . import tiles
from .conv_geometry import Convolution
from .index_policy import INDEX_POLICY
from .steps import StepBuilder, Tensor
from .tiles import Tile
from .use import OpUse
from .window import Axis

_FEWEST_TERMS = 8  # shorter sums are not worth a tile
_OUTSIDE = -(2**30)  # of every input, along every axis


@dataclass(frozen=True, slots=True)
class AxisPhase:
    """A phase along one axis.

    Attributes:
        place: its first output position, ``count`` the number of them.
        kernel: index of its first tap within the kernel, ``taps`` the number of them.
        source: input position under the first tap at the first output position.
    """

    place: int
    count: int
    kernel: int
    taps: int
    source: int


Phase = tuple[AxisPhase, AxisPhase, AxisPhase]


def axis_phases(axis: Axis, transposed: bool) -> tuple[AxisPhase, ...]:
    """The phases of ``axis``, by output position modulo the stride."""
    if not transposed:
        return (AxisPhase(0, axis.output, 0, axis.kernel, -axis.begin),)
    common = math.gcd(axis.stride, axis.dilation)
    step = axis.stride // common
    phases = []
    for place in range(min(axis.stride, axis.output)):
        count = -(-(axis.output - place) // axis.stride)
        position = place + axis.begin
        first, rest = divmod(position, common)
        kernel = first * pow(axis.dilation // common, -1, step) % step if step > 1 else 0
        taps = 0 if rest else max(0, -(-(axis.kernel - kernel) // step))
        source = (position - kernel * axis.dilation) // axis.stride if taps else 0
        phases.append(AxisPhase(place, count, kernel, taps, source))
    return tuple(phases)


def taps_of(phase: Phase) -> int:
    """Taps of a phase, all axes together."""
    return math.prod(a.taps for a in phase)


@dataclass(frozen=True, slots=True)
class Tiling:
    """A convolution cut into phases, for one tile."""

    conv: Convolution
    tile: Tile
    phases: tuple[Phase, ...]

    @property
    def padded_outputs(self) -> int:
        """Output channels of a group as the packed weight has them."""
        return -(-self.conv.group_outputs // 4) * 4

    def depth(self, phase: Phase) -> int:
        """Terms of a phase's sums, filled up to whole slices."""
        terms = self.conv.group_inputs * taps_of(phase)
        return -(-terms // self.tile.depth) * self.tile.depth

    def packed_size(self, phase: Phase) -> int:
        """Elements of one phase's weights."""
        return self.conv.groups * self.depth(phase) * self.padded_outputs

    def positions(self, phase: Phase) -> int:
        """Output positions of a phase, all batches."""
        return self.conv.batch * math.prod(a.count for a in phase)

    def kernel_step(self, axis: Axis) -> int:
        """Kernel indices from one tap of a phase to the next."""
        return axis.stride // math.gcd(axis.stride, axis.dilation) if self.conv.transposed else 1

    def source_step(self, axis: Axis) -> int:
        """Input positions from one tap of a phase to the next."""
        if self.conv.transposed:
            return -axis.dilation // math.gcd(axis.stride, axis.dilation)
        return axis.dilation


def choose_tiling(conv: Convolution, steps: StepBuilder) -> Tiling | None:
    """The tiling of ``conv``, or None where the direct kernel is better."""
    if conv.group_inputs * conv.taps < _FEWEST_TERMS or conv.outputs == 0:
        return None
    count = math.prod(min(a.stride, a.output) if conv.transposed else 1 for a in conv.axes)
    columns = -(-conv.outputs // (conv.groups * conv.group_outputs * count))
    copies = conv.groups * count
    tile = tiles.choose_tile(steps.profile, conv.group_outputs, columns, copies)
    turns = tiles.turns(conv.group_inputs, *(conv.axis_taps(a) for a in conv.axes))
    if tile is None and turns > tiles.MOST_TURNS:
        tile = tiles.SMALL  # sums too long for one invocation of the direct kernel
    if tile is None:
        return None
    depth, height, width = (axis_phases(a, conv.transposed) for a in conv.axes)
    return Tiling(conv, tile, tuple(itertools.product(depth, height, width)))


def build_tiled(tiling: Tiling, use: OpUse, bias: Tensor, steps: StepBuilder) -> None:
    """The dispatches of a tiled convolution; a weight that is no constant is packed first."""
    conv, tile = tiling.conv, tiling.tile
    y = steps.output()
    weight = use.value(1)
    if weight is None:
        packed = _pack_on_device(tiling, steps)
    else:
        packed = steps.constant(pack(tiling, weight), use.input(1).dtype)
    phases, terms = _tables(tiling)
    reads = (steps.input(0), packed, bias, steps.constant(phases), steps.constant(terms))
    most = max(tiling.positions(p) for p in tiling.phases)
    grid = tile.grid(conv.group_outputs, most, len(tiling.phases) * conv.groups)
    work = tile.rows * tile.columns * max(tiling.depth(p) for p in tiling.phases)
    limit = steps.profile.limits.max_compute_workgroups_per_dimension
    strides, ones = tuple(a.stride for a in conv.axes), (1, 1, 1)
    activation = steps.activation
    geometry = (
        *(*(a.input for a in conv.axes), math.prod(a.input for a in conv.axes)),
        *(*(a.output for a in conv.axes), math.prod(a.output for a in conv.axes)),
        *(ones if conv.transposed else strides),
        0,
        *(strides if conv.transposed else ones),
        0,
    )
    for first, groups in tiles.tile_spans(grid, work, steps.work_limit(), limit):
        steps.dispatch(
            "conv_tiled",
            reads=reads,
            writes=(y,),
            groups=groups,
            params=(
                *(*first, 0),
                *geometry,
                *(conv.groups, conv.group_inputs, conv.group_outputs, 0),
                *(float(activation.alpha), float(activation.beta), 0, 0),
            ),
            variables={
                "element": y.element,
                "index": INDEX_POLICY.index_type,
                "activation": activation.name,
                **tile.variables,
            },
            variant=f"transposed {tile}" if conv.transposed else str(tile),
            trusted=tiles.TRUSTED,
        )


def pack(tiling: Tiling, weight: np.ndarray) -> np.ndarray:
    """The packed weight of ``tiling``: 1-D, the dtype of ``weight``, which has ONNX's shape."""
    conv = tiling.conv
    kernel = tuple(a.kernel for a in conv.axes)
    if conv.transposed:
        w = weight.reshape(conv.groups, conv.group_inputs, conv.group_outputs, *kernel)
        w = w.transpose(0, 1, 3, 4, 5, 2)
    else:
        w = weight.reshape(conv.groups, conv.group_outputs, conv.group_inputs, *kernel)
        w = w.transpose(0, 2, 3, 4, 5, 1)
    packed = []
    for phase in tiling.phases:
        taps = tuple(
            slice(p.kernel, p.kernel + p.taps * tiling.kernel_step(a), tiling.kernel_step(a))
            for p, a in zip(phase, conv.axes, strict=True)
        )
        terms = conv.group_inputs * taps_of(phase)
        piece = np.zeros((conv.groups, tiling.depth(phase), tiling.padded_outputs), weight.dtype)
        piece[:, :terms, : conv.group_outputs] = w[(slice(None), slice(None), *taps)].reshape(
            conv.groups, terms, conv.group_outputs
        )
        packed.append(piece.ravel())
    whole = np.concatenate(packed)
    return whole if whole.size else np.zeros(4, weight.dtype)


def _pack_on_device(tiling: Tiling, steps: StepBuilder) -> Tensor:
    conv, weight = tiling.conv, steps.input(1)
    total = sum(tiling.packed_size(p) for p in tiling.phases)
    packed = steps.scratch((max(total, 4),), weight.dtype)
    first = 0
    for phase in tiling.phases:
        count = tiling.packed_size(phase)
        taps = tuple(a.taps for a in phase)
        steps.dispatch(
            "conv_pack",
            reads=(weight,),
            writes=(packed,),
            groups=steps.grid(count),
            params=(
                *(first, count, conv.group_inputs, conv.group_outputs),
                *(tiling.depth(phase), tiling.padded_outputs, *conv.weight_strides),
                *(0, 0, 0),
                *(*taps, math.prod(taps)),
                *(*(a.kernel for a in conv.axes), 0),
                *(*(a.kernel for a in phase), 0),
                *(*(tiling.kernel_step(a) for a in conv.axes), 0),
            ),
            variables={"element": weight.element, "index": INDEX_POLICY.index_type},
        )
        first += count
    return packed


def _tables(tiling: Tiling) -> tuple[np.ndarray, np.ndarray]:
    """The Phase structs (phases, 16) and the terms (all phases' terms, 4) of conv_tiled, int32."""
    conv = tiling.conv
    depth, height, width = (a.input for a in conv.axes)
    strides = (height * width, width, 1)
    phases, terms = [], []
    first_weight = first_term = 0
    for phase in tiling.phases:
        phases.append(
            (
                *(*(a.count for a in phase), tiling.positions(phase)),
                *(*(a.source for a in phase), first_weight // 4),
                *(*(a.place for a in phase), 0),
                *(tiling.depth(phase), first_term, 0, 0),
            )
        )
        steps = [
            np.arange(p.taps) * tiling.source_step(a) for p, a in zip(phase, conv.axes, strict=True)
        ]
        piece = np.full((tiling.depth(phase), 4), (_OUTSIDE, _OUTSIDE, _OUTSIDE, 0), np.int32)
        real = piece[: conv.group_inputs * taps_of(phase)].reshape(
            conv.group_inputs, *(a.taps for a in phase), 4
        )
        channels = np.arange(conv.group_inputs) * (depth * height * width)
        real[..., 3] = channels[:, None, None, None]
        for axis, step in enumerate(steps):
            along = step.reshape(tuple(-1 if i == axis else 1 for i in range(3)))
            real[..., axis] = along
            real[..., 3] += along * strides[axis]
        terms.append(piece)
        first_weight += tiling.packed_size(phase)
        first_term += len(piece)
    table = np.concatenate(terms)
    return np.array(phases, np.int32), table if table.size else np.zeros((1, 4), np.int32)
