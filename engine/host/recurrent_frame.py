"""What the host's RNN, GRU and LSTM have in common: shapes, directions, lengths, the walk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..ops.use import OpUse
from .dtypes import is_half

Array = np.ndarray
Step = Callable[[Array, tuple[Array, ...]], tuple[Array, ...]]
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


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
    layout, direction = use.attr("layout", 0), use.attr("direction", "forward")
    reverse = _DIRECTIONS.get(direction)
    if layout not in (0, 1) or reverse is None:
        raise use.error(f"layout {layout} or direction {direction!r} is unknown")
    dtype = x.dtype
    wide = np.dtype(np.float32) if is_half(dtype) else dtype
    x, w, r = (a.astype(wide) for a in (x, w, r))
    if layout:
        x = x.swapaxes(0, 1)
    hidden, rows = r.shape[-1], gates * r.shape[-1]
    bias = np.zeros((len(reverse), 2 * rows), wide) if b is None else b.astype(wide)
    for name, actual, wanted in (
        ("W", w.shape, (len(reverse), rows, x.shape[-1])),
        ("R", r.shape, (len(reverse), rows, hidden)),
        ("B", bias.shape, (len(reverse), 2 * rows)),
        ("hidden_size", use.attr("hidden_size", hidden), hidden),
    ):
        if actual != wanted:
            raise use.error(f"{name} is {actual}; {wanted} is needed")
    lens = _lengths(use, sequence_lens, *x.shape[:2])
    wb, rb = bias[:, :rows], bias[:, rows:]
    return Frame(use, x, w, r, wb, rb, lens, reverse, hidden, dtype, bool(layout))


def _lengths(use: OpUse, given: Array | None, steps: int, batch: int) -> Array:
    """The steps of each row: all of them, or those that are given."""
    if given is None:
        return np.full(batch, steps)
    lens = given.astype(np.int64)
    if lens.shape != (batch,):
        raise use.error(f"sequence_lens has shape {list(lens.shape)}; [{batch}] is needed")
    for row, length in enumerate(lens.tolist()):
        if not 0 <= length <= steps:
            raise use.error(f"sequence_lens[{row}] is {length}, but X has {steps} steps")
    return lens
