"""``opscope run``: the text, and the files that scripts depend on."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guard_models import write
from onnx import helper
from opscope.engine.cli import main

X = np.random.default_rng(0).normal(size=(3, 6, 6)).astype(np.float32)
X[:, 0, 0] = 0


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Relu on the GPU, Det on the CPU, and a logarithm of what is zero and below."""
    nodes = [
        helper.make_node("Relu", ["x"], ["positive"], name="relu"),
        helper.make_node("Det", ["positive"], ["y"], name="det"),
        helper.make_node("Log", ["x"], ["logs"], name="log"),
    ]
    return write(tmp_path / "m.onnx", *nodes, shape=X.shape, outputs=("y", "logs"))


@pytest.fixture
def inputs(tmp_path: Path) -> str:
    np.savez(tmp_path / "in.npz", x=X)
    return str(tmp_path / "in.npz")


def test_a_table_of_times_is_whole_or_says_what_has_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def text(nodes: int) -> str:
        names = ["x", *(f"v{i}" for i in range(nodes))]
        made = [helper.make_node("Softmax", [a], [b], name=f"to_{b}") for a, b in pairwise(names)]
        path = write(tmp_path / f"{nodes}.onnx", *made, shape=(2, 3), outputs=(names[-1],))
        assert main(["run", path]) == 0
        return capsys.readouterr().out

    whole, cut = text(20), text(21)
    assert "to_v19" in whole
    assert "slowest" not in whole
    assert "the 20 slowest of 21 (--json FILE has all)" in cut
    assert cut.count("to_v") == 20


def run(path: str, inputs: str, folder: Path, *more: str) -> dict[str, Any]:
    """The JSON file of a run."""
    out = folder / "run.json"
    assert main(["run", path, "--inputs", inputs, "--json", str(out), *more]) == 0
    data: dict[str, Any] = json.loads(out.read_text())
    return data


def test_the_json_has_what_scripts_depend_on(path: str, inputs: str, tmp_path: Path) -> None:
    data = run(path, inputs, tmp_path, "--repeat", "2", "--warmup", "1")
    assert set(data) >= {
        "schema", "engine", "model", "adapter", "placement", "assumed", "timing", "diagnostics",
        "runs", "wall_ms", "gpu_ms", "kernels", "stats", "outputs", "memory",
    }  # fmt: skip
    assert (data["schema"], data["runs"], data["assumed"]) == (1, 3, {})
    assert data["placement"] == {"gpu": 2, "host": 1, "unsupported": 0, "folded": 0, "fused": 0}
    assert data["model"]["path"] == path
    assert set(data["wall_ms"]) == set(data["gpu_ms"]) == {"first", "min", "p50", "p95"}
    assert 0 < data["wall_ms"]["min"] <= data["wall_ms"]["p50"] <= data["wall_ms"]["p95"]
    kernels = {k["node"]["name"]: k for k in data["kernels"]}
    assert set(kernels) == {"relu", "det", "log"}
    assert (kernels["det"]["kernel"], kernels["det"]["dispatches"]) == ("host", 0)
    assert kernels["relu"]["node"] == {"graph": [], "index": 0, "name": "relu"}
    assert kernels["relu"]["bytes"] >= 2 * X.nbytes
    assert data["outputs"]["logs"] == {"dtype": "float32", "shape": [3, 6, 6]}
    assert data["outputs"]["y"] == {"dtype": "float32", "shape": [3]}
    assert "host-node" in {d["code"] for d in data["diagnostics"]}


def test_of_a_single_run_its_time_is_every_number(path: str, inputs: str, tmp_path: Path) -> None:
    wall = run(path, inputs, tmp_path)["wall_ms"]
    assert wall["first"] is not None
    assert set(wall.values()) == {wall["first"]}


def test_value_statistics_are_those_of_the_values(path: str, inputs: str, tmp_path: Path) -> None:
    data = run(path, inputs, tmp_path, "--stats")
    stats = {s["output"]: s for s in data["stats"]}
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.log(X)
    finite = logs[np.isfinite(logs)]
    log = stats["logs"]
    assert (log["elements"], log["nan"], log["inf"]) == (
        X.size, np.isnan(logs).sum(), np.isinf(logs).sum(),
    )  # fmt: skip
    assert log["min"] == pytest.approx(finite.min(), rel=1e-6)
    assert log["max"] == pytest.approx(finite.max(), rel=1e-6)
    assert {d["code"] for d in data["diagnostics"]} >= {"nan-values", "inf-values"}


def test_a_value_in_a_function_s_body_is_told_of_the_node_there(tmp_path: Path) -> None:
    imports = [helper.make_opsetid("", 17)]
    body = helper.make_function(
        "local",
        "Wrong",
        ["a"],
        ["b"],
        [helper.make_node("Log", ["a"], ["b"], name="deep")],
        imports,
    )
    port, end = (helper.make_tensor_value_info(n, 1, [2]) for n in "xy")
    call = helper.make_node("Wrong", ["x"], ["y"], name="call", domain="local")
    model = helper.make_model(
        helper.make_graph([call], "g", [port], [end]),
        functions=[body],
        opset_imports=[*imports, helper.make_opsetid("local", 1)],
        ir_version=9,
    )
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    np.savez(tmp_path / "in.npz", x=np.array([-1, 1], np.float32))
    data = run(str(tmp_path / "m.onnx"), str(tmp_path / "in.npz"), tmp_path, "--stats")
    (told,) = [d for d in data["diagnostics"] if d["code"] == "nan-values"]
    assert (told["op"], told["node"]["name"]) == ("Log", "deep")
    assert told["node"]["graph"] == ["local::Wrong"]


def test_the_outputs_are_saved_under_their_names(path: str, inputs: str, tmp_path: Path) -> None:
    run(path, inputs, tmp_path, "--outputs", str(tmp_path / "out.npz"))
    with np.load(tmp_path / "out.npz") as saved:
        assert set(saved) == {"y", "logs"}
        exact = np.linalg.det(np.maximum(X, 0).astype(np.float64))
        np.testing.assert_allclose(saved["y"], exact, rtol=1e-4, atol=1e-5)


def test_the_trace_has_a_time_for_each_node(path: str, inputs: str, tmp_path: Path) -> None:
    run(path, inputs, tmp_path, "--trace", str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    timed = [e for e in events if e["ph"] == "X"]
    assert {(e["name"], e["tid"]) for e in timed} >= {("relu", 0), ("det", 1), ("log", 0)}
    assert all(e["dur"] > 0 for e in timed)


def test_the_text_has_the_window_s_words(
    path: str, inputs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", path, "--inputs", inputs]) == 0
    out = capsys.readouterr().out
    assert "\nplacement   GPU 2  CPU 1\n" in out
    (found,) = [line.split() for line in out.splitlines() if line.startswith("det ")]
    assert found[:3] == ["det", "Det", "CPU"]
    assert "output      logs float32 [3, 6, 6]  min " in out
    assert f"{np.sum(X <= 0):,} not finite" in out
