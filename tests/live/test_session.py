"""A session's answers, with scripts in the child's place."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from opscope.engine.live import LiveSession, LiveUnavailable
from opscope.engine.providers.support import Status
from small_model import model, node

MADE = model([node("Relu", "x", "y", "mine")], {"x": ("float32", (2,))}, "y")
SCRIPT = """
import json, os, sys, time
for line in sys.stdin:
    r = json.loads(line)
    if r["do"] == "hello":
        a = {{"versions": {{"onnxruntime": "9.9"}}, "available": ["CPUExecutionProvider"],
              "devices": [], "records": True}}
    else:
        {session}
    print(json.dumps({{"id": r["id"], **a}}), flush=True)
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
            assert live.error == "ORT aborted: signal 6 (SIGABRT); its last words: assertion!"
            assert live.nodes == {}


def test_silence_is_the_models_answer() -> None:
    with LiveSession(command=command("time.sleep(60)")) as session:
        live = session.ask(MADE, "ort-cpu", timeout_s=0.5)
    assert live.error == "ORT gave no answer within 0.5 s and was ended"


def test_an_error_speaks_of_the_users_node() -> None:
    said = 'a = {"error": "/src/onnxruntime/core/x.cc:5 no kernel for node opscope.0._token_2"}'
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu")
    assert live.error == "core/x.cc:5 no kernel for node mine"
    assert live.failed_node == next(iter(MADE.nodes))


def test_a_second_session_that_is_refused_leaves_a_node_unknown() -> None:
    said = (
        "a = {'refused': 'no-device', 'text': 'gone'} if r['basic'] else "
        "{'error': '', 'assigned': []}"
    )
    with LiveSession(command=command(said)) as session:
        live = session.ask(MADE, "ort-cpu")
    assert [n.status for n in live.nodes.values()] == [Status.UNKNOWN]


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
    with pytest.raises(LiveUnavailable, match="cannot be started"):
        session.ask(MADE, "ort-cpu")


def test_a_packaged_application_without_onnxruntime_says_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused = "import json; r = json.loads(input()); print(json.dumps({'id': r['id'], "
    refused += "'refused': 'missing', 'text': 'no module'}))"
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    session = LiveSession(command=[sys.executable, "-c", refused])
    said = r"packaged application.*\(no module\).*itself"
    with session, pytest.raises(LiveUnavailable, match=said):
        session.ask(MADE, "ort-cpu")
