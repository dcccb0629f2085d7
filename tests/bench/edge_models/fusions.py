"""Nodes that ORT makes one of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import F32, Edge, V, X, edge, ints, op, ramp

CONV = {"w": ramp(4, 4, 3, 3), "s": np.ones(4, F32), "b": ramp(4)}


def models() -> Iterator[Edge]:
    """All of them."""
    yield from _convolutions()
    yield from _products()
    yield from _spelt_out()


def _convolutions() -> Iterator[Edge]:
    norm = op("BatchNormalization", "a s b b s", "c")
    yield edge("fuse_conv_bn_relu", [op("Conv", "x w", "a"), norm, op("Relu", "c", "y")], X, **CONV)
    yield edge(
        "fuse_conv_mul_add",
        [op("Conv", "x w", "a"), op("Mul", "a m", "c"), op("Add", "c m", "y")],
        X,
        **CONV,
        m=ramp(4, 1, 1),
    )
    yield edge(
        "fuse_pad_conv",
        [op("Pad", "x p", "a"), op("Conv", "a w", "y")],
        X,
        **CONV,
        p=ints(0, 0, 1, 1, 0, 0, 1, 1),
    )


def _products() -> Iterator[Edge]:
    yield edge(
        "fuse_matmul_add",
        [op("MatMul", "x w", "a"), op("Add", "a b", "c"), op("Relu", "c", "y")],
        V,
        w=ramp(6, 5),
        b=ramp(5),
    )
    yield edge(
        "fuse_matmul_transpose",
        [op("Transpose", "x", "a", perm=[1, 0]), op("MatMul", "a z", "y")],
        {**V, "z": ("float32", (2, 5))},
    )
    yield edge(
        "fuse_gemm_transpose",
        [op("Transpose", "x", "a", perm=[1, 0]), op("Gemm", "a z", "y")],
        {**V, "z": ("float32", (2, 5))},
    )


def _spelt_out() -> Iterator[Edge]:
    erf = [
        op("Div", "x r", "a"),
        op("Erf", "a", "b"),
        op("Add", "b o", "c"),
        op("Mul", "x c", "d"),
        op("Mul", "d h", "y"),
    ]
    yield edge(
        "fuse_gelu", erf, V, r=np.array(1.4142135, F32), o=np.array(1, F32), h=np.array(0.5, F32)
    )
    layer = [
        op("ReduceMean", "x", "m", axes=[-1]),
        op("Sub", "x m", "d"),
        op("Pow", "d two", "p"),
        op("ReduceMean", "p", "v", axes=[-1]),
        op("Add", "v e", "f"),
        op("Sqrt", "f", "g"),
        op("Div", "d g", "h"),
        op("Mul", "h s", "i"),
        op("Add", "i b", "y"),
    ]
    yield edge(
        "fuse_layer_norm",
        layer,
        V,
        two=np.array(2, F32),
        e=np.array(1e-5, F32),
        s=np.ones(6, F32),
        b=ramp(6),
    )
    yield edge(
        "layer_norm_and_gelu_nodes",
        [op("LayerNormalization", "x s b", "a"), op("Gelu", "a", "y")],
        V,
        opset=20,
        s=np.ones(6, F32),
        b=ramp(6),
    )
