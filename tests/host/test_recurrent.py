"""GRU, LSTM and RNN against plain loops over one row at a time, written from the ONNX text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from opscope.engine.errors import NodeError
from opscope.engine.host.evaluate import evaluate
from opscope.engine.ir.model import TensorType
from opscope.engine.ops.use import OpUse

Array = np.ndarray
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STEPS, BATCH, INPUT, HIDDEN = 5, 3, 2, 4


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "Sigmoid": sigmoid,
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "LeakyRelu": lambda x: np.where(x < 0, 0.3 * x, x),
    "HardSigmoid": lambda x: np.clip(0.4 * x + 0.6, 0, 1),
    "Softsign": lambda x: x / (1 + np.abs(x)),
}


def one_row(op: str, xs: Array, w: Array, r: Array, b: Array, state: list[Array], p: Array, **how):
    """(outputs of one row in one direction, final state), each step spelled out, in float64."""
    acts = [FUNCTIONS[a] for a in how["activations"]]
    limit = how.get("clip") or np.inf

    def gate(k: int, x: Array) -> Array:
        return acts[k](np.clip(x, -limit, limit))

    g = GATES[op]
    ws, rs = np.split(w, g), np.split(r, g)
    wb, rb = np.split(b[: g * HIDDEN], g), np.split(b[g * HIDDEN :], g)
    ys = []
    for x in xs:
        h = state[0]

        def pre(i: int, x: Array = x, h: Array = h) -> Array:
            return ws[i] @ x + rs[i] @ h + wb[i] + rb[i]

        if op == "RNN":
            state = [gate(0, pre(0))]
        elif op == "GRU":
            z, reset = gate(0, pre(0)), gate(0, pre(1))
            if how.get("linear_before_reset"):
                new = gate(1, ws[2] @ x + wb[2] + reset * (rs[2] @ h + rb[2]))
            else:
                new = gate(1, ws[2] @ x + wb[2] + rs[2] @ (reset * h) + rb[2])
            state = [(1 - z) * new + z * h]
        else:
            c, (pi, po, pf) = state[1], np.split(p, 3)
            i = gate(0, pre(0) + pi * c)
            f = 1 - i if how.get("input_forget") else gate(0, pre(2) + pf * c)
            c = f * c + i * gate(1, pre(3))
            state = [gate(0, pre(1) + po * c) * acts[2](c), c]
        ys.append(state[0])
    return ys, state


def expected(op: str, arrays: dict[str, Array], lens: Array, directions: list[str], **how: Any):
    count = 2 if op == "LSTM" else 1
    y = np.zeros((STEPS, len(directions), BATCH, HIDDEN))
    last = np.zeros((count, len(directions), BATCH, HIDDEN))
    per = len(how["activations"]) // len(directions)
    for d, direction in enumerate(directions):
        mine = {**how, "activations": how["activations"][d * per : (d + 1) * per]}
        for n in range(BATCH):
            xs = arrays["X"][: lens[n], n]
            xs = xs[::-1] if direction == "reverse" else xs
            state = [arrays[k][d, n] for k in ("h", "c")[:count]]
            ys, state = one_row(
                op,
                xs,
                arrays["W"][d],
                arrays["R"][d],
                arrays["B"][d],
                state,
                arrays["P"][d],
                **mine,
            )
            ys = ys[::-1] if direction == "reverse" else ys
            y[: lens[n], d, n] = np.array(ys).reshape(-1, HIDDEN)
            for k in range(count):
                last[k, d, n] = state[k]
    return [y, *last]


DEFAULT = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"clip": 0.3},
    {"lens": (5, 2, 3)},
    {"lens": (1, 5, 4), "clip": 0.5, "given": ("LeakyRelu", "Softsign", "HardSigmoid")},
    {"layout": 1, "lens": (4, 1, 5)},
]
SPECIAL = {"GRU": {"linear_before_reset": 1}, "LSTM": {"input_forget": 1}, "RNN": {}}


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", list(GATES))
def test_every_variant(op: str, direction: str, special: bool) -> None:
    generator = np.random.default_rng(7)
    directions = ["forward", "reverse"] if direction == "bidirectional" else [direction]
    count, rows = len(directions), GATES[op] * HIDDEN
    shapes = {
        "X": (STEPS, BATCH, INPUT),
        "W": (count, rows, INPUT),
        "R": (count, rows, HIDDEN),
        "B": (count, 2 * rows),
        "h": (count, BATCH, HIDDEN),
        "c": (count, BATCH, HIDDEN),
        "P": (count, 3 * HIDDEN),
    }
    arrays = {k: generator.standard_normal(s) for k, s in shapes.items()}
    for variant in VARIANTS:
        lens = np.array(variant.get("lens", (STEPS,) * BATCH))
        names = variant.get("given", DEFAULT[op])[: len(DEFAULT[op])] * count
        how = {
            "activations": names,
            "clip": variant.get("clip"),
            **(SPECIAL[op] if special else {}),
        }
        attributes: dict[str, Any] = {"direction": direction, "hidden_size": HIDDEN}
        attributes.update({k: v for k, v in how.items() if k != "activations" and v is not None})
        if "given" in variant:
            attributes["activations"] = names
            attributes["activation_alpha"] = tuple(
                {"LeakyRelu": 0.3, "HardSigmoid": 0.4}[n] for n in names if n != "Softsign"
            )
            attributes["activation_beta"] = tuple(0.6 for n in names if n == "HardSigmoid")
        layout = variant.get("layout", 0)
        attributes["layout"] = layout
        swap = (lambda a: a.swapaxes(0, 1)) if layout else (lambda a: a)
        inputs = [swap(arrays["X"]), arrays["W"], arrays["R"], arrays["B"]]
        inputs += [lens.astype(np.int32) if "lens" in variant else None, swap(arrays["h"])]
        if op == "LSTM":
            inputs += [swap(arrays["c"]), arrays["P"]]
        use = OpUse(
            op,
            since_version=14,
            outputs=(TensorType("?"),) * (3 if op == "LSTM" else 2),
            attributes=attributes,
        )
        y, *states = expected(op, arrays, lens, directions, **how)
        wanted = [y.transpose(2, 0, 1, 3) if layout else y, *(swap(s) for s in states)]
        for got, exact in zip(evaluate(use, inputs), wanted, strict=True):
            np.testing.assert_allclose(got, exact, rtol=1e-10, atol=1e-12, err_msg=str(variant))


def gru(lens: list[int] | None = None, **attributes: Any) -> list[Array]:
    x = np.ones((STEPS, BATCH, INPUT), np.float32)
    w, r = np.ones((1, 12, INPUT), np.float32), np.ones((1, 12, HIDDEN), np.float32)
    use = OpUse("GRU", since_version=14, attributes=attributes, outputs=(TensorType("?"),) * 2)
    return evaluate(use, [x, w, r, None, None if lens is None else np.array(lens, np.int32)])


def test_an_empty_row_keeps_its_state_and_an_empty_batch_is_fine() -> None:
    y, last = gru([0, 5, 5])
    assert not y[:, :, 0].any()
    assert not last[:, 0].any()
    assert last[:, 1].all()


@pytest.mark.parametrize(
    ("attributes", "lens", "text"),
    [
        ({}, [5, 6, 5], r"sequence_lens\[1\] is 6, but X has 5 steps"),
        ({"hidden_size": 5}, None, "hidden_size is 5; 4 is needed"),
        ({"activations": ("Tanh",)}, None, "1 activations are given; 2"),
        ({"activations": ("Tanh", "Sine")}, None, "'Sine' is unknown"),
        ({"direction": "sideways"}, None, "sideways"),
        ({"linear_after_reset": 1}, None, "linear_after_reset"),
    ],
)
def test_refusals_name_the_numbers(attributes: Any, lens: Any, text: str) -> None:
    with pytest.raises(NodeError, match=text):
        gru(lens, **attributes)


def test_a_thresholded_relu_begins_at_alpha_and_keeps_nan() -> None:
    one = np.ones((1, 1, 1), np.float32)
    for value, want in ((1.0, 1.0), (0.99, 0.0), (np.nan, np.nan)):
        use = OpUse(
            "RNN",
            inputs=(TensorType("float32"),) * 3,
            attributes={"hidden_size": 1, "activations": ["ThresholdedRelu"]},
        )
        (y,) = evaluate(use, [np.float32(value) * one, one, 0 * one])
        np.testing.assert_array_equal(y.ravel(), np.float32(want))
