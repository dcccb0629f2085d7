"""A session's answers, with scripts in the child's place."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from opscope.engine.errors import UsageError
from opscope.engine.ir.model import Weight
from opscope.engine.ir.named import NamedCopy
from opscope.engine.live import LiveSession, LiveUnavailable
from opscope.engine.live import session as sessions
from opscope.engine.live.texts import node_of
from opscope.engine.providers.support import Status
from small_model import model, node

MADE = model([node("Relu", "x", "y", "mine")], {"x": ("float32", (2,))}, "y")
SCRIPT = """
import json, os, sys, time
hellos = 0
for line in sys.stdin:
    r = json.loads(line)
    if r["do"] == "hello":
        hellos += 1
        a = {{"versions": {{"onnxruntime": "9.9"}}, "devices": [], "records": True,
              "available": ["CPUExecutionProvider", "WebGpuExecutionProvider"]}}
    else:
        {session}
    print(json.dumps(a), flush=True)
"""


def command(session: str) -> Sequence[str]:
    return [sys.executable, "-c", SCRIPT.format(session=session)]


def test_an_assignment_becomes_the_users_nodes() -> None:
    said = 'a = {"error": "", "assigned": [["CPUExecutionProvider", "", "Relu", "opscope.0."]]}'
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu")
    assert [n.status for n in live.nodes.values()] == [Status.HOST]
    assert live.versions == {"onnxruntime": "9.9"}
    (note,) = live.notes
    assert "onnxruntime 9.9 is installed" in note


def test_a_death_is_the_models_answer_and_the_next_is_asked() -> None:
    said = "a = {'error': 'x', 'assigned': []}; sys.stderr.write('assertion!\\n'); os.abort()"
    with LiveSession(command=command(said)) as session:
        for _ in range(2):
            live = session.ask(MADE, "ort-cpu")
            assert live.error == (
                "ORT's process ended by signal 6 (SIGABRT); its last words: assertion!"
            )
            assert live.nodes == {}


@pytest.mark.parametrize(
    ("is_run", "machine", "most"),
    [
        (False, 64 << 30, (4 << 30) + 8 * (1000 + 24)),  # the file's bytes, and those beside it
        (False, 2 << 30, 2 << 30),
        (True, 64 << 30, 64 << 30),
        (False, None, None),
    ],
)
def test_what_a_session_may_take_grows_with_the_model(
    monkeypatch: pytest.MonkeyPatch, is_run: bool, machine: int | None, most: int | None
) -> None:
    inside, beside = Weight("a", "float32", (9,), 36), Weight("b", "float32", (6,), 24, "b.bin")
    graph = replace(MADE.graph, initializers={"a": inside, "b": beside})
    copy = NamedCopy(b"x" * 1000, "", ())
    monkeypatch.setattr(sessions, "memory_for_one", lambda: machine)
    found = sessions.memory_for(replace(MADE, graph=graph), copy, is_run=is_run)
    assert found == most


def test_silence_is_the_models_answer() -> None:
    with LiveSession(command=command("time.sleep(60)")) as session:
        live = session.ask(MADE, "ort-cpu", timeout_s=0.5)
    assert live.error == "ORT's process took more than 0.5 s, and was ended"


def test_why_there_is_no_adapter_is_said_though_it_comes_by_another_pipe() -> None:
    words = "Warning: Vulkan shaderInt16 required."
    said = (
        "a = {'error': 'Failed to get a WebGPU adapter'}; "
        f"sys.stderr.write('noise\\n' * 100_000 + '{words}\\n')"
    )
    with LiveSession(command=command(said)) as session:
        with pytest.raises(LiveUnavailable, match=r"lacks what Dawn wants \(shaderInt16\)"):
            session.ask(MADE, "ort-webgpu")
        with pytest.raises(LiveUnavailable, match="shaderInt16"):  # by another child
            session.ask(MADE, "ort-webgpu")


def test_a_child_is_greeted_once_for_each_provider() -> None:
    said = 'a = {"error": f"{hellos} greetings"}'
    with LiveSession(command=command(said)) as session:
        targets = ("ort-cpu", "ort-cpu", "ort-webgpu", "ort-cpu")
        assert [session.ask(MADE, t).error[0] for t in targets] == ["1", "1", "2", "2"]


def test_strings_are_given_without_objects() -> None:
    said = (
        "import numpy as np; given = np.load(r['feeds'], allow_pickle=False)['a0']; "
        "a = {'error': f'{given.dtype} {list(given)}'}"
    )
    names = np.array(["one", "größer"], object)
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu", feeds={"x": names})
        assert live.error.startswith("<U6")
        assert "größer" in live.error
        with pytest.raises(UsageError, match="feed 'x': datetime64"):
            session.ask(MADE, "ort-cpu", feeds={"x": np.array(["2020-01-01"], "datetime64[D]")})


def test_an_error_about_several_nodes_names_none_of_them() -> None:
    two = model([node("Relu", "x", "a"), node("Abs", "a", "y")], {"x": ("float32", (2,))}, "y")
    first, second = two.nodes
    assert node_of("opscope.1. failed, opscope.1._token_2 too", two) == second
    assert node_of("between opscope.0. and opscope.1.", two) is None
    assert node_of("opscope.7. is not there", two) is None
    assert node_of("at opscope.0.", two) == first


def test_an_error_speaks_of_the_users_node() -> None:
    said = 'a = {"error": "/src/onnxruntime/core/x.cc:5 no kernel for node opscope.0._token_2"}'
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu")
    assert live.error == "core/x.cc:5 no kernel for node mine"
    assert live.failed_node == next(iter(MADE.nodes))


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        ("{'refused': 'no-device', 'text': 'gone'}", "failed: gone"),
        ("{'error': 'not opscope.0.'}", "failed: not mine"),
    ],
)
def test_a_second_session_that_fails_leaves_a_node_unknown_and_is_told(
    answer: str, note: str
) -> None:
    said = f"a = {answer} if r['basic'] else {{'error': '', 'assigned': []}}"
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu")
    (node,) = live.nodes.values()
    assert (node.status, node.how) == (
        Status.UNKNOWN,
        f"ORT does not show the graph that it placed: a second session {note}",
    )


def test_the_layout_is_left_alone_in_the_second_session_where_a_provider_turns_it() -> None:
    said = (
        "a = {'error': json.dumps(r['options'])} if r['basic'] else {'error': '', 'assigned': []}"
    )
    with LiveSession(command=command(said)) as session:
        for target, options in (("ort-webgpu", '{"preferredLayout": "NCHW"}'), ("ort-cpu", "{}")):
            (node,) = session.ask(MADE, target).nodes.values()
            assert node.how.endswith(f"a second session failed: {options}")


def test_a_saved_graph_that_cannot_be_read_leaves_a_node_unknown() -> None:
    said = "open(r['save'], 'wb').write(b'no model'); a = {'error': '', 'assigned': []}"
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu")
    assert [n.status for n in live.nodes.values()] == [Status.UNKNOWN]


def test_nothing_is_left_of_a_model_that_kills_the_child(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    said = "a = {}; assert os.path.exists(r['model']); os.kill(os.getpid(), 9)"
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu")
    assert "SIGKILL" in live.error
    assert list(tmp_path.iterdir()) == []


def test_a_child_that_dies_at_once_cannot_be_asked() -> None:
    dead = [sys.executable, "-c", "import sys; sys.exit('no library')"]
    with LiveSession(command=dead) as session, pytest.raises(LiveUnavailable, match="no library"):
        session.ask(MADE, "ort-cpu")


def test_a_command_that_is_not_there() -> None:
    session = LiveSession(command=["/no/such/python"])
    with pytest.raises(LiveUnavailable, match="could not be started"):
        session.ask(MADE, "ort-cpu")


def test_a_packaged_application_without_onnxruntime_says_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = "import json; r = json.loads(input()); print(json.dumps({"
    refused += "'refused': 'missing', 'text': 'no module'}))"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    session = LiveSession(command=[sys.executable, "-c", refused])
    said = r"packaged application.*\(no module\).*from its source"
    with session, pytest.raises(LiveUnavailable, match=said):
        session.ask(MADE, "ort-cpu")
