"""Programs under stress: threads, failures between two runs, times per dispatch, lost devices."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from opcase import op_model
from opscope.engine.device import pipelines
from opscope.engine.device import program as program_module
from opscope.engine.errors import NodeError, RunError
from opscope.engine.plan.types import GpuSegment, HostSegment
from opscope.engine.session import Session
from small_model import model, node


def test_threads_that_share_a_session_take_turns() -> None:
    session = Session()
    model, _ = op_model("Mul", [np.ones((64, 64), np.float32)] * 2)
    arrays = [np.full((64, 64), i, np.float32) for i in range(24)]

    def square(x: np.ndarray) -> np.ndarray:
        return session.run(model, {"x0": x, "x1": x}).outputs["y0"]

    with ThreadPoolExecutor(4) as pool:
        for x, y in zip(arrays, pool.map(square, arrays), strict=True):
            np.testing.assert_array_equal(y, x * x)


def test_a_failure_while_reading_back_leaves_the_program_usable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    model, feeds = op_model("Neg", [np.ones(3, np.float32)])
    program = session.prepare(model, feeds)

    def fail(*_: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(program_module, "from_device", fail)
        with pytest.raises(MemoryError):
            program.run(feeds)
    assert program.run(feeds).outputs["y0"].tolist() == [-1, -1, -1]


def test_a_session_goes_on_after_a_model_that_cannot_be_planned() -> None:
    session = Session()
    wrong, feeds = op_model("MatMul", [np.ones((3, 4), np.float32)] * 2)
    with pytest.raises(NodeError, match="4 columns meet 3 rows"):
        session.run(wrong, feeds)
    model, feeds = op_model("Neg", [np.ones(3, np.float32)])
    assert session.run(model, feeds).outputs["y0"].tolist() == [-1, -1, -1]


@pytest.mark.parametrize("planned", [True, False])
def test_a_lost_device_is_an_error_of_ours(planned: bool) -> None:
    session = Session()
    model, feeds = op_model("Neg", [np.ones(3, np.float32)])
    _ = session.prepare(model, feeds) if planned else session.gpu
    session.gpu.device.destroy()
    with pytest.raises(RunError, match="Parent device is lost") as caught:
        session.run(model, feeds)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mask", ["", "inside-pass", "timestamps"])
def test_times_per_dispatch_are_numbered(mask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPSCOPE_WITHOUT", mask)
    session = Session()
    arrays = [np.full((2, 3), i, np.float32) for i in range(40)]
    model, feeds = op_model("Concat", list(arrays), {"axis": 0})
    count = len(session.plan(model, feeds).dispatches)
    assert count > 1
    times = session.run(model, feeds, per_dispatch=True).times
    assert [t.dispatch for t in times] == list(range(count))
    assert {t.dispatches for t in times} == {1}
    (whole,) = session.run(model, feeds).times
    assert (whole.dispatch, whole.dispatches) == (None, count)


@pytest.mark.parametrize("trusted", [False, True])
def test_wgsl_that_does_not_compile_is_told_with_its_reason(
    trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session()
    model, feeds = op_model("Neg", [np.ones(3, np.float32)])
    (dispatch,) = session.plan(model, feeds).dispatches
    monkeypatch.setattr(pipelines, "compose", lambda *_: "fn main() { nonsense(); }")
    with pytest.raises(RunError, match=r"unary.* does not compile: .*nonsense") as caught:
        session.pipelines.get(replace(dispatch, trusted=trusted))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mask", ["", "inside-pass", "timestamps"])
def test_a_stray_index_is_told_by_the_segment_that_met_it(
    mask: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first Gather's result stays on the GPU, and a host node lies between it and the rest."""
    monkeypatch.setenv("OPSCOPE_WITHOUT", mask)
    session = Session()
    found = model(
        [
            node("Gather", "x i", "picked", "early"),
            node("Add", "k k", "twice", "on the host"),  # of int64
            node("Gather", "picked twice", "y", "late"),
        ],
        {"x": ("float32", [6]), "i": ("int64", [4]), "k": ("int64", [2])},
        "y",
    )
    x = np.arange(6, dtype=np.float32)
    feeds = {"x": x, "i": np.int64([5, -6, 2, 3]), "k": np.int64([-2, 1])}
    program = session.prepare(found, feeds)
    kinds = [type(segment) for segment in program.plan.segments]
    assert kinds == [GpuSegment, HostSegment, GpuSegment]
    assert [(w.label, w.extent) for w in program.plan.watched] == [("early", 6), ("late", 4)]
    assert program.run(feeds).outputs["y"].tolist() == [5, 2]

    seen: list[str] = []
    on_host = program._evaluate
    monkeypatch.setattr(program, "_evaluate", lambda s, *rest: seen.append("") or on_host(s, *rest))
    for timing in (True, False):
        with pytest.raises(NodeError, match=r"node 'early' \(Gather\): index 6 of input 1"):
            program.run({**feeds, "i": np.int64([0, 6, 2, 3])}, timing=timing)
        assert not seen  # the run ended before what followed
    with pytest.raises(NodeError, match=r"node 'late' \(Gather\): index -6 of input 1"):
        program.run({**feeds, "k": np.int64([-3, 1])})
    assert seen
    assert program.run(feeds).outputs["y"].tolist() == [5, 2]


def test_a_host_node_that_gives_another_shape_than_planned_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = model([node("Add", "k k", "y", "twice")], {"k": ("int64", [2])}, "y")
    feeds = {"k": np.int64([1, 2])}
    program = Session().prepare(found, feeds)
    assert program.run(feeds).outputs["y"].tolist() == [2, 4]
    monkeypatch.setattr(program, "_evaluate", lambda *_: [np.int64([1, 2, 3])])
    said = r"node 'twice' \(Add\): gave shape \(3,\) on the host, planned was \(2,\)"
    with pytest.raises(NodeError, match=said):
        program.run(feeds)
