"""The installed onnxruntime, where there is one; its WebGPU provider where it has an adapter."""

from __future__ import annotations

import sys
from pathlib import Path

import live_ort
import numpy as np
import onnx
import pytest
from onnx import external_data_helper
from opscope.engine.ir.load import load_model
from opscope.engine.live import LiveSession, LiveUnavailable
from opscope.engine.live import session as sessions
from opscope.engine.live.session import LiveFailed
from opscope.engine.providers.support import Status
from small_model import model, node

V = {"x": ("float32", (2, 6))}


def test_cpu_placement_and_outputs() -> None:
    nodes = [node("MatMul", "x w", "a"), node("Add", "a b", "c"), node("Relu", "c", "y")]
    weights = {"w": np.ones((6, 5), np.float32), "b": np.full(5, -3, np.float32)}
    made = model(nodes, V, "y", weights)
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    with live_ort.session("ort-cpu") as session:
        live = session.ask(made, "ort-cpu", feeds={"x": x})
    assert [n.status for n in live.nodes.values()] == [Status.FUSED, Status.FUSED, Status.HOST]
    assert (live.error, live.run_error) == ("", "")
    np.testing.assert_allclose(live.outputs["y"], np.maximum(x @ weights["w"] - 3, 0), rtol=1e-6)


def test_strings_come_and_go() -> None:
    made = model([node("Identity", "x", "y")], {"x": ("object", (2,))}, "y")
    with live_ort.session("ort-cpu") as session:
        outputs = session.run(made, "ort-cpu", {"x": np.array(["one", "größer"], object)})
    assert outputs["y"].tolist() == ["one", "größer"]


def test_names_of_values_may_be_anything() -> None:
    made = model([node("Add", "file arr/0", "self")], {"file": V["x"], "arr/0": V["x"]}, "self")
    x = np.ones((2, 6), np.float32)
    with live_ort.session("ort-cpu") as session:
        outputs = session.run(made, "ort-cpu", {"file": x, "arr/0": x})
    np.testing.assert_array_equal(outputs["self"], 2 * x)


def test_a_session_that_cannot_be_made_names_the_users_node() -> None:
    made = model([node("Det", "x", "y", "/head/det")], {"x": ("int32", (3, 3))}, "y")
    with live_ort.session("ort-cpu") as session:
        live = session.ask(made, "ort-cpu")
        assert "/head/det" in live.error
        assert live.failed_node == next(iter(made.nodes))
        with pytest.raises(LiveFailed, match="makes no session"):
            session.run(made, "ort-cpu", {"x": np.zeros((3, 3), np.int32)})


def test_external_data_is_read_where_the_model_lies(tmp_path: Path) -> None:
    weight = onnx.numpy_helper.from_array(np.full((2, 6), 2, np.float32), "w")
    graph = onnx.helper.make_graph(
        [node("Mul", "x w", "y")],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, (2, 6))],
        [onnx.ValueInfoProto(name="y")],
        [weight],
    )
    proto = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8
    )
    external_data_helper.convert_model_to_external_data(proto, location="w.bin", size_threshold=0)
    path = tmp_path / "m.onnx"
    onnx.save(proto, path)
    with live_ort.session("ort-cpu") as session:
        outputs = session.run(load_model(path), "ort-cpu", {"x": np.ones((2, 6), np.float32)})
    np.testing.assert_array_equal(outputs["y"], np.full((2, 6), 2))


def test_an_abort_is_an_answer_and_the_next_model_is_asked() -> None:
    """ORT's CPU provider kills the process at a GRU without steps."""
    weights = {"w": np.zeros((1, 18, 4), np.float32), "r": np.zeros((1, 18, 6), np.float32)}
    gru = model(
        [node("GRU", "x w r", "y", hidden_size=6)], {"x": ("float32", ("T", 1, 4))}, "y", weights
    )
    fine = model([node("Relu", "x", "y")], V, "y")
    with live_ort.session("ort-cpu") as session:
        live = session.ask(gru, "ort-cpu", feeds={"x": np.zeros((0, 1, 4), np.float32)})
        assert live.error.startswith("ORT's process ended by signal") or live.run_error
        assert session.ask(fine, "ort-cpu").error == ""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is taken")
def test_a_model_that_takes_too_much_memory_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [node("Expand", "x size", "a"), node("ReduceSum", "a", "y", keepdims=0)]
    size = {"size": np.array([1 << 29], np.int64)}  # 2 GiB of float32
    greedy = model(nodes, {"x": ("float32", (1,))}, "y", size)
    monkeypatch.setattr(sessions, "memory_for_one", lambda: 256 << 20)
    with live_ort.session("ort-cpu") as session:
        live = session.ask(greedy, "ort-cpu", feeds={"x": np.ones(1, np.float32)})
        assert live.error.startswith("ORT's process took ")
        assert live.error.endswith(" MiB of memory, where it may take 256 MiB, and was ended")
        assert session.ask(model([node("Relu", "x", "y")], V, "y"), "ort-cpu").error == ""


def test_options_reach_the_webgpu_provider() -> None:
    whole = model([node("Add", "x x", "y")], {"x": ("int64", (2,))}, "y")
    nodes = [
        node("Exp", "x", "a", "first"),
        node("Log", "a", "b", "first"),
        node("Neg", "b", "y", "last"),
    ]
    named = model(nodes, V, "y")
    conv = model(
        [node("Conv", "x w", "a"), node("Relu", "a", "y")],
        {"x": ("float32", (1, 4, 8, 8))},
        "y",
        {"w": np.ones((4, 4, 3, 3), np.float32)},
    )
    with live_ort.session("ort-webgpu") as session:

        def places(made: object, target: str) -> list[str]:
            return [n.place for n in session.ask(made, target).nodes.values()]  # type: ignore[arg-type]

        assert places(whole, "ort-webgpu") == ["cpu"]
        assert places(whole, "ort-webgpu,enableInt64=1") == ["gpu"]
        assert places(named, "ort-webgpu,forceCpuNodeNames=first") == ["cpu", "cpu", "gpu"]
        nhwc = session.ask(conv, "ort-webgpu").nodes.values()
        nchw = session.ask(conv, "ort-webgpu,preferredLayout=NCHW").nodes.values()
        assert {n.place for n in (*nhwc, *nchw)} == {"gpu"}


def test_a_failure_at_run_time_is_told() -> None:
    made = model(
        [node("MaxPool", "x", "y i", kernel_shape=[2, 2])], {"x": ("float32", (1, 1, 4, 4))}, "y i"
    )
    with live_ort.session("ort-webgpu") as session:
        live = session.ask(made, "ort-webgpu", run=True)
    assert live.error == ""
    assert [n.place for n in live.nodes.values()] == ["gpu"]
    assert live.run_error


def test_no_driver_is_said_with_what_helps() -> None:
    pytest.importorskip("onnxruntime_ep_webgpu")
    nowhere = {
        "VK_DRIVER_FILES": "/nowhere.json",
        "VK_ICD_FILENAMES": "/nowhere.json",
        "ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER": "1",
    }
    made = model([node("Relu", "x", "y")], V, "y")
    with LiveSession(environment=nowhere) as session, pytest.raises(LiveUnavailable) as caught:
        session.ask(made, "ort-webgpu")
    assert "no adapter" in str(caught.value)
    assert "Mesa 25" in str(caught.value)
