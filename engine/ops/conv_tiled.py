"""Convolutions as tiled matrix products: their phases, and their weights packed for them.

A transposed convolution falls apart into phases: along an axis of stride s, output positions
r, r + s, r + 2s, ... read the same taps, at input positions that move by one. So each phase is a
convolution of stride 1 with its own taps, and no tap is computed in vain. An ordinary convolution
is the case of a single phase. All phases and groups go into one dispatch.

The packed weight holds, phase after phase, [group][tap][input channel][output channel]; input
channels are padded to the tile's depth and output channels to 4, with zeros.
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

_FEWEST_INPUTS = 6  # with fewer input channels a group the padding costs more than a tile gains


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


@dataclass(frozen=True, slots=True)
class Tiling:
    """A convolution cut into phases, for one tile."""

    conv: Convolution
    tile: Tile
    phases: tuple[Phase, ...]

    @property
    def padded_inputs(self) -> int:
        """Input channels of a group as the packed weight has them."""
        return -(-self.conv.group_inputs // self.tile.depth) * self.tile.depth

    @property
    def padded_outputs(self) -> int:
        """Output channels of a group as the packed weight has them."""
        return -(-self.conv.group_outputs // 4) * 4

    def packed_size(self, phase: Phase) -> int:
        """Elements of one phase's weights."""
        taps = math.prod(a.taps for a in phase)
        return self.conv.groups * taps * self.padded_inputs * self.padded_outputs

    def positions(self, phase: Phase) -> int:
        """Output positions of a phase, all batches."""
        return self.conv.batch * math.prod(a.count for a in phase)

    def kernel_step(self, axis: Axis) -> int:
        """Kernel indices from one tap of a phase to the next."""
        return axis.stride // math.gcd(axis.stride, axis.dilation) if self.conv.transposed else 1


def choose_tiling(conv: Convolution, steps: StepBuilder) -> Tiling | None:
    """The tiling of ``conv``, or None where the direct kernel is better."""
    if conv.group_inputs < _FEWEST_INPUTS or conv.outputs == 0:
        return None
    count = math.prod(min(a.stride, a.output) if conv.transposed else 1 for a in conv.axes)
    columns = -(-conv.outputs // (conv.groups * conv.group_outputs * count))
    copies = conv.groups * count
    tile = tiles.choose_tile(steps.profile, conv.group_outputs, columns, copies)
    if tile is None:
        return None
    phases = tuple(itertools.product(*(axis_phases(a, conv.transposed) for a in conv.axes)))
    return Tiling(conv, tile, phases)


def build_tiled(tiling: Tiling, use: OpUse, bias: Tensor, steps: StepBuilder) -> None:
    """The dispatches of a tiled convolution; a weight that is no constant is packed first."""
    conv, tile = tiling.conv, tiling.tile
    y = steps.output()
    weight = use.value(1)
    if weight is None:
        packed = _pack_on_device(tiling, steps)
    else:
        packed = steps.constant(pack(tiling, weight), use.input(1).dtype)
    reads = (steps.input(0), packed, bias, steps.constant(_phase_table(tiling)))
    most = max(tiling.positions(p) for p in tiling.phases)
    taps = max(math.prod(a.taps for a in p) for p in tiling.phases)
    grid = tile.grid(conv.group_outputs, most, len(tiling.phases) * conv.groups)
    work = tile.rows * tile.columns * tiling.padded_inputs * taps
    limit = steps.profile.limits.max_compute_workgroups_per_dimension
    commons = [math.gcd(a.stride, a.dilation) for a in conv.axes]
    ones = (1, 1, 1)
    strides, dilations = (a.stride for a in conv.axes), (a.dilation for a in conv.axes)
    backwards = (-a.dilation // c for a, c in zip(conv.axes, commons, strict=True))
    activation = steps.activation
    geometry = (
        *(*(a.input for a in conv.axes), math.prod(a.input for a in conv.axes)),
        *(*(a.output for a in conv.axes), math.prod(a.output for a in conv.axes)),
        *((*ones, 0, *backwards, 0) if conv.transposed else (*strides, 0, *dilations, 0)),
        *((*(a.stride for a in conv.axes), 0) if conv.transposed else (*ones, 0)),
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
                *(conv.groups, conv.group_inputs, tiling.padded_inputs, conv.group_outputs),
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
        w = w.transpose(0, 3, 4, 5, 1, 2)
    else:
        w = weight.reshape(conv.groups, conv.group_outputs, conv.group_inputs, *kernel)
        w = w.transpose(0, 3, 4, 5, 2, 1)
    packed = []
    for phase in tiling.phases:
        taps = tuple(
            slice(p.kernel, p.kernel + p.taps * tiling.kernel_step(a), tiling.kernel_step(a))
            for p, a in zip(phase, conv.axes, strict=True)
        )
        counts = tuple(p.taps for p in phase)
        piece = np.zeros(
            (conv.groups, *counts, tiling.padded_inputs, tiling.padded_outputs), weight.dtype
        )
        piece[..., : conv.group_inputs, : conv.group_outputs] = w[(slice(None), *taps)]
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
                *(tiling.padded_inputs, tiling.padded_outputs, *conv.weight_strides),
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


def _phase_table(tiling: Tiling) -> np.ndarray:
    """(phases, 16) int32: the Phase structs of conv_tiled.wgsl."""
    rows = []
    first = 0
    for phase in tiling.phases:
        taps = tuple(a.taps for a in phase)
        rows.append(
            (
                *(*(a.count for a in phase), tiling.positions(phase)),
                *(*taps, math.prod(taps)),
                *(*(a.source for a in phase), first // 4),
                *(*(a.place for a in phase), 0),
            )
        )
        first += tiling.packed_size(phase)
    return np.array(rows, np.int32)
