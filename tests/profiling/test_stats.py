"""Statistics of node times over runs, against numpy on the same numbers."""

import numpy as np
import pytest
from opscope.engine.ir.model import NodeId
from opscope.engine.profiling.stats import Samples, summary
from opscope.engine.results import NodeTime, RunResult

GRU, CONV, LATE = NodeId((), 0), NodeId((), 1), NodeId((), 2)


def run(times, *, first=False, wall=1000, gpu=500):
    return RunResult({}, wall, 10, 20, 30, 0, gpu, "inside-pass", first, tuple(times))


def time(node, ns, *, kernel="k", dispatches=1, dispatch=None):
    return NodeTime(node, "Op", kernel, dispatches, ns, dispatch)


def test_percentiles_equal_numpy_s():
    rng = np.random.default_rng(0)
    values = rng.integers(1000, 90_000, size=(37, 2))
    rows = summary(run([time(GRU, a), time(CONV, b)]) for a, b in values)
    for column, row in enumerate(rows):
        assert row.time.n == 37
        assert row.time.min_ns == values[:, column].min()
        assert row.time.p50_ns == pytest.approx(np.percentile(values[:, column], 50), rel=1e-12)
        assert row.time.p95_ns == pytest.approx(np.percentile(values[:, column], 95), rel=1e-12)
    medians = np.median(values, axis=0)
    assert [r.share for r in rows] == pytest.approx(list(medians / medians.sum()))


def test_the_first_run_stays_out_of_the_percentiles():
    (row,) = summary([run([time(GRU, 9_000_000)], first=True), run([time(GRU, 5)])])
    assert (row.time.n, row.time.min_ns, row.time.p95_ns) == (1, 5, 5)
    assert row.time.first_ns == 9_000_000


def test_a_first_run_alone_gives_shares_but_no_percentile():
    rows = summary([run([time(GRU, 300), time(CONV, 100)], first=True)])
    assert [r.time.n for r in rows] == [0, 0]
    assert all(np.isnan(r.time.p50_ns) for r in rows)
    assert [r.share for r in rows] == [0.75, 0.25]


def test_times_per_dispatch_are_summed_by_node():
    times = [
        time(GRU, 10, kernel="project", dispatch=0),
        time(GRU, 30, kernel="scan, H8", dispatch=1),
        time(GRU, 2, kernel="scan, H8", dispatch=2),
    ]
    (row,) = summary([run(times)])
    assert (row.time.p50_ns, row.dispatches, row.kernel) == (42, 3, "project + scan, H8")


def test_a_name_of_two_kernels_is_told_once():
    (row,) = summary([run([time(GRU, 42, kernel="project + scan, H8", dispatches=2)])])
    assert (row.kernel, row.dispatches) == ("project + scan, H8", 2)


def test_only_the_newest_runs_are_kept_and_history_is_in_order():
    samples = Samples(kept=4)
    for ns in range(10):
        samples.add(run([time(GRU, ns)]))
    assert samples.warm_runs == 10
    assert samples.history(GRU).tolist() == [6, 7, 8, 9]
    (row,) = samples.summary()
    assert (row.time.n, row.time.min_ns) == (4, 6)


def test_a_node_that_appears_later_counts_its_own_runs():
    samples = Samples()
    samples.add(run([time(GRU, 10)]))
    samples.add(run([time(GRU, 20), time(LATE, 7)]))
    gru, late = samples.summary()
    assert (gru.time.n, late.time.n, late.time.p50_ns) == (2, 1, 7)
    assert np.isnan(samples.history(LATE)[0])


def test_a_run_s_parts_and_a_gpu_time_that_is_missing():
    samples = Samples()
    samples.add(run([], wall=5000, gpu=None, first=True))
    samples.add(run([], wall=1000, gpu=None))
    samples.add(run([], wall=3000, gpu=None))
    parts = samples.parts()
    assert (parts["wall"].n, parts["wall"].p50_ns, parts["wall"].first_ns) == (2, 2000, 5000)
    assert (parts["gpu"].n, parts["gpu"].first_ns) == (0, None)
    assert parts["encode"].p50_ns == 20


def test_no_runs():
    samples = Samples()
    assert samples.summary() == ()
    assert samples.parts()["wall"].n == 0
    with pytest.raises(ValueError, match="at least 1"):
        Samples(kept=0)
