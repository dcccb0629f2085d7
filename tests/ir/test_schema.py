"""Facts of operator schemas, against the text of the ONNX operators' documents."""

from __future__ import annotations

import pytest
from opscope.engine.ir.schema import newest_opset, schema


@pytest.mark.parametrize(
    ("op", "opset", "since"),
    [("GRU", 13, 7), ("GRU", 17, 14), ("GRU", 22, 22), ("ConvTranspose", 21, 11), ("Relu", 5, 1)],
)
def test_the_schema_in_force(op, opset, since):
    assert schema("", op, opset).since_version == since
    assert schema("ai.onnx", op, opset) is schema("", op, opset) or (
        schema("ai.onnx", op, opset) == schema("", op, opset)
    )


def test_gru():
    gru = schema("", "GRU", 22)
    assert [p.name for p in gru.inputs] == ["X", "W", "R", "B", "sequence_lens", "initial_h"]
    assert [p.optional for p in gru.inputs] == [False, False, False, True, True, True]
    assert set(gru.attributes) == {
        "activation_alpha",
        "activation_beta",
        "activations",
        "clip",
        "direction",
        "hidden_size",
        "layout",
        "linear_before_reset",
    }
    assert gru.types["T"] == {"bfloat16", "float16", "float32", "float64"}
    assert not gru.deprecated


def test_a_variadic_parameter_repeats_and_others_end():
    concat = schema("", "Concat", 13)
    assert concat.input(7) is concat.inputs[0]
    assert concat.input(7).variadic
    assert schema("", "Relu", 14).input(1) is None
    assert concat.attributes == {"axis": True}


def test_fixed_types_have_their_own_constraint():
    assert schema("", "Reshape", 14).types["tensor(int64)"] == {"int64"}


def test_what_onnx_does_not_have():
    assert schema("", "NoSuchOperator", 17) is None
    assert schema("", "Gelu", 19) is None  # since 20
    assert schema("no.such.domain", "Relu", 1) is None


def test_newest_opset():
    assert newest_opset() >= 22
    assert schema("", "Add", newest_opset()).since_version == 14
