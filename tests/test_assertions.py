"""What tests may demand of a model, and how a failure reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from opscope.engine import assertions
from opscope.engine.assertions import CheckedModel, Models
from opscope.engine.errors import ModelFileError, UsageError


def save(
    path: Path,
    *nodes: onnx.NodeProto,
    opset: int = 17,
    dtype: str = "float32",
    shape: tuple[int | str, ...] = (3, "batch", 6),
) -> Path:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    weights = [
        numpy_helper.from_array(np.zeros(s, dtype), n)
        for n, s in (("w", (1, 12, 6)), ("r", (1, 12, 4)))
    ]
    port = helper.make_tensor_value_info("x", kind, shape)
    graph = helper.make_graph(list(nodes), "g", [port], [onnx.ValueInfoProto(name="y")], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), str(path))
    return path


def gru(path: Path, **more) -> Path:
    node = helper.make_node("GRU", ["x", "w", "r"], ["y"], name="rnn", hidden_size=4)
    return save(path, node, **more)


def hardmax(path: Path, name: str = "h") -> Path:
    return save(path, helper.make_node("Hardmax", ["x"], ["y"], name=name))


def opened(path: Path, **more) -> CheckedModel:
    return Models().open(path, [], more.get("dims", {}), more.get("shapes", {}))


def text_of(call) -> str:
    with pytest.raises(AssertionError) as caught:
        call()
    return str(caught.value)


def test_a_model_that_does_all_that_is_demanded(tmp_path: Path) -> None:
    model = opened(gru(tmp_path / "m.onnx"))
    same = model.assert_on_gpu("ort-webgpu").require("GRU").assert_fits().assert_no("opset-gate")
    assert same is model
    model.assert_on_gpu("opscope")


def test_a_failure_names_node_reason_and_remedy(tmp_path: Path) -> None:
    model = opened(gru(tmp_path / "m.onnx", opset=22))
    lines = text_of(model.assert_on_gpu).splitlines()
    assert lines[0] == f"{tmp_path}/m.onnx: 1 node of 1 not on the GPU of ORT WebGPU 0.4.0"
    assert lines[1].startswith("  'rnn' (GRU): on the CPU: GRU is stamped with schema version 22")
    assert "remedy: " in lines[2]
    assert "opset 21" in lines[2]
    assert "required but not on the GPU" in text_of(lambda: model.require("GRU"))
    assert "[opset-gate] 'rnn' (GRU)" in text_of(lambda: model.assert_no("opset-gate"))


def test_allowed_operators_may_be_on_the_cpu(tmp_path: Path) -> None:
    model = opened(hardmax(tmp_path / "m.onnx"))
    model.assert_on_gpu(allow={"Hardmax"})
    told = text_of(lambda: model.assert_on_gpu(allow=["Shape", "NonZero"]))
    assert "(NonZero, Shape may be on the CPU)" in told
    with pytest.raises(UsageError, match="a collection of operators"):
        model.assert_on_gpu(allow="Hardmax")


def test_a_cpu_target_runs_where_it_should(tmp_path: Path) -> None:
    opened(hardmax(tmp_path / "m.onnx")).assert_on_gpu("ort-cpu")


def test_a_required_operator_must_be_there(tmp_path: Path) -> None:
    model = opened(gru(tmp_path / "m.onnx"))
    assert "has no node LSTM" in text_of(lambda: model.require("GRU", "LSTM"))


def test_what_does_not_fit_a_browser(tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx", helper.make_node("Relu", ["x"], ["y"], name="act"))
    opened(path).assert_fits("browser")
    large = opened(path, dims={"batch": 4_000_000})
    told = text_of(large.assert_fits)
    assert "does not fit 'browser'" in told
    assert "[binding-limit] 'act' (Relu): this Relu needs a buffer of 274.7 MiB" in told
    assert "256 MiB" in told
    half = opened(gru(tmp_path / "half.onnx", dtype="float16"))
    assert "[f16-unavailable]" not in text_of(lambda: half.assert_on_gpu("ort-webgpu"))


def test_what_does_not_fit_for_assumed_sizes_fails_too(tmp_path: Path) -> None:
    """It is a warning elsewhere; a test can give the sizes."""
    node = helper.make_node("Relu", ["x"], ["y"], name="act")
    path = save(tmp_path / "m.onnx", node, shape=(1_000_000, "batch", 6))
    assert "[binding-limit] 'act'" in text_of(opened(path).assert_fits)
    opened(path, dims={"batch": 1}).assert_fits()


def test_a_budget_is_a_demand_too(tmp_path: Path) -> None:
    model = opened(gru(tmp_path / "m.onnx"))
    model.assert_fits(download="1 MiB", gpu_memory="1 MiB")
    assert "[web-budget]" in text_of(lambda: model.assert_fits(download=100))
    assert "GPU memory" in text_of(lambda: model.assert_fits(gpu_memory="16 B"))


def test_unknown_names_are_errors(tmp_path: Path) -> None:
    model = opened(gru(tmp_path / "m.onnx"))
    with pytest.raises(UsageError, match="opset-gate"):
        model.assert_no("opset-gat")
    with pytest.raises(UsageError, match="there is"):
        model.assert_on_gpu("ort-webgl")
    with pytest.raises(UsageError, match="limits"):
        model.assert_fits("brwser")


def test_a_long_list_is_cut_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assertions, "LISTED", 2)
    nodes = [
        helper.make_node("Hardmax", ["x"], [f"y{i}" if i else "y"], name=f"h{i}", axis=i % 3)
        for i in range(5)
    ]
    path = save(tmp_path / "m.onnx", *nodes)
    told = text_of(opened(path).assert_on_gpu)
    assert told.count("(Hardmax): on the CPU") == 2
    assert told.splitlines()[0].endswith("5 nodes of 5 not on the GPU of ORT WebGPU 0.4.0")
    assert told.endswith("and 3 more")


def test_names_from_a_file_stay_on_their_line(tmp_path: Path) -> None:
    path = hardmax(tmp_path / "m.onnx", name="h\n\x1b[31mE   AssertionError: forged")
    told = text_of(opened(path).assert_on_gpu)
    assert "\x1b" not in told
    assert "h\\n\\x1b[31m" in told


def test_a_file_is_looked_for_beside_the_test_then_in_the_root(tmp_path: Path) -> None:
    beside, root = tmp_path / "tests", tmp_path
    beside.mkdir()
    gru(root / "m.onnx")
    models = Models()
    far = models.open("m.onnx", [beside, root], {}, {})
    hardmax(beside / "m.onnx")
    near = models.open("m.onnx", [beside, root], {}, {})
    assert [n.op for n in far.model.nodes.values()] == ["GRU"]
    assert [n.op for n in near.model.nodes.values()] == ["Hardmax"]
    with pytest.raises(ModelFileError, match=r"other\.onnx is not there: looked in .*tests, "):
        models.open("other.onnx", [beside, root], {}, {})
    with pytest.raises(ModelFileError, match="is not there"):
        models.open("x" * 5000, [beside, root], {}, {})  # a name that no system takes


def test_a_file_is_read_once_until_it_changes(tmp_path: Path) -> None:
    path = gru(tmp_path / "m.onnx")
    models = Models()
    first = models.open(path, [], {}, {})
    assert models.open(path, [], {}, {}) is first
    assert first.judgement("ort-webgpu") is first.judgement("ort-webgpu")
    fixed = models.open(path, [], {"batch": 2}, {})
    assert fixed is not first
    assert fixed.model is first.model
    gru(path, opset=22)
    assert models.open(path, [], {}, {}).model is not first.model
