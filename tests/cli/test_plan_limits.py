"""``opscope plan --limits``: by name, and from a file of ``opscope devices --json``."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from onnx import helper
from opscope.engine.cli.main import main
from opscope.engine.device.profile import DeviceProfile, Limits


@pytest.fixture
def large(tmp_path: Path) -> str:
    """Expand makes 160 MB, over the 128 MiB that a browser's binding holds."""
    ends = [helper.make_tensor_value_info("x", 1, [1]), onnx.ValueInfoProto(name="y")]
    shape = helper.make_tensor("s", onnx.TensorProto.INT64, [1], [40_000_000])
    nodes = [
        helper.make_node("Expand", ["x", "s"], ["big"], name="grow"),
        helper.make_node("ReduceMax", ["big"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [shape])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(made, str(tmp_path / "m.onnx"))
    return str(tmp_path / "m.onnx")


def test_a_browser_does_not_take_it(large: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", large, "--limits", "browser"]) == 4
    error = capsys.readouterr().err
    assert "node 'grow' (Expand)" in error
    assert "needs 152.6 MiB" in error
    assert "128 MiB per binding" in error


def test_saved_limits_take_it(
    large: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roomy = DeviceProfile(name="roomy GPU", limits=Limits(1 << 30, 1 << 30))
    path = tmp_path / "there.json"
    path.write_text(json.dumps({"schema": 1, "devices": [roomy.to_json()]}))
    assert main(["plan", large, "--limits", str(path)]) == 0
    assert "roomy GPU" in capsys.readouterr().out
