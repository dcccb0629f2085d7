"""The child's side of the protocol, with a stand-in for onnxruntime."""

from __future__ import annotations

import io
import json
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from opscope.engine.live import worker


class _Options:
    def __init__(self) -> None:
        self.entries: dict[str, str] = {}

    def add_session_config_entry(self, key: str, value: str) -> None:
        self.entries[key] = value


class _Session:
    made: list[tuple[Any, _Options, Any]] = []

    def __init__(
        self, model: Any, options: _Options, providers: Any = None, enable_fallback: int = 1
    ) -> None:
        assert enable_fallback == 0, "a failing provider must not become a CPU session"
        if options.entries.get("fail"):
            raise RuntimeError("no\n  such thing")
        self.made.append((model, options, providers))

    def get_provider_graph_assignment_info(self) -> list[Any]:
        node = SimpleNamespace(domain="", op_type="Relu", name="opscope.0.")
        return [SimpleNamespace(ep_name="CPUExecutionProvider", get_nodes=lambda: [node])]


@pytest.fixture
def ort(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    found = ModuleType("onnxruntime")
    found.__version__ = "9.9.9"  # type: ignore[attr-defined]
    found.SessionOptions = _Options  # type: ignore[attr-defined]
    found.InferenceSession = _Session  # type: ignore[attr-defined]
    found.set_default_logger_severity = lambda level: None  # type: ignore[attr-defined]
    found.get_available_providers = lambda: ["CPUExecutionProvider"]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "onnxruntime", found)
    _Session.made.clear()
    return found


def answers(*requests: dict[str, Any]) -> list[dict[str, Any]]:
    out = io.StringIO()
    lines = [json.dumps(r) for r in requests]
    worker.serve(io.StringIO("\n".join(lines)), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def session_request(**more: Any) -> dict[str, Any]:
    base = {
        "do": "session",
        "model": "m.onnx",
        "folder": "",
        "basic": False,
        "save": "",
        "feeds": "",
    }
    return {**base, "provider": "CPUExecutionProvider", "options": {}, **more}


def test_hello_says_what_is_installed(ort: ModuleType) -> None:
    (hello,) = answers({"do": "hello", "provider": "CPUExecutionProvider"})
    assert hello["versions"] == {"onnxruntime": "9.9.9"}
    assert hello["records"] is True


def test_orts_telemetry_is_turned_off(ort: ModuleType) -> None:
    calls: list[bool] = []
    ort.disable_telemetry_events = lambda: calls.append(True)  # type: ignore[attr-defined]
    answers({"do": "hello", "provider": "CPUExecutionProvider"})
    assert calls == [True]


def test_a_provider_that_is_not_there_is_refused(ort: ModuleType) -> None:
    (hello,) = answers({"do": "hello", "provider": "CUDAExecutionProvider"})
    assert hello["refused"] == "no-provider"
    assert hello["text"] == "onnxruntime 9.9.9 has no CUDAExecutionProvider"


def test_no_onnxruntime_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    (hello,) = answers({"do": "hello", "provider": "CPUExecutionProvider"})
    assert hello["refused"] == "missing"


def test_a_session_tells_its_assignment(ort: ModuleType) -> None:
    (found,) = answers(session_request())
    assert found["assigned"] == [["CPUExecutionProvider", "", "Relu", "opscope.0."]]
    ((model, options, providers),) = _Session.made
    assert (model, providers) == ("m.onnx", ["CPUExecutionProvider"])
    assert options.entries["session.record_ep_graph_assignment_info"] == "1"


def test_a_failure_is_one_line_and_the_child_lives_on(ort: ModuleType) -> None:
    first, second = answers(session_request(options={"fail": "1"}), session_request())
    assert first["error"] == "no such thing"
    assert second["error"] == ""
