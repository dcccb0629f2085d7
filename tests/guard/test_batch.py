"""Many files in processes of their own: whatever one of them does, the others are checked."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import guard_models as models
import pytest
from opscope.engine.guard import Policy, Rule, batch
from opscope.engine.guard.batch import check_files, default_jobs, worker_command
from opscope.engine.guard.checking import Request, check_or_error
from opscope.engine.guard.worker import FLAG
from processes import exit_code_without_parent, is_alive, wait_until

FAILING = [sys.executable, "-P", str(Path(__file__).parents[1] / "support/worker_that_fails.py")]


def requests(*paths: str) -> list[Request]:
    return [Request(path) for path in paths]


def test_the_answers_are_those_of_this_process_in_the_order_of_the_call(tmp_path: Path) -> None:
    policy = Policy(rules=(Rule(None, "because", node="b"),))
    paths = [
        models.gru(tmp_path / "half 模型.onnx", "float16"),
        str(tmp_path / "missing.onnx"),
        models.elus(tmp_path / "elu.onnx", ["a", "b"]),
    ]
    asked = [Request(path, policy=policy) for path in paths]
    heard: list[tuple[int, int, str]] = []
    answers = check_files(asked, progress=lambda *said: heard.append(said))
    assert answers == tuple(map(check_or_error, asked))
    assert [a.exit_code for a in answers] == [1, 2, 0]
    assert [(done, total) for done, total, _ in heard] == [(1, 3), (2, 3), (3, 3)]
    assert {path for *_, path in heard} == set(paths)


def test_a_file_that_ends_its_process_costs_its_own_answer_alone() -> None:
    paths = ("a", "crash", "b", "leave", "c", "defect", "d", "memory", "e")
    answers = check_files(requests(*paths), jobs=1, command=FAILING)
    said = {a.path: a.error for a in answers}
    assert [a.path for a in answers] == list(paths)
    assert [a.exit_code for a in answers] == [2, 4, 2, 4, 2, 4, 2, 4, 2]
    assert said["crash"].startswith("crash: the check's process ended by signal 6 (SIGABRT)")
    assert said["crash"].endswith("its last words: last words")
    assert "ended with exit code 7" in said["leave"]
    assert "a defect in Opscope, please report it: RuntimeError: no such thing" in said["defect"]
    assert "not enough memory: 9 GiB" in said["memory"]
    # One process does one file after the other, and a new one takes the place of a dead one.
    assert len({said[p] for p in "abc"}) == 3
    assert len({said[p] for p in "cde"}) == 1


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    hang = str(tmp_path / "hang")
    answers = check_files(requests("a", hang, "b"), jobs=1, timeout_s=2, command=FAILING)
    assert [a.exit_code for a in answers] == [2, 4, 2]
    assert answers[1].error == f"{hang}: the check's process took more than 2 s, and was ended"
    assert not is_alive(int(Path(hang).read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is taken")
def test_a_file_that_takes_too_much_memory_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "memory_for_one", lambda: 1 << 30)
    answers = check_files(requests("a", "eat", "b"), jobs=1, command=FAILING)
    assert [a.exit_code for a in answers] == [2, 4, 2]
    assert answers[1].error.startswith("eat: the check's process took ")
    assert answers[1].error.endswith(" of memory, where it may take 1,024 MiB, and was ended")


def test_an_interrupted_call_ends_its_processes(tmp_path: Path) -> None:
    hang = tmp_path / "hang"

    def interrupt(done: int, total: int, path: str) -> None:
        wait_until(lambda: hang.exists() and bool(hang.read_text()))
        raise KeyboardInterrupt

    # The answer of "a" calls the progress while the other file hangs.
    with pytest.raises(KeyboardInterrupt):
        check_files(requests(str(hang), "a"), jobs=2, progress=interrupt, command=FAILING)
    assert not is_alive(int(hang.read_text()))


def test_a_call_leaves_no_process_behind() -> None:
    answers = check_files(requests("a", "b"), jobs=2, command=FAILING)
    assert not any(is_alive(int(a.error)) for a in answers)


def test_a_process_that_cannot_be_started_is_each_file_s_error() -> None:
    answers = check_files(requests("a", "b"), command=["/nowhere/python"])
    assert [a.exit_code for a in answers] == [4, 4]
    assert answers[0].error.startswith("a: the check's process could not be started: [Errno 2]")


def test_a_child_imports_nothing_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    models.gru(tmp_path / "m.onnx")
    answers = check_files(requests("m.onnx", "m.onnx"), jobs=1)
    assert [a.error for a in answers] == ["", ""]


def test_a_child_ends_with_its_parent_whatever_it_is_busy_with(tmp_path: Path) -> None:
    hang = tmp_path / "hang"
    code = (
        "import sys, worker_that_fails as stand_in, opscope.engine.guard.worker as worker\n"
        "worker.serve.__defaults__ = (stand_in.check,)\n"
        "sys.exit(worker.main())"
    )
    command = [sys.executable, "-c", code]
    request = pickle.dumps(Request(str(hang)))
    environment = {"PYTHONPATH": str(Path(FAILING[-1]).parent)}
    assert exit_code_without_parent(command, request, hang, environment) == 0


def test_how_a_child_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_command()[0] == sys.executable
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert worker_command() == [sys.executable, "--check-worker"]
    assert default_jobs() >= 1


def test_a_frozen_application_is_the_child_where_it_is_told_to_be() -> None:
    code = "import sys; from opscope.gui.entry import main; sys.exit(main(sys.argv[1:]))"
    asked = Request("missing.onnx")
    command = [sys.executable, "-c", code, FLAG]
    assert check_files([asked], command=command) == (check_or_error(asked),)
