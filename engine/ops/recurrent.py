"""What GRU and LSTM share: attributes, shapes, lengths and activation functions of a node.

Follows the ONNX texts of GRU 1, 3, 7, 14, 22 and LSTM 1, 7, 14, 22. Where these leave a choice:

- alpha and beta go, in order, to the activations that take one (ORT does so too);
- a clip bounds the gates' inputs, not the cell that enters an LSTM's h (as in ORT and OpenVINO);
- a row of length 0 keeps its initial state: Y_h is the state after the last valid step;
- Affine and ScaledTanh, which ONNX has no operators for, default to alpha 1 and beta 0 or 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ir.model import TensorType
from ..providers.support import SUPPORTED, Reason, Support, refused
from .use import OpUse

X, W, R, B, SEQUENCE_LENS, INITIAL_H, INITIAL_C, P = range(8)
DIRECTIONS = ("forward", "reverse", "bidirectional")


@dataclass(frozen=True, slots=True)
class _Function:
    """An activation: its name in shaders/lib, and defaults of the parameters it takes."""

    name: str
    alpha: float | None = None
    beta: float | None = None


FUNCTIONS = {
    "relu": _Function("relu"),
    "tanh": _Function("tanh"),
    "sigmoid": _Function("sigmoid"),
    "affine": _Function("affine", 1.0, 0.0),
    "leakyrelu": _Function("leaky_relu", 0.01),
    "thresholdedrelu": _Function("relu_from_threshold", 1.0),
    "scaledtanh": _Function("scaled_tanh", 1.0, 1.0),
    "hardsigmoid": _Function("hard_sigmoid", 0.2, 0.5),
    "elu": _Function("elu", 1.0),
    "softsign": _Function("softsign"),
    "softplus": _Function("softplus"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What sets a GRU and an LSTM apart.

    Attributes:
        gates: number of gates, in the order of W's rows.
        default: activations of one direction.
        states: outputs after Y: h, and an LSTM's c.
    """

    gates: int
    default: tuple[str, ...]
    states: int


GRU = Cell(3, ("Sigmoid", "Tanh"), 1)
LSTM = Cell(4, ("Sigmoid", "Tanh", "Tanh"), 2)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A GRU or LSTM node with concrete shapes.

    Attributes:
        steps, batch, inputs, hidden: T, batch rows, input size, hidden size.
        directions: 2 when bidirectional, else 1.
        reverse: the only direction runs backwards.
        batch_first: layout 1: X is (batch, T, input), Y (batch, T, directions, hidden).
        clip: bound of the gates' inputs, 0 for none.
        functions: per direction the WGSL expressions in ``x`` of f, g (and h).
        lengths: steps of each row where ``sequence_lens`` is given: (batch,) int32.
    """

    cell: Cell
    steps: int
    batch: int
    inputs: int
    hidden: int
    directions: int
    reverse: bool
    batch_first: bool
    clip: float
    functions: tuple[tuple[str, ...], ...]
    lengths: np.ndarray | None

    @property
    def multiply_adds_per_step(self) -> int:
        """Of the recurrent product of one batch row in all directions."""
        return self.directions * self.cell.gates * self.hidden * self.hidden

    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of Y, Y_h (and Y_c)."""
        t, d, b, h = self.steps, self.directions, self.batch, self.hidden
        y, state = ((b, t, d, h), (b, d, h)) if self.batch_first else ((t, d, b, h), (d, b, h))
        return (y, *(state,) * self.cell.states)


def check_attributes(use: OpUse, cell: Cell) -> Support:
    """Refuse attribute values that no version of the operator defines."""
    directions = _directions(use)
    if directions == 0:
        return _bad(use, "direction", f"must be one of {', '.join(DIRECTIONS)}")
    for flag in ("layout", "output_sequence", "input_forget"):
        if use.attr(flag, 0) not in (0, 1):
            return _bad(use, flag, "must be 0 or 1")
    clip = use.attr("clip")
    if clip is not None and not (math.isfinite(clip) and clip > 0):
        return _bad(use, "clip", "must be finite and positive")
    names = _names(use, cell, directions)
    if len(names) != len(cell.default) * directions:
        return _bad(use, "activations", f"must name {len(cell.default) * directions} functions")
    for name in names:
        if name.lower() not in FUNCTIONS:
            return _bad(use, "activations", f"names {name!r}, which ONNX does not define")
    for key, takers in zip(("activation_alpha", "activation_beta"), _takers(names), strict=True):
        values = tuple(use.attr(key, ()))
        if not all(math.isfinite(value) for value in values):
            return _bad(use, key, "must be finite")
        by_position = len(values) == len(names) and tuple(values[i] for i in takers)
        if len(values) > len(takers) and by_position != values[: len(takers)]:
            return _bad(use, key, f"must have a value per function that takes one ({len(takers)})")
    return SUPPORTED


