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

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..ops.use import OpUse
from .dtypes import is_half
from .elementwise import sigmoid, softplus
from .table import host

Array = np.ndarray
Activation = Callable[[Array], Array]
Step = Callable[[Array, tuple[Array, ...]], tuple[Array, ...]]

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
# name -> (function of x, alpha, beta; default alpha or None if unused; default beta or None)
_ACTIVATIONS: dict[str, tuple[Callable[[Array, float, float], Array], float | None, float | None]]
_ACTIVATIONS = {
    "relu": (lambda x, a, b: np.maximum(x, 0), None, None),
    "tanh": (lambda x, a, b: np.tanh(x), None, None),
    "sigmoid": (lambda x, a, b: sigmoid(x), None, None),
    "softsign": (lambda x, a, b: x / (1 + np.abs(x)), None, None),
    "softplus": (lambda x, a, b: softplus(x), None, None),
    "affine": (lambda x, a, b: a * x + b, 1.0, 0.0),
    "leakyrelu": (lambda x, a, b: np.where(x >= 0, x, a * x), 0.01, None),
    "thresholdedrelu": (lambda x, a, b: np.where(x < a, 0, x), 1.0, None),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), 1.0, 1.0),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0, 1), 0.2, 0.5),
    "elu": (lambda x, a, b: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))), 1.0, None),
}


def activations_of(
    use: OpUse, defaults: tuple[str, ...], directions: int
) -> list[list[Activation]]:
    """The activations of each direction, bound to their alpha and beta, then to clip.

    Alphas and betas are consumed in the order of the activations, by those that have one.
    """
    names = list(use.attr("activations") or defaults * directions)
    wanted = len(defaults) * directions
    if use.op_type == "RNN" and names == ["Tanh", "Tanh"]:
        names = names[:wanted]  # the attribute's default has two, for either direction
    if len(names) != wanted:
        raise use.error(f"{len(names)} activations are given; {wanted} are needed")
    alphas = list(use.attr("activation_alpha") or ())
    betas = list(use.attr("activation_beta") or ())
    clip = use.attr("clip")
    step = len(defaults)
    bound: list[Activation] = []
    for index, name in enumerate(names):
        if str(name).lower() not in _ACTIVATIONS:
            raise use.error(f"the activation {name!r} is unknown")
        function, alpha, beta = _ACTIVATIONS[str(name).lower()]
        a = 0.0 if alpha is None else alphas.pop(0) if alphas else alpha
        b = 0.0 if beta is None else betas.pop(0) if betas else beta
        of_gate = index % step < 2  # an LSTM's third, h(C), takes the cell as it is
        bound.append(_bind(function, a, b, clip if of_gate else None))
    return [bound[i : i + step] for i in range(0, wanted, step)]


def _bind(
    function: Callable[[Array, float, float], Array], a: float, b: float, clip: float | None
) -> Activation:
    if clip is None or clip == 0:
        return lambda x: function(x, a, b)
    return lambda x: function(np.clip(x, -clip, clip), a, b)


