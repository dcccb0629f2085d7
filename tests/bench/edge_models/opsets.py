"""Opsets at which a kernel's versions end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .parts import F32, Edge, Node, Ports, X, edge, ints, op, ramp

STEPS: Ports = {"x": ("float32", (5, 1, 4))}
GRU = {"w": ramp(1, 18, 4), "r": ramp(1, 18, 6)}
LSTM = {"w": ramp(1, 24, 4), "r": ramp(1, 24, 6)}
WINDOW = {"kernel_shape": [2, 2]}

Gated = tuple[str, Sequence[Node], Ports, Mapping[str, np.ndarray], Sequence[int]]

GATED: Sequence[Gated] = (
    ("gru", [op("GRU", "x w r", "y", hidden_size=6)], STEPS, GRU, (13, 14, 21, 22)),
    ("lstm", [op("LSTM", "x w r", "y", hidden_size=6)], STEPS, LSTM, (13, 21, 22)),
    (
        "conv_transpose",
        [op("ConvTranspose", "x w", "y")],
        X,
        {"w": ramp(4, 4, 3, 3)},
        (10, 11, 21, 22),
    ),
    ("max_pool", [op("MaxPool", "x", "y", **WINDOW)], X, {}, (11, 12, 21, 22)),
    ("average_pool", [op("AveragePool", "x", "y", **WINDOW)], X, {}, (18, 19, 22)),
    ("global_average_pool", [op("GlobalAveragePool", "x", "y")], X, {}, (21, 22)),
    ("sin_cos", [op("Sin", "x", "a"), op("Cos", "a", "y")], X, {}, (21, 22)),
    ("elu_hard", [op("Elu", "x", "a"), op("HardSigmoid", "a", "y")], X, {}, (21, 22)),
    ("hard_swish", [op("HardSwish", "x", "y")], X, {}, (14, 22)),
    ("flatten", [op("Relu", "x", "a"), op("Flatten", "a", "y")], X, {}, (22, 23)),
    (
        "transpose",
        [op("Transpose", "x", "a", perm=[0, 2, 3, 1]), op("Relu", "a", "y")],
        X,
        {},
        (24, 25),
    ),
    (
        "batch_norm",
        [op("BatchNormalization", "x s s s v", "y")],
        X,
        {"s": ramp(4), "v": np.ones(4, F32)},
        (8, 14, 15),
    ),
    (
        "grid_sample",
        [op("GridSample", "x g", "y")],
        {"x": ("float32", (1, 2, 4, 4)), "g": ("float32", (1, 3, 3, 2))},
        {},
        (16, 20),
    ),
    ("pad", [op("Pad", "x p", "y")], X, {"p": ints(0, 0, 1, 1, 0, 0, 1, 1)}, (21, 24)),
    ("layout_range", [op("Relu", "x", "a"), op("Exp", "a", "y")], X, {}, (6, 7, 27, 28, 29)),
)
"""Name, nodes, inputs, weights, and the opsets around which something changes."""


def models() -> Iterator[Edge]:
    """One at each opset."""
    for name, nodes, inputs, weights, opsets in GATED:
        for opset in opsets:
            yield edge(f"opset_{name}_{opset}", nodes, inputs, opset=opset, **weights)
