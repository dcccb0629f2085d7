"""Real models against their golden outputs, through the command line as CI would call it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import opscope_testdata as testdata
import pytest
from opscope.engine.cli import main
from opscope.engine.ir.load import load_model

# These run on the GPU alone.
GPU_ALONE = (
    "dfn3.enc",
    "dfn3.erb_dec",
    "dfn3.df_dec",
    "gtcrn.gtcrn",
    "gtcrn.gtcrn_simple",
    "nsnet2.nsnet2-20ms-baseline",
    "speechmos.Run_1663829550_Stage_0",
    "speechmos.model_v8",
    "speechmos.sig_bak_ovr",
    "silero.silero_vad_16k_sequence",
    "dtln.model_1",
    "tract.byte_sb_bidi_lstm",
    "synth.gru_variants",
    "derived.dfn3_enc_fp16",
    "derived.dfn3_erb_dec_fp16io",
    "basic-pitch.nmp",
    "derived.basic_pitch_fp16",
    "tinyocr.PP-OCRv6_det_tiny",
)
OTHERS = tuple(i for i in testdata.model_ids() if i not in GPU_ALONE)


def golden_file(model_id: str, folder: Path) -> str:
    """The golden inputs alone, as a user's .npz has them: one array per name."""
    feeds, _ = testdata.load_golden(model_id)
    path = folder / "inputs.npz"
    np.savez(path, **feeds)
    return str(path)


def check_outputs(model_id: str, path: Path) -> None:
    """Every golden output is there and within the catalogue's tolerance."""
    _, expected = testdata.load_golden(model_id)
    limit = testdata.rel_l2_limit(model_id)
    with np.load(path) as outputs:
        assert set(outputs) == set(expected)
        for name, want in expected.items():
            got = outputs[name]
            assert got.dtype == want.dtype, name
            assert got.shape == want.shape, name
            if want.dtype.kind != "f":
                np.testing.assert_array_equal(got, want, err_msg=name)
                continue
            exact, found = want.astype(np.float64), got.astype(np.float64)
            scale = np.sqrt(np.sum(exact**2))
            error = np.sqrt(np.sum((found - exact) ** 2))
            assert error <= limit * scale, f"{name}: rel L2 {error / max(scale, 1e-300):.3g}"


@pytest.mark.parametrize("model_id", GPU_ALONE)
def test_runs_on_the_gpu_alone_and_matches_the_golden_outputs(
    model_id: str, tmp_path: Path
) -> None:
    testdata.require_models()
    report, outputs = tmp_path / "out.json", tmp_path / "out.npz"
    inputs = str(testdata.golden_path(model_id))
    code = main(
        ["run", str(testdata.model_path(model_id)), "--inputs", inputs, "--fallback", "error",
         "--json", str(report), "--outputs", str(outputs)]
    )  # fmt: skip
    assert code == 0
    placement = json.loads(report.read_text())["placement"]
    assert placement["gpu"] > 0
    assert placement["host"] == placement["unsupported"] == 0
    check_outputs(model_id, outputs)


@pytest.mark.parametrize("model_id", OTHERS)
def test_others_run_with_their_host_nodes_reported_or_are_refused_by_name(
    model_id: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = testdata.model_path(model_id)
    model = load_model(str(path))
    arguments = ["run", str(path), "--json", str(tmp_path / "out.json")]
    arguments += ["--outputs", str(tmp_path / "out.npz")]
    if testdata.has_golden(model_id):
        arguments += ["--inputs", golden_file(model_id, tmp_path)]
    code = main(arguments)
    printed = capsys.readouterr()
    operators = {node.op_type for graph in model.graphs() for node in graph.nodes}
    if code != 0:
        assert code in (1, 2, 4), printed.err
        assert any(op in printed.err for op in operators), printed.err
        return
    report = json.loads((tmp_path / "out.json").read_text())
    named = {d["op"] for d in report["diagnostics"] if d["code"] == "host-node"}
    assert bool(named) == (report["placement"]["host"] > 0)
    if testdata.has_golden(model_id):
        check_outputs(model_id, tmp_path / "out.npz")
