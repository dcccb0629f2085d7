"""Quantizers and quantized products."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import F32, Edge, V, X, edge, op


def models() -> Iterator[Edge]:
    """All of them."""
    scale = {"s": np.array(0.1, F32), "z": np.array(128, np.uint8)}
    yield edge(
        "qdq_pair",
        [
            op("QuantizeLinear", "x s z", "q"),
            op("DequantizeLinear", "q s z", "d"),
            op("Exp", "d", "y"),
        ],
        V,
        **scale,
    )
    chain = [
        op("QuantizeLinear", "x s z", "q"),
        op("DequantizeLinear", "q s z", "d"),
        op("DequantizeLinear", "w s", "e"),
        op("Conv", "d e", "a"),
        op("QuantizeLinear", "a s z", "b"),
        op("DequantizeLinear", "b s z", "y"),
    ]
    yield edge("qdq_conv", chain, X, **scale, w=np.ones((4, 4, 1, 1), np.int8))
    yield edge(
        "qdq_dequantize_24",
        [op("DequantizeLinear", "x s", "a"), op("Relu", "a", "y")],
        {"x": ("int8", (2, 6))},
        opset=24,
        s=np.array(0.1, F32),
    )
    yield edge(
        "dynamic_quantize",
        [
            op("DynamicQuantizeLinear", "x", "q s z"),
            op("MatMulInteger", "q w z", "a"),
            op("Cast", "a", "b", to=1),
            op("Mul", "b s", "y"),
        ],
        V,
        w=np.ones((6, 3), np.uint8),
    )
