"""What ORT makes of small graphs before it asks a provider.

Each case was run on ONNX Runtime 1.32.0 and its WebGPU plugin 0.4.0: ``gone`` are the nodes that
are not there any more when the providers are asked, under their own names and operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.model import Model
from opscope.engine.providers.placement import place
from opscope.engine.providers.rewrites import Work, level_one
from opscope.engine.providers.support import Status, Support
from opscope.engine.providers.uses import model_uses
from small_model import model, node

X = {"x": ("float32", (2, 6))}
DYNAMIC = {"x": ("float32", ("batch", 6))}
IMAGE = {"x": ("float32", (1, 3, 8, 8))}
ROWS = {"x": ("float32", (2, 3, 6))}
END = np.array([2**63 - 1])


def ramp(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape), dtype=np.float32) % 11 + 1).reshape(shape)


FILTERS = ramp(8, 3, 3, 3)
CHANNELS = {k: ramp(8) for k in "stmv"}
COLUMNS = {"s": ramp(4), "t": ramp(4), "u": ramp(4), "v": ramp(4)}


@dataclass(frozen=True)
class Case:
    """Nodes called n0, n1, ... and which of them are gone."""

    nodes: Sequence[onnx.NodeProto]
    gone: str
    inputs: Mapping[str, Any] = field(default_factory=lambda: X)
    weights: Mapping[str, Any] = field(default_factory=dict)
    outputs: str = "y"
    opset: int = 17

    @property
    def model(self) -> Model:
        named = []
        for index, proto in enumerate(self.nodes):
            copy = onnx.NodeProto()
            copy.CopyFrom(proto)
            copy.name = f"n{index}"
            named.append(copy)
        weights = {k: np.asarray(v) for k, v in self.weights.items()}
        return model(named, self.inputs, self.outputs, weights, self.opset)


def sigmoid_around(op: str, weights: Mapping[str, Any], inputs: str, gone: str) -> Case:
    """A node between two others, so that neither an input nor an end is next to it."""
    nodes = [node("Sigmoid", "x", "r"), node(op, inputs, "a"), node("Sigmoid", "a", "y")]
    return Case(nodes, gone, weights=weights)


def after_conv(op: str, inputs: str, gone: str, conv: str = "x w b", **weights: Any) -> Case:
    nodes = [node("Conv", conv, "c"), node(op, inputs, "y")]
    return Case(nodes, gone, IMAGE, {"w": FILTERS, "b": ramp(8), **weights})


def after_matmul(bias: np.ndarray, gone: str, inputs: Mapping[str, Any] = X) -> Case:
    nodes = [node("MatMul", "x w", "m"), node("Add", "m b", "y")]
    return Case(nodes, gone, inputs, {"w": ramp(6, 4), "b": bias})


def padded(pads: Sequence[int], reader: onnx.NodeProto, gone: str, **weights: Any) -> Case:
    value = "r p v" if "v" in weights else "r p"
    nodes = [node("Relu", "x", "r"), node("Pad", value, "q"), reader]
    return Case(nodes, gone, IMAGE, {"w": FILTERS, "p": np.array(pads), **weights})


def spelt_layer_norm(opset: int, gone: str) -> Case:
    nodes = [
        node("ReduceMean", "x", "m", axes=[-1]),
        node("Sub", "x m", "d"),
        node("Pow", "d two", "p"),
        node("ReduceMean", "p", "v", axes=[-1]),
        node("Add", "v eps", "ve"),
        node("Sqrt", "ve", "sd"),
        node("Div", "d sd", "n"),
        node("Mul", "n g", "ng"),
        node("Add", "ng b", "y"),
    ]
    weights = {"two": np.float32(2), "eps": np.float32(1e-5), "g": ramp(6), "b": ramp(6)}
    return Case(nodes, gone, ROWS, weights, opset=opset)


def spelt_gelu(opset: int, gone: str) -> Case:
    nodes = [
        node("Div", "x s2", "a"),
        node("Erf", "a", "e"),
        node("Add", "e one", "e1"),
        node("Mul", "x e1", "m"),
        node("Mul", "m half", "y"),
    ]
    weights = {"s2": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5)}
    return Case(nodes, gone, ROWS, weights, opset=opset)


SPACE = [0, 0, 1, 1, 0, 0, 1, 1]
CONV = node("Conv", "q w", "y")

CASES: Mapping[str, Case] = {
    # Nodes without effect.
    "an Add of zero": sigmoid_around("Add", {"z": np.float32(0)}, "r z", "n1"),
    "an Add of one": sigmoid_around("Add", {"z": np.float32(1)}, "r z", ""),
    "an Add of a vector of zeros": sigmoid_around("Add", {"z": np.zeros(6, np.float32)}, "r z", ""),
    "zero less x": sigmoid_around("Sub", {"z": np.float32(0)}, "z r", ""),
    "a Mul by one": sigmoid_around("Mul", {"z": np.ones(1, np.float32)}, "r z", "n1"),
    "a Pow by one": sigmoid_around("Pow", {"z": np.float32(1)}, "r z", ""),
    "an Add of zero to a graph input": Case(
        [node("Add", "x z", "a"), node("Relu", "a", "y")], "", weights={"z": np.float32(0)}
    ),
    "a Mul by one at the end": Case(
        [node("Sigmoid", "x", "r"), node("Mul", "r z", "y")], "", weights={"z": np.float32(1)}
    ),
    "an Identity of a graph input": Case(
        [node("Identity", "x", "a"), node("Relu", "a", "y")], "n0"
    ),
    "an Identity at the end": Case([node("Relu", "x", "a"), node("Identity", "a", "y")], "n1"),
    "an Identity at the end, its input shared": Case(
        [node("Relu", "x", "a"), node("Identity", "a", "y"), node("Sigmoid", "a", "z")],
        "",
        outputs="y z",
    ),
    "an Identity alone": Case([node("Identity", "x", "y")], ""),
    "a Cast to its own type": Case(
        [node("Relu", "x", "a"), node("Cast", "a", "b", to=1), node("Abs", "b", "y")], "n1"
    ),
    "Casts there and back": Case(
        [
            node("Cast", "x", "b", to=10),
            node("Cast", "b", "c", to=1),
            node("Sigmoid", "c", "y"),
        ],
        "",
    ),
    "a Cast of which only the shape is read": Case(
        [
            node("Cast", "x", "b", to=6),
            node("Shape", "b", "s"),
            node("Cast", "s", "y", to=1),
        ],
        "n0",
        DYNAMIC,
    ),
    "an Expand to the same shape": sigmoid_around("Expand", {"s": [1, 6]}, "r s", "n1"),
    "an Expand to more": sigmoid_around("Expand", {"s": [3, 2, 6]}, "r s", ""),
    "a Slice of everything": sigmoid_around("Slice", {"s": [0], "e": END}, "r s e", "n1"),
    "a Slice to the length": sigmoid_around("Slice", {"s": [0], "e": [2]}, "r s e", ""),
    "a Relu before a Clip": Case(
        [node("Sigmoid", "x", "q"), node("Relu", "q", "a"), node("Clip", "a lo hi", "y")],
        "n1",
        weights={"lo": np.float32(0), "hi": np.float32(6)},
    ),
    "one over x times y": Case(
        [node("Sigmoid", "x", "q"), node("Div", "o q", "d"), node("Mul", "d x", "y")],
        "n2",
        weights={"o": np.float32(1)},
    ),
    "a Not before a Where": Case(
        [node("Greater", "x z", "c"), node("Not", "c", "n"), node("Where", "n x z", "y")],
        "n1",
        weights={"z": np.float32(0)},
    ),
    # Equal nodes.
    "equal nodes": Case(
        [node("Sigmoid", "x", "a"), node("Sigmoid", "x", "b"), node("Add", "a b", "y")], "n0"
    ),
    "equal nodes of equal small constants": Case(
        [node("Add", "x p", "a"), node("Add", "x q", "b"), node("Mul", "a b", "y")],
        "n0",
        weights={"p": ramp(1), "q": ramp(1)},
    ),
    "random nodes": Case(
        [
            node("RandomNormalLike", "x", "a"),
            node("RandomNormalLike", "x", "b"),
            node("Add", "a b", "y"),
        ],
        "",
    ),
    # Constants.
    "constants": Case(
        [node("Add", "p q", "a"), node("Exp", "a", "b"), node("Mul", "x b", "y")],
        "n0 n1",
        weights={"p": ramp(6), "q": ramp(6)},
    ),
    "a branch that is always taken": Case(
        [
            onnx.helper.make_node(
                "If",
                ["c"],
                ["o"],
                then_branch=onnx.helper.make_graph(
                    [node("Relu", "x", "t")], "t", [], [onnx.ValueInfoProto(name="t")]
                ),
                else_branch=onnx.helper.make_graph(
                    [node("Sigmoid", "x", "e")], "e", [], [onnx.ValueInfoProto(name="e")]
                ),
            ),
            node("Abs", "o", "y"),
        ],
        "n0",
        weights={"c": np.array(True)},
    ),
    # Convolutions.
    "BatchNormalization after Conv": after_conv(
        "BatchNormalization", "c s t m v", "n1", **CHANNELS
    ),
    "BatchNormalization after ConvTranspose": Case(
        [node("ConvTranspose", "x w b", "c"), node("BatchNormalization", "c s t m v", "y")],
        "n1",
        IMAGE,
        {"w": ramp(3, 8, 3, 3), "b": ramp(8), **CHANNELS},
    ),
    "a factor per channel": after_conv("Mul", "c s", "n1", s=ramp(8, 1, 1)),
    "one factor": after_conv("Mul", "c s", "n1", s=np.float32(2)),
    "an addend per channel": after_conv("Add", "c s", "n1", conv="x w", s=ramp(1, 8, 1, 1)),
    "an addend per element": after_conv("Add", "c s", "", conv="x w", s=ramp(1, 8, 6, 6)),
    "a factor after a 1-D Conv": Case(
        [node("Conv", "x w", "c"), node("Mul", "c s", "y")],
        "",
        {"x": ("float32", (1, 3, 8))},
        {"w": ramp(8, 3, 3), "s": ramp(8, 1)},
    ),
    "Relu after Conv": after_conv("Relu", "c", ""),  # fused after placing
    "Pad before Conv": padded(SPACE, CONV, "n1"),
    "Pad before Conv, not with zeros": padded(SPACE, CONV, "", v=np.float32(1)),
    "Pad before MaxPool": padded(SPACE, node("MaxPool", "q", "y", kernel_shape=[2, 2]), ""),
    "Pad before AveragePool": padded(
        SPACE, node("AveragePool", "q", "y", kernel_shape=[2, 2]), "n1"
    ),
    # Products. The Add gives its output still, now from a Gemm.
    "MatMul and Add": after_matmul(ramp(4), "n0"),
    "MatMul and Add of a whole matrix": after_matmul(ramp(2, 4), "n0"),
    "MatMul and Add of a scalar": after_matmul(np.float32(1), ""),
    "MatMul and Add of three dimensions": after_matmul(ramp(4), "n0", ROWS),
    "MatMul and Add of a dimension unknown": after_matmul(
        ramp(4), "", {"x": ("float32", ("b", 3, 6))}
    ),
    "MatMul and BatchNormalization": Case(
        [node("MatMul", "x w", "m"), node("BatchNormalization", "m s t u v", "y")],
        "n0",
        weights={"w": ramp(6, 4), **COLUMNS},
    ),
    "Transpose before Gemm": Case(
        [node("Transpose", "x", "t", perm=[1, 0]), node("Gemm", "t w", "y")],
        "n0",
        weights={"w": ramp(2, 4)},
    ),
    "Transpose after Gemm": Case(
        [node("Gemm", "x w", "g"), node("Transpose", "g", "y", perm=[1, 0])],
        "n0",
        weights={"w": ramp(6, 4)},
    ),
    # Reshapes.
    "Reshapes in a row": Case(
        [node("Reshape", "x p", "a"), node("Reshape", "a q", "y")],
        "n0",
        weights={"p": [3, 4], "q": [4, 3]},
    ),
    "Reshapes in a row of a dimension unknown": Case(
        [node("Reshape", "x p", "a"), node("Reshape", "a q", "y")],
        "",
        DYNAMIC,
        {"p": [-1, 3], "q": [-1, 2]},
    ),
    "a shape out of the input's own": Case(
        [
            node("Shape", "x", "s"),
            node("Gather", "s i", "g"),
            node("Unsqueeze", "g o", "u"),
            node("Concat", "u k", "t", axis=0),
            node("Reshape", "x t", "y"),
        ],
        "n0 n1 n2 n3",
        {"x": ("float32", ("b", 3, 4))},
        {"i": np.int64(0), "o": [0], "k": [-1]},
    ),
    "only its shape is read": Case(
        [
            node("Slice", "x b e", "a"),
            node("Neg", "a", "n"),
            node("Shape", "n", "s"),
            node("ConstantOfShape", "s", "c"),
            node("Add", "c t", "y"),
        ],
        "n0 n1 n2 n3",
        {"x": X["x"], "t": ("float32", (1, 6))},
        {"b": [0], "e": [1]},
    ),
    "its shape and its values are read": Case(
        [
            node("Neg", "x", "n"),
            node("Shape", "n", "s"),
            node("Expand", "k s", "e"),
            node("Add", "n e", "y"),
        ],
        "n1 n2",
        weights={"k": ramp(1)},
    ),
    # What is one operator from some opset on.
    "LayerNormalization spelt out": spelt_layer_norm(17, "n0 n1 n2 n3 n4 n5 n6 n7"),
    "LayerNormalization spelt out, too early": spelt_layer_norm(13, ""),
    "Gelu spelt out": spelt_gelu(20, "n0 n1 n2 n3"),
    "Gelu spelt out, too early": spelt_gelu(17, ""),
}


def verdicts(case: Case, target: str) -> dict[str, Support]:
    subject = case.model
    found = place(subject, target, infer_types(subject))
    return {n.name: found[n.id] for n in subject.graph.nodes}


@pytest.mark.parametrize("name", CASES)
def test_what_is_gone_before_anything_is_placed(name: str) -> None:
    subject = CASES[name].model
    uses = {n.id: use for n, use in model_uses(subject, infer_types(subject))}
    work = Work(subject.graph, uses)
    level_one(work, lambda _: True)
    gone = {n.name for n in subject.graph.nodes if n.id in work.verdicts}
    assert gone == set(CASES[name].gone.split())
    assert {left.node.name for left in work} >= {n.name for n in subject.graph.nodes} - gone


@pytest.mark.parametrize("name", CASES)
def test_a_fused_node_says_into_what_and_where_that_runs(name: str) -> None:
    subject = CASES[name].model
    found = place(subject, "ort-webgpu", infer_types(subject))
    ids = {str(node_id) for node_id in subject.nodes}
    for verdict in found.values():
        assert verdict.detail
        assert verdict.data["step"]
        if verdict.status is Status.FUSED:
            assert verdict.data["into"] in ids
            assert verdict.data["provider"] == "gpu"


def test_the_whole_is_where_the_kernel_is() -> None:
    """Sum has no kernel on WebGPU; as the bias of a Gemm it runs there all the same."""
    nodes = [node("Gemm", "x w", "g"), node("Sum", "g b", "y")]
    case = Case(nodes, "n0", weights={"w": ramp(6, 4), "b": ramp(2, 4)})
    found = verdicts(case, "ort-webgpu")
    assert found["n1"].status is Status.GPU
    assert found["n0"].data["provider"] == "gpu"


def test_the_branch_that_is_taken_is_judged_and_the_other_is_not() -> None:
    subject = CASES["a branch that is always taken"].model
    found = place(subject, "ort-webgpu", infer_types(subject))
    by_op = {subject.nodes[i].op: v for i, v in found.items()}
    assert by_op["Relu"].status is Status.GPU
    assert by_op["Sigmoid"].status is Status.FOLDED
    assert "never taken" in by_op["Sigmoid"].detail
