"""Runs on the device's thread: streaming, stopping, failing, and closing on that same thread."""

import threading

import pytest
import window_fakes as fakes
from opscope.engine.errors import RunError
from opscope.gui.engine_worker import EngineWorker, RunListener, RunRequest
from opscope.gui.services import PreparedFeeds


class Heard:
    def __init__(self):
        self.plans, self.runs, self.batches, self.errors, self.finished = [], [], 0, [], 0

    def ran(self, results):
        self.runs += results
        self.batches += 1

    def end(self):
        self.finished += 1

    def listener(self):
        return RunListener(
            lambda feeds: None, self.plans.append, self.ran, self.end, self.errors.append
        )


def request(repeats):
    return RunRequest(fakes.model(), lambda: PreparedFeeds({}, {}), repeats)


@pytest.fixture
def runner():
    return fakes.FakeRunner()


@pytest.fixture
def worker(app, runner):
    made = EngineWorker(fakes.services(runner))
    yield made
    made.close()


def test_a_run_and_its_repeats(worker, runner, wait):
    heard, devices = Heard(), []
    worker.device_changed.connect(devices.append)
    worker.run(request(3), heard.listener())
    wait(lambda: heard.finished)
    assert [r.first for r in heard.runs] == [True, False, False, False]
    assert heard.plans == [runner.the_plan]
    assert devices == [fakes.PROFILE]
    assert not worker.busy


def test_a_loop_streams_until_stopped_and_keeps_what_it_measured(worker, runner, wait):
    heard = Heard()
    worker.run(request(None), heard.listener())
    wait(lambda: heard.batches > 3)
    assert worker.busy
    worker.stop()
    wait(lambda: heard.finished)
    assert len(heard.runs) == runner.runs  # nothing measured was lost
    assert heard.batches < runner.runs  # and updates were coalesced
    assert not worker.busy


def test_a_newer_run_replaces_the_one_before(worker, runner, wait):
    old, new = Heard(), Heard()
    worker.run(request(None), old.listener())
    wait(lambda: old.runs)
    worker.run(request(0), new.listener())
    wait(lambda: new.finished)
    assert old.finished == 0


def test_a_failed_run_says_why_and_the_next_one_works(worker, runner, wait):
    heard = Heard()
    runner.error = RunError("the device was lost")
    worker.run(request(0), heard.listener())
    wait(lambda: heard.errors)
    assert [str(e) for e in heard.errors] == ["the device was lost"]
    runner.error = None
    worker.run(request(0), heard.listener())
    wait(lambda: heard.finished)


def test_closing_during_a_run_ends_it_and_closes_the_session_on_its_own_thread(app, wait):
    gate = threading.Event()
    runner = fakes.FakeRunner(gate)
    worker = EngineWorker(fakes.services(runner))
    heard = Heard()
    worker.run(request(None), heard.listener())
    wait(lambda: runner.threads)
    threading.Timer(0.05, gate.set).start()
    worker.close()
    assert runner.closed
    assert len(runner.threads) == 1
    assert threading.main_thread().name not in runner.threads
    worker.close()  # a second time is harmless
