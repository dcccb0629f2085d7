"""Over a hundred small models at the edges of ORT's placement rules, always the same.

Each stands for one question: an opset at which an operator's kernel ends, a type without a kernel,
a pattern that ORT rewrites, an option of the provider. Nothing is taken from another project.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Node = onnx.NodeProto
Shape = Sequence[int | str] | None
F32 = np.float32


@dataclass(frozen=True)
class Edge:
    """One model.

    Attributes:
        options: of the WebGPU target.
    """

    id: str
    model: onnx.ModelProto = field(repr=False)
    options: str = ""


def op(kind: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> Node:
    """A node; names in one string, "_" is an absent one; "domain::Op" is of another domain."""
    domain, _, op_type = kind.rpartition("::")
    ins, outs = ([n.replace("_", "") for n in text.split()] for text in (inputs, outputs))
    return helper.make_node(op_type, ins, outs, name=name, domain=domain, **attributes)


def port(name: str, dtype: str, shape: Shape) -> onnx.ValueInfoProto:
    """A typed value."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
    )


def model(
    nodes: Sequence[Node],
    inputs: Mapping[str, tuple[str, Shape]],
    outputs: str,
    weights: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """A model whose outputs have no stated type."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [port(n, t, s) for n, (t, s) in inputs.items()],
        [onnx.ValueInfoProto(name=n) for n in outputs.split()],
        [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    # The oldest file format that the opset allows, as an exporter would write it.
    return helper.make_model(
        graph, opset_imports=imports, functions=list(functions), ir_version=8 if opset < 25 else 13
    )


def body(
    nodes: Sequence[Node],
    inputs: Mapping[str, tuple[str, Shape]],
    outputs: Mapping[str, tuple[str, Shape]],
    name: str = "body",
) -> onnx.GraphProto:
    """A subgraph."""
    return helper.make_graph(
        list(nodes),
        name,
        [port(n, t, s) for n, (t, s) in inputs.items()],
        [port(n, t, s) for n, (t, s) in outputs.items()],
    )


def ramp(*shape: int, dtype: Any = F32) -> np.ndarray:
    """Small values that repeat."""
    return (np.arange(int(np.prod(shape))) % 7 / 8 - 0.375).astype(dtype).reshape(shape)


def ints(*values: int) -> np.ndarray:
    """An int64 vector."""
    return np.array(values, np.int64)


X = {"x": ("float32", (1, 4, 8, 8))}
V = {"x": ("float32", (2, 6))}
FREE = {"x": ("float32", ("N", 4, "H", "W"))}


def edge_models() -> list[Edge]:
    """All of them, in a fixed order."""
    found: list[Edge] = []
    for maker in (
        _opsets,
        _types,
        _ranks,
        _graphs,
        _patterns,
        _shapes,
        _quantized,
        _others,
        _options,
    ):
        found += maker()
    return found


# -- opsets at which a kernel's versions end -------------------------------------------------------


def _opsets() -> Iterator[Edge]:
    gru = {"w": ramp(1, 18, 4), "r": ramp(1, 18, 6)}
    lstm = {"w": ramp(1, 24, 4), "r": ramp(1, 24, 6)}
    steps = {"x": ("float32", (5, 1, 4))}
    kernel = {"w": ramp(4, 4, 3, 3)}
    gated: list[
        tuple[
            str,
            Callable[[], list[Node]],
            Mapping[str, Any],
            Mapping[str, np.ndarray],
            tuple[int, ...],
        ]
    ] = [
        ("gru", lambda: [op("GRU", "x w r", "y", hidden_size=6)], steps, gru, (13, 14, 21, 22)),
        ("lstm", lambda: [op("LSTM", "x w r", "y", hidden_size=6)], steps, lstm, (13, 21, 22)),
        ("conv_transpose", lambda: [op("ConvTranspose", "x w", "y")], X, kernel, (10, 11, 21, 22)),
        (
            "max_pool",
            lambda: [op("MaxPool", "x", "y", kernel_shape=[2, 2])],
            X,
            {},
            (11, 12, 21, 22),
        ),
        (
            "average_pool",
            lambda: [op("AveragePool", "x", "y", kernel_shape=[2, 2])],
            X,
            {},
            (18, 19, 22),
        ),
        ("global_average_pool", lambda: [op("GlobalAveragePool", "x", "y")], X, {}, (21, 22)),
        ("sin_cos", lambda: [op("Sin", "x", "a"), op("Cos", "a", "y")], X, {}, (21, 22)),
        ("elu_hard", lambda: [op("Elu", "x", "a"), op("HardSigmoid", "a", "y")], X, {}, (21, 22)),
        ("hard_swish", lambda: [op("HardSwish", "x", "y")], X, {}, (14, 22)),
        ("flatten", lambda: [op("Relu", "x", "a"), op("Flatten", "a", "y")], X, {}, (22, 23)),
        (
            "transpose",
            lambda: [op("Transpose", "x", "a", perm=[0, 2, 3, 1]), op("Relu", "a", "y")],
            X,
            {},
            (24, 25),
        ),
        (
            "batch_norm",
            lambda: [op("BatchNormalization", "x s s s v", "y")],
            X,
            {"s": ramp(4), "v": np.ones(4, F32)},
            (8, 14, 15),
        ),
    ]
    for name, nodes, inputs, weights, opsets in gated:
        for opset in opsets:
            yield Edge(f"opset_{name}_{opset}", model(nodes(), inputs, "y", weights, opset))
    grid = {"x": ("float32", (1, 2, 4, 4)), "g": ("float32", (1, 3, 3, 2))}
    for opset in (16, 20):
        yield Edge(
            f"opset_grid_sample_{opset}",
            model([op("GridSample", "x g", "y")], grid, "y", {}, opset),
        )
    pads = {"p": ints(0, 0, 1, 1, 0, 0, 1, 1)}
    for opset in (21, 24):
        yield Edge(f"opset_pad_{opset}", model([op("Pad", "x p", "y")], X, "y", pads, opset))
    both = [op("Relu", "x", "a"), op("Exp", "a", "y")]
    for opset in (6, 7, 27, 28):
        yield Edge(f"opset_layout_range_{opset}", model(both, X, "y", {}, opset))


# -- element types ---------------------------------------------------------------------------------


def _types() -> Iterator[Edge]:
    for dtype in ("float16", "float64", "int64", "int32", "uint8", "int8"):
        inputs = {"x": (dtype, (2, 6)), "z": (dtype, (2, 6))}
        nodes = [op("Add", "x z", "a"), op("Mul", "a x", "b"), op("Identity", "b", "y")]
        yield Edge(f"type_add_mul_{dtype}", model(nodes, inputs, "y"))
    nodes = [
        op("Greater", "x z", "a"),
        op("Not", "a", "b"),
        op("And", "a b", "c"),
        op("Where", "c x z", "y"),
    ]
    yield Edge(
        "type_bool_logic", model(nodes, {"x": ("float32", (3,)), "z": ("float32", (3,))}, "y")
    )
    casts = [
        op("Cast", "x", "a", to=10),
        op("Cast", "a", "b", to=11),
        op("Cast", "b", "c", to=7),
        op("Cast", "c", "d", to=9),
        op("Cast", "d", "y", to=1),
    ]
    yield Edge("type_cast_chain", model(casts, V, "y"))
    half = {"x": ("float16", (5, 1, 4))}
    weights = {"w": ramp(1, 18, 4, dtype=np.float16), "r": ramp(1, 18, 6, dtype=np.float16)}
    yield Edge(
        "type_gru_float16",
        model([op("GRU", "x w r", "a", hidden_size=6), op("Relu", "a", "y")], half, "y", weights),
    )
    strings = {"x": ("object", (2,))}
    yield Edge("type_string_identity", model([op("Equal", "x x", "y")], strings, "y", {}, 19))
    nodes = [op("Gather", "t i", "a", axis=0), op("Add", "a a", "y")]
    yield Edge(
        "type_gather_int64_table", model(nodes, {"i": ("int64", (3,))}, "y", {"t": np.arange(8)})
    )


# -- ranks -----------------------------------------------------------------------------------------


def _ranks() -> Iterator[Edge]:
    yield Edge(
        "rank_0_arithmetic",
        model([op("Add", "x x", "a"), op("Sqrt", "a", "y")], {"x": ("float32", ())}, "y"),
    )
    deep = {"x": ("float32", (1, 2, 1, 2, 1, 2, 1, 2))}
    yield Edge(
        "rank_8_reduce",
        model([op("ReduceSum", "x", "a", keepdims=1), op("Exp", "a", "y")], deep, "y"),
    )
    yield Edge(
        "rank_6_transpose",
        model(
            [op("Transpose", "x", "a", perm=[5, 4, 3, 2, 1, 0]), op("Exp", "a", "y")],
            {"x": ("float32", (1, 2, 3, 1, 2, 3))},
            "y",
        ),
    )
    cube = {"x": ("float32", (1, 2, 4, 4, 4))}
    yield Edge(
        "rank_5_conv",
        model(
            [op("Conv", "x w", "a"), op("Relu", "a", "y")], cube, "y", {"w": ramp(2, 2, 3, 3, 3)}
        ),
    )
    yield Edge(
        "rank_3_conv",
        model(
            [op("Conv", "x w", "a"), op("Relu", "a", "y")],
            {"x": ("float32", (1, 2, 16))},
            "y",
            {"w": ramp(2, 2, 3)},
        ),
    )
    yield Edge(
        "rank_unknown_conv",
        model([op("Relu", "x", "a"), op("Sigmoid", "a", "y")], {"x": ("float32", None)}, "y"),
    )
    yield Edge(
        "rank_empty_tensor",
        model(
            [op("Concat", "x e", "a", axis=0), op("Relu", "a", "y")],
            V,
            "y",
            {"e": np.zeros((0, 6), F32)},
        ),
    )


# -- subgraphs, functions, names -------------------------------------------------------------------


def _branches(then: Sequence[Node], other: Sequence[Node]) -> dict[str, onnx.GraphProto]:
    out = {"o": ("float32", None)}
    return {"then_branch": body(then, {}, out, "then"), "else_branch": body(other, {}, out, "else")}


def _graphs() -> Iterator[Edge]:
    branches = _branches(
        [op("Relu", "x", "o", "n")], [op("Exp", "x", "t", "n"), op("Neg", "t", "o", "n")]
    )
    switch = {**V, "c": ("bool", ())}
    for opset in (17, 23):
        nodes = [op("If", "c", "a", "if", **branches), op("Sqrt", "a", "y")]
        yield Edge(f"graph_if_{opset}", model(nodes, switch, "y", {}, opset))
    yield Edge(
        "graph_if_constant",
        model(
            [op("If", "c", "a", **branches), op("Sqrt", "a", "y")], V, "y", {"c": np.array(True)}
        ),
    )
    loop = body(
        [op("Add", "s x", "t"), op("Relu", "t", "u"), op("Identity", "c", "d")],
        {"i": ("int64", ()), "c": ("bool", ()), "s": ("float32", (2, 6))},
        {"d": ("bool", ()), "u": ("float32", (2, 6))},
    )
    yield Edge(
        "graph_loop",
        model(
            [op("Loop", "n c x", "y", body=loop)], V, "y", {"n": np.array(3), "c": np.array(True)}
        ),
    )
    scan = body(
        [op("Add", "s v", "t"), op("Identity", "t", "o")],
        {"s": ("float32", (6,)), "v": ("float32", (6,))},
        {"t": ("float32", (6,)), "o": ("float32", (6,))},
    )
    yield Edge(
        "graph_scan",
        model(
            [op("Scan", "s x", "f y", body=scan, num_scan_inputs=1)],
            V,
            "y",
            {"s": np.zeros(6, F32)},
        ),
    )
    inner = _branches([op("Relu", "x", "o")], [op("Tanh", "x", "o")])
    outer = {
        "then_branch": body(
            [op("If", "c", "p", **inner), op("Exp", "p", "q")], {}, {"q": ("float32", None)}
        ),
        "else_branch": body([op("Neg", "x", "q")], {}, {"q": ("float32", None)}),
    }
    yield Edge("graph_if_nested", model([op("If", "c", "y", **outer)], switch, "y"))
    clip = helper.make_function(
        "own",
        "Soft",
        ["a"],
        ["b"],
        [op("Exp", "a", "t"), op("Add", "t t", "u"), op("Log", "u", "b")],
        [helper.make_opsetid("", 17)],
    )
    yield Edge("function_once", model([op("own::Soft", "x", "y")], V, "y", {}, 17, [clip], ["own"]))
    yield Edge(
        "function_twice",
        model(
            [op("own::Soft", "x", "a"), op("own::Soft", "a", "y")], V, "y", {}, 17, [clip], ["own"]
        ),
    )
    host = helper.make_function(
        "own",
        "Odd",
        ["a"],
        ["b"],
        [op("Erf", "a", "t"), op("Det", "t", "b")],
        [helper.make_opsetid("", 17)],
    )
    yield Edge(
        "function_off_the_gpu",
        model(
            [op("own::Odd", "x", "a"), op("Relu", "a", "y")],
            {"x": ("float32", (2, 3, 3))},
            "y",
            {},
            17,
            [host],
            ["own"],
        ),
    )
    yield Edge(
        "names_empty",
        model([op("Relu", "x", "a"), op("Relu", "a", "b"), op("Exp", "b", "y")], V, "y"),
    )
    yield Edge(
        "names_repeated",
        model(
            [op("Exp", "x", "a", "same"), op("Log", "a", "b", "same"), op("Det", "b", "y", "same")],
            {"x": ("float32", (3, 3))},
            "y",
        ),
    )
    yield Edge(
        "equal_nodes",
        model(
            [
                op("Exp", "x", "a"),
                op("Exp", "x", "b"),
                op("Add", "a b", "c"),
                op("Neg", "a", "d"),
                op("Neg", "b", "e"),
                op("Mul", "d e", "f"),
                op("Add", "c f", "y"),
            ],
            V,
            "y",
        ),
    )
    yield Edge(
        "dead_nodes",
        model(
            [op("Exp", "x", "y"), op("Log", "x", "a"), op("Det", "a", "b")],
            {"x": ("float32", (3, 3))},
            "y",
        ),
    )


# -- what ORT rewrites -----------------------------------------------------------------------------


def _patterns() -> Iterator[Edge]:
    conv = {"w": ramp(4, 4, 3, 3), "s": np.ones(4, F32), "b": ramp(4)}
    norm = op("BatchNormalization", "a s b b s", "c")
    yield Edge(
        "fuse_conv_bn_relu",
        model([op("Conv", "x w", "a"), norm, op("Relu", "c", "y")], X, "y", conv),
    )
    yield Edge(
        "fuse_conv_mul_add",
        model(
            [op("Conv", "x w", "a"), op("Mul", "a m", "c"), op("Add", "c m", "y")],
            X,
            "y",
            {**conv, "m": ramp(4, 1, 1)},
        ),
    )
    yield Edge(
        "fuse_pad_conv",
        model(
            [op("Pad", "x p", "a"), op("Conv", "a w", "y")],
            X,
            "y",
            {**conv, "p": ints(0, 0, 1, 1, 0, 0, 1, 1)},
        ),
    )
    yield Edge(
        "fuse_matmul_add",
        model(
            [op("MatMul", "x w", "a"), op("Add", "a b", "c"), op("Relu", "c", "y")],
            V,
            "y",
            {"w": ramp(6, 5), "b": ramp(5)},
        ),
    )
    yield Edge(
        "fuse_matmul_transpose",
        model(
            [op("Transpose", "x", "a", perm=[1, 0]), op("MatMul", "a z", "y")],
            {**V, "z": ("float32", (2, 5))},
            "y",
        ),
    )
    yield Edge(
        "fuse_gemm_transpose",
        model(
            [op("Transpose", "x", "a", perm=[1, 0]), op("Gemm", "a z", "y")],
            {**V, "z": ("float32", (2, 5))},
            "y",
        ),
    )
    erf = [
        op("Div", "x r", "a"),
        op("Erf", "a", "b"),
        op("Add", "b o", "c"),
        op("Mul", "x c", "d"),
        op("Mul", "d h", "y"),
    ]
    yield Edge(
        "fuse_gelu",
        model(
            erf,
            V,
            "y",
            {"r": np.array(1.4142135, F32), "o": np.array(1, F32), "h": np.array(0.5, F32)},
        ),
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
    yield Edge(
        "fuse_layer_norm",
        model(
            layer,
            V,
            "y",
            {"two": np.array(2, F32), "e": np.array(1e-5, F32), "s": np.ones(6, F32), "b": ramp(6)},
        ),
    )
    yield Edge(
        "layer_norm_and_gelu_nodes",
        model(
            [op("LayerNormalization", "x s b", "a"), op("Gelu", "a", "y")],
            V,
            "y",
            {"s": np.ones(6, F32), "b": ramp(6)},
            20,
        ),
    )
    yield Edge(
        "drop_identity_dropout",
        model(
            [
                op("Identity", "x", "a"),
                op("Dropout", "a", "b"),
                op("Exp", "b", "c"),
                op("Identity", "c", "y"),
            ],
            V,
            "y",
        ),
    )
    yield Edge(
        "drop_neutral",
        model(
            [op("Add", "x z", "a"), op("Mul", "a o", "b"), op("Exp", "b", "y")],
            V,
            "y",
            {"z": np.array(0, F32), "o": np.array(1, F32)},
        ),
    )
    yield Edge(
        "drop_transposes",
        model(
            [
                op("Transpose", "x", "a", perm=[0, 2, 3, 1]),
                op("Relu", "a", "b"),
                op("Transpose", "b", "y", perm=[0, 3, 1, 2]),
            ],
            X,
            "y",
        ),
    )
    yield Edge(
        "layout_conv_between_transposes",
        model(
            [
                op("Transpose", "x", "a", perm=[0, 3, 1, 2]),
                op("Conv", "a w", "k"),
                op("Relu", "k", "c"),
                op("Transpose", "c", "y", perm=[0, 2, 3, 1]),
            ],
            {"x": ("float32", (1, 8, 8, 4))},
            "y",
            conv,
        ),
    )
    yield Edge(
        "drop_reshapes",
        model(
            [op("Reshape", "x p", "a"), op("Reshape", "a q", "b"), op("Exp", "b", "y")],
            V,
            "y",
            {"p": ints(3, 4), "q": ints(4, 3)},
        ),
    )
    yield Edge(
        "split_of_gathers",
        model(
            [
                op("Gather", "x i", "a", axis=1),
                op("Gather", "x j", "b", axis=1),
                op("Add", "a b", "y"),
            ],
            {"x": ("float32", (3, 2))},
            "y",
            {"i": np.array(0), "j": np.array(1)},
        ),
    )
    yield Edge(
        "clip_after_relu",
        model(
            [op("Relu", "x", "a"), op("Clip", "a lo hi", "y")],
            V,
            "y",
            {"lo": np.array(0, F32), "hi": np.array(6, F32)},
        ),
    )


# -- shapes ----------------------------------------------------------------------------------------


def _shapes() -> Iterator[Edge]:
    flatten = [
        op("Shape", "x", "s"),
        op("Gather", "s zero", "n", axis=0),
        op("Unsqueeze", "n ax", "u"),
        op("Concat", "u minus", "t", axis=0),
        op("Reshape", "x t", "a"),
        op("Exp", "a", "y"),
    ]
    weights = {"zero": np.array(0), "ax": ints(0), "minus": ints(-1)}
    yield Edge("shape_flatten_fixed", model(flatten, X, "y", weights))
    yield Edge("shape_flatten_free", model(flatten, FREE, "y", weights))
    double = [
        op("Shape", "x", "s"),
        op("Slice", "s b e", "h"),
        op("Mul", "h two", "d"),
        op("Cast", "d", "f", to=1),
        op("Cast", "f", "g", to=7),
        op("Expand", "one g", "a"),
        op("Neg", "a", "y"),
    ]
    numbers = {"b": ints(2), "e": ints(4), "two": ints(2), "one": np.ones((1, 1), F32)}
    yield Edge("shape_chain_free", model(double, FREE, "y", numbers))
    yield Edge("shape_chain_fixed", model(double, X, "y", numbers))
    yield Edge(
        "shape_ends_as_output",
        model([op("Shape", "x", "s"), op("Mul", "s two", "y")], FREE, "y", {"two": ints(2)}),
    )
    yield Edge(
        "shape_constant_of_shape",
        model(
            [op("Shape", "x", "s"), op("ConstantOfShape", "s", "a"), op("Add", "a x", "y")],
            FREE,
            "y",
        ),
    )
    yield Edge(
        "shape_range_free",
        model(
            [
                op("Size", "x", "n"),
                op("Range", "zero n one", "a"),
                op("Cast", "a", "b", to=1),
                op("Exp", "b", "y"),
            ],
            FREE,
            "y",
            {"zero": np.array(0), "one": np.array(1)},
        ),
    )
    yield Edge(
        "shape_of_a_slice",
        model(
            [
                op("Slice", "x b e", "a"),
                op("Shape", "a", "s"),
                op("Expand", "one s", "t"),
                op("Exp", "t", "y"),
            ],
            X,
            "y",
            {"b": ints(0), "e": ints(1), "one": np.ones(1, F32)},
        ),
    )
    yield Edge(
        "shape_expand_nothing",
        model([op("Expand", "x s", "a"), op("Exp", "a", "y")], V, "y", {"s": ints(2, 6)}),
    )
    yield Edge(
        "constants_fold",
        model(
            [
                op("Constant", "", "k", value=numpy_helper.from_array(ramp(6))),
                op("Exp", "k", "a"),
                op("Add", "a k", "b"),
                op("Mul", "x b", "y"),
            ],
            V,
            "y",
        ),
    )
    yield Edge(
        "constants_random_stay",
        model([op("RandomNormal", "", "k", shape=[2, 6]), op("Add", "x k", "y")], V, "y"),
    )


# -- quantized -------------------------------------------------------------------------------------


def _quantized() -> Iterator[Edge]:
    scale = {"s": np.array(0.1, F32), "z": np.array(128, np.uint8)}
    yield Edge(
        "qdq_pair",
        model(
            [
                op("QuantizeLinear", "x s z", "q"),
                op("DequantizeLinear", "q s z", "d"),
                op("Exp", "d", "y"),
            ],
            V,
            "y",
            scale,
        ),
    )
    chain = [
        op("QuantizeLinear", "x s z", "q"),
        op("DequantizeLinear", "q s z", "d"),
        op("DequantizeLinear", "w s", "e"),
        op("Conv", "d e", "a"),
        op("QuantizeLinear", "a s z", "b"),
        op("DequantizeLinear", "b s z", "y"),
    ]
    yield Edge("qdq_conv", model(chain, X, "y", {**scale, "w": np.ones((4, 4, 1, 1), np.int8)}))
    yield Edge(
        "qdq_dequantize_24",
        model(
            [op("DequantizeLinear", "x s", "a"), op("Relu", "a", "y")],
            {"x": ("int8", (2, 6))},
            "y",
            {"s": np.array(0.1, F32)},
            24,
        ),
    )
    yield Edge(
        "dynamic_quantize",
        model(
            [
                op("DynamicQuantizeLinear", "x", "q s z"),
                op("MatMulInteger", "q w z", "a"),
                op("Cast", "a", "b", to=1),
                op("Mul", "b s", "y"),
            ],
            V,
            "y",
            {"w": np.ones((6, 3), np.uint8)},
        ),
    )


# -- ORT's own operators, sequences, optional inputs -----------------------------------------------


def _others() -> Iterator[Edge]:
    ms = ["com.microsoft"]
    yield Edge(
        "ms_fast_gelu",
        model(
            [op("com.microsoft::FastGelu", "x", "a"), op("Exp", "a", "y")], V, "y", {}, 17, (), ms
        ),
    )
    yield Edge(
        "ms_skip_layer_norm",
        model(
            [op("com.microsoft::SkipLayerNormalization", "x x s", "y")],
            {"x": ("float32", (1, 2, 8))},
            "y",
            {"s": np.ones(8, F32)},
            17,
            (),
            ms,
        ),
    )
    yield Edge(
        "ms_unknown_operator",
        model([op("com.microsoft::NoSuchOperator", "x", "y")], V, "y", {}, 17, (), ms),
    )
    yield Edge(
        "sequence_round",
        model(
            [
                op("SequenceConstruct", "x x", "s"),
                op("SequenceAt", "s i", "a"),
                op("Exp", "a", "y"),
            ],
            V,
            "y",
            {"i": np.array(1)},
        ),
    )
    steps = {"x": ("float32", (5, 1, 4))}
    gru = {"w": ramp(1, 18, 4), "r": ramp(1, 18, 6), "b": ramp(1, 36), "h": ramp(1, 1, 6)}
    yield Edge(
        "optional_gru_inputs",
        model(
            [op("GRU", "x w r b _ h", "y l", hidden_size=6), op("Relu", "l", "m")],
            steps,
            "y m",
            gru,
        ),
    )
    yield Edge(
        "fails_gru_activation",
        model(
            [op("GRU", "x w r", "y", hidden_size=6, activations=["Affine", "Tanh"])],
            steps,
            "y",
            gru,
        ),
    )
    yield Edge(
        "fails_max_pool_indices", model([op("MaxPool", "x", "y i", kernel_shape=[2, 2])], X, "y i")
    )
    yield Edge("unsorted_nodes", model([op("Exp", "a", "y"), op("Relu", "x", "a")], V, "y"))


# -- the provider's options ------------------------------------------------------------------------


def _options() -> Iterator[Edge]:
    whole = {"x": ("int64", (2, 6)), "z": ("int64", (2, 6))}
    nodes = [
        op("Add", "x z", "a"),
        op("Mul", "a x", "b"),
        op("Cast", "b", "c", to=1),
        op("Exp", "c", "y"),
    ]
    yield Edge("option_int64", model(nodes, whole, "y"), "enableInt64=1")
    chain = [
        op("Shape", "x", "s"),
        op("Slice", "s b e", "h"),
        op("Cast", "h", "f", to=6),
        op("Add", "f f", "g"),
        op("Cast", "g", "k", to=7),
        op("Expand", "one k", "y"),
    ]
    numbers = {"b": ints(2), "e": ints(4), "one": np.ones((1, 1), F32)}
    yield Edge("option_nchw_shapes", model(chain, FREE, "y", numbers), "preferredLayout=NCHW")
    yield Edge("option_nhwc_shapes", model(chain, FREE, "y", numbers))
    yield Edge(
        "option_int64_shapes",
        model(chain, FREE, "y", numbers),
        "enableInt64=1,preferredLayout=NCHW",
    )
    forced = [
        op("Conv", "x w", "a", "conv"),
        op("Relu", "a", "b", "relu"),
        op("Exp", "b", "y", "exp"),
    ]
    yield Edge(
        "option_forced",
        model(forced, X, "y", {"w": ramp(4, 4, 3, 3)}),
        "forceCpuNodeNames=conv,forceCpuNodeNames=exp",
    )
    yield Edge(
        "option_nchw_opset_28",
        model([op("Relu", "x", "a"), op("Exp", "a", "y")], X, "y", {}, 28),
        "preferredLayout=NCHW",
    )
    fused = [op("Conv", "x w", "a"), op("Relu", "a", "y")]
    yield Edge(
        "option_nchw_conv_relu",
        model(fused, X, "y", {"w": ramp(4, 4, 3, 3)}),
        "preferredLayout=NCHW",
    )