@dataclass(frozen=True)
class Frame:
    """What the three operators have in common, in the layout (seq, batch, ...).

    Attributes:
        x: (seq, batch, input).
        w, r: (dir, gates*hidden, input) and (dir, gates*hidden, hidden).
        wb, rb: (dir, gates*hidden): the two halves of B.
        lens: (batch,) steps of each row.
        reverse: per direction, whether it runs backwards.
        batch_major: layout 1.
    """

    use: OpUse
    x: Array
    w: Array
    r: Array
    wb: Array
    rb: Array
    lens: Array
    reverse: tuple[bool, ...]
    hidden: int
    dtype: np.dtype
    batch_major: bool

    def initial(self, state: Array | None, name: str) -> Array:
        """The initial state, (dir, batch, hidden); zeros where it is absent."""
        shape = (len(self.reverse), self.x.shape[1], self.hidden)
        if state is None:
            return np.zeros(shape, self.x.dtype)
        if self.batch_major:
            state = state.swapaxes(0, 1)
        if state.shape != shape:
            raise self.use.error(f"{name} is {list(state.shape)}; {list(shape)} is needed")
        return state.astype(self.x.dtype)

    def run(self, direction: int, state: tuple[Array, ...], step: Step) -> tuple[Array, ...]:
        """All steps of one direction: (Y of shape (seq, batch, hidden), final state...)."""
        steps, batch = self.x.shape[:2]
        projected = self.x @ self.w[direction].T + self.wb[direction]
        y = np.zeros((steps, batch, self.hidden), self.x.dtype)
        rows = np.arange(batch)
        even = bool(np.all(self.lens == steps))
        for count in range(steps if even else int(self.lens.max(initial=0))):
            at = self.lens - 1 - count if self.reverse[direction] else np.full(batch, count)
            if even:
                position = steps - 1 - count if self.reverse[direction] else count
                state = step(projected[position], state)
                y[position] = state[0]
                continue
            live = count < self.lens
            at = np.where(live, at, 0)
            new = step(projected[at, rows], state)
            keep = live[:, None]
            state = tuple(np.where(keep, n, s) for n, s in zip(new, state, strict=True))
            y[at[live], rows[live]] = new[0][live]
        return (y, *state)

    def outputs(self, found: list[tuple[Array, ...]]) -> tuple[Array, ...]:
        """Y and the final states of all directions, in the node's layout and type."""
        y = np.stack([f[0] for f in found], 1)  # (seq, dir, batch, hidden)
        states = [np.stack([f[i] for f in found]) for i in range(1, len(found[0]))]
        if self.batch_major:
            y = y.transpose(2, 0, 1, 3)
            states = [s.swapaxes(0, 1) for s in states]
        return tuple(a.astype(self.dtype) for a in (y, *states))


def frame(
    use: OpUse,
    gates: int,
    x: Array,
    w: Array,
    r: Array,
    b: Array | None,
    sequence_lens: Array | None,
) -> Frame:
    """Check the shapes that the three operators share; NodeError names the numbers."""
    layout = use.attr("layout", 0)
    direction = use.attr("direction", "forward")
    reverse = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}.get(
        direction
    )
    if layout not in (0, 1) or reverse is None:
        raise use.error(f"layout {layout} or direction {direction!r} is unknown")
    dtype = x.dtype
    wide = np.dtype(np.float32) if is_half(dtype) else dtype
    x, w, r = (a.astype(wide) for a in (x, w, r))
    if layout:
        x = x.swapaxes(0, 1)
    hidden = r.shape[-1]
    shapes = {
        "W": (w.shape, (len(reverse), gates * hidden, x.shape[-1])),
        "R": (r.shape, (len(reverse), gates * hidden, hidden)),
        "B": (() if b is None else b.shape, (len(reverse), 2 * gates * hidden)),
        "hidden_size": (use.attr("hidden_size", hidden), hidden),
    }
    for name, (actual, wanted) in shapes.items():
        if actual != wanted and not (name == "B" and b is None):
            raise use.error(f"{name} is {actual}; {wanted} is needed")
    bias = np.zeros((len(reverse), 2 * gates * hidden), wide) if b is None else b.astype(wide)
    steps, batch = x.shape[:2]
    lens = np.full(batch, steps) if sequence_lens is None else sequence_lens.astype(np.int64)
    if lens.shape != (batch,):
        raise use.error(f"sequence_lens has shape {list(lens.shape)}; [{batch}] is needed")
    for row, length in enumerate(lens.tolist()):
        if not 0 <= length <= steps:
            raise use.error(f"sequence_lens[{row}] is {length}, but X has {steps} steps")
    half = gates * hidden
    wb, rb = bias[:, :half], bias[:, half:]
    return Frame(use, x, w, r, wb, rb, lens, reverse, hidden, dtype, bool(layout))


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
