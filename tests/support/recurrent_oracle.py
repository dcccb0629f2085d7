"""GRU and LSTM in f64 numpy, straight from the ONNX equations, one row at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray
Function = Callable[[Array], Array]

# name -> (function of x, alpha, beta), default alpha, default beta (None: it takes none)
ACTIVATIONS: Mapping[str, tuple[Callable[..., Array], float | None, float | None]] = {
    "Relu": (lambda x, a, b: np.maximum(x, 0), None, None),
    "Tanh": (lambda x, a, b: np.tanh(x), None, None),
    "Sigmoid": (lambda x, a, b: 1 / (1 + np.exp(-x)), None, None),
    "Affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "LeakyRelu": (lambda x, a, b: np.where(x >= 0, x, a * x), 0.01, None),
    "ThresholdedRelu": (lambda x, a, b: np.where(x >= a, x, 0), 1.0, None),
    "ScaledTanh": (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    "HardSigmoid": (lambda x, a, b: np.minimum(np.maximum(a * x + b, 0), 1), 0.2, 0.5),
    "Elu": (lambda x, a, b: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))), 1.0, None),
    "Softsign": (lambda x, a, b: x / (1 + np.abs(x)), None, None),
    "Softplus": (lambda x, a, b: np.logaddexp(0, x), None, None),
}


def gru(inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> list[Array]:
    """Y and Y_h in f64; ``inputs`` as the node has them (None: absent)."""
    return _recurrent(inputs, attributes, 3, ("Sigmoid", "Tanh"), _gru_step)


def lstm(inputs: Sequence[Array | None], attributes: Mapping[str, Any]) -> list[Array]:
    """Y, Y_h and Y_c in f64."""
    return _recurrent(inputs, attributes, 4, ("Sigmoid", "Tanh", "Tanh"), _lstm_step)


def _gru_step(
    x: Array, h: Array, c: Array, weights: Any, functions: Sequence[Function], attributes: Any
) -> tuple[Array, Array]:
    w, r, wb, rb, _ = weights
    f, g = functions
    size = len(h)
    (wz, wr, wh), (rz, rr, rh) = np.split(w, 3), np.split(r, 3)
    (wbz, wbr, wbh), (rbz, rbr, rbh) = np.split(wb, 3), np.split(rb, 3)
    assert wz.shape[0] == size
    z = f(wz @ x + rz @ h + wbz + rbz)
    reset = f(wr @ x + rr @ h + wbr + rbr)
    if attributes.get("linear_before_reset", 0):
        n = g(wh @ x + reset * (rh @ h + rbh) + wbh)
    else:
        n = g(wh @ x + rh @ (reset * h) + rbh + wbh)
    return (1 - z) * n + z * h, c


def _lstm_step(
    x: Array, h: Array, c: Array, weights: Any, functions: Sequence[Function], attributes: Any
) -> tuple[Array, Array]:
    w, r, wb, rb, p = weights
    f, g, last = functions
    i, o, forget, cell = np.split(w @ x + r @ h + wb + rb, 4)
    pi, po, pf = np.split(p, 3)
    i = f(i + pi * c)
    forget = 1 - i if attributes.get("input_forget", 0) else f(forget + pf * c)
    c = forget * c + i * g(cell)
    o = f(o + po * c)
    return o * last.unclipped(c), c  # type: ignore[attr-defined]


class _Activation:
    """An activation whose input is clipped, and the same without the clip."""

    def __init__(self, name: str, alpha: float, beta: float, clip: float | None) -> None:
        self._call, self._alpha, self._beta, self._clip = name, alpha, beta, clip

    def unclipped(self, x: Array) -> Array:
        return ACTIVATIONS[self._call][0](x, self._alpha, self._beta)

    def __call__(self, x: Array) -> Array:
        return self.unclipped(x if self._clip is None else np.clip(x, -self._clip, self._clip))


def _functions(
    attributes: Mapping[str, Any], defaults: Sequence[str], directions: int
) -> list[list[_Activation]]:
    names = attributes.get("activations") or list(defaults) * directions
    spelled = {name.lower(): name for name in ACTIVATIONS}
    alphas = list(attributes.get("activation_alpha", ()))
    betas = list(attributes.get("activation_beta", ()))
    found = []
    for name in names:
        known = spelled[name.lower()]
        _, alpha, beta = ACTIVATIONS[known]
        alpha = alphas.pop(0) if alpha is not None and alphas else alpha
        beta = betas.pop(0) if beta is not None and betas else beta
        found.append(_Activation(known, alpha or 0.0, beta or 0.0, attributes.get("clip")))
    return [found[i : i + len(defaults)] for i in range(0, len(found), len(defaults))]


def _recurrent(
    inputs: Sequence[Array | None],
    attributes: Mapping[str, Any],
    gates: int,
    defaults: Sequence[str],
    step: Callable[..., tuple[Array, Array]],
) -> list[Array]:
    given = [None if a is None else np.asarray(a, np.float64) for a in inputs]
    x, w, r, bias, lengths, h0, c0, peepholes = (*given, *(None,) * (8 - len(given)))
    assert x is not None
    assert w is not None
    assert r is not None
    batch_first = attributes.get("layout", 0)
    if batch_first:
        x = x.swapaxes(0, 1)
        h0 = None if h0 is None else h0.swapaxes(0, 1)
        c0 = None if c0 is None else c0.swapaxes(0, 1)
    (steps, batch, _), directions, hidden = x.shape, w.shape[0], r.shape[2]
    functions = _functions(attributes, defaults, directions)
    y = np.zeros((steps, directions, batch, hidden))
    y_h, y_c = np.zeros((2, directions, batch, hidden))
    for d in range(directions):
        backwards = d == 1 or attributes.get("direction") == "reverse"
        wb, rb = np.zeros((2, gates * hidden)) if bias is None else np.split(bias[d], 2)
        p = np.zeros(3 * hidden) if peepholes is None else peepholes[d]
        for n in range(batch):
            h = np.zeros(hidden) if h0 is None else h0[d, n]
            c = np.zeros(hidden) if c0 is None else c0[d, n]
            length = steps if lengths is None else int(lengths[n])
            for t in reversed(range(length)) if backwards else range(length):
                weights = (w[d], r[d], wb, rb, p)
                h, c = step(x[t, n], h, c, weights, functions[d], attributes)
                y[t, d, n] = h
            y_h[d, n], y_c[d, n] = h, c
    if batch_first:
        y, y_h, y_c = y.transpose(2, 0, 1, 3), y_h.swapaxes(0, 1), y_c.swapaxes(0, 1)
    return [y, y_h, y_c][: 2 if gates == 3 else 3]
