"""The dispatches of GRU and LSTM.

1. *Projection*: X W' and biases for all steps, batch rows and directions in one product.
2. The recurrence, in one of two ways:

   - *Sequence*: the whole sequence in one dispatch, a workgroup per batch row and direction. The
     recurrent weights stay in registers, so they must fit: about hidden 128 (GRU) or 110 (LSTM)
     where a workgroup may have 1,024 invocations. Cut into pieces of steps under the work limit;
     then the state is carried from piece to piece in scratch memory.
   - *Steps*: a dispatch per step with nothing else between. The state lives twice in scratch
     memory; a step reads one half and writes the other. Each workgroup counts its steps there too,
     so that the dispatches are all the same and nothing is bound between them. A GRU with
     linear_before_reset = 0 needs two dispatches a step, since its hidden gate waits for all
     units' reset gates.

A sequence of length 0 is only a copy of the initial state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import recurrent
from .recurrent import Recurrence
from .recurrent_inputs import (
    initial_states,
    load_state,
    pad_rows,
    padded_weights,
    pieces,
    project,
    store_state,
)
from .recurrent_split import Split, choose_split, choose_tile
from .steps import Cost, Groups, StepBuilder, Tensor, Variable
from .use import OpUse

TRUSTED = True  # no run-time checks; the tests also run every kernel with them

# Steps are a chain: each takes microseconds however little it multiplies.
STEPS_PER_DISPATCH = 4096
_BINDINGS = (
    *("projected", "weights", "bias", "peepholes", "lengths", "initial_h", "initial_c"),
    *("y", "y_h", "y_c", "state", "scaled"),
)


@dataclass(frozen=True, slots=True)
class CellPlan:
    """What the dispatches need to know of a cell.

    Attributes:
        shader: "gru" or "lstm".
        biased_gates: the first gates to whose projection Rb is added too.
        step_bias: the step itself needs B.
        passes: the dispatches of a step: (name, first gate, number of gates).
        variables: template variables of its own.
    """

    shader: str
    biased_gates: int
    step_bias: bool
    passes: tuple[tuple[str, int, int], ...]
    variables: Mapping[str, Variable]


def cost(moved: Cost, node: Recurrence) -> Cost:
    """The node's least work: both products, and the tensors moved."""
    per_row = node.directions * node.cell.gates * node.hidden * (node.inputs + node.hidden)
    return Cost(flops=2 * node.steps * node.batch * per_row, bytes=moved.bytes)


def build(use: OpUse, steps: StepBuilder, node: Recurrence, cell: CellPlan) -> None:
    """Add all dispatches of ``node``."""
    wanted = [i for i in range(1 + node.cell.states) if use.wants(i)]
    if node.batch == 0 or not wanted:
        return
    if node.steps == 0:
        for index in (i for i in wanted if i > 0):
            initial = recurrent.INITIAL_H + index - 1
            source = steps.input(initial) if use.has(initial) else None
            rows = node.directions * node.batch
            pad_rows(steps, source, steps.output(index), rows, node.hidden, node.hidden)
        return
    _Builder(use, steps, node, cell).add()


