"""If, Loop, Scan and SequenceMap: operators that evaluate graphs of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import LimitError
from ..ir.dtypes import numpy_dtype
from ..ir.model import Graph, Port
from ..ops.use import OpUse
from .dtypes import require_room
from .interpreter import run_graph
from .scope import Scope
from .shape_ops import normal_axis
from .table import host
from .values import Value

Array = np.ndarray
MAX_TRIPS = 10_000_000  # of a Loop: a hostile one would never end


def _graph(use: OpUse, name: str) -> Graph:
    graph = use.attr(name)
    if not isinstance(graph, Graph):
        raise use.error(f"the attribute {name} must be a graph")
    return graph


def _bind(use: OpUse, body: Graph, values: Sequence[Value]) -> dict[str, Value]:
    if len(values) != len(body.inputs):
        raise use.error(f"the body has {len(body.inputs)} inputs; it is given {len(values)}")
    return {port.name: value for port, value in zip(body.inputs, values, strict=True)}


@host("If", versions=(1, 25), attributes=("then_branch", "else_branch"), scoped=True)
def if_else(use: OpUse, condition: Array, *, scope: Scope) -> tuple[Value, ...]:
    """The outputs of one of two graphs, which take all they need from outside."""
    if condition.size != 1:
        raise use.error(f"the condition has {condition.size} elements; 1 is needed")
    branch = _graph(use, "then_branch" if condition.reshape(-1)[0] else "else_branch")
    return tuple(run_graph(branch, _bind(use, branch, ()), scope.deeper(use)))


@host("Loop", versions=(1, 25), attributes=("body",), scoped=True)
def loop(
    use: OpUse, trips: Array | None, condition: Array | None, *state: Value, scope: Scope
) -> tuple[Value, ...]:
    """Run the body ``trips`` times or while its condition holds; gather its scan outputs."""
    body, scope = _graph(use, "body"), scope.deeper(use)
    limit = None if trips is None else int(trips.reshape(-1)[0])
    going = condition is None or bool(condition.reshape(-1)[0])
    carried = list(state)
    gathered: list[list[Array]] = [[] for _ in body.outputs[1 + len(carried) :]]
    gathered_bytes = count = 0
    while going and (limit is None or count < limit):
        if count >= MAX_TRIPS:
            raise LimitError(
                use.node,
                use.label,
                use.op,
                f"the loop did not end within {MAX_TRIPS:,} trips",
                limit="maxLoopTrips",
                needed=count + 1,
                allowed=MAX_TRIPS,
            )
        scope.trip(use)
        inputs = [np.array(count, np.int64), np.array(going), *carried]
        results = run_graph(body, _bind(use, body, inputs), scope)
        # Without a condition input the body's is still computed, and still ends the loop.
        going = bool(np.asarray(results[0]).reshape(-1)[0])
        carried = results[1 : 1 + len(carried)]
        for pile, value in zip(gathered, results[1 + len(carried) :], strict=True):
            pile.append(value)
            gathered_bytes += value.nbytes
        require_room(use, (gathered_bytes,), np.dtype(np.uint8))
        count += 1
    ports = body.outputs[1 + len(carried) :]
    stacked = (_stack(pile, port) for pile, port in zip(gathered, ports, strict=True))
    return (*carried, *stacked)


def _stack(pile: list[Array], port: Port, axis: int = 0) -> Array:
    if pile:
        return np.stack(pile, axis)
    known = port.type
    if known is None or known.dtype == "?":
        return np.zeros(0, np.float32)
    dims = [d if isinstance(d, int) else 0 for d in known.shape or ()]
    return np.zeros([*dims[:axis], 0, *dims[axis:]], numpy_dtype(known.dtype))


@host(
    "Scan",
    versions=(9, 25),
    attributes=(
        "body",
        "num_scan_inputs",
        "scan_input_axes",
        "scan_input_directions",
        "scan_output_axes",
        "scan_output_directions",
    ),
    scoped=True,
)
def scan(use: OpUse, *inputs: Array, scope: Scope) -> tuple[Value, ...]:
    """Run the body once per slice of the scan inputs, carrying a state."""
    body, scope = _graph(use, "body"), scope.deeper(use)
    count = use.attr("num_scan_inputs", 0)
    if not 0 < count <= len(inputs):
        raise use.error(f"num_scan_inputs is {count} of {len(inputs)} inputs")
    state: list[Value] = list(inputs[: len(inputs) - count])
    scanned = inputs[len(state) :]
    axes = _listed(use, "scan_input_axes", count)
    backwards = _listed(use, "scan_input_directions", count)
    rows = []
    for array, axis, back in zip(scanned, axes, backwards, strict=True):
        moved = np.moveaxis(array, normal_axis(use, axis, array.ndim), 0)
        rows.append(moved[::-1] if back else moved)
    lengths = {len(r) for r in rows}
    if len(lengths) != 1:
        raise use.error(f"the scan inputs have different lengths: {sorted(lengths)}")
    ports = body.outputs[len(state) :]
    gathered: list[list[Array]] = [[] for _ in ports]
    for step in range(lengths.pop()):
        scope.trip(use)
        results = run_graph(body, _bind(use, body, [*state, *(r[step] for r in rows)]), scope)
        state = results[: len(state)]
        for pile, value in zip(gathered, results[len(state) :], strict=True):
            pile.append(value)
    out_axes = _listed(use, "scan_output_axes", len(ports))
    out_back = _listed(use, "scan_output_directions", len(ports))
    stacked = [
        _stack(pile[::-1] if back else pile, port, _output_axis(use, pile, axis))
        for pile, port, axis, back in zip(gathered, ports, out_axes, out_back, strict=True)
    ]
    return (*state, *stacked)


def _listed(use: OpUse, name: str, count: int) -> list[int]:
    values = list(use.attr(name) or (0,) * count)
    if len(values) != count:
        raise use.error(f"{name} has {len(values)} entries; {count} are needed")
    return values


def _output_axis(use: OpUse, pile: list[Array], axis: int) -> int:
    return normal_axis(use, axis, pile[0].ndim + 1) if pile else max(axis, 0)


@host("SequenceMap", versions=(17, 17), attributes=("body",), scoped=True)
def sequence_map(use: OpUse, items: list[Value], *others: Value, scope: Scope) -> tuple[Value, ...]:
    """Run the body for each element; other sequences go along, tensors are passed whole."""
    body, scope = _graph(use, "body"), scope.deeper(use)
    piles: list[list[Value]] = [[] for _ in body.outputs]
    for index, item in enumerate(items):
        scope.trip(use)
        along = [other[index] if isinstance(other, list) else other for other in others]
        inputs: Mapping[str, Any] = _bind(use, body, [item, *along])
        for pile, value in zip(piles, run_graph(body, inputs, scope), strict=True):
            pile.append(value)
    return tuple(piles)