def read(use: OpUse, cell: Cell) -> Recurrence:
    """The node with its concrete shapes.

    Raises:
        NodeError: shapes, attributes and lengths contradict each other; names the numbers.
    """
    batch_first = bool(use.attr("layout", 0))
    x = _shape(use, X, "X", 3)
    steps, batch = (x[1], x[0]) if batch_first else (x[0], x[1])
    directions, inputs = _directions(use), x[2]
    r = _shape(use, R, "R", 3)
    hidden = int(use.attr("hidden_size", r[2]))
    if hidden < 1:
        raise use.error(f"hidden_size is {hidden}; it must be at least 1")
    rows = cell.gates * hidden
    state = (batch, directions, hidden) if batch_first else (directions, batch, hidden)
    _expect(use, W, "W", (directions, rows, inputs))
    _expect(use, R, "R", (directions, rows, hidden))
    _expect(use, B, "B", (directions, 2 * rows))
    _expect(use, SEQUENCE_LENS, "sequence_lens", (batch,))
    _expect(use, INITIAL_H, "initial_h", state)
    _expect(use, INITIAL_C, "initial_c", state)
    _expect(use, P, "P", (directions, 3 * hidden))
    return Recurrence(
        cell,
        steps,
        batch,
        inputs,
        hidden,
        directions,
        _text(use.attr("direction", "forward")) == "reverse",
        batch_first,
        float(use.attr("clip", 0.0)),
        _functions(use, cell, directions),
        _lengths(use, steps),
    )


def output_types(use: OpUse, cell: Cell) -> tuple[TensorType, ...]:
    """Types of Y, Y_h (and Y_c)."""
    dtype = use.input(X).dtype
    return tuple(TensorType(dtype, shape) for shape in read(use, cell).shapes())


def _lengths(use: OpUse, steps: int) -> np.ndarray | None:
    if not use.has(SEQUENCE_LENS):
        return None
    lengths = use.value(SEQUENCE_LENS)
    if lengths is None:
        raise use.error("sequence_lens is not known before the run, so it cannot be checked")
    for row, length in enumerate(lengths.tolist()):
        if not 0 <= length <= steps:
            raise use.error(
                f"sequence_lens[{row}] is {length}, but X has {steps} steps "
                f"(allowed is 0 to {steps})"
            )
    return np.asarray(lengths, np.int32)


def _functions(use: OpUse, cell: Cell, directions: int) -> tuple[tuple[str, ...], ...]:
    alphas = list(use.attr("activation_alpha", ()))
    betas = list(use.attr("activation_beta", ()))
    calls = []
    for name in _names(use, cell, directions):
        function = FUNCTIONS[name.lower()]
        alpha = beta = 0.0
        if function.alpha is not None:
            alpha = alphas.pop(0) if alphas else function.alpha
        if function.beta is not None:
            beta = betas.pop(0) if betas else function.beta
        calls.append(f"activate_{function.name}(x, {literal(alpha)}, {literal(beta)})")
    each = len(cell.default)
    return tuple(tuple(calls[i * each : (i + 1) * each]) for i in range(directions))


def _takers(names: tuple[str, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of the functions that take an alpha, and of those that take a beta."""
    functions = [FUNCTIONS[name.lower()] for name in names]
    return (
        tuple(i for i, f in enumerate(functions) if f.alpha is not None),
        tuple(i for i, f in enumerate(functions) if f.beta is not None),
    )


def literal(value: float) -> str:
    """``value`` as a WGSL f32 literal."""
    return f"{float(np.float32(value))!r}f"


def _names(use: OpUse, cell: Cell, directions: int) -> tuple[str, ...]:
    given = tuple(_text(name) for name in use.attr("activations", ()))
    return given or cell.default * directions


def _directions(use: OpUse) -> int:
    return {"forward": 1, "reverse": 1, "bidirectional": 2}.get(
        _text(use.attr("direction", "forward")), 0
    )


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _bad(use: OpUse, attribute: str, rule: str) -> Support:
    value = use.attr(attribute)
    return refused(
        Reason.ATTRIBUTE,
        f"the attribute {attribute} of {use.op} is {value!r}; it {rule}",
        attribute=attribute,
    )


def _shape(use: OpUse, index: int, name: str, rank: int) -> tuple[int, ...]:
    dims = use.dims(index)
    if len(dims) != rank:
        raise use.error(f"{name} has shape {list(dims)}; it must have {rank} dimensions")
    return dims


def _expect(use: OpUse, index: int, name: str, shape: tuple[int, ...]) -> None:
    if use.has(index) and use.dims(index) != shape:
        raise use.error(
            f"{name} has shape {list(use.dims(index))}; X, R and the attributes ask for "
            f"{list(shape)}"
        )
