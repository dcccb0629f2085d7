"""A model stamped opset 22 whose GRU and ConvTranspose ORT's WebGPU drops, before and after a fix.

The whole promise at once: predicted on the CPU, confirmed by the installed ORT, mended, confirmed
again, with the same outputs. It needs onnxruntime with its WebGPU plugin and an adapter that it
takes; Mesa 25's llvmpipe will do (ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER=1).
"""

import json
import re
from importlib.resources import files

import numpy as np
import pytest
from fix_case import proto
from onnx import helper
from opscope.engine.checks.judge import judge
from opscope.engine.cli.main import main
from opscope.engine.feeds import random_feeds
from opscope.engine.ir.load import load_bytes, load_model
from opscope.engine.live import LiveSession, LiveUnavailable
from opscope.engine.providers.support import Status

TARGET = "ort-webgpu"
SOUGHT = ("GRU", "ConvTranspose")
GPU = "WebGpuExecutionProvider"


@pytest.fixture(scope="module")
def ort():
    """The installed ORT with an adapter, or a skip that says what is missing."""
    relu = helper.make_node("Relu", ["x"], ["y"], name="probe")
    probe = proto([relu], {"x": ("float32", (4,))}, {"y": ("float32", (4,))})
    with LiveSession() as session:
        try:
            answer = session.ask(load_bytes(probe.SerializeToString()), TARGET)
        except LiveUnavailable as error:
            pytest.skip(f"the installed ORT's WebGPU cannot be asked here: {error}")
        if answer.error:
            pytest.skip(f"the installed ORT's WebGPU makes no session here: {answer.error}")
        yield session


def nodes_of(model):
    return {n.op: n.id for n in model.nodes.values() if n.op in SOUGHT}


def test_a_model_that_slid_off_the_gpu_is_brought_back(ort, tmp_path, capsys):
    path = files("opscope.resources.samples") / "denoiser_f32_opset22.onnx"
    old = load_model(str(path))
    ids = nodes_of(old)
    assert set(ids) == set(SOUGHT)

    # Predicted on the CPU, with the remedy.
    judged = judge(old, (TARGET,))
    for op in SOUGHT:
        assert judged.verdicts[TARGET][ids[op]].status is Status.HOST, op
    gates = [d for d in judged.diagnostics if d.code == "opset-gate"]
    assert {d.op for d in gates} == set(SOUGHT)

    # The installed ORT confirms it.
    feeds = random_feeds(old, seed=3).arrays
    before = ort.ask(old, TARGET, feeds=feeds)
    assert not before.error
    assert not before.run_error
    for op in SOUGHT:
        assert before.nodes[ids[op]].provider == "CPUExecutionProvider", op

    # Mended.
    new_path, report = tmp_path / "new.onnx", tmp_path / "fix.json"
    arguments = ["fix", str(path), "--rule", "lower-opset", "--live", "-o", str(new_path)]
    assert main([*arguments, "--json", str(report)]) == 0
    moved = r"ort-webgpu live: 'mask_gru' \(GRU\) CPU -> GPU \(WebGpuExecutionProvider\)"
    assert re.search(moved, capsys.readouterr().out)
    told = json.loads(report.read_text())
    assert "host" not in told["placement"][TARGET]["after"]
    assert all(c["compared"] for c in told["comparisons"])

    # Predicted on the GPU, and the installed ORT confirms that, too.
    new = load_model(new_path)
    ids = nodes_of(new)
    judged = judge(new, (TARGET,))
    assert not [d for d in judged.diagnostics if d.code == "opset-gate"]
    after = ort.ask(new, TARGET, feeds=feeds)
    for op in SOUGHT:
        assert judged.verdicts[TARGET][ids[op]].on_gpu, op
        assert after.nodes[ids[op]].provider == GPU, op

    # The outputs are equal: exactly on one provider, closely where the nodes changed theirs.
    on_cpu = [ort.run(m, "ort-cpu", feeds) for m in (old, new)]
    for name, value in before.outputs.items():
        np.testing.assert_array_equal(on_cpu[0][name], on_cpu[1][name])
        np.testing.assert_allclose(after.outputs[name], value, rtol=1e-3, atol=1e-3)


def test_an_ort_that_is_not_there_is_said(tmp_path, capsys, monkeypatch):
    """Without onnxruntime the outputs are still compared, by our own host provider."""

    def nobody(self, *arguments, **options):
        raise LiveUnavailable("onnxruntime is not installed")

    monkeypatch.setattr(LiveSession, "ask", nobody)
    path = files("opscope.resources.samples") / "denoiser_f32_opset22.onnx"
    new = tmp_path / "new.onnx"
    assert main(["fix", str(path), "--rule", "lower-opset", "-o", str(new)]) == 0
    text = capsys.readouterr().out
    assert "the installed ORT (ort-cpu): not compared: onnxruntime is not installed" in text
    assert "Opscope's host provider: all outputs are the same bit for bit" in text
    assert new.exists()
