"""Rows longer than a workgroup may walk are declined by number, never cut off in silence."""

from __future__ import annotations

import numpy as np
import pytest
from opcase import op_model, run_op
from opscope.engine.device.profile import DeviceProfile, Limits
from opscope.engine.ir.model import TensorType
from opscope.engine.ops import load_kernels
from opscope.engine.ops.product import LONGEST_SUM
from opscope.engine.ops.rows import LONGEST_ROW
from opscope.engine.ops.use import OpUse
from opscope.engine.plan.planner import make_plan
from opscope.engine.providers import OPSCOPE, Reason, Status, supports


def use_of(op: str, length: int, version: int, **attributes: object) -> OpUse:
    shape = (1, 2, length // 2) if op == "GroupNormalization" else (1, 1, length)
    kinds = [TensorType("float32", shape)]
    if op != "Softmax":
        kinds += [TensorType("float32", (1,))] * 2
    return OpUse(op, since_version=version, inputs=tuple(kinds), attributes=attributes)


@pytest.mark.parametrize(
    ("op", "version", "attributes"),
    [
        ("Softmax", 13, {}),
        ("LayerNormalization", 17, {}),
        ("InstanceNormalization", 6, {}),
        ("GroupNormalization", 21, {"num_groups": 1}),
    ],
)
def test_the_limit_is_told(op: str, version: int, attributes: dict[str, object]) -> None:
    assert supports(OPSCOPE, use_of(op, LONGEST_ROW, version, **attributes)).on_gpu
    verdict = supports(OPSCOPE, use_of(op, LONGEST_ROW + 2, version, **attributes))
    assert (verdict.status, verdict.reason) == (Status.HOST, Reason.SHAPE)
    assert f"{LONGEST_ROW + 2:,}" in verdict.detail


@pytest.mark.parametrize(
    ("op", "shape", "attributes"),
    [("MatMul", (1, -1), {}), ("Gemm", (1, -1), {}), ("Gemm", (-1, 1), {"transA": 1})],
)
def test_a_product_of_too_many_terms_is_told(
    op: str, shape: tuple[int, ...], attributes: dict[str, object]
) -> None:
    for terms, on_gpu in ((LONGEST_SUM, True), (LONGEST_SUM + 1, False)):
        a = TensorType("float32", tuple(terms if n < 0 else n for n in shape))
        b = TensorType("float32", (terms, 1))
        verdict = supports(OPSCOPE, OpUse(op, inputs=(a, b), attributes=attributes))
        assert verdict.on_gpu is on_gpu
    assert verdict.reason is Reason.SHAPE
    assert f"{LONGEST_SUM + 1:,}" in verdict.detail


@pytest.mark.slow
def test_the_longest_sum_is_right() -> None:
    ones = np.ones((1, LONGEST_SUM), np.float32)
    (y,) = run_op("MatMul", [ones, ones.T.copy()], opset=13)
    assert y[0, 0] == LONGEST_SUM  # below 2^24: exact


@pytest.mark.slow
def test_the_longest_row_is_right_to_its_end() -> None:
    x = np.zeros((1, LONGEST_ROW), np.float32)
    x[0, -1] = 20
    (y,) = run_op("Softmax", [x], {"axis": 1}, opset=17)
    want = np.exp(20.0) / (np.exp(20.0) + LONGEST_ROW - 1)
    np.testing.assert_allclose(y[0, -1], want, rtol=1e-4)


def test_long_rows_that_lie_across_others_are_shared() -> None:
    limits = Limits(max_buffer_size=1 << 32, max_storage_buffer_binding_size=1 << 32)
    x = np.broadcast_to(np.float32(0), (1, 30_000, 4_100))  # alone: 90,000 turns
    model, feeds = op_model("Softmax", [x], {"axis": 1}, opset=17)
    plan = make_plan(model, feeds, DeviceProfile(limits=limits), load_kernels())
    assert [d.shader for d in plan.dispatches] == ["softmax_group"]
