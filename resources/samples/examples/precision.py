"""Examples of what f16 and int64 lose, of limits, and of what a run meets."""

from __future__ import annotations

import json

import numpy as np
import onnx
from onnx import TensorProto, helper

from .parts import OPSCOPE, WEBGPU, Example, Shape, X, chain, model, node, port, ramp

F16, F32 = TensorProto.FLOAT16, TensorProto.FLOAT
LENGTH = 4_096  # terms of a sum; past 2,048 equal ones an f16 sum stops growing


def upsampling(dtype: str, *, cast: bool = False) -> onnx.ModelProto:
    """A ConvTranspose from 1,100 to 2,200 columns, where asked for in f32 between two Casts."""
    up = node("ConvTranspose", "a w", "b", "upsample", strides=[2], pads=[1, 1])
    nodes = [up]
    if cast:
        widen, narrow = node("Cast", "x", "a", "widen", to=F32), node("Cast", "b", "y", "n", to=F16)
        narrow.name = "narrow"
        nodes = [widen, up, narrow]
    else:
        up.input[0], up.output[0] = "x", "y"
    weights = {"w": ramp((8, 8, 4), "float32" if cast else dtype)}
    ports = port("x", dtype, (1, 8, 1_100)), port("y", dtype, (1, 8, 2_200))
    return model(nodes, ports[:1], ports[1:], weights)


def smoothing() -> onnx.ModelProto:
    """A convolution over 2,200 columns in f16."""
    return model(
        [node("Conv", "x w", "y", "smooth", pads=[1, 1])],
        [port("x", "float16", (1, 8, 2_200))],
        [port("y", "float16", (1, 8, 2_200))],
        {"w": ramp((8, 8, 3), "float16")},
    )


def averaging(*, cast: bool = False) -> onnx.ModelProto:
    """A mean of many f16 numbers, where asked for in f32 between two Casts."""
    nodes = [node("ReduceMean", "x", "y", "mean", axes=[1])]
    if cast:
        nodes = [
            node("Cast", "x", "x32", "widen", to=F32),
            node("ReduceMean", "x32", "y32", "mean", axes=[1]),
            node("Cast", "y32", "y", "narrow", to=F16),
        ]
    return model(nodes, [port("x", "float16", (1, LENGTH))], [port("y", "float16", (1, 1))])


def masking(masked: float) -> onnx.ModelProto:
    """Scores of which some are replaced by a number that is cast to f16."""
    return model(
        [
            node("Cast", "masked", "masked16", "mask_to_half", to=F16),
            node("Where", "keep x masked16", "scores", "mask"),
            node("Softmax", "scores", "y", "weigh", axis=-1),
        ],
        [port("x", "float16", (2, 6)), port("keep", "bool", (2, 6))],
        [port("y", "float16", (2, 6))],
        {"masked": np.array(masked, np.float32)},
    )


def guarded(epsilon: float) -> onnx.ModelProto:
    """A division kept from zero by a number that is cast to f16."""
    return model(
        [
            node("Cast", "epsilon", "epsilon16", "epsilon_to_half", to=F16),
            node("Add", "norm epsilon16", "divisor", "avoid_zero"),
            node("Div", "x divisor", "y", "normalize"),
        ],
        [port("x", "float16", (2, 6)), port("norm", "float16", (2, 1))],
        [port("y", "float16", (2, 6))],
        {"epsilon": np.array(epsilon, np.float32)},
    )


def counting(dtype: str) -> onnx.ModelProto:
    """The place of the largest number, and a constant added to it."""
    nodes = [
        node("ArgMax", "x", "place", "find", axis=1, keepdims=0),
        node("Add", "place step", "y", "advance"),
    ]
    if dtype != "int64":
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        nodes.insert(1, node("Cast", "place", "narrow_place", "narrow", to=kind))
        nodes[2].input[0] = "narrow_place"
    return model(
        nodes,
        [X],
        [port("y", dtype, (2,))],
        {"step": np.array(1, dtype)},
    )


def expanding(elements: int) -> onnx.ModelProto:
    """A tensor of so many f32 numbers, made on the GPU."""
    return model(
        [node("Expand", "x shape", "large", "expand"), node("ReduceMax", "large", "y", "largest")],
        [port("x", "float32", (1,))],
        [port("y", "float32", (1,))],
        {"shape": np.array([elements], np.int64)},
    )


def layer(dtype: str) -> onnx.ModelProto:
    """A product with 65,536 weights."""
    return model(
        [node("MatMul", "x w", "y", "layer")],
        [port("x", dtype, (1, 256))],
        [port("y", dtype, (1, 256))],
        {"w": ramp((256, 256), dtype)},
    )


def relu16() -> onnx.ModelProto:
    """One node in f16."""
    ports = port("x", "float16", (2, 6)), port("y", "float16", (2, 6))
    return model([node("Relu", "x", "y", "relu")], ports[:1], ports[1:])


