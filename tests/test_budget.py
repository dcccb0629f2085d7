"""Download and GPU memory of a model, and the bounds that a policy sets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from opscope.engine.budget import Budget, budget, budget_findings
from opscope.engine.checks.judge import judge
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.load import load_model


def save(folder: Path, external: bool = False, **more: np.ndarray) -> Path:
    """x (1,000 f32) times w (1,000 f32), plus a constant of 100 int64."""
    weights = {"w": np.ones(1000, np.float32), **more}
    graph = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "w"], ["a"], name="mul"),
            helper.make_node("Relu", ["a"], ["y"], name="relu"),
            helper.make_node(
                "Constant", [], ["c"], value=numpy_helper.from_array(np.ones(100, np.int64))
            ),
        ],
        "g",
        [helper.make_tensor_value_info("x", 1, [1000])],
        [helper.make_tensor_value_info("y", 1, [1000])],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    path = folder / "m.onnx"
    onnx.save(
        made,
        str(path),
        save_as_external_data=external,
        location="m.data",
        size_threshold=0,
        all_tensors_to_one_file=True,
    )
    return path


def of(path: Path, target: str = "ort-webgpu") -> Budget:
    return budget(judge(load_model(path), [target]), target)


def test_the_download_is_the_file_by_element_type(tmp_path: Path) -> None:
    path = save(tmp_path, h=np.ones(50, np.float16))
    found = of(path)
    assert found.download == path.stat().st_size
    assert found.external_bytes == 0
    assert found.weights == {"float32": 4000, "float16": 100, "int64": 800}
    assert "float32 3.9 KiB, int64 800 bytes, float16 100 bytes, the graph" in found.lines()[0]


def test_external_data_is_downloaded_as_whole_files(tmp_path: Path) -> None:
    path = save(tmp_path, external=True)
    beside = tmp_path / "m.data"
    beside.write_bytes(beside.read_bytes() + bytes(5000))  # nobody reads these, all fetch them
    found = of(path)
    assert found.external_bytes == beside.stat().st_size
    assert found.download == path.stat().st_size + beside.stat().st_size


def test_external_data_that_is_not_there_counts_by_its_weights(tmp_path: Path) -> None:
    path = save(tmp_path, external=True, v=np.ones(50, np.float32))
    (tmp_path / "m.data").unlink()
    assert of(path).external_bytes == 4000 + 200


def test_nothing_outside_the_folder_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    path = save(tmp_path / "inner", external=True)
    size = (tmp_path / "inner" / "m.data").stat().st_size
    (tmp_path / "m.data").write_bytes(bytes(1_000_000))
    model = onnx.load(str(path), load_external_data=False)
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = "../m.data"
    path.write_bytes(model.SerializeToString())
    assert of(path).external_bytes <= size + 16


def test_gpu_memory_of_ort_is_weights_and_living_values(tmp_path: Path) -> None:
    found = of(save(tmp_path))
    assert (found.gpu_weights, found.gpu_values) == (4000, 8000)
    assert found.source == "estimate"
    assert "ORT WebGPU 0.4.0: 11.7 KiB (estimate; weights 3.9 KiB" in found.lines()[1]


def test_our_own_memory_is_the_plans(tmp_path: Path) -> None:
    path = save(tmp_path)
    judged = judge(load_model(path), ["opscope"])
    assert judged.plan is not None
    found = budget(judged, "opscope")
    assert found.gpu_values == sum(judged.plan.arena)
    assert found.source == "plan"


def test_a_target_without_a_gpu_has_a_download_alone(tmp_path: Path) -> None:
    found = of(save(tmp_path), "ort-cpu")
    assert len(found.lines()) == 1
    assert found.gpu_memory == 0


def test_the_json_is_plain_data(tmp_path: Path) -> None:
    data = json.loads(json.dumps(of(save(tmp_path)).to_json()))
    assert data["gpu"]["peak_bytes"] == 12_000
    assert data["weights"]["float32"] == 4000
    assert data["target"] == "ort-webgpu"


@pytest.mark.parametrize(
    ("download", "memory", "told"),
    [
        (None, None, []),
        (4000, None, ["download"]),
        (50_000, 12_000, []),
        (None, 11_999, ["memory"]),
        (0, 0, ["download", "memory"]),
    ],
)
def test_what_is_over_a_bound_is_an_error(
    tmp_path: Path, download: int | None, memory: int | None, told: list[str]
) -> None:
    found = budget_findings(of(save(tmp_path)), download, memory)
    assert [d.data["what"] for d in found] == told
    assert all(d.code == "web-budget" and d.severity is Severity.ERROR for d in found)
    assert [d.target for d in found] == [{"download": "", "memory": "ort-webgpu"}[w] for w in told]


def test_the_finding_has_both_numbers(tmp_path: Path) -> None:
    (found,) = budget_findings(of(save(tmp_path)), max_memory=10_240)
    assert "needs 11.7 KiB of GPU memory, of 10 KiB that the policy allows" in found.text