class _Builder:
    """Adds the dispatches of one node that has steps and batch rows."""

    def __init__(self, use: OpUse, steps: StepBuilder, node: Recurrence, cell: CellPlan) -> None:
        self._use = use
        self._steps = steps
        self._node = node
        self._cell = cell
        self._element = steps.input(recurrent.X).element

    def add(self) -> None:
        node, steps = self._node, self._steps
        projected = project(self._use, steps, node, self._cell.biased_gates, trusted=TRUSTED)
        reads = {"projected": projected, "weights": padded_weights(self._use, steps, node)}
        if self._cell.step_bias and self._use.has(recurrent.B):
            reads["bias"] = steps.input(recurrent.B)
        if self._use.has(recurrent.P):
            reads["peepholes"] = steps.input(recurrent.P)
        if node.lengths is not None:
            reads["lengths"] = steps.constant(node.lengths)
        names = ("y", "y_h", "y_c")[: 1 + node.cell.states]
        writes = {name: steps.output(i) for i, name in enumerate(names) if self._use.wants(i)}
        split = choose_split(node, steps.profile)
        if split is not None:
            self._sequence(reads, writes, split)
        else:
            self._each_step(reads, writes)

    # -- the recurrence --------------------------------------------------------------------------

    def _variables(self) -> dict[str, Variable]:
        node = self._node
        variables: dict[str, Variable] = {
            "element": self._element,
            "hidden": node.hidden,
            "gates": node.cell.gates,
            "directions": node.directions,
            "reverse": node.reverse,
            "has_cell": node.cell.states > 1,
            "clip": recurrent.literal(node.clip) if node.clip else "",
            "h0": "",
            "h1": "",
        }
        for direction in range(2):
            for role, call in zip("fgh", node.functions[direction % node.directions], strict=False):
                variables[f"{role}{direction}"] = call
        return {**variables, **self._cell.variables}

    def _params(self, steps: tuple[int, int], rows: tuple[int, int]) -> list[int]:
        """The struct Params of lib/recurrent_layout.wgsl."""
        node = self._node
        t, b, d = node.steps, node.batch, node.directions
        strides = [1, t, d, t * d, d, 1] if node.batch_first else [b, 1, d * b, 1, 1, b]
        return [*steps, *rows, t, *strides, d * b]

    def _sequence(self, reads: dict[str, Tensor], writes: dict[str, Tensor], split: Split) -> None:
        node, steps = self._node, self._steps
        most = steps.profile.limits.max_storage_buffers_per_shader_stage
        initial = initial_states(self._use, steps)
        work = max(steps.work_limit() // node.multiply_adds_per_step, 1)
        row_pieces = list(pieces(node.batch, work))
        per_piece = min(max(work // node.batch, 1), STEPS_PER_DISPATCH)
        step_pieces = list(pieces(node.steps, per_piece))
        carry = len(step_pieces) > 1
        # Where bindings are short the state passes through scratch memory at both ends.
        detour = len(reads) + len(initial) + len(writes) + carry > most
        state: Tensor | None = None
        if carry or detour:
            state = steps.scratch((node.cell.states * node.directions * node.batch, node.hidden))
        if detour and state is not None:
            load_state(self._use, steps, node, state, node.hidden)
        outputs = {n: t for n, t in writes.items() if n == "y"} if detour else writes
        for piece, step_range in enumerate(step_pieces):
            first, last = piece == 0 and not detour, step_range[1] == node.steps and not detour
            variables = {
                **self._variables(),
                "segments": split.segments,
                "chunk": split.chunk,
                "start": "initial" if first else "state",
                "finish": "outputs" if last else "state",
            }
            bound_reads = {**reads, **(initial if first else {})}
            bound = {n: t for n, t in outputs.items() if n == "y" or last}
            if state is not None and not (first and last):
                bound["state"] = state
            for row_range in row_pieces:
                x, y, _ = steps.grid(row_range[1] - row_range[0], 1)
                self._dispatch(
                    "sequence",
                    bound_reads,
                    bound,
                    (x, y, node.directions),
                    self._params(step_range, row_range),
                    variables,
                    f"H{node.hidden}",
                )
        if detour and state is not None:
            store_state(steps, node, state, writes)

    def _each_step(self, reads: dict[str, Tensor], writes: dict[str, Tensor]) -> None:
        node, steps = self._node, self._steps
        padded = node.hidden + -node.hidden % 4
        states = node.directions * node.batch
        tile = choose_tile(node, steps.profile)
        across = -(-node.hidden // tile.units)
        counters = -(-node.batch // tile.rows) * node.directions * across
        halves = 2 * node.cell.states * states * padded
        carried = steps.scratch((halves + 4 * counters,))
        load_state(self._use, steps, node, carried, padded)
        pad_rows(steps, None, carried, counters, 4, 4, halves)
        tensors = {"state": carried}
        if len(self._cell.passes) > 1:
            tensors["scaled"] = steps.scratch((2 * states, padded))
        work = max(steps.work_limit() // node.multiply_adds_per_step, 1)
        most = steps.profile.limits.max_compute_workgroups_per_dimension
        # Pieces start at whole groups of rows: each group has its own counter.
        high_most = max(min(work // tile.rows, most), 1)
        row_pieces = list(pieces(node.batch, high_most * tile.rows))
        variables = {
            **self._variables(),
            "rows": tile.rows,
            "units": tile.units,
            "lanes": tile.lanes,
        }
        for step in range(node.steps):
            for name, first_gate, products in self._cell.passes:
                own: dict[str, Variable] = {
                    "pass": name,
                    "first_gate": first_gate,
                    "products": products,
                }
                bound = tensors if name == "gates" else {**self._written(writes, step), **tensors}
                for row_range in row_pieces:
                    high = -(-(row_range[1] - row_range[0]) // tile.rows)
                    self._dispatch(
                        "step",
                        reads,
                        bound,
                        (across, high, node.directions),
                        self._params((0, node.steps), row_range),
                        {**variables, **own},
                        f"H{node.hidden}" if name == "all" else f"H{node.hidden} {name}",
                    )

    def _written(self, writes: dict[str, Tensor], step: int) -> dict[str, Tensor]:
        """The outputs that a step can write: rows of full length end with the last step alone."""
        if self._node.lengths is not None or step == self._node.steps - 1:
            return writes
        return {name: tensor for name, tensor in writes.items() if name == "y"}

    def _dispatch(
        self,
        kind: str,
        reads: Mapping[str, Tensor],
        writes: Mapping[str, Tensor],
        groups: Groups,
        params: list[int],
        variables: Mapping[str, Variable],
        variant: str,
    ) -> None:
        places = {name: 1 + i for i, name in enumerate((*reads, *writes))}
        self._steps.dispatch(
            f"{self._cell.shader}_{kind}",
            reads=list(reads.values()),
            writes=list(writes.values()),
            groups=groups,
            params=params,
            variables={**variables, **{f"at_{name}": places.get(name, 0) for name in _BINDINGS}},
            variant=variant,
            trusted=TRUSTED,
        )
