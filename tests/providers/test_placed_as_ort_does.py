"""Prediction against the installed ONNX Runtime's CPU provider, on a handful of models."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from opscope.engine.ir.infer import infer_types
from opscope.engine.ir.load import load_model
from opscope.engine.providers.placement import place
from opscope.engine.providers.support import Status
from small_model import node

pytestmark = pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="onnxruntime is not installed"
)

# ORT can abort the process: it runs in a child.
ASK = """
import json, sys
import onnxruntime as ort
answers = []
for path in sys.argv[1:]:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    try:
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        groups = session.get_provider_graph_assignment_info()
        answers.append([n.name for g in groups for n in g.get_nodes()])
    except Exception:
        answers.append(None)
print(json.dumps(answers))
"""
WEIGHTS = {
    "w": np.ones((8, 3, 3, 3), np.float32),
    "one": np.float32(1),
    "s": np.ones((8, 1, 1), np.float32),
    "r": np.array([1, -1]),
}
MODELS = {
    "conv": [node("Conv", "x w", "c"), node("Mul", "c s", "m"), node("Relu", "m", "y")],
    "idle": [node("Relu", "x", "a"), node("Mul", "a one", "b"), node("Sigmoid", "b", "y")],
    "equal": [node("Abs", "x", "a"), node("Abs", "x", "b"), node("Add", "a b", "y")],
    "turned": [
        node("Transpose", "x", "a", perm=[0, 2, 3, 1]),
        node("Relu", "a", "b"),
        node("Transpose", "b", "y", perm=[0, 3, 1, 2]),
    ],
    "shape": [node("Shape", "x", "q"), node("Cast", "q", "y", to=1)],
    "body": [node("Bernoulli", "x", "y")],
}


def test_the_nodes_that_are_left_are_those_predicted(tmp_path: Path) -> None:
    paths = []
    for name, nodes in MODELS.items():
        for index, proto in enumerate(nodes):
            proto.name = f"n{index}"
        port = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])
        weights = [numpy_helper.from_array(np.asarray(v), k) for k, v in WEIGHTS.items()]
        graph = helper.make_graph(nodes, name, [port], [onnx.ValueInfoProto(name="y")], weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
        paths.append(str(tmp_path / f"{name}.onnx"))
        onnx.save(made, paths[-1])
    child = subprocess.run(
        [sys.executable, "-c", ASK, *paths],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if child.returncode:
        pytest.skip(f"onnxruntime cannot say what it assigns: {child.stderr.strip()[-200:]}")
    for path, assigned in zip(paths, json.loads(child.stdout), strict=True):
        subject = load_model(path)
        found = place(subject, "ort-cpu", infer_types(subject))
        if assigned is None:
            assert [v.status for v in found.values()] == [Status.FAILS], path
            continue
        # What is fused after placing was assigned under its own name.
        late = ("fused: Conv and Relu",)
        left = {
            n.name
            for n in subject.graph.nodes
            if found[n.id].status is Status.HOST or found[n.id].data["step"] in late
        }
        assert left == set(assigned) & {n.name for n in subject.graph.nodes}, path
