"""Defect cases seen in the wild: each behaves as its case.json says, through the command line."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import opscope_testdata as testdata
import pytest
from opscope.engine.cli import main


@dataclass(frozen=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


class Commands:
    """Runs commands and keeps all that they print."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Said:
        code = main([str(a) for a in arguments])
        printed = self._capsys.readouterr()
        return Said(code, printed.out, printed.err)


@pytest.fixture
def opscope(capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(capsys)


def files_of(case: testdata.Case) -> list[Path]:
    """The case's models: the main one and those among its extra files."""
    extra = (case.folder / name for name in case.info["extra_files"])
    return [case.model, *(p for p in extra if p.suffix == ".onnx")]


def feed_file(case: testdata.Case, folder: Path) -> Path:
    path = folder / "inputs.npz"
    np.savez(path, **case.feeds)
    return path


def assert_outputs(case: testdata.Case, path: Path) -> None:
    """Each output within the case's tolerance of what is expected, or of the stated alternative."""
    alternatives = {
        p.stem.removeprefix("alt_expected_"): np.load(p) for p in case.folder.glob("alt_*.npy")
    }
    with np.load(path) as outputs:
        assert set(outputs) == set(case.expected) == set(case.info["outputs"])
        for name, want in case.expected.items():
            got = outputs[name]
            assert (got.dtype, got.shape) == (want.dtype, want.shape), name
            allowed = [want, *([alternatives[name]] if name in alternatives else [])]
            tolerance = {"rtol": case.info["rtol"], "atol": case.info["atol"]}
            if not any(np.allclose(got, a, equal_nan=True, **tolerance) for a in allowed):
                np.testing.assert_allclose(got, want, err_msg=name, **tolerance)


@pytest.mark.parametrize("case_id", testdata.case_ids())
def test_case(case_id: str, opscope: Commands, tmp_path: Path) -> None:
    case = testdata.load_case(case_id)
    kind = case.info["kind"]
    checked = opscope("check", *files_of(case))
    texts = [checked.out + checked.err]
    report, outputs = tmp_path / "run.json", tmp_path / "outputs.npz"
    if kind != "file":
        arguments = ["run", case.model, "--json", report, "--outputs", outputs]
        arguments += ["--inputs", feed_file(case, tmp_path)] if case.feeds else []
        ran = opscope(*arguments, *(["--stats"] if kind == "warn" else []))
        if kind in ("reject", "limit"):
            assert ran.code not in (0, 3), ran
            assert ran.err.startswith("opscope: error: ")
            assert ran.err.count("\n") == 1
            # What only values tell is known when it runs; what the file tells, before.
            texts = [ran.err] if kind == "reject" else [*texts, ran.err]
        else:
            assert ran.code == 0, ran
            assert checked.code in (0, 1), checked
            assert_outputs(case, outputs)
    for part in case.info["must_mention"]:
        assert all(part in text for text in texts), texts

    if case.info["must_warn"]:
        findings = json.loads(report.read_text())["diagnostics"]
        findings += json.loads(opscope("check", case.model, "--format", "json").out)["files"][0][
            "diagnostics"
        ]
        found = {(d["node"]["name"], d["code"]) for d in findings if d["node"]}
        for wanted in case.info["must_warn"]:
            assert (wanted["node"], wanted["kind"]) in found


def test_nothing_outside_the_models_folder_is_read(opscope: Commands, tmp_path: Path) -> None:
    case = testdata.load_case("D33")
    size = (case.folder.parent / "D33_outside" / "secret.bin").stat().st_size
    secret = np.linspace(1234.5, 9876.5, size // 4, dtype=np.float32)
    (tmp_path / "D33").mkdir()
    (tmp_path / "D33_outside").mkdir()
    secret.tofile(tmp_path / "D33_outside" / "secret.bin")
    for path in files_of(case):
        model = tmp_path / "D33" / path.name
        shutil.copy(path, model)
        report = tmp_path / "run.json"
        said = [
            opscope("check", model),
            opscope("check", model, "--format", "json"),
            opscope("plan", model, "--wgsl", tmp_path / "wgsl"),
            opscope("run", model, "--json", report, "--outputs", tmp_path / "out.npz"),
        ]
        assert said[-1].code not in (0, 3)
        assert not report.exists()
        assert not (tmp_path / "out.npz").exists()
        text = "".join(s.out + s.err for s in said)
        assert "not read" in text
        for number in secret:
            assert f"{number:.6g}"[:4] not in text


def test_a_link_in_the_models_folder_is_not_followed_out_of_it(
    opscope: Commands, tmp_path: Path
) -> None:
    case = testdata.load_case("D33")
    data = (case.folder / "model.onnx").read_bytes()
    location = b"../D33_outside/secret.bin"
    assert data.count(location) == 1
    inside = b"weights_in_here_are_x.bin"
    assert len(inside) == len(location)
    (tmp_path / "model.onnx").write_bytes(data.replace(location, inside))
    try:
        (tmp_path / inside.decode()).symlink_to(case.folder.parent / "D33_outside" / "secret.bin")
    except OSError:
        pytest.skip("links cannot be made here")
    said = opscope("check", tmp_path / "model.onnx")
    assert "not read" in said.out
    assert opscope("run", tmp_path / "model.onnx").code not in (0, 3)
