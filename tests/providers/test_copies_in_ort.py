"""The copies that are predicted for ORT WebGPU, beside the Memcpy nodes that ORT itself puts in.

ORT saves the model that it runs (``optimized_model_filepath``), Memcpy nodes included. It needs
onnxruntime with its WebGPU plugin and an adapter that it takes; Mesa 25's llvmpipe will do
(ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import onnx
import opscope_testdata as testdata
import pytest
from onnx import helper
from opscope.engine.checks.judge import judge
from opscope.engine.ir.load import load_model
from opscope.engine.providers.borders import model_crossings

TARGET = "ort-webgpu"
# Models with borders of every kind: shape arithmetic, opset gates, f16, If; and some with none.
MODELS = [
    "basic-pitch.nmp",
    "derived.dfn3_enc_fp16",
    "derived.dfn3_erb_dec_fp16io",
    "dfn3.erb_dec",
    "gtcrn.gtcrn",
    "magika.standard_v3_3",
    "silero.silero_vad",
    "tinyocr.PP-OCRv6_rec_tiny",
]
# ORT may end the process: a child of its own. It answers with the Memcpy nodes, or why it cannot.
CHILD = """
import json, sys
try:
    import onnx, onnxruntime as ort, onnxruntime_ep_webgpu as plugin
except ImportError as error:
    sys.exit(print(json.dumps({"unavailable": str(error)})))
ort.register_execution_provider_library("webgpu", plugin.get_library_path())
devices = [d for d in ort.get_ep_devices() if d.ep_name == "WebGpuExecutionProvider"]
if not devices:
    sys.exit(print(json.dumps({"unavailable": "ORT WebGPU has no adapter here"})))
options = ort.SessionOptions()
options.log_severity_level = 4
options.optimized_model_filepath = sys.argv[2]
options.add_provider_for_devices(devices[:1], {})
ort.InferenceSession(sys.argv[1], options)
graphs, up, down = [onnx.load(sys.argv[2]).graph], 0, 0
while graphs:
    graph = graphs.pop()
    # A value that comes in, or a weight, is there on both sides without a Memcpy of ours to count.
    free = {v.name for v in (*graph.input, *graph.initializer)}
    for node in graph.node:
        up += node.op_type == "MemcpyFromHost" and node.input[0] not in free
        down += node.op_type == "MemcpyToHost" and node.input[0] not in free
        graphs += [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
print(json.dumps({"up": up, "down": down}))
"""


def save(path: Path) -> Path:
    """A Hardmax, which ORT WebGPU leaves to the CPU, between two nodes of the GPU."""
    ports = [helper.make_tensor_value_info(n, 1, [2, 6]) for n in "xy"]
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Hardmax", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    onnx.save(made, str(path))
    return path


@pytest.fixture(scope="module", autouse=True)
def installed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skip all of this where the installed ORT cannot be asked; said once, after one question."""
    folder = tmp_path_factory.mktemp("probe")
    memcpy_nodes(save(folder / "m.onnx"), folder)


def memcpy_nodes(path: Path, folder: Path) -> dict[str, int]:
    """The Memcpy nodes in what ORT makes of a model, by direction."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(folder / "optimized.onnx")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    if "unavailable" in answer:
        pytest.skip(f"ORT WebGPU cannot be asked here: {answer['unavailable']}")
    return dict(answer)


def predicted(path: Path) -> dict[str, int]:
    model = load_model(path)
    judged = judge(model, [TARGET])
    found = Counter(
        c.to_gpu for c in model_crossings(model, TARGET, judged.verdicts[TARGET], judged.types)
    )
    return {"up": found[True], "down": found[False]}


def test_a_host_node_between_gpu_nodes_has_two(tmp_path: Path) -> None:
    path = save(tmp_path / "m.onnx")
    assert predicted(path) == {"up": 1, "down": 1}
    assert memcpy_nodes(path, tmp_path) == {"up": 1, "down": 1}


@pytest.mark.parametrize("model_id", MODELS)
def test_real_models_have_as_many_copies_as_predicted(model_id: str, tmp_path: Path) -> None:
    path = testdata.model_path(model_id)
    assert predicted(Path(path)) == memcpy_nodes(Path(path), tmp_path)
