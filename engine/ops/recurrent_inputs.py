"""What the recurrence of GRU and LSTM reads: projected inputs, weights, and the state in memory.

The state is h, and behind it an LSTM's c: (states, directions, batch, width), where the width may
be padded to whole vec4s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from . import recurrent
from .recurrent import Recurrence
from .steps import StepBuilder, Tensor
from .use import OpUse

TILE = 64  # rows and columns of recurrent_projection's tile


def project(
    use: OpUse, steps: StepBuilder, node: Recurrence, biased_gates: int, *, trusted: bool
) -> Tensor:
    """X W' and biases of all steps: (steps * batch, directions * gates * hidden).

    Args:
        use: the node's use.
        steps: where the dispatches go.
        node: the node.
        biased_gates: the first gates to which Rb is added too.
        trusted: without run-time checks.
    """
    rows, columns = node.steps * node.batch, node.directions * node.cell.gates * node.hidden
    projected = steps.scratch((rows, columns))
    given = (recurrent.X, recurrent.W, recurrent.B)
    reads = [steps.input(i) for i in given if i != recurrent.B or use.has(i)]
    tiles = max(steps.work_limit() // (TILE * TILE * max(node.inputs, 1)), 1)
    wide = min(-(-columns // TILE), tiles)
    most = steps.profile.limits.max_compute_workgroups_per_dimension
    high = min(-(-rows // TILE), max(tiles // wide, 1), most)
    gate_rows = node.cell.gates * node.hidden
    for row, end_row in pieces(rows, high * TILE):
        for column, end_column in pieces(columns, wide * TILE):
            steps.dispatch(
                "recurrent_projection",
                reads=reads,
                writes=[projected],
                groups=(-(-(end_column - column) // TILE), -(-(end_row - row) // TILE), 1),
                params=[
                    *(row, end_row, column, end_column),
                    *(columns, node.inputs, gate_rows, biased_gates * node.hidden),
                ],
                variables={"element": reads[0].element, "bias": use.has(recurrent.B)},
                trusted=trusted,
            )
    return projected


def padded_weights(use: OpUse, steps: StepBuilder, node: Recurrence) -> Tensor:
    """R with its rows padded to whole vec4s: (directions, gates * hidden, padded)."""
    padding = -node.hidden % 4
    if padding == 0:
        return steps.input(recurrent.R)
    rows, padded = node.directions * node.cell.gates * node.hidden, node.hidden + padding
    value = use.value(recurrent.R)
    if value is not None:
        return steps.constant(np.pad(value, ((0, 0), (0, 0), (0, padding))))
    target = steps.scratch((rows, padded), use.input(recurrent.R).dtype)
    pad_rows(steps, steps.input(recurrent.R), target, rows, node.hidden, padded)
    return target


def initial_states(use: OpUse, steps: StepBuilder) -> dict[str, Tensor]:
    """initial_h and initial_c, as far as the node has them."""
    inputs = {"initial_h": recurrent.INITIAL_H, "initial_c": recurrent.INITIAL_C}
    return {name: steps.input(i) for name, i in inputs.items() if use.has(i)}


def load_state(
    use: OpUse, steps: StepBuilder, node: Recurrence, target: Tensor, padded: int
) -> None:
    """Put the initial state (or zeros) at the start of ``target``, in rows of ``padded``."""
    initial, rows = initial_states(use, steps), node.directions * node.batch
    if not initial:
        pad_rows(steps, None, target, node.cell.states * rows, node.hidden, padded)
        return
    for part, name in enumerate(("initial_h", "initial_c")[: node.cell.states]):
        offset = part * rows * padded
        pad_rows(steps, initial.get(name), target, rows, node.hidden, padded, offset)


def store_state(
    steps: StepBuilder, node: Recurrence, state: Tensor, writes: Mapping[str, Tensor]
) -> None:
    """Copy an unpadded state to Y_h and Y_c, as far as they are among ``writes``."""
    rows = node.directions * node.batch
    for part, name in enumerate(("y_h", "y_c")):
        if name in writes:
            start = part * rows * node.hidden
            pad_rows(steps, state, writes[name], rows, node.hidden, node.hidden, start=start)


def pad_rows(
    steps: StepBuilder,
    source: Tensor | None,
    target: Tensor,
    rows: int,
    width: int,
    padded: int,
    offset: int = 0,
    start: int = 0,
) -> None:
    """Copy ``rows`` rows from element ``start`` on into rows of ``padded`` from ``offset`` on.

    Without a source zeros are written.
    """
    steps.dispatch(
        "recurrent_pad",
        reads=[] if source is None else [source],
        writes=[target],
        groups=steps.grid(rows * padded),
        params=[rows * padded, width, padded, offset, start],
        variables={"source": source.element if source else "", "element": target.element},
    )


def pieces(total: int, size: int) -> Iterator[tuple[int, int]]:
    """[start, end) ranges of at most ``size`` that cover ``total``."""
    for start in range(0, total, size):
        yield start, min(start + size, total)
