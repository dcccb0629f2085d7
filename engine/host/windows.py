"""The geometry that convolutions and poolings share: pads, strides, dilations, output sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ops.use import OpUse
from .dtypes import require_room

Array = np.ndarray
WINDOW_ATTRIBUTES = ("auto_pad", "dilations", "kernel_shape", "pads", "strides")


@dataclass(frozen=True, slots=True)
class Windows:
    """A sliding window over the spatial axes; every tuple has one entry per axis."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    output: tuple[int, ...]

    @property
    def reach(self) -> tuple[int, ...]:
        """Input positions from a window's first tap to its last, both included."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True))

    def view(self, data: Array, fill: float | int) -> Array:
        """Every window of ``data`` (N, C, *spatial): (N, C, *output, *kernel), not copied.

        Args:
            data: the input.
            fill: the value of the padding.
        """
        spatial = data.shape[2:]
        # What the last window needs beyond the pads (ceil_mode) is padding too.
        needed = [
            (o - 1) * s + r for o, s, r in zip(self.output, self.strides, self.reach, strict=True)
        ]
        widths = [(0, 0), (0, 0)] + [
            (b, max(a, n - b - x))
            for b, a, n, x in zip(self.before, self.after, needed, spatial, strict=True)
        ]
        padded = np.pad(data, widths, constant_values=fill)
        axes = tuple(range(2, data.ndim))
        windows = np.lib.stride_tricks.sliding_window_view(padded, self.reach, axes)
        step = [slice(None)] * 2
        step += [
            slice(0, (o - 1) * s + 1, s) for o, s in zip(self.output, self.strides, strict=True)
        ]
        step += [slice(None, None, d) for d in self.dilations]
        return windows[tuple(step)]


def per_axis(use: OpUse, name: str, rank: int, default: int) -> tuple[int, ...]:
    """An attribute with one integer per spatial axis."""
    values = tuple(use.attr(name) or (default,) * rank)
    if len(values) != rank:
        raise use.error(f"{name} has {len(values)} entries for {rank} spatial axes")
    if min(values, default=1) < (0 if name == "output_padding" else 1):
        raise use.error(f"{name} is {list(values)}; every entry must be positive")
    return values


def pads_of(use: OpUse, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The attribute pads as (before, after)."""
    pads = tuple(use.attr("pads") or (0,) * (2 * rank))
    if len(pads) != 2 * rank:
        raise use.error(f"pads has {len(pads)} entries; {2 * rank} are needed")
    return pads[:rank], pads[rank:]


def auto_pad_of(use: OpUse) -> str:
    """The attribute auto_pad; NodeError if ONNX has no such mode."""
    mode: str = use.attr("auto_pad", "NOTSET") or "NOTSET"
    if mode not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise use.error(f"auto_pad {mode!r} is unknown")
    return mode


def windows_of(
    use: OpUse, shape: Sequence[int], kernel: Sequence[int], ceil_mode: bool = False
) -> Windows:
    """The windows of a convolution or pooling over an input of ``shape`` (N, C, *spatial).

    Raises:
        NodeError: they do not fit, or attributes contradict each other.
        LimitError: the padded input would take more memory than the host allows.
    """
    batch, channels, *spatial = shape
    rank = len(spatial)
    if len(kernel) != rank:
        raise use.error(f"the kernel has {len(kernel)} axes, the input {rank}")
    strides = per_axis(use, "strides", rank, 1)
    dilations = per_axis(use, "dilations", rank, 1)
    before, after = pads_of(use, rank)
    mode = auto_pad_of(use)
    sizes: list[int] = []
    pads: list[tuple[int, int]] = []
    for x, k, s, d, b, a in zip(spatial, kernel, strides, dilations, before, after, strict=True):
        reach = (k - 1) * d + 1
        if mode.startswith("SAME"):
            size = -(-x // s)
            total = max(0, (size - 1) * s + reach - x)
            low, high = total // 2, total - total // 2
            b, a = (low, high) if mode == "SAME_UPPER" else (high, low)
        else:
            b, a = (0, 0) if mode == "VALID" else (b, a)
            span = x + b + a - reach
            size = (-(-span // s) if ceil_mode else span // s) + 1
            if ceil_mode and (size - 1) * s >= x + b:
                size -= 1  # a window may not start in the padding after the end
        if size < 1:
            raise use.error(f"a kernel of reach {reach} does not fit {x} + {b} + {a} positions")
        sizes.append(size)
        pads.append((b, a))
    padded = (x + b + a for x, (b, a) in zip(spatial, pads, strict=True))
    require_room(use, (batch, channels, *padded), np.dtype(np.float64))
    return Windows(
        tuple(kernel),
        strides,
        dilations,
        tuple(b for b, _ in pads),
        tuple(a for _, a in pads),
        tuple(sizes),
    )
