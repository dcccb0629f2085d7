"""Types that ORT finds where ONNX has no inference; a session of ORT 1.32.0 gave the same."""

from __future__ import annotations

from typing import Any

import onnx
import pytest
from onnx import helper
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.model import TensorType
from opscope.engine.providers import Status
from opscope.engine.providers.placement import place
from opscope.engine.providers.value_types import completed
from small_model import model, node

MICROSOFT = "com.microsoft"
ROWS = ("float32", ("N", 4, 8))
VECTOR = ("float32", (8,))
BYTES = ("uint8", ("N", 4))
SCALE = ("float32", ())
POINT = ("uint8", ())


@pytest.mark.parametrize(
    ("op", "inputs", "expected"),
    [
        ("FastGelu", [ROWS], TensorType("float32", ("N", 4, 8))),
        ("BiasGelu", [ROWS, VECTOR], TensorType("float32", ("N", 4, 8))),
        ("QuickGelu", [("float16", ("N", 3))], TensorType("float16", ("N", 3))),
        ("SkipLayerNormalization", [ROWS, ROWS, VECTOR], TensorType("float32", ("N", 4, 8))),
        ("FusedMatMul", [ROWS, ("float32", (8, 6))], TensorType("float32")),
        ("DequantizeLinear", [BYTES, SCALE, POINT], TensorType("float32", ("N", 4))),
        ("QuantizeLinear", [ROWS, SCALE, POINT], TensorType("uint8", ("N", 4, 8))),
    ],
)
def test_an_operator_of_microsoft_is_like_one_of_its_inputs(
    op: str, inputs: list[Any], expected: TensorType
) -> None:
    names = [f"i{index}" for index in range(len(inputs))]
    made = node(op, " ".join(names), "y", domain=MICROSOFT)
    subject = model([made], dict(zip(names, inputs, strict=True)), "y", domains=[MICROSOFT])
    assert completed(subject, infer_types(subject))[(), "y"] == expected


def test_what_follows_is_inferred_then() -> None:
    nodes = [
        node("FastGelu", "x", "g", domain=MICROSOFT),
        node("Transpose", "g", "t", perm=[2, 0, 1]),
        node("Exp", "t", "y"),
    ]
    subject = model(nodes, {"x": ROWS}, "y", domains=[MICROSOFT])
    types = infer_types(subject)
    assert ((), "y") not in types
    assert completed(subject, types)[(), "y"] == TensorType("float32", (8, "N", 4))
    assert Status.UNKNOWN not in {v.status for v in place(subject, "ort-webgpu", types).values()}


def test_an_output_has_the_type_that_its_schema_states() -> None:
    """ONNX has no inference for Normalizer: its output is float32, whatever it is given."""
    nodes = [node("Normalizer", "x", "n", domain="ai.onnx.ml"), node("Exp", "n", "y")]
    subject = model(nodes, {"x": ("int64", (2, 3))}, "y", domains=["ai.onnx.ml"])
    assert completed(subject, infer_types(subject))[(), "n"] == TensorType("float32")


def test_a_constant_that_a_functions_caller_gives_has_the_type_of_its_attribute() -> None:
    constant = node("Constant", "", "k")
    reference = constant.attribute.add(name="value_float", ref_attr_name="alpha")
    reference.type = onnx.AttributeProto.FLOAT
    function = helper.make_function(
        "own",
        "Scale",
        ["a"],
        ["b"],
        [constant, node("Mul", "a k", "b", "mul")],
        [helper.make_opsetid("", 17)],
        ["alpha"],
    )
    nodes = [node("Scale", "x", "s", domain="own", alpha=a) for a in (1.0, 2.0)]
    nodes[1].input[0], nodes[1].output[0] = "s", "y"
    subject = model(nodes, {"x": ROWS}, "y", functions=[function], domains=["own"])
    placed = place(subject, "ort-webgpu", infer_types(subject))
    found = {subject.nodes[i].name: v.status for i, v in placed.items()}
    assert found["mul"] is Status.GPU


def test_an_operator_that_nobody_knows_stays_unknown() -> None:
    nodes = [node("Unheard", "x", "a", domain=MICROSOFT), node("Exp", "a", "y")]
    subject = model(nodes, {"x": ROWS}, "y", domains=[MICROSOFT])
    types = infer_types(subject)
    assert completed(subject, types) == types
