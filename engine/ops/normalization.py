"""Normalizations of rows: Layer, RMS, Instance and Group, MeanVariance, Lp.

    y = (x - mean) / sqrt(variance + epsilon) * scale + bias

with mean and variance of a row, taken in two passes in f32 (a large mean costs no digits).
ONNX: LayerNormalization 17, RMSNormalization 23, InstanceNormalization 6-22, GroupNormalization
18-21, MeanVarianceNormalization 9-13, LpNormalization 1-22. Refused: a stash_type other than f32;
a scale that repeats in another way than over leading axes.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .binary import apply_binary
from .broadcast import Shape, axes_of, axis_of
from .reduction import MEAN, SUM, Layout, reduce_axes, reduction_support
from .registry import Kernel, kernel
from .rows import group_size, row_support
from .steps import TYPES, StepBuilder, Tensor
from .use import OpUse

FLOAT32 = 1  # ONNX's number of the type that statistics may be kept in


def normalize_rows(
    steps: StepBuilder,
    scale: Tensor,
    bias: Tensor | None,
    rows: int,
    epsilon: float,
    scale_index: tuple[int, int, int],
    *,
    centered: bool = True,
    statistics: tuple[Tensor, Tensor] | None = None,
    name: str,
) -> None:
    """One dispatch: output 0 = input 0 normalized over each of ``rows`` equal rows.

    Args:
        steps: where the dispatch goes.
        scale: factors.
        bias: summands, of as many elements; None for none.
        rows: number of rows.
        epsilon: added to the variance.
        scale_index: (a, b, c): element k of row r takes scale ``r % a * b + k // c``.
        centered: subtract the mean; without it the variance is the mean square.
        statistics: where to put each row's mean and inverse deviation, in f32.
        name: what tables show.
    """
    source, target = steps.input(0), steps.output()
    length = source.size // rows if rows else 0
    if bias is None:
        bias = steps.constant(np.zeros(scale.size, np.float32))
    means, deviations = statistics or (steps.scratch((rows,)), steps.scratch((rows,)))
    steps.dispatch(
        "normalize_rows",
        reads=[source, scale, bias],
        writes=[target, means, deviations],
        groups=steps.grid(rows if length else 0, 1),
        params=(rows, length, *scale_index, scale.size, float(epsilon), 0),
        variables={
            "source": source.element,
            "scale": scale.element,
            "bias": bias.element,
            "target": target.element,
            "mean_weight": "1.0" if centered else "0.0",
            "group_size": group_size(length),
        },
        variant=f"{name}, {source.element}",
    )


class _Suffix(Kernel):
    """Rows over the axes from ``axis`` on; the scale covers trailing axes."""

    attributes = frozenset(("axis", "epsilon", "stash_type"))
    centered = True

    def check(self, use: OpUse) -> Support:
        """Statistics in f32, and a scale of the input's trailing extents."""
        stash = use.attr("stash_type", FLOAT32)
        if stash != FLOAT32:
            return refused(Reason.ATTRIBUTE, f"{use.op} has stash_type {stash}", stash_type=stash)
        for index in (1, 2):
            known, data = use.known_dims(index), use.known_dims(0)
            if known is None or data is None:
                continue
            trimmed = _trimmed(known)
            if trimmed and data[len(data) - len(trimmed) :] != trimmed:
                detail = f"{use.op} has a scale or bias of shape {known} for data of shape {data}"
                return refused(Reason.SHAPE, detail)
        if use.has(1) and use.has(2):
            scale, bias = use.inputs[1], use.inputs[2]
            if scale and bias and scale.known_dims != bias.known_dims:
                return refused(Reason.SHAPE, f"{use.op} has scale {scale} but bias {bias}")
        dims = use.known_dims(0)
        return SUPPORTED if dims is None else row_support(use, math.prod(dims[self._axis(use) :]))

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        dims, axis = use.dims(0), self._axis(use)
        rows, length = math.prod(dims[:axis]), math.prod(dims[axis:])
        scale = steps.input(1)
        # Over more than a row: which of a few rows; over a part of one: which element of it.
        index = (max(1, scale.size // max(1, length)), length, 1)
        wanted = use.wants(1) or use.wants(2)
        normalize_rows(
            steps,
            scale,
            steps.input(2) if use.has(2) else None,
            rows,
            float(use.attr("epsilon", 1e-5)),
            index,
            centered=self.centered,
            statistics=(steps.output(1), steps.output(2)) if wanted else None,
            name=self.op_type,
        )

    @staticmethod
    def _axis(use: OpUse) -> int:
        return axis_of(use, int(use.attr("axis", -1)), len(use.dims(0)))


def _trimmed(shape: Shape) -> Shape:
    """``shape`` without leading ones."""
    first = next((k for k, d in enumerate(shape) if d != 1), len(shape))
    return shape[first:]


@kernel("LayerNormalization", since=(17,))
class LayerNormalization(_Suffix):
    """Rows are centred and scaled to deviation one."""

    types = {"T": TYPES.floats}

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type; the statistics with extent 1 from the axis on."""
        dims, axis = use.dims(0), self._axis(use)
        statistics = TensorType("float32", (*dims[:axis], *(1,) * (len(dims) - axis)))
        return TensorType(use.input(0).dtype, dims), statistics, statistics


@kernel("RMSNormalization", since=(23,))
class RMSNormalization(_Suffix):
    """Rows are scaled to mean square one."""

    types = {"T": TYPES.floats, "V": TYPES.floats}
    centered = False

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's shape in the scale's type."""
        return (TensorType(use.input(1).dtype, use.dims(0)),)


class _Channels(Kernel):
    """Rows are channels, or groups of them, of one batch element."""

    types = {"T": TYPES.floats}

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        dims = use.dims(0)
        if len(dims) < 2:
            raise use.error(f"the input {dims} has no channel axis")
        return (TensorType(use.input(0).dtype, dims),)

    def check(self, use: OpUse) -> Support:
        """Rows that a workgroup can walk: at most all channels of a batch element."""
        dims = use.known_dims(0)
        return SUPPORTED if dims is None else row_support(use, self._length(use, dims))

    @staticmethod
    def _length(use: OpUse, dims: Shape) -> int:
        return math.prod(dims[2:])


@kernel("InstanceNormalization", since=(6, 22))
class InstanceNormalization(_Channels):
    """A row for each channel."""

    attributes = frozenset(("epsilon",))

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        batch, channels, *rest = use.dims(0)
        index = (channels, 1, max(1, math.prod(rest)))
        scale, bias, epsilon = steps.input(1), steps.input(2), use.attr("epsilon", 1e-5)
        rows = batch * channels
        normalize_rows(steps, scale, bias, rows, epsilon, index, name=self.op_type)


@kernel("GroupNormalization", since=(18, 21))
class GroupNormalization(_Channels):
    """A row for each group of channels; the scale is per group in version 18, then per channel."""

    attributes = frozenset(("epsilon", "num_groups", "stash_type"))

    def check(self, use: OpUse) -> Support:
        """Statistics in f32."""
        stash = use.attr("stash_type", FLOAT32)
        if stash != FLOAT32:
            return refused(Reason.ATTRIBUTE, f"{use.op} has stash_type {stash}", stash_type=stash)
        return super().check(use)

    @staticmethod
    def _length(use: OpUse, dims: Shape) -> int:
        return math.prod(dims[1:]) // max(1, int(use.attr("num_groups", 1)))

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """One dispatch."""
        batch, channels, *rest = use.dims(0)
        groups, pixels = int(use.attr("num_groups")), max(1, math.prod(rest))
        if groups < 1 or channels % groups:
            raise use.error(f"{channels} channels do not divide into {groups} groups")
        per_group = channels // groups
        index = (groups, per_group, pixels)
        if use.since_version == 18:
            index = (groups, 1, pixels * per_group)
        scale, bias, epsilon = steps.input(1), steps.input(2), use.attr("epsilon", 1e-5)
        rows = batch * groups
        normalize_rows(steps, scale, bias, rows, epsilon, index, name=self.op_type)


class _OverAxes(Kernel):
    """A division by what some axes are reduced to."""

    types = {"T": TYPES.floats}

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The input's type."""
        return (TensorType(use.input(0).dtype, use.dims(0)),)

    @staticmethod
    def can_reduce(use: OpUse, axes: Shape) -> Support:
        """Whether there are few enough elements along ``axes``."""
        dims = use.known_dims(0)
        if dims is None:
            return SUPPORTED
        return reduction_support(use, Layout.of(dims, axes_of(use, axes, len(dims))), SUM)


@kernel("MeanVarianceNormalization", since=(9, 13))
class MeanVarianceNormalization(_OverAxes):
    """(x - mean) / (deviation + 1e-9) over the given axes."""

    attributes = frozenset(("axes",))

    def check(self, use: OpUse) -> Support:
        """Not too many elements to take a mean of."""
        return self.can_reduce(use, tuple(use.attr("axes", (0, 2, 3))))

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """Mean, difference, deviation, quotient."""
        source, dims = steps.input(0), use.dims(0)
        axes = axes_of(use, use.attr("axes", (0, 2, 3)), len(dims))
        layout = Layout.of(dims, axes)
        kept = tuple(1 if a in axes else d for a, d in enumerate(dims))
        mean, centred = steps.scratch(kept), steps.scratch(dims)
        deviation = steps.scratch(kept)
        reduce_axes(steps, source, mean, layout, MEAN, "mean")
        apply_binary(steps, source, mean, centred, "x - y", name="centre", activation=False)
        squares = replace(MEAN, prepare="x * x", finish="square_root(divide_by(a, params.divisor))")
        reduce_axes(steps, centred, deviation, layout, squares, "deviation")
        formula = "divide(x, y + 1e-9)"
        apply_binary(steps, centred, deviation, steps.output(), formula, name="scale")


@kernel("LpNormalization", since=(1, 22))
class LpNormalization(_OverAxes):
    """x over its norm along one axis; zero where the norm is."""

    attributes = frozenset(("axis", "p"))

    def check(self, use: OpUse) -> Support:
        """The norms that ONNX names."""
        p = use.attr("p", 2)
        if p not in (1, 2):
            return refused(Reason.ATTRIBUTE, f"{use.op} has p = {p}; ONNX names 1 and 2", p=p)
        return self.can_reduce(use, (int(use.attr("axis", -1)),))

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """The norm, then the quotient."""
        source, dims = steps.input(0), use.dims(0)
        axis = axis_of(use, int(use.attr("axis", -1)), len(dims))
        norm = steps.scratch(tuple(1 if a == axis else d for a, d in enumerate(dims)))
        lengths = replace(SUM, prepare="x * x", finish="square_root(a)")
        if use.attr("p", 2) == 1:
            lengths = replace(SUM, prepare="abs(x)")
        reduce_axes(steps, source, norm, Layout.of(dims, (axis,)), lengths, "norm")
        formula = "select(divide(x, y), 0.0, y == 0.0)"
        apply_binary(steps, source, norm, steps.output(), formula, name="scale")
