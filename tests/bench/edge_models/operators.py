"""ORT's own operators, sequences, optional inputs, and nodes that fail."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import F32, Edge, V, X, edge, op, ramp


def models() -> Iterator[Edge]:
    """All of them."""
    ms = ["com.microsoft"]
    yield edge(
        "ms_fast_gelu",
        [op("com.microsoft::FastGelu", "x", "a"), op("Exp", "a", "y")],
        V,
        domains=ms,
    )
    yield edge(
        "ms_skip_layer_norm",
        [op("com.microsoft::SkipLayerNormalization", "x x s", "y")],
        {"x": ("float32", (1, 2, 8))},
        domains=ms,
        s=np.ones(8, F32),
    )
    yield edge(
        "ms_unknown_operator", [op("com.microsoft::NoSuchOperator", "x", "y")], V, domains=ms
    )
    yield edge(
        "ms_dequantize",
        [op("com.microsoft::DequantizeLinear", "x s z", "a"), op("Exp", "a", "y")],
        {"x": ("uint8", (2, 6))},
        domains=ms,
        s=np.array(0.1, F32),
        z=np.array(128, np.uint8),
    )
    yield edge(
        "ml_normalizer",
        [op("ai.onnx.ml::Normalizer", "x", "a"), op("Exp", "a", "y")],
        V,
        domains=["ai.onnx.ml"],
    )
    yield edge(
        "sequence_round",
        [
            op("SequenceConstruct", "x x", "s"),
            op("SequenceAt", "s i", "a"),
            op("Exp", "a", "y"),
        ],
        V,
        i=np.array(1),
    )
    steps = {"x": ("float32", (5, 1, 4))}
    gru = {"w": ramp(1, 18, 4), "r": ramp(1, 18, 6), "b": ramp(1, 36), "h": ramp(1, 1, 6)}
    yield edge(
        "optional_gru_inputs",
        [op("GRU", "x w r b _ h", "y l", hidden_size=6), op("Relu", "l", "m")],
        steps,
        outputs="y m",
        **gru,
    )
    yield edge(
        "fails_gru_activation",
        [op("GRU", "x w r", "y", hidden_size=6, activations=["Affine", "Tanh"])],
        steps,
        **gru,
    )
    yield edge(
        "fails_max_pool_indices", [op("MaxPool", "x", "y i", kernel_shape=[2, 2])], X, outputs="y i"
    )
    yield edge("unsorted_nodes", [op("Exp", "a", "y"), op("Relu", "x", "a")], V)
