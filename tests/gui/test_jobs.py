"""Jobs: old results are dropped, cancelling, progress, errors, and no thread left."""

import threading

import pytest
from opscope.engine.errors import ModelFileError
from opscope.gui.jobs import JobTracker


@pytest.fixture
def tracker(app):
    made = JobTracker(2, "test")
    yield made
    made.close()


class Heard:
    def __init__(self):
        self.done, self.failed, self.parts, self.threads = [], [], [], set()

    def on_done(self, value):
        self.done.append(value)
        self.threads.add(threading.current_thread())

    def on_part(self, value):
        self.parts.append(value)


def test_a_result_arrives_in_the_gui_thread(tracker, wait):
    heard = Heard()
    tracker.start("a", lambda job: threading.current_thread().name, heard.on_done, heard.failed)
    wait(lambda: heard.done)
    assert heard.done[0].startswith("opscope-test")
    assert heard.threads == {threading.main_thread()}
    assert not tracker.running


def test_a_newer_job_of_the_subject_drops_the_older_one_s_results(tracker, wait):
    heard, gate, old_ended = Heard(), threading.Event(), threading.Event()

    def slow(job):
        assert gate.wait(10)
        job.post(heard.on_part, "old part")
        old_ended.set()
        return "old"

    tracker.start("a", slow, heard.on_done, heard.failed.append)
    tracker.start("a", lambda job: "new", heard.on_done, heard.failed.append)
    wait(lambda: heard.done)
    gate.set()
    assert old_ended.wait(10)
    tracker.start("b", lambda job: "other subject", heard.on_done, heard.failed.append)
    wait(lambda: len(heard.done) > 1)
    assert heard.done == ["new", "other subject"]
    assert (heard.parts, heard.failed) == ([], [])


def test_a_result_that_already_waits_for_the_gui_is_dropped_too(tracker, app, wait):
    heard, finished = Heard(), threading.Event()

    def quick(job):
        job.post(heard.on_part, "part")
        finished.set()
        return "old"

    tracker.start("a", quick, heard.on_done, heard.failed.append)
    assert finished.wait(10)  # its results are posted, the event loop has not run
    tracker.cancel("a")
    other = Heard()
    tracker.start("b", lambda job: 1, other.on_done, other.failed.append)
    wait(lambda: other.done)
    app.processEvents()
    assert (heard.done, heard.parts) == ([], [])


def test_cancelling_stops_the_worker_at_its_next_check(tracker, wait):
    started, ended = threading.Event(), threading.Event()
    heard = Heard()

    def endless(job):
        started.set()
        try:
            while True:
                job.check()
        finally:
            ended.set()

    tracker.start("a", endless, heard.on_done, heard.failed.append)
    assert started.wait(10)
    assert tracker.is_running("a")
    tracker.cancel("a")
    assert ended.wait(10)
    wait(lambda: not tracker.running)
    assert (heard.done, heard.failed) == ([], [])


def test_parts_and_progress_come_in_order(tracker, wait):
    heard, seen = Heard(), []

    def work(job):
        for step in range(3):
            job.post(heard.on_part, step)
            job.report(step + 1, 3)
        return "end"

    job = tracker.start("a", work, heard.on_done, heard.failed.append)
    tracker.changed.connect(lambda: seen.append((job.done, job.total)))
    wait(lambda: heard.done)
    assert heard.parts == [0, 1, 2]
    assert (3, 3) in seen


def test_an_error_arrives_as_it_was_raised(tracker, wait):
    heard = Heard()

    def bad(job):
        raise ModelFileError("m.onnx: the file is empty")

    tracker.start("a", bad, heard.on_done, heard.failed.append)
    wait(lambda: heard.failed)
    assert [str(e) for e in heard.failed] == ["m.onnx: the file is empty"]


def test_closing_waits_for_workers_and_delivers_nothing(app):
    tracker, heard, started = JobTracker(1, "test"), Heard(), threading.Event()
    order = []

    def work(job):
        started.set()
        while not job.cancelled:
            pass
        order.append("work")
        return "too late"

    tracker.start("a", work, heard.on_done, heard.failed.append)
    tracker.start("b", lambda job: order.append("never"), heard.on_done, heard.failed.append)
    assert started.wait(10)
    tracker.close(last=lambda: order.append("last"))
    app.processEvents()
    assert order == ["work", "last"]
    assert (heard.done, heard.failed) == ([], [])
    with pytest.raises(RuntimeError, match="closed"):
        tracker.start("c", lambda job: 1, heard.on_done, heard.failed.append)
