"""``opscope check`` as scripts and CI call it: text, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import opscope_testdata as testdata
import pytest
from onnx import TensorProto, helper, numpy_helper
from opscope.engine.cli import main
from opscope.engine.device.profile import DeviceProfile


def write(
    path: Path,
    *nodes: onnx.NodeProto,
    shape: Any = (3, 1, 6),
    dtype: str = "float32",
    opset: int = 17,
) -> str:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    port = helper.make_tensor_value_info("x", kind, shape)
    weights = [
        numpy_helper.from_array(np.zeros(s, dtype), n)
        for n, s in (("w", (1, 12, 6)), ("r", (1, 12, 4)))
    ]
    graph = helper.make_graph(list(nodes), "g", [port], [onnx.ValueInfoProto(name="y")], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), str(path))
    return str(path)


def gru(path: Path, dtype: str = "float32", **more: Any) -> str:
    node = helper.make_node("GRU", ["x", "w", "r"], ["y"], name="rnn", hidden_size=4)
    return write(path, node, dtype=dtype, **more)


@pytest.fixture
def fine(tmp_path: Path) -> str:
    return gru(tmp_path / "fine.onnx")


@pytest.fixture
def half(tmp_path: Path) -> str:
    return gru(tmp_path / "half.onnx", "float16")


def test_a_model_without_findings_is_fine(fine: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", fine, "--require", "GRU", "--strict", "--fail-on", "warning"]) == 0
    out = capsys.readouterr().out
    assert "fine.onnx" in out
    assert [line.split() for line in out.splitlines() if line.startswith("GRU")] == [
        ["GRU", "1", "gpu", "1", "gpu", "1"]
    ]
    assert out.endswith("0 errors, 0 warnings, 0 info\n")


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


def test_one_unreadable_file_does_not_stop_the_rest(
    tmp_path: Path, half: str, fine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.onnx"
    empty.write_bytes(b"")
    assert main(["check", half, str(empty), fine]) == 2
    said = capsys.readouterr()
    assert "half.onnx" in said.out
    assert "fine.onnx" in said.out
    assert said.err.startswith("opscope: error: ")
    assert "empty.onnx" in said.err
    assert said.err.count("\n") == 1


def test_json_holds_what_the_text_says(
    tmp_path: Path, half: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out.json"
    missing = str(tmp_path / "missing.onnx")
    assert main(["check", half, missing, "--format", "json", "-o", str(target)]) == 2
    assert capsys.readouterr().out == ""
    data = json.loads(target.read_text())
    assert data["schema"] == 1
    assert [t["id"] for t in data["targets"]] == ["opscope", "ort-webgpu"]
    first, second = data["files"]
    assert first["exit_code"] == 1
    assert first["placement"] == {"opscope": {"gpu": 1}, "ort-webgpu": {"host": 1}}
    assert first["operators"]["GRU"]["ort-webgpu"] == {"host (type)": 1}
    assert [d["code"] for d in first["diagnostics"]] == ["host-node"]
    assert first["diagnostics"][0]["node"] == {"graph": [], "index": 0, "name": "rnn"}
    assert (second["path"], second["exit_code"]) == (missing, 2)
    assert "missing.onnx" in second["error"]


def test_assumed_dimensions_are_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = gru(tmp_path / "m.onnx", shape=["steps", 1, 6])
    main(["check", path])
    assert "steps = 1" in capsys.readouterr().out
    main(["check", path, "--dim", "steps=7"])
    assert "assumed" not in capsys.readouterr().out
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


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--target", "ort-tpu"], "ort-tpu"),
        (["--limits", "/nowhere.json"], "nowhere.json"),
        (["-o", "/nowhere/out.txt"], "/nowhere/out.txt"),
        (["--dim", "n"], "SYMBOL=N"),
    ],
)
def test_bad_usage_is_one_line(
    fine: str, arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", fine, *arguments]) == 2
    err = capsys.readouterr().err
    assert err.startswith("opscope: error: ")
    assert named in err
    assert err.count("\n") == 1


def test_subgraphs_are_listed_with_their_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = helper.make_tensor_value_info("t", TensorProto.FLOAT, None)
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["t"])], "b", [], [end])
    value = numpy_helper.from_array(np.array(True))
    path = write(
        tmp_path / "m.onnx",
        helper.make_node("Constant", [], ["c"], value=value),
        helper.make_node("If", ["c"], ["y"], name="choose", then_branch=branch, else_branch=branch),
    )
    main(["check", path])
    out = capsys.readouterr().out
    assert "then_branch  'choose' (If)" in out
    assert [line.split()[:2] for line in out.splitlines() if line.startswith("Neg")] == [
        ["Neg", "2"]
    ]


def test_a_real_gru_in_f16_is_named_with_its_type_and_the_rows(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = testdata.model_path("derived.dfn3_enc_fp16")
    assert main(["check", str(path), "--target", "ort-webgpu", "--require", "GRU"]) == 1
    told = next(s for s in capsys.readouterr().out.splitlines() if "[required-op]" in s)
    for part in ("GRU", "float16", "7-13 and exactly 14", "float32"):
        assert part in told


@pytest.mark.parametrize("model_id", testdata.model_ids())
def test_every_model_is_judged(model_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(testdata.model_path(model_id))]) in (0, 1)
    said = capsys.readouterr()
    assert "operator" in said.out
    assert said.err == ""
