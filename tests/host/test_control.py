"""Graphs inside graphs: branches, loops, scans, functions with attribute references."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest
from opscope.engine.errors import FeedError, NodeError, WorkError
from opscope.engine.host.evaluate import evaluate_model, run_graph
from opscope.engine.host.scope import Scope
from opscope.engine.host.work import Work
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model, NodeId
from opscope.engine.ops.use import OpUse


def parsed(text: str) -> Model:
    return load_bytes(onnx.parser.parse_model(text).SerializeToString())


HEAD = '<ir_version: 9, opset_import: ["" : 17, "local" : 1]>'


def test_if_captures_from_two_levels_up() -> None:
    model = parsed(
        HEAD
        + """ main (bool p, bool q, float[2] x) => (float[2] y) {
          a = Add(x, x)
          y = If(p) <then_branch = t () => (float[2] u) {
                 b = Mul(a, x)
                 u = If(q) <then_branch = tt () => (float[2] v) { v = Add(a, b) },
                            else_branch = te () => (float[2] w) { w = Identity(x) }>
               }, else_branch = e () => (float[2] z) { z = Neg(a) }>
        }"""
    )
    x = np.array([1, 2], np.float32)
    yes, no = np.array(True), np.array(False)
    assert evaluate_model(model, {"p": yes, "q": yes, "x": x})["y"].tolist() == [4, 12]
    assert evaluate_model(model, {"p": yes, "q": no, "x": x})["y"].tolist() == [1, 2]
    assert evaluate_model(model, {"p": no, "q": no, "x": x})["y"].tolist() == [-2, -4]


LOOP = (
    HEAD
    + """ main (int64 n, float start) => (float last, float[m] all) {
      go = Constant <value = bool {1}> ()
      last, all = Loop(n, go, start) <body = b (int64 i, bool c, float s) =>
          (bool d, float t, float u) {
        t = Add(s, s)
        u = Identity(s)
        ten = Constant <value = float {10.0}> ()
        d = Less(t, ten)
      }>
    }"""
)


def test_loop_carries_gathers_and_stops_by_its_condition() -> None:
    model = parsed(LOOP)
    one = np.array(1, np.float32)
    got = evaluate_model(model, {"n": np.array(2), "start": one})
    assert (got["last"].item(), got["all"].tolist()) == (4, [1, 2])
    got = evaluate_model(model, {"n": np.array(50), "start": one})
    assert (got["last"].item(), got["all"].tolist()) == (16, [1, 2, 4, 8])
    got = evaluate_model(model, {"n": np.array(0), "start": one})
    assert (got["last"].item(), got["all"].shape, got["all"].dtype) == (1, (0,), np.float32)


def test_an_endless_loop_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opscope.engine.host.control.MAX_TRIPS", 20)
    model = parsed(
        HEAD
        + """ main (float x) => (float y) {
          y = Loop(, , x) <body = b (int64 i, bool c, float s) => (bool d, float t) {
            t = Identity(s)
            d = Identity(c)
          }>
        }"""
    )
    with pytest.raises(NodeError, match="did not end within 20 trips"):
        evaluate_model(model, {"x": np.array(1, np.float32)})


def test_scan_backwards_along_another_axis() -> None:
    model = parsed(
        HEAD
        + """ main (float[2] s, float[2, 3] x) => (float[2] total, float[2, 3] sums) {
          total, sums = Scan <num_scan_inputs = 1, scan_input_axes = [1],
              scan_input_directions = [1], scan_output_axes = [1], body = b (float[2] a, float[2] b)
              => (float[2] c, float[2] d) { c = Add(a, b)
                                            d = Identity(c) }> (s, x)
        }"""
    )
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    got = evaluate_model(model, {"s": np.zeros(2, np.float32), "x": x})
    assert got["total"].tolist() == [6, 15]
    assert got["sums"].tolist() == [[3, 5, 6], [6, 11, 15]]


FUNCTION = (
    HEAD
    + """ main (float[2] x) => (float[2] y, float[2] z) {
      y = local.Outer <slope = 0.5> (x)
      z = local.Outer (x)
    }
    <domain: "local", opset_import: ["" : 17, "local" : 1]>
    Outer <slope: float = 0.25> (x) => (y) { y = local.Inner <alpha: float = @slope> (x) }
    <domain: "local", opset_import: ["" : 17]>
    Inner <alpha> (x) => (y) { y = LeakyRelu <alpha: float = @alpha> (x) }"""
)


def test_functions_bind_attributes_through_two_levels_and_by_default() -> None:
    got = evaluate_model(parsed(FUNCTION), {"x": np.array([-4, 4], np.float32)})
    assert got["y"].tolist() == [-2, 4]
    assert got["z"].tolist() == [-1, 4]


def test_a_function_that_calls_itself_is_an_error() -> None:
    model = parsed(
        HEAD
        + """ main (float x) => (float y) { y = local.F (x) }
        <domain: "local", opset_import: ["" : 17, "local" : 1]>
        F (x) => (y) { y = local.F (x) }"""
    )
    with pytest.raises(NodeError, match="nest over 64 deep"):
        evaluate_model(model, {"x": np.array(1, np.float32)})


def test_a_missing_feed_is_named() -> None:
    with pytest.raises(FeedError, match="input 'start' is not given"):
        evaluate_model(parsed(LOOP), {"n": np.array(1)})


def test_while_planning_all_loops_share_the_trips_and_the_seconds() -> None:
    use = OpUse("Loop", node=NodeId((), 3), name="spin")
    work = Work(trips=2, seconds=5)
    work.trip(use)
    work.trip(use)
    for _ in range(2):  # spent is spent
        with pytest.raises(WorkError, match=r"'spin'.* 2 trips"):
            work.trip(use)
    now = iter((0.0, 0.0, 4.0, 6.0))
    work = Work(trips=9, seconds=5, clock=lambda: next(now))
    work.trip(use)
    work.trip(use)
    with pytest.raises(WorkError, match="5 seconds"):
        work.trip(use)


@pytest.mark.parametrize("kind", ["Loop", "Scan", "SequenceMap"])
def test_each_body_that_runs_many_times_counts(kind: str) -> None:
    model = parsed(HEAD + " main (float[4] x) => (float[4] y) {" + REPEATS[kind] + "}")
    scope = Scope(model.functions, model.opset_imports, work=Work(trips=3))
    with pytest.raises(WorkError, match=f"{kind}.* 3 trips"):
        run_graph(model.graph, {"x": np.zeros(4, np.float32)}, scope)
    scope = Scope(model.functions, model.opset_imports, work=Work(trips=4))
    (y,) = run_graph(model.graph, {"x": np.zeros(4, np.float32)}, scope)
    assert np.asarray(y).size == 4


REPEATS = {
    "Loop": """ n = Constant <value = int64 {4}> ()
        y = Loop(n, , x) <body = b (int64 i, bool c, float[4] s) => (bool d, float[4] t) {
            d = Identity(c)
            t = Abs(s) }> """,
    "Scan": """ y = Scan <num_scan_inputs = 1,
            body = b (float a) => (float c) { c = Abs(a) }> (x) """,
    "SequenceMap": """ parts = SplitToSequence <axis = 0> (x)
        done = SequenceMap(parts) <body = b (float[1] a) => (float[1] c) { c = Abs(a) }>
        y = ConcatFromSequence <axis = 0> (done) """,
}
