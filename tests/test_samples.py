"""The bundled samples: the denoiser removes noise on our engine, the other shows each warning."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import onnx
import pytest
from opscope.engine.checks.judge import judge
from opscope.engine.feeds import random_feeds
from opscope.engine.ir.load import load_model
from opscope.engine.session import Session
from opscope.resources.samples import denoiser, showcase, speech

SAMPLES = Path(str(files("opscope.resources"))) / "samples"
DENOISERS = [f"denoiser_{kind}_opset{opset}.onnx" for kind in ("f32", "f16") for opset in (17, 22)]


@pytest.fixture(scope="module")
def mixtures() -> list[speech.Mixture]:
    """50 mixtures at 0 dB from seeds that training does not use."""
    return list(speech.evaluation_set(50))


@pytest.fixture(scope="module")
def session() -> Session:
    return Session()


def test_mixtures_are_at_0_db(mixtures: list[speech.Mixture]) -> None:
    for mixture in mixtures:
        noise = mixture.noisy.astype(float) - mixture.clean
        ratio = np.sum(mixture.clean.astype(float) ** 2) / np.sum(noise**2)
        assert 10 * np.log10(ratio) == pytest.approx(0.0, abs=1e-3)


def test_si_sdr_of_known_distortion() -> None:
    time = np.arange(16_000) / 16_000
    clean, other = np.sin(2 * np.pi * 100 * time), np.sin(2 * np.pi * 300 * time)
    assert speech.si_sdr_db(5.0 * clean + 0.5 * other, clean) == pytest.approx(20.0, abs=1e-6)


@pytest.mark.parametrize("precision", ["f32", "f16"])
def test_denoiser_gains_6_db(
    precision: str, session: Session, mixtures: list[speech.Mixture]
) -> None:
    cleaned = _run(session, f"denoiser_{precision}_opset17.onnx", mixtures)
    gains = [
        speech.si_sdr_db(estimate, mixture.clean) - speech.si_sdr_db(mixture.noisy, mixture.clean)
        for estimate, mixture in zip(cleaned, mixtures, strict=True)
    ]
    assert np.mean(gains) >= 6.0


@pytest.mark.parametrize("precision", ["f32", "f16"])
def test_opset_changes_no_number(
    precision: str, session: Session, mixtures: list[speech.Mixture]
) -> None:
    older, newer = (
        _run(session, f"denoiser_{precision}_opset{opset}.onnx", mixtures[:2]) for opset in (17, 22)
    )
    assert np.any(older)
    np.testing.assert_array_equal(newer, older)


@pytest.mark.parametrize("name", DENOISERS)
def test_denoiser_has_what_it_is_said_to_have(name: str) -> None:
    model = onnx.load(SAMPLES / name)
    operators = {node.op_type for node in model.graph.node}
    weight_types = {t.data_type for t in model.graph.initializer} - {onnx.TensorProto.INT64}
    assert {"GRU", "ConvTranspose"} <= operators
    assert weight_types == {onnx.TensorProto.FLOAT16 if "_f16_" in name else onnx.TensorProto.FLOAT}
    assert f"opset{model.opset_import[0].version}" in name


SHOWN = {
    "f16-constant-overflow": "mask_to_half",
    "f16-constant-vanishes": "epsilon_to_half",
    "f16-index-loss": "upsample",
    "f16-index-pattern": "smooth",
    "f16-long-sum": "long_mean",
    "fails-at-run": "make_field",
    "f16-recurrent-on-cpu": "gru_half",
    "host-node": "find_active",
    "int64-narrowing": "shift_ticks",
    "opset-gate": "warp",
    "rejected-at-session": "gru_softsign",
}


def test_the_warnings_sample_is_what_its_source_makes() -> None:
    assert onnx.load(SAMPLES / "warnings.onnx") == showcase.build()


def test_each_warning_has_its_node() -> None:
    model = load_model(SAMPLES / "warnings.onnx")
    found = {(finding.code, finding.name) for finding in judge(model).diagnostics}
    assert set(SHOWN.items()) <= found
    assert "copies" in {code for code, _ in found}


def test_warnings_sample_runs_and_meets_infinity(session: Session) -> None:
    model = load_model(SAMPLES / "warnings.onnx")
    result = session.run(model, random_feeds(model).arrays, stats=True)
    kept = model.graph.initializers["keep"].numpy()
    hidden = result.outputs["log_weights"][0, ~kept, 0]
    assert np.all(np.isneginf(hidden))
    assert np.all(np.isfinite(result.outputs["log_weights"][0, kept, 0]))
    assert [s.inf for s in result.stats if s.output == "scores_masked"] == [np.sum(~kept)]


def test_every_sample_is_described() -> None:
    described = json.loads((SAMPLES / "samples.json").read_text(encoding="utf-8"))["samples"]
    assert {sample["file"] for sample in described} == {p.name for p in SAMPLES.glob("*.onnx")}
    assert all(sample["title"] and sample["line"] for sample in described)


def _run(session: Session, name: str, mixtures: list[speech.Mixture]) -> np.ndarray:
    """The sample's answer as (mixtures, samples), computed by our GPU engine alone."""
    noisy = np.stack([mixture.noisy for mixture in mixtures])
    feeds = {"noisy": noisy.reshape(len(noisy), -1, denoiser.HOP)}
    result = session.run(load_model(SAMPLES / name), feeds, fallback="error")
    return result.outputs["clean"].reshape(noisy.shape)
