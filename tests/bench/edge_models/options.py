"""The provider's options."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .parts import F32, FREE, Edge, X, edge, ints, op, ramp


def models() -> Iterator[Edge]:
    """All of them, some with the option and without."""
    whole = {"x": ("int64", (2, 6)), "z": ("int64", (2, 6))}
    nodes = [
        op("Add", "x z", "a"),
        op("Mul", "a x", "b"),
        op("Cast", "b", "c", to=1),
        op("Exp", "c", "y"),
    ]
    yield edge("option_int64", nodes, whole, options="enableInt64=1")
    chain = [
        op("Shape", "x", "s"),
        op("Slice", "s b e", "h"),
        op("Cast", "h", "f", to=6),
        op("Add", "f f", "g"),
        op("Cast", "g", "k", to=7),
        op("Expand", "one k", "y"),
    ]
    numbers = {"b": ints(2), "e": ints(4), "one": np.ones((1, 1), F32)}
    yield edge("option_nchw_shapes", chain, FREE, options="preferredLayout=NCHW", **numbers)
    yield edge("option_nhwc_shapes", chain, FREE, **numbers)
    yield edge(
        "option_int64_shapes", chain, FREE, options="enableInt64=1,preferredLayout=NCHW", **numbers
    )
    forced = [
        op("Conv", "x w", "a", "conv"),
        op("Relu", "a", "b", "relu"),
        op("Exp", "b", "y", "exp"),
    ]
    yield edge(
        "option_forced",
        forced,
        X,
        options="forceCpuNodeNames=conv,forceCpuNodeNames=exp",
        w=ramp(4, 4, 3, 3),
    )
    yield edge(
        "option_nchw_opset_28",
        [op("Relu", "x", "a"), op("Exp", "a", "y")],
        X,
        opset=28,
        options="preferredLayout=NCHW",
    )
    fused = [op("Conv", "x w", "a"), op("Relu", "a", "y")]
    yield edge(
        "option_nchw_conv_relu", fused, X, options="preferredLayout=NCHW", w=ramp(4, 4, 3, 3)
    )
