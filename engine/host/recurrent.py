"""RNN, GRU and LSTM of ONNX 1 to 22, complete: the yardstick of the GPU's kernels.

GRU, gates in the order z r h, with X (seq, batch, input), W (dir, 3*hidden, input), R, B (dir,
6*hidden)::

    z = f(X Wz' + H Rz' + Wbz + Rbz)        r = f(X Wr' + H Rr' + Wbr + Rbr)
    h = g(X Wh' + (r . H) Rh' + Rbh + Wbh)       linear_before_reset = 0
    h = g(X Wh' + r . (H Rh' + Rbh) + Wbh)       otherwise
    H = (1 - z) . h + z . H

LSTM, gates in the order i o f c, with peepholes P::

    i = f(X Wi' + H Ri' + Pi . C + Wbi + Rbi)    f = f(X Wf' + H Rf' + Pf . C + Wbf + Rbf)
    c = g(X Wc' + H Rc' + Wbc + Rbc)             C = f . C + i . c     (input_forget: f = 1 - i)
    o = f(X Wo' + H Ro' + Po . C + Wbo + Rbo)    H = o . h(C)

A row ends at its own ``sequence_lens``: the reverse direction starts there, Y is 0 past it, and the
last state is the one after the row's last step. ``clip`` bounds what enters the activation of a
gate, not the cell that enters h (as ONNX Runtime and OpenVINO have it).
"""

from __future__ import annotations

import numpy as np

from ..ops.use import OpUse
from .recurrent_activations import Activation, activations_of
from .recurrent_frame import frame
from .table import host

Array = np.ndarray

_COMMON = (
    "activation_alpha",
    "activation_beta",
    "activations",
    "clip",
    "direction",
    "hidden_size",
    "layout",
    "output_sequence",  # of versions 1 to 6: Y exists where it is wanted, which is so anyway
)


@host("GRU", versions=(1, 22), attributes=(*_COMMON, "linear_before_reset"))
def gru(
    use: OpUse,
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    sequence_lens: Array | None = None,
    initial_h: Array | None = None,
) -> tuple[Array, ...]:
    """Y and Y_h."""
    f = frame(use, 3, x, w, r, b, sequence_lens)
    h0 = f.initial(initial_h, "initial_h")
    linear = bool(use.attr("linear_before_reset", 0))
    found = []
    for d, (gate, candidate) in enumerate(activations_of(use, ("Sigmoid", "Tanh"), len(f.reverse))):
        rz, rh = f.r[d][: 2 * f.hidden].T, f.r[d][2 * f.hidden :].T
        bz, bh = f.rb[d][: 2 * f.hidden], f.rb[d][2 * f.hidden :]

        def step(
            xs: Array,
            state: tuple[Array, ...],
            *,
            rz: Array = rz,
            rh: Array = rh,
            bz: Array = bz,
            bh: Array = bh,
            gate: Activation = gate,
            candidate: Activation = candidate,
        ) -> tuple[Array, ...]:
            (h,) = state
            n = h.shape[1]
            zr = gate(xs[:, : 2 * n] + h @ rz + bz)
            z, reset = zr[:, :n], zr[:, n:]
            inner = reset * (h @ rh + bh) if linear else (reset * h) @ rh + bh
            return ((1 - z) * candidate(xs[:, 2 * n :] + inner) + z * h,)

        found.append(f.run(d, (h0[d],), step))
    return f.outputs(found)


@host("RNN", versions=(1, 22), attributes=_COMMON)
def rnn(
    use: OpUse,
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    sequence_lens: Array | None = None,
    initial_h: Array | None = None,
) -> tuple[Array, ...]:
    """Y and Y_h of H = f(X W' + H R' + Wb + Rb)."""
    f = frame(use, 1, x, w, r, b, sequence_lens)
    h0 = f.initial(initial_h, "initial_h")
    found = []
    for d, (activation,) in enumerate(activations_of(use, ("Tanh",), len(f.reverse))):

        def step(
            xs: Array, state: tuple[Array, ...], *, d: int = d, act: Activation = activation
        ) -> tuple[Array, ...]:
            return (act(xs + state[0] @ f.r[d].T + f.rb[d]),)

        found.append(f.run(d, (h0[d],), step))
    return f.outputs(found)


@host("LSTM", versions=(1, 22), attributes=(*_COMMON, "input_forget"))
def lstm(
    use: OpUse,
    x: Array,
    w: Array,
    r: Array,
    b: Array | None = None,
    sequence_lens: Array | None = None,
    initial_h: Array | None = None,
    initial_c: Array | None = None,
    p: Array | None = None,
) -> tuple[Array, ...]:
    """Y, Y_h and Y_c."""
    f = frame(use, 4, x, w, r, b, sequence_lens)
    h0, c0 = f.initial(initial_h, "initial_h"), f.initial(initial_c, "initial_c")
    shape = (len(f.reverse), 3 * f.hidden)
    if p is not None and p.shape != shape:
        raise use.error(f"P is {list(p.shape)}; {list(shape)} is needed")
    peephole = np.zeros(shape, f.x.dtype) if p is None else p.astype(f.x.dtype)
    coupled = bool(use.attr("input_forget", 0))
    found = []
    for d, (gate, candidate, output) in enumerate(
        activations_of(use, ("Sigmoid", "Tanh", "Tanh"), len(f.reverse))
    ):

        def step(
            xs: Array,
            state: tuple[Array, ...],
            *,
            d: int = d,
            gate: Activation = gate,
            candidate: Activation = candidate,
            output: Activation = output,
        ) -> tuple[Array, ...]:
            h, c = state
            pi, po, pf = np.split(peephole[d], 3)
            si, so, sf, sc = np.split(xs + h @ f.r[d].T + f.rb[d], 4, 1)
            i = gate(si + pi * c)
            forget = 1 - i if coupled else gate(sf + pf * c)
            c = forget * c + i * candidate(sc)
            return gate(so + po * c) * output(c), c

        found.append(f.run(d, (h0[d], c0[d]), step))
    return f.outputs(found)
