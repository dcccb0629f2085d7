"""Required operators, strict placement, severities that fail, targets, and every real model."""

from __future__ import annotations

import json
from pathlib import Path

import opscope_testdata as testdata
import pytest
from guard_models import gru, write
from onnx import helper
from opscope.engine.cli import main
from opscope.engine.device.profile import DeviceProfile


def test_a_model_without_findings_is_fine(fine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", fine, "--require", "GRU", "--strict", "--fail-on", "warning"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{fine}: fine: 0 errors, 0 warnings, 0 info\n")
    assert [line.split() for line in out.splitlines() if line.startswith("GRU")] == [
        ["GRU", "1", "GPU", "1", "GPU", "1"]
    ]
    assert out.endswith("\nfine: 0 errors, 0 warnings, 0 info\n")


def test_a_gru_in_f16_fails_on_ort_and_not_on_ours(
    half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", half, "--target", "opscope", "--require", "GRU"]) == 0
    assert main(["check", half, "--target", "ort-webgpu", "--require", "GRU"]) == 1
    out = capsys.readouterr().out
    required = [line for line in out.splitlines() if "[required-op]" in line]
    assert len(required) == 1
    for part in ("'rnn' (GRU)", "float16", "7-13 and exactly 14", "float32"):
        assert part in required[0]


def test_strict_names_the_recurrent_node(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", half, "--strict"]) == 1
    assert "[strict-placement] ort-webgpu: 'rnn' (GRU)" in capsys.readouterr().out


def test_fail_on_warning(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", helper.make_node("Elu", ["x"], ["y"]), opset=22)
    assert main(["check", path]) == 0
    assert main(["check", path, "--fail-on", "warning"]) == 1
    assert main(["check", path, "--fail-on", "warning", "--target", "opscope"]) == 0


def test_a_real_gru_in_f16_is_named_with_its_type_and_the_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = testdata.model_path("derived.dfn3_enc_fp16")
    assert main(["check", str(path), "--target", "ort-webgpu", "--require", "GRU"]) == 1
    told = next(s for s in capsys.readouterr().out.splitlines() if "[required-op]" in s)
    for part in ("GRU", "float16", "7-13 and exactly 14", "float32"):
        assert part in told


def test_targets_with_versions_and_options(half: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["--target", "ort-webgpu@0.4.0,enableInt64=1", "--target", "ort-cpu"]
    assert main(["check", half, *names, "--format", "json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert [t["id"] for t in data["targets"]] == ["ort-webgpu,enableInt64=1", "ort-cpu"]
    assert data["targets"][0]["version"] == "0.4.0"
    assert data["files"][0]["placement"]["ort-cpu"] == {"host": 1}


def test_all_is_the_newest_of_each_family(fine: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", fine, "--target", "all"])
    out = capsys.readouterr().out
    for label in ("Opscope", "ORT WebGPU 0.4.0", "ORT CPU", "ORT CUDA", "WebNN"):
        assert label in out


def test_assumed_dimensions_are_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = gru(tmp_path / "m.onnx", shape=["steps", 1, 6])
    main(["check", path])
    assert "steps = 1" in capsys.readouterr().out
    main(["check", path, "--dim", "steps=7"])
    assert "\nassumed" not in capsys.readouterr().out
    assert main(["check", path, "--dim", "time=7"]) == 2
    assert "no dimension 'time'" in capsys.readouterr().err
    assert main(["check", path, "--shape", "x=7,1,5"]) == 2


def test_saved_limits_are_those_that_count(
    tmp_path: Path, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = tmp_path / "limits.json"
    data = DeviceProfile("pocket GPU").to_json()
    data["limits"]["max_storage_buffer_binding_size"] = 64
    limits.write_text(json.dumps({"devices": [data]}))
    assert main(["check", fine, "--limits", str(limits)]) == 1
    out = capsys.readouterr().out
    assert "[binding-limit]" in out
    assert "pocket GPU" in out


@pytest.mark.parametrize("model_id", testdata.model_ids())
def test_every_model_is_judged(model_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(testdata.model_path(model_id))]) in (0, 1)
    said = capsys.readouterr()
    assert "operator" in said.out
    assert said.err == ""
