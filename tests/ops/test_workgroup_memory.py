"""No kernel counts on workgroup memory that starts as zero (see tests/support/poison.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from opcase import op_model
from opscope.engine.host.evaluate import evaluate_model
from poison import poison, poisoned

RNG = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def recurrent(op: str, gates: int, hidden: int, **attributes: Any) -> tuple[Any, ...]:
    weights = [normal(1, gates * hidden, 3), normal(1, gates * hidden, hidden)]
    return op, [normal(4, 2, 3), *weights], {"hidden_size": hidden, **attributes}


CASES = {
    "gru sequence": recurrent("GRU", 3, 5),
    "gru sequence, reset after": recurrent("GRU", 3, 5, linear_before_reset=1),
    "gru steps": recurrent("GRU", 3, 131),
    "gru steps, reset after": recurrent("GRU", 3, 131, linear_before_reset=1),
    "lstm sequence": recurrent("LSTM", 4, 5),
    "lstm steps": recurrent("LSTM", 4, 131),
    "matmul tiled": ("MatMul", [normal(67, 35), normal(35, 70)], {}),
    "matmul dot": ("MatMul", [normal(1, 300), normal(300, 5)], {}),
    "conv tiled": ("Conv", [normal(1, 19, 13, 11), normal(33, 19, 3, 3)], {}),
    "conv transposed": ("ConvTranspose", [normal(1, 19, 40), normal(19, 33, 4)], {"strides": [2]}),
    "global pool": ("GlobalAveragePool", [normal(1, 3, 37, 11)], {}),
    "reduce": ("ReduceMax", [normal(3, 1001)], {"axes": [1]}),
    "softmax": ("Softmax", [normal(3, 1001)], {"axis": 1}),
    "normalize": ("LayerNormalization", [normal(3, 1001), normal(1001)], {}),
    "transpose": ("Transpose", [normal(37, 41)], {"perm": [1, 0]}),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_earlier_kernel_left_does_not_matter(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    op, inputs, attributes = CASES[name]
    constants = range(1, len(inputs)) if op in ("GRU", "LSTM") else ()
    model, feeds = op_model(op, inputs, attributes, opset=17, constants=tuple(constants))
    got = poison(monkeypatch).run(model, feeds, fallback="error").outputs["y0"]
    np.testing.assert_allclose(got, evaluate_model(model, feeds)["y0"], rtol=2e-4, atol=2e-5)


def test_the_poison_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "var<workgroup> a: array<f32, 4>;\n@compute @workgroup_size(1)\n"
    code += "fn main(@builtin(local_invocation_index) local: u32) {\n  b[0] = a[3];\n}\n"
    assert "a[p] = bitcast<f32>(0x7fc00000u" in poisoned(code)
