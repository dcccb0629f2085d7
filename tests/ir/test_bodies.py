"""ONNX's function bodies, as models of their own."""

from __future__ import annotations

from opscope.engine.ir.bodies import function_body, has_body
from opscope.engine.ir.model import TensorType
from opscope.engine.ops.use import OpUse

ROW = TensorType("float32", (2, 6))


def test_a_body_has_the_calls_types_and_attributes() -> None:
    use = OpUse("Celu", "", 12, (ROW,), (ROW,), {"alpha": 2.0}, opset=17)
    body = function_body(use)
    assert body is not None
    assert [port.type for port in body.graph.inputs] == [ROW]
    assert "Elu" in [node.op for node in body.graph.nodes]
    constants = [n for n in body.graph.nodes if n.op == "Constant"]
    values = [v for n in constants for v in n.attributes.values()]
    assert 2.0 in [float(v.numpy().reshape(-1)[0]) for v in values if hasattr(v, "numpy")]


def test_an_input_that_the_call_leaves_out_is_absent_in_the_body() -> None:
    use = OpUse("Clip", "", 13, (ROW, None, TensorType("float32", ())), (ROW,), {}, opset=17)
    body = function_body(use)
    assert body is not None
    assert len(body.graph.inputs) == 2


def test_no_body_where_the_schema_has_none_or_its_operators_have_changed() -> None:
    assert not has_body("", "Conv", 11)
    assert not has_body("", "NoSuchOperator", 1)
    assert function_body(OpUse("Conv", "", 11, (ROW, ROW), (ROW,), {}, opset=17)) is None
    assert function_body(OpUse("Swish", "", 24, (ROW,), (ROW,), {}, opset=24)) is not None
    assert function_body(OpUse("Swish", "", 24, (ROW,), (ROW,), {}, opset=28)) is None
