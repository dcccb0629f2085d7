"""The guards on coverage: where GRU is placed, and the proof that it really ran there."""

from __future__ import annotations

import numpy as np
import opscope.shaders as shaders
import pytest
from onnx import TensorProto, helper
from opcase import op_model
from opscope.engine.diagnostics import Severity
from opscope.engine.errors import CoverageError, NodeError, NotCoveredError
from opscope.engine.host import table
from opscope.engine.host.evaluate import evaluate_model
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model, TensorType
from opscope.engine.ops import load_kernels
from opscope.engine.ops.use import OpUse
from opscope.engine.providers import (
    HOST,
    OPSCOPE,
    KernelProvider,
    Reason,
    Status,
    assert_covered,
    enable,
    op_use,
    partition,
    supports,
)
from opscope.engine.session import Session

WITHOUT_GRU = KernelProvider(load_kernels().without("GRU"))


def gru_case() -> tuple[Model, dict[str, np.ndarray]]:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((6, 2, 3)).astype(np.float32)
    w = rng.standard_normal((1, 15, 3)).astype(np.float32)
    r = rng.standard_normal((1, 15, 5)).astype(np.float32)
    return op_model("GRU", [x, w, r], {"hidden_size": 5}, constants=(1, 2), opset=14, name="rnn")


def test_gru_is_on_the_gpu_while_its_kernel_is_registered() -> None:
    assert supports(OPSCOPE, "GRU").status is Status.GPU
    assert partition(OPSCOPE, ["GRU", "ConvTranspose"], strict=True).gpu == ("GRU", "ConvTranspose")


def test_without_it_strict_partition_raises_and_names_the_node() -> None:
    model, _ = gru_case()
    with pytest.raises(
        NotCoveredError, match=r"'rnn' \(GRU\): Opscope has no GPU kernel"
    ) as caught:
        partition(WITHOUT_GRU, model, strict=True)
    assert isinstance(caught.value, NotImplementedError)


def test_lenient_partition_reports_an_error_for_recurrent_nodes_a_warning_for_others() -> None:
    found = partition(WITHOUT_GRU, ["GRU", "Relu", "NonZero"])
    assert (found.gpu, found.host) == (("Relu",), ("GRU", "NonZero"))
    severities = {d.op: d.severity for d in found.diagnostics}
    assert severities == {"GRU": Severity.ERROR, "NonZero": Severity.WARNING}


def test_assert_covered_catches_the_gap() -> None:
    assert_covered(OPSCOPE, ["GRU", "LSTM", "ConvTranspose"])
    with pytest.raises(CoverageError, match="GRU") as caught:
        assert_covered(WITHOUT_GRU, ["LSTM", "GRU"])
    assert isinstance(caught.value, AssertionError)
    assert "LSTM" not in str(caught.value)


def test_what_if_is_a_copy() -> None:
    supposed = enable(WITHOUT_GRU, "GRU")
    assert supports(supposed, "GRU").status is Status.GPU
    assert supports(WITHOUT_GRU, "GRU").status is Status.HOST
    assert supports(enable(supposed, "NonZero"), "GRU").status is Status.GPU


def test_reasons_are_structured() -> None:
    double = OpUse("Relu", since_version=14, inputs=(TensorType("float64", (2,)),))
    assert supports(OPSCOPE, double).reason is Reason.TYPE
    assert supports(OPSCOPE, "NonZero").reason is Reason.NO_KERNEL
    assert supports(OPSCOPE, "com.example::Thing").status is Status.UNSUPPORTED
    odd = OpUse("Relu", since_version=14, attributes={"slope": 1.0})
    assert supports(OPSCOPE, odd).reason is Reason.ATTRIBUTE


def test_the_host_has_gru_as_the_yardstick() -> None:
    assert supports(HOST, "GRU").status is Status.HOST
    model, feeds = gru_case()
    ours = Session().run(model, feeds, fallback="error").outputs["y0"]
    np.testing.assert_allclose(ours, evaluate_model(model, feeds)["y0"], rtol=1e-5, atol=1e-6)


def test_the_gru_ran_on_the_gpu_not_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = gru_case()
    want = evaluate_model(model, feeds)["y0"]

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the host's GRU was called")

    entries = table._TABLE["", "GRU"]
    broken = [type(e)(refuse, *[getattr(e, n) for n in list(e.__slots__)[1:]]) for e in entries]
    monkeypatch.setitem(table._TABLE, ("", "GRU"), broken)
    with pytest.raises(NodeError, match=r"the host.s GRU"):
        evaluate_model(model, feeds)
    got = Session().run(model, feeds, fallback="error").outputs["y0"]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_a_mutated_kernel_gives_a_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = gru_case()
    want = evaluate_model(model, feeds)["y0"]
    plan = Session().plan(model, feeds, fallback="error")
    used = {d.shader for d in plan.dispatches if d.shader.startswith("gru")}
    original = shaders.compose

    def mutated(shader: str, variables: dict[str, object]) -> str:
        code = original(shader, variables)
        if shader not in used:
            return code
        changed = code.replace("safe_tanh(", "sigmoid(").replace("fn sigmoid(", "fn safe_tanh(", 1)
        assert changed != code
        return changed

    monkeypatch.setattr("opscope.engine.device.pipelines.compose", mutated)
    got = Session().run(model, feeds, fallback="error").outputs["y0"]
    assert np.abs(got - want).max() > 0.01


def test_a_graph_with_a_subgraph_can_be_partitioned() -> None:
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    end = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
    then = helper.make_graph([helper.make_node("Neg", ["x"], ["t"])], "then", [], [end])
    node = helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=then)
    inputs = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2]),
        helper.make_tensor_value_info("c", TensorProto.BOOL, []),
    ]
    graph = helper.make_graph([node], "g", inputs, [out])
    model = load_bytes(helper.make_model(graph).SerializeToString())
    assert partition(OPSCOPE, model).host == ("If #0",)


def test_an_operator_use_is_at_its_newest_version() -> None:
    assert op_use("GRU").since_version == 22
    assert op_use("GRU", opset=14).since_version == 14