def computing(operator: str, left: float, right: float | None) -> onnx.ModelProto:
    """An operator on numbers that do not depend on the input's values: x * 0 + left, right."""
    weights = {"zero": np.array(0, np.float32), "left": np.array(left, np.float32)}
    operands = "l"
    if right is not None:
        weights["right"] = np.array(right, np.float32)
        operands = "l right"
    return model(
        [
            node("Mul", "x zero", "flat", "flatten"),
            node("Add", "flat left", "l", "fill"),
            node(operator, operands, "y", "compute"),
        ],
        [X],
        [port("y", "float32", (2, 6))],
        weights,
    )


def squaring(dtype: str) -> onnx.ModelProto:
    """300 squared, which f16 does not hold, and a product that makes it small again."""
    values = {"zero": 0, "number": 300, "small": 1e-3}
    return model(
        [
            node("Mul", "x zero", "flat", "flatten"),
            node("Add", "flat number", "filled", "fill"),
            node("Mul", "filled filled", "squared", "square"),
            node("Mul", "squared small", "y", "shrink"),
        ],
        [port("x", dtype, (2, 6))],
        [port("y", dtype, (2, 6))],
        {name: np.array(value, dtype) for name, value in values.items()},
    )


def splitting(parts: int) -> onnx.ModelProto:
    """A tensor cut into so many, by one node."""
    names = [f"y{i}" for i in range(parts)]
    return model(
        [node("Split", "x", " ".join(names), "split", axis=0)],
        [port("x", "float32", (parts, 6))],
        [port(name, "float32", (1, 6)) for name in names],
        opset=13,
    )


def product(rows: int) -> onnx.ModelProto:
    """A product of two matrices, which fits for 6 rows alone; the outer nodes are sound."""
    return model(
        [node("Relu", "x", "a", "relu"), node("MatMul", "a w", "y", "product")],
        [X],
        [onnx.ValueInfoProto(name="y")],
        {"w": ramp((rows, 6))},
    )


def shaped(shape: Shape | None) -> onnx.ModelProto:
    """One node on an input of that shape, or of none."""
    ports = port("x", "float32", shape), port("y", "float32", shape)
    return model([node("Relu", "x", "y", "relu")], ports[:1], ports[1:])


# An adapter as `opscope devices --json` saves one: what is not named is WebGPU's default.
SMALL = json.dumps(
    {"name": "a small adapter", "limits": {"max_compute_invocations_per_workgroup": 128}}
).encode()

EXAMPLES = {
    "f16-index-loss": Example(
        lambda: upsampling("float16"),
        "upsample",
        lambda: upsampling("float16", cast=True),
        WEBGPU,
        ("--node", "upsample"),
    ),
    "f16-index-pattern": Example(smoothing, "smooth", options=WEBGPU),
    "f16-long-sum": Example(
        averaging, "mean", lambda: averaging(cast=True), WEBGPU, ("--node", "mean")
    ),
    "f16-constant-overflow": Example(
        lambda: masking(-1e9), "mask_to_half", lambda: masking(-65504), WEBGPU
    ),
    "f16-constant-vanishes": Example(
        lambda: guarded(1e-9), "epsilon_to_half", lambda: guarded(1e-4), WEBGPU
    ),
    "int64-narrowing": Example(
        lambda: counting("int64"), "advance", lambda: counting("int32"), WEBGPU
    ),
    "binding-limit": Example(
        lambda: expanding(40_000_000), "expand", lambda: expanding(30_000_000), OPSCOPE
    ),
    "f16-unavailable": Example(
        relu16, mended=lambda: chain("Relu"), options=(*OPSCOPE, "--limits", "browser")
    ),
    "storage-buffer-limit": Example(
        lambda: splitting(10), "split", lambda: splitting(6), (*WEBGPU, "--limits", "browser")
    ),
    "limits-below-default": Example(
        lambda: chain("Relu"),
        options=(*OPSCOPE, "--limits", "small.json"),
        beside={"small.json": SMALL},
    ),
    "web-budget": Example(
        lambda: layer("float32"), mended=lambda: layer("float16"), download=200 << 10
    ),
    "f16-overflow": Example(
        lambda: squaring("float16"),
        "square",
        lambda: squaring("float32"),
        fix=("--node", "square", "--node", "shrink"),
        run=True,
    ),
    "inf-values": Example(
        lambda: computing("Div", 1, 0), "compute", lambda: computing("Div", 1, 1e-6), run=True
    ),
    "nan-values": Example(
        lambda: computing("Log", -1, None), "compute", lambda: computing("Log", 1, None), run=True
    ),
    "cannot-run": Example(lambda: product(2), "product", lambda: product(6), OPSCOPE),
    "shape-inference-failed": Example(lambda: product(2), "product", lambda: product(6), OPSCOPE),
    "not-planned": Example(
        lambda: shaped(None),
        mended=lambda: shaped((2, 6)),
        options=OPSCOPE,
        fix=("--shape", "x=2,6"),
    ),
}
