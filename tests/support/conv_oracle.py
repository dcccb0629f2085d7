"""Convolutions and pools in float64, written from the ONNX text, one tap at a time.

Nothing here is shared with the product: padding is derived again, in the words of the operators'
documentation, and every sum is taken in the definition's order.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

Array = np.ndarray


def _windows(attributes: dict[str, Any], spatial: tuple[int, ...], kernel: tuple[int, ...]):
    """Per axis (stride, dilation, begin, output extent, end) of a Conv or pool."""
    rank = len(spatial)
    strides = attributes.get("strides", (1,) * rank)
    dilations = attributes.get("dilations", (1,) * rank)
    pads = attributes.get("pads", (0,) * 2 * rank)
    mode = attributes.get("auto_pad", "NOTSET")
    axes = []
    for i in range(rank):
        s, d, size = strides[i], dilations[i], spatial[i]
        reach = (kernel[i] - 1) * d + 1
        begin, end = (pads[i], pads[rank + i]) if mode == "NOTSET" else (0, 0)
        if mode.startswith("SAME"):
            out = math.ceil(size / s)
            total = max((out - 1) * s + reach - size, 0)
            small, large = total // 2, total - total // 2
            begin, end = (small, large) if mode == "SAME_UPPER" else (large, small)
        elif attributes.get("ceil_mode", 0):
            out = math.ceil((size + begin + end - reach) / s) + 1
            if (out - 1) * s >= size + begin:  # it would start in the right padded region
                out -= 1
        else:
            out = math.floor((size + begin + end - reach) / s) + 1
        axes.append((s, d, begin, out, end))
    return axes


def conv(x: Array, w: Array, b: Array | None = None, **attributes: Any) -> Array:
    """Conv: x (N, C, ...), w (M, C / group, ...)."""
    group = attributes.get("group", 1)
    kernel = w.shape[2:]
    axes = _windows(attributes, x.shape[2:], kernel)
    x64, w64 = x.astype(np.float64), w.astype(np.float64)
    per = w.shape[0] // group
    y = np.zeros((x.shape[0], w.shape[0], *(a[3] for a in axes)))
    for at in itertools.product(*(range(a[3]) for a in axes)):
        for tap in itertools.product(*map(range, kernel)):
            source = tuple(
                o * s - begin + k * d
                for o, k, (s, d, begin, _, _) in zip(at, tap, axes, strict=True)
            )
            if not all(0 <= i < n for i, n in zip(source, x.shape[2:], strict=True)):
                continue
            for g in range(group):
                columns = x64[(slice(None), slice(g * w.shape[1], (g + 1) * w.shape[1]), *source)]
                rows = w64[(slice(g * per, (g + 1) * per), slice(None), *tap)]
                y[(slice(None), slice(g * per, (g + 1) * per), *at)] += columns @ rows.T
    return _add_bias(y, b)


def conv_transpose(x: Array, w: Array, b: Array | None = None, **attributes: Any) -> Array:
    """ConvTranspose: x (N, C, ...), w (C, M / group, ...); each input is spread over its window."""
    rank = x.ndim - 2
    group = attributes.get("group", 1)
    strides = attributes.get("strides", (1,) * rank)
    dilations = attributes.get("dilations", (1,) * rank)
    extra = attributes.get("output_padding", (0,) * rank)
    pads = attributes.get("pads", (0,) * 2 * rank)
    mode = attributes.get("auto_pad", "NOTSET")
    wanted = attributes.get("output_shape")
    begins, output = [], []
    for i in range(rank):
        full = (
            strides[i] * (x.shape[2 + i] - 1) + extra[i] + (w.shape[2 + i] - 1) * dilations[i] + 1
        )
        if wanted is None and not mode.startswith("SAME"):
            begin, end = (pads[i], pads[rank + i]) if mode == "NOTSET" else (0, 0)
            size = full - begin - end
        else:
            size = wanted[i] if wanted is not None else x.shape[2 + i] * strides[i]
            total = max(full - size, 0)
            begin = total // 2 if mode == "SAME_UPPER" else total - total // 2
        begins.append(begin)
        output.append(size)
    x64, w64 = x.astype(np.float64), w.astype(np.float64)
    per_in, per_out = x.shape[1] // group, w.shape[1]
    y = np.zeros((x.shape[0], per_out * group, *output))
    for at in itertools.product(*map(range, x.shape[2:])):
        for tap in itertools.product(*map(range, w.shape[2:])):
            target = tuple(
                i * s + k * d - p
                for i, k, s, d, p in zip(at, tap, strides, dilations, begins, strict=True)
            )
            if not all(0 <= o < n for o, n in zip(target, output, strict=True)):
                continue
            for g in range(group):
                inputs = slice(g * per_in, (g + 1) * per_in)
                spread = x64[(slice(None), inputs, *at)] @ w64[(inputs, slice(None), *tap)]
                y[(slice(None), slice(g * per_out, (g + 1) * per_out), *target)] += spread
    return _add_bias(y, b)


def pool(kind: str, x: Array, **attributes: Any) -> Array:
    """MaxPool ("max"), AveragePool ("average") or LpPool ("lp") over x (N, C, ...)."""
    return _pool(kind, x, attributes)[0]


def max_pool_indices(x: Array, **attributes: Any) -> Array:
    """The second output of MaxPool: the flat index of each maximum (the first one of equals)."""
    return _pool("max", x, attributes)[1]


def _pool(kind: str, x: Array, attributes: dict[str, Any]) -> tuple[Array, Array]:
    kernel = attributes["kernel_shape"]
    spatial = x.shape[2:]
    axes = _windows(attributes, spatial, kernel)
    y = np.zeros((*x.shape[:2], *(a[3] for a in axes)))
    indices = np.zeros(y.shape, np.int64)
    p = attributes.get("p", 2)
    for at in itertools.product(*(range(a[3]) for a in axes)):
        inside, padded = [], 0
        for tap in itertools.product(*map(range, kernel)):
            source = tuple(
                o * s - begin + k * d
                for o, k, (s, d, begin, _, _) in zip(at, tap, axes, strict=True)
            )
            inside += (
                [source] if all(0 <= i < n for i, n in zip(source, spatial, strict=True)) else []
            )
            padded += all(
                -a[2] <= i < n + a[4] for i, n, a in zip(source, spatial, axes, strict=True)
            )
        values = np.stack([x[(slice(None), slice(None), *s)].astype(np.float64) for s in inside])
        where = (slice(None), slice(None), *at)
        if kind == "max":
            y[where] = values.max(0)
            order = "F" if attributes.get("storage_order", 0) else "C"
            flat = np.array([np.ravel_multi_index(s, spatial, order=order) for s in inside])
            planes = np.arange(math.prod(x.shape[:2])).reshape(x.shape[:2]) * math.prod(spatial)
            indices[where] = flat[values.argmax(0)] + planes
        elif kind == "average":
            count = padded if attributes.get("count_include_pad", 0) else len(inside)
            y[where] = values.sum(0) / count
        else:
            y[where] = (np.abs(values) ** p).sum(0) ** (1 / p)
    return y, indices


def _add_bias(y: Array, b: Array | None) -> Array:
    return y if b is None else y + b.astype(np.float64).reshape(-1, *(1,) * (y.ndim - 2))
