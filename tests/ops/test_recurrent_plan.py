"""How GRU and LSTM are cut into dispatches, decided without a device."""

from __future__ import annotations

from dataclasses import replace

import opcase
import pytest
from opscope.engine.device.profile import DeviceProfile, Limits
from opscope.engine.ops import load_kernels
from opscope.engine.ops.recurrent import GRU, LSTM, Cell, Recurrence
from opscope.engine.ops.recurrent_split import WORKGROUP_REGISTERS, choose_split
from opscope.engine.plan.planner import make_plan
from opscope.engine.plan.types import Plan
from recurrent_case import Case

DESKTOP = DeviceProfile(
    kind="DiscreteGPU",
    limits=replace(
        Limits(),
        max_compute_invocations_per_workgroup=1024,
        max_compute_workgroup_size_x=1024,
        max_compute_workgroup_storage_size=49152,
    ),
)
SMALLEST = DeviceProfile()


def plan(profile: DeviceProfile, op: str, **options: object) -> Plan:
    """The plan of a forward node with linear_before_reset."""
    attributes = {"linear_before_reset": 1} if op == "GRU" else {}
    case = Case(op, attributes=attributes, **options)  # type: ignore[arg-type]
    model, feeds = opcase.op_model(
        op, case.arrays(), attributes, opset=14, outputs=2, constants=(1, 2, 3)
    )
    return make_plan(model, feeds, profile, load_kernels())


def node(cell: Cell, hidden: int) -> Recurrence:
    """A node of which only the cell and the hidden size matter."""
    return Recurrence(cell, 1, 1, 1, hidden, 1, False, False, 0.0, (), None)


@pytest.mark.parametrize(
    ("profile", "cell", "largest"),
    [(DESKTOP, GRU, 128), (DESKTOP, LSTM, 112), (SMALLEST, GRU, 64), (SMALLEST, LSTM, 64)],
)
def test_largest_hidden_size_of_one_dispatch(
    profile: DeviceProfile, cell: Cell, largest: int
) -> None:
    fits = [h for h in range(1, 300) if choose_split(node(cell, h), profile)]
    assert max(fits) == largest


@pytest.mark.parametrize("cell", [GRU, LSTM])
@pytest.mark.parametrize("profile", [DESKTOP, SMALLEST])
def test_a_split_respects_the_limits_and_covers_the_state(
    profile: DeviceProfile, cell: Cell
) -> None:
    limits = profile.limits
    for hidden in range(1, 300):
        split = choose_split(node(cell, hidden), profile)
        if split is None:
            continue
        threads = split.segments * hidden
        assert threads <= limits.max_compute_invocations_per_workgroup
        assert 4 * split.segments * split.chunk >= hidden
        assert threads >= split.segments * split.chunk  # those that publish the state
        assert threads * 4 * cell.gates * split.chunk < WORKGROUP_REGISTERS
        assert 4 * cell.gates * threads <= limits.max_compute_workgroup_storage_size


def test_a_sequence_is_one_dispatch_after_the_projection() -> None:
    shaders = [d.shader for d in plan(DESKTOP, "GRU", hidden=128, steps=500, batch=1).dispatches]
    assert shaders == ["recurrent_projection", "gru_sequence"]


def test_steps_are_one_dispatch_each_and_bind_the_same_tensors() -> None:
    dispatches = plan(DESKTOP, "GRU", hidden=256, steps=50, batch=4).dispatches
    steps = [d for d in dispatches if d.shader == "gru_step"]
    assert len(steps) == 50
    assert dispatches[-50:] == tuple(steps)
    # All but the last, which also writes Y_h: nothing is bound between them.
    assert len({(d.reads, d.writes, d.params) for d in steps[:-1]}) == 1
    assert len({d.groups for d in steps}) == 1


def test_a_long_sequence_is_cut_and_none_is_lost() -> None:
    dispatches = plan(DESKTOP, "LSTM", hidden=8, steps=10_000, batch=1, inputs=1).dispatches
    pieces = [d for d in dispatches if d.shader == "lstm_sequence"]
    spans = [tuple(int.from_bytes(d.params[i : i + 4], "little") for i in (0, 4)) for d in pieces]
    assert spans == [(0, 4096), (4096, 8192), (8192, 10_000)]


def test_the_cost_is_that_of_both_products() -> None:
    placed = plan(DESKTOP, "GRU", hidden=8, steps=5, batch=3, inputs=4).placement[-1]
    assert placed.cost.flops == 2 * 5 * 3 * 3 * 8 * (4 + 8)
