"""Resize (ONNX 10 to 19) and Upsample (7, 9): one pass for each axis that changes.

The taps of an axis come from resize_taps.py. Nearest copies elements of any type; linear and cubic
sum in f32 and keep f32 between passes. Refused: linear and cubic of integers; antialias of nearest;
tf_crop_and_resize with ``scales`` and a region, whose output size ONNX states in two ways, and its
nearest of integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .broadcast import Shape, axis_of, split_at
from .gather import gather_axis
from .registry import Kernel, kernel
from .resize_taps import COORDINATES, NEAREST, Sampling, Taps, taps
from .steps import TYPES, StepBuilder, Tensor
from .use import OpUse

_POLICIES = ("stretch", "not_larger", "not_smaller")


@dataclass(frozen=True, slots=True)
class _Target:
    """What a use asks for: per axis its new extent, its scale, its region."""

    shape: Shape
    scales: tuple[float, ...]
    regions: tuple[tuple[float, float], ...]


class _Resampling(Kernel):
    """Resize and Upsample, whose inputs differ by version."""

    def sampling(self, use: OpUse) -> Sampling:
        """How to resize."""
        raise NotImplementedError

    def target(self, use: OpUse) -> _Target:
        """What to resize to."""
        raise NotImplementedError

    def check(self, use: OpUse) -> Support:
        """Modes that ONNX names, of types that can be computed."""
        sampling = self.sampling(use)
        policy = use.attr("keep_aspect_ratio_policy", "stretch")
        for name, value, allowed in (
            ("mode", sampling.mode, ("nearest", "linear", "cubic")),
            ("coordinate_transformation_mode", sampling.coordinates, COORDINATES),
            ("nearest_mode", sampling.nearest, NEAREST),
            ("keep_aspect_ratio_policy", policy, _POLICIES),
        ):
            if value not in allowed:
                return refused(Reason.ATTRIBUTE, f"{use.op} has {name} = {value!r}", attribute=name)
        if sampling.antialias and sampling.mode == "nearest":
            return refused(Reason.ATTRIBUTE, f"{use.op} has antialias with the mode nearest")
        data = use.inputs[0] if use.inputs else None
        computed = sampling.mode != "nearest" or sampling.coordinates == "tf_crop_and_resize"
        if data and computed and data.dtype not in (*TYPES.floats, "?"):
            detail = f"{use.op} of {data.dtype} by {sampling.mode}, {sampling.coordinates}"
            return refused(Reason.TYPE, detail, dtype=data.dtype)
        return SUPPORTED

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """The new extents."""
        return (TensorType(use.input(0).dtype, self.target(use).shape),)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """A dispatch for each axis that changes, those that shrink first."""
        dims, wanted, sampling = use.dims(0), self.target(use), self.sampling(use)
        if 0 in wanted.shape:
            return
        found: dict[int, Taps] = {}
        for axis, (extent, size) in enumerate(zip(dims, wanted.shape, strict=True)):
            axis_taps = taps(sampling, extent, size, wanted.scales[axis], wanted.regions[axis])
            if size != extent or not axis_taps.is_identity:
                found[axis] = axis_taps
        source = steps.input(0)
        if not found:
            steps.alias(0, source)
            return
        shape = list(dims)
        order = sorted(found, key=lambda a: wanted.shape[a] / dims[a])
        moved = sampling.mode == "nearest" and not any(t.outside.any() for t in found.values())
        for axis in order:
            sizes = split_at(shape, axis)
            shape[axis] = wanted.shape[axis]
            last = axis == order[-1]
            between = source.dtype if moved else "float32"
            target = steps.output() if last else steps.scratch(shape, between)
            if moved:
                picked = steps.constant(found[axis].indices[:, 0].astype(np.int32))
                gather_axis(steps, source, picked, target, sizes, f"{self.op_type} nearest")
            else:
                value = float(use.attr("extrapolation_value", 0.0))
                self._weigh(steps, source, target, sizes, found[axis], value, sampling.mode)
            source = target

    def _weigh(
        self,
        steps: StepBuilder,
        source: Tensor,
        target: Tensor,
        sizes: tuple[int, int, int],
        axis: Taps,
        extrapolation: float,
        mode: str,
    ) -> None:
        """One dispatch: weighted sums along the middle axis."""
        _, extent, inner = sizes
        outside = axis.outside[:, None]
        weights = np.where(outside, 0.0, axis.weights)
        # The last column is what an element outside of the region is.
        weights = np.hstack((weights, np.where(outside, extrapolation, 0.0))).astype(np.float32)
        steps.dispatch(
            "resize_axis",
            reads=[
                source,
                steps.constant(axis.indices.astype(np.int32)),
                steps.constant(np.ascontiguousarray(weights)),
            ],
            writes=[target],
            groups=steps.grid(target.size),
            params=(target.size, extent, inner, len(axis.indices)),
            variables={
                "source": source.element,
                "target": target.element,
                "taps": axis.indices.shape[1],
            },
            variant=f"{mode}, {axis.indices.shape[1]} taps, {source.element}",
        )


def _floats(use: OpUse, index: int) -> tuple[float, ...]:
    """The values of input ``index``; empty where it is absent."""
    if not use.has(index):
        return ()
    value = use.value(index)
    if value is None:
        raise use.error(f"the value of input {index} is not known while planning")
    return tuple(float(v) for v in value.reshape(-1))


def _scaled(use: OpUse, dims: Shape, scales: tuple[float, ...]) -> _Target:
    """Extents multiplied by scales (in f32, as everybody does) and rounded down."""
    if len(scales) != len(dims):
        raise use.error(f"{len(scales)} scales for a tensor of rank {len(dims)}")
    if any(not s > 0 for s in scales):
        raise use.error(f"the scales {scales} are not all positive")
    shape = tuple(int(np.float32(d) * np.float32(s)) for d, s in zip(dims, scales, strict=True))
    return _Target(shape, scales, ((0.0, 1.0),) * len(dims))


@kernel("Resize", since=(10, 11, 13, 18, 19))
class Resize(_Resampling):
    """Resampling to given sizes or by given scales."""

    types = {"T": TYPES.movable, "T1": TYPES.movable, "T2": TYPES.floats}
    attributes = frozenset(
        (
            "antialias",
            "axes",
            "coordinate_transformation_mode",
            "cubic_coeff_a",
            "exclude_outside",
            "extrapolation_value",
            "keep_aspect_ratio_policy",
            "mode",
            "nearest_mode",
        )
    )
    host_inputs = (1, 2, 3)

    def check(self, use: OpUse) -> Support:
        """As for any resampling; besides, no crop by scales."""
        crop = self.sampling(use).coordinates == "tf_crop_and_resize"
        if crop and use.has(2) and not use.has(3):
            return refused(Reason.ATTRIBUTE, f"{use.op} has tf_crop_and_resize with scales")
        return super().check(use)

    def sampling(self, use: OpUse) -> Sampling:
        """From the attributes; version 10 knows only the mode."""
        if use.since_version == 10:
            return Sampling(use.attr("mode", "nearest"), "asymmetric", "floor")
        return Sampling(
            use.attr("mode", "nearest"),
            use.attr("coordinate_transformation_mode", "half_pixel"),
            use.attr("nearest_mode", "round_prefer_floor"),
            float(use.attr("cubic_coeff_a", -0.75)),
            bool(use.attr("exclude_outside", 0)),
            bool(use.attr("antialias", 0)),
        )

    def target(self, use: OpUse) -> _Target:
        """From sizes where they are given, else from scales."""
        dims = use.dims(0)
        if use.since_version == 10:
            return _scaled(use, dims, _floats(use, 1))
        rank = len(dims)
        axes = tuple(axis_of(use, a, rank) for a in use.attr("axes", range(rank)))
        scales, sizes, roi = _floats(use, 2), _floats(use, 3), _floats(use, 1)
        if bool(scales) == bool(sizes):
            raise use.error(f"{len(scales)} scales and {len(sizes)} sizes: one of them is needed")
        given = scales or sizes
        if len(given) != len(axes):
            raise use.error(f"{len(given)} scales or sizes for {len(axes)} axes")
        if scales:
            every = [1.0] * rank
            for axis, scale in zip(axes, scales, strict=True):
                every[axis] = scale
            return _scaled(use, dims, tuple(every))
        return self._sized(use, dims, axes, tuple(int(s) for s in sizes), roi)

    @staticmethod
    def _sized(
        use: OpUse, dims: Shape, axes: Shape, sizes: Shape, roi: tuple[float, ...]
    ) -> _Target:
        shape, scales = list(dims), [1.0] * len(dims)
        policy = use.attr("keep_aspect_ratio_policy", "stretch")
        if any(dims[axis] == 0 for axis in axes) or min(sizes, default=1) < 0:
            raise use.error(f"{dims} cannot be resized to {sizes}")
        ratios = [size / dims[axis] for axis, size in zip(axes, sizes, strict=True)]
        common = (min if policy == "not_larger" else max)(ratios, default=1.0)
        for k, axis in enumerate(axes):
            if policy == "stretch":
                shape[axis], scales[axis] = sizes[k], ratios[k]
            else:
                shape[axis], scales[axis] = math.floor(common * dims[axis] + 0.5), common
        regions = [(0.0, 1.0)] * len(dims)
        if use.attr("coordinate_transformation_mode", "") == "tf_crop_and_resize":
            if len(roi) != 2 * len(axes):
                raise use.error(f"roi has {len(roi)} numbers for {len(axes)} axes")
            for k, axis in enumerate(axes):
                regions[axis] = (roi[k], roi[len(axes) + k])
        return _Target(tuple(shape), tuple(scales), tuple(regions))


@kernel("Upsample", since=(7, 9))
class Upsample(_Resampling):
    """Resampling by scales; superseded by Resize."""

    types = {"T": TYPES.movable}
    attributes = frozenset(("mode", "scales"))
    host_inputs = (1,)

    def sampling(self, use: OpUse) -> Sampling:
        """Plain multiples of the coordinates."""
        return Sampling(use.attr("mode", "nearest"), "asymmetric", "floor")

    def target(self, use: OpUse) -> _Target:
        """By the scales, from the attribute or the input."""
        scales = _floats(use, 1) or tuple(map(float, use.attr("scales", ())))
        return _scaled(use, use.dims(0), scales)
