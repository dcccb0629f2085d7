"""Examples of nodes that are not where they should be."""

from __future__ import annotations

from typing import Any

import onnx
from onnx import TensorProto, helper

from .parts import OPSCOPE, WEBGPU, Example, X, chain, model, node, port, ramp

STEPS, INPUTS, HIDDEN = 8, 6, 4


def gru(opset: int = 17, dtype: str = "float32", **attributes: Any) -> onnx.ModelProto:
    """One GRU layer."""
    weights = {
        "w": ramp((1, 3 * HIDDEN, INPUTS), dtype),
        "r": ramp((1, 3 * HIDDEN, HIDDEN), dtype),
    }
    return model(
        [node("GRU", "x w r", "y", "gru", hidden_size=HIDDEN, **attributes)],
        [port("x", dtype, (STEPS, 1, INPUTS))],
        [port("y", dtype, (STEPS, 1, 1, HIDDEN))],
        weights,
        opset,
    )


def gru_in_f32() -> onnx.ModelProto:
    """An f16 model whose GRU is f32 between two Casts."""
    weights = {"w": ramp((1, 3 * HIDDEN, INPUTS)), "r": ramp((1, 3 * HIDDEN, HIDDEN))}
    return model(
        [
            node("Cast", "x", "x32", "widen", to=TensorProto.FLOAT),
            node("GRU", "x32 w r", "y32", "gru", hidden_size=HIDDEN),
            node("Cast", "y32", "y", "narrow", to=TensorProto.FLOAT16),
        ],
        [port("x", "float16", (STEPS, 1, INPUTS))],
        [port("y", "float16", (STEPS, 1, 1, HIDDEN))],
        weights,
    )


def nonzero() -> onnx.ModelProto:
    """How many numbers NonZero gives depends on the data: it has no GPU kernel."""
    return model(
        [node("Relu", "x", "a", "relu"), node("NonZero", "a", "y", "find")],
        [X],
        [port("y", "int64", (2, "count"))],
    )


def max_pool(*outputs: onnx.ValueInfoProto) -> onnx.ModelProto:
    """A pool that gives y, and where asked for the indices too."""
    names = " ".join(o.name for o in outputs)
    return model(
        [node("MaxPool", "x", names, "pool", kernel_shape=[2, 2], strides=[2, 2])],
        [port("x", "float32", (1, 3, 8, 8))],
        outputs,
    )


POOLED = port("y", "float32", (1, 3, 4, 4))
INDICES = port("indices", "int64", (1, 3, 4, 4))


def foreign(*after: str) -> onnx.ModelProto:
    """An operator of another domain, and nodes after it."""
    names = [*(f"v{i}" for i in range(len(after))), "y"]
    nodes = [helper.make_node("Thing", ["x"], [names[0]], name="thing", domain="com.example")]
    ends = zip(after, names, names[1:], strict=False)
    nodes += [node(op, a, b, op.lower()) for op, a, b in ends]
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    return model(nodes, [X], [onnx.ValueInfoProto(name="y")], opset_imports=imports)


def island(operator: str, before: int = 10, after: int = 10) -> onnx.ModelProto:
    """A chain of Relus with one operator in its middle."""
    return chain(*["Relu"] * before, operator, *["Relu"] * after)


EXAMPLES = {
    "opset-gate": Example(lambda: gru(22), "gru", lambda: gru(21), WEBGPU),
    "outside-layout-range": Example(
        lambda: chain("Relu", opset=6), mended=lambda: chain("Relu", opset=7), options=WEBGPU
    ),
    "host-node": Example(nonzero, "find", options=WEBGPU),
    "f16-recurrent-on-cpu": Example(lambda: gru(dtype="float16"), "gru", gru_in_f32, WEBGPU),
    "rejected-at-session": Example(
        lambda: gru(activations=["Softsign", "Tanh"]), "gru", gru, WEBGPU
    ),
    "fails-at-run": Example(
        lambda: max_pool(POOLED, INDICES), "pool", lambda: max_pool(POOLED), WEBGPU
    ),
    "unsupported-node": Example(foreign, "thing", options=OPSCOPE),
    "unknown-placement": Example(lambda: foreign("Relu"), "relu", options=WEBGPU),
    "copies": Example(
        lambda: island("Hardmax", 1, 1), mended=lambda: island("Softmax", 1, 1), options=WEBGPU
    ),
    "splits-gpu": Example(
        lambda: island("Hardmax"), "hardmax_10", lambda: island("Softmax"), WEBGPU
    ),
    "required-op": Example(lambda: gru(22), "gru", lambda: gru(21), (*WEBGPU, "--require", "GRU")),
    "required-op-absent": Example(
        lambda: chain("Relu"), mended=gru, options=(*WEBGPU, "--require", "GRU")
    ),
    "strict-placement": Example(lambda: gru(22), "gru", lambda: gru(21), (*WEBGPU, "--strict")),
}
