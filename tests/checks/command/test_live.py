"""The installed ONNX Runtime beside the prediction."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from guard_models import chain
from opscope.engine.cli import main
from opscope.engine.ir.model import Model
from opscope.engine.live import LiveSession
from opscope.engine.live.answer import LiveNode, LivePlacement, LiveUnavailable
from opscope.engine.providers.support import Status


def test_live_shows_prediction_and_reality_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    on_gpu = LiveNode(Status.GPU, "WebGpuExecutionProvider", "same name")

    def ask(_: LiveSession, model: Model, target_id: str) -> LivePlacement:
        return LivePlacement(target_id, {"onnxruntime": "1.99"}, dict.fromkeys(model.nodes, on_gpu))

    monkeypatch.setattr(LiveSession, "ask", ask)
    path = chain(tmp_path / "m.onnx", [("Elu", "elu"), ("Relu", "relu"), ("Relu", "relu2")])
    assert main(["check", path, "--live"]) == 1
    out = capsys.readouterr().out
    assert "live ort-webgpu (onnxruntime 1.99): 2 of 3 nodes as predicted" in out
    table = out[out.index("live ort-webgpu") : out.index("\n\noperator")]
    rows = [line.split() for line in table.splitlines() if line.startswith(("Elu", "Relu"))]
    assert [(r[0], r[1], r[-1]) for r in rows] == [
        ("Elu", "1", "differs"),
        ("Relu", "2", "WebGpuExecutionProvider"),
    ]
    assert "error: [table-differs] ort-webgpu: 'elu' (Elu): " in out
    assert main(["check", path, "--live", "--format", "json"]) == 1
    (answer,) = json.loads(capsys.readouterr().out)["files"][0]["live"]
    assert [row["agrees"] for row in answer["rows"]] == [False, True, True]


@pytest.mark.skipif(find_spec("onnxruntime") is None, reason="needs onnxruntime to ask it")
def test_live_asks_the_installed_ort(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = chain(tmp_path / "m.onnx", [("Elu", "elu"), ("Softmax", "soft")], opset=17)
    assert main(["check", path, "--live", "--target", "ort-cpu"]) == 0
    assert "2 of 2 nodes as predicted" in capsys.readouterr().out


def test_live_leaves_out_what_lives_in_a_browser_and_says_so(
    fine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def ask(_: LiveSession, model: Model, target_id: str) -> LivePlacement:
        asked.append(target_id)
        return LivePlacement(target_id, {"onnxruntime": "9"}, {}, "")

    monkeypatch.setattr(LiveSession, "ask", ask)
    names = ["--target", "ort-webgpu", "--target", "webnn", "--target", "ort-web"]
    main(["check", fine, "--live", *names])
    assert asked == ["ort-webgpu"]
    out = capsys.readouterr().out
    assert "\nlive webnn: no session: it lives in a browser, so ORT cannot be asked\n" in out
    assert main(["check", fine, "--live", "--target", "webnn"]) == 2
    assert "no installed ORT has webnn" in capsys.readouterr().err


def test_without_an_ort_live_is_one_line_and_no_device(
    fine: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(*_: Any, **__: Any) -> LivePlacement:
        raise LiveUnavailable("no onnxruntime; pip install 'opscope[ort]'")

    monkeypatch.setattr(LiveSession, "ask", ask)
    assert main(["check", fine, "--live"]) == 3
    said = capsys.readouterr()
    assert said.err == (
        "opscope: error: --live: ort-webgpu: no onnxruntime; pip install 'opscope[ort]'\n"
    )
    assert "ORT WebGPU 0.4.0  GPU 1" in said.out
    assert said.out.startswith(f"{fine}: incomplete: 0 errors, 0 warnings, 0 info\n")
