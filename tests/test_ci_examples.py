"""The CI examples do what they say: each step of the workflow is run, the hook file is read."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import helper
from opscope.engine.cli import main

yaml: Any = pytest.importorskip("yaml", reason="PyYAML is not installed (the test extra has it)")

REPOSITORY = Path(__file__).resolve().parents[1]
WORKFLOW = REPOSITORY / "docs" / "ci" / "github-actions.yml"
README = REPOSITORY / "docs" / "ci" / "README.md"
HOOKS = REPOSITORY / ".pre-commit-hooks.yaml"
INSTALL = "Install Opscope"
# What a hook may say: https://pre-commit.com/#new-hooks
HOOK_KEYS = {
    "id", "name", "entry", "language", "files", "exclude", "types", "types_or", "exclude_types",
    "always_run", "fail_fast", "verbose", "pass_filenames", "require_serial", "description",
    "language_version", "minimum_pre_commit_version", "args", "stages",
    "additional_dependencies",
}  # fmt: skip
TEST = """
def test_stays_on_the_gpu(opscope_model):
    opscope_model("models/m.onnx").assert_on_gpu("ort-webgpu")
"""


def steps() -> list[dict[str, Any]]:
    (job,) = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"].values()
    return list(job["steps"])


def runs() -> dict[str, dict[str, Any]]:
    """The steps that run something here, by name, without the installation."""
    return {s["name"]: s for s in steps() if "run" in s and s["name"] != INSTALL}


def save(path: Path, op: str) -> None:
    ports = [helper.make_tensor_value_info(n, 1, [2, 6]) for n in "xy"]
    graph = helper.make_graph(
        [helper.make_node(op, ["x"], ["y"], name="it")], "g", ports[:1], ports[1:]
    )
    path.parent.mkdir(exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)]), str(path))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_models.py").write_text(TEST)
    save(tmp_path / "models" / "m.onnx", "Relu")
    return tmp_path


def run(step: dict[str, Any], folder: Path) -> subprocess.CompletedProcess[str]:
    """One step as GitHub runs it, with this environment's programs."""
    programs = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": os.pathsep.join((programs, os.environ["PATH"]))}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_workflow_installs_opscope_before_it_is_used() -> None:
    names = [step.get("name", step.get("uses")) for step in steps()]
    (install,) = (step for step in steps() if step.get("name") == INSTALL)
    words = shlex.split(install["run"])
    assert words[:2] == ["pip", "install"]
    assert any(word.startswith("opscope @ git+https://") for word in words)
    assert "pytest" in words
    assert all(names.index(INSTALL) < names.index(name) for name in runs())


def test_each_step_passes_for_a_model_that_is_fine(project: Path) -> None:
    for name, step in runs().items():
        done = run(step, project)
        assert done.returncode == 0, (name, done.stdout, done.stderr)
    log = json.loads((project / "opscope.sarif").read_text(encoding="utf-8"))
    assert log["version"] == "2.1.0"
    uploaded = next(s["with"]["sarif_file"] for s in steps() if "upload-sarif" in s.get("uses", ""))
    assert (project / uploaded).is_file()


def test_a_model_that_slid_off_the_gpu_fails_and_is_still_uploaded(project: Path) -> None:
    (project / "opscope.toml").write_text('[target.ort-webgpu]\nallow-host = ["Shape"]\n')
    save(project / "models" / "m.onnx", "Elu")  # off the GPU from opset 22 on
    codes = {name: run(step, project).returncode for name, step in runs().items()}
    assert codes == {
        "Check the models": 1,
        "Write the findings as SARIF": 0,
        "Test the models": 1,
    }
    log = json.loads((project / "opscope.sarif").read_text(encoding="utf-8"))
    assert [r["ruleId"] for r in log["runs"][0]["results"]] == ["opset-gate"]
    skipped = [s["name"] for s in steps() if "name" in s and s.get("if") != "always()"]
    assert "Show the findings on GitHub" not in skipped
    assert "Write the findings as SARIF" not in skipped


def test_an_unreadable_model_fails_the_upload_step_too(project: Path) -> None:
    (project / "models" / "m.onnx").write_text("version https://git-lfs.github.com/spec/v1\n")
    assert run(runs()["Write the findings as SARIF"], project).returncode != 0


def test_every_command_of_the_readme_is_one(tmp_path: Path) -> None:
    """The options exist, and the GitLab job is YAML; addresses stay placeholders."""
    text = README.read_text(encoding="utf-8")
    save(tmp_path / "models" / "m.onnx", "Relu")
    commands = re.findall(r"(opscope check models [^\n`]*)", text)
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)[1:]
        words = [
            str(tmp_path / w) if w == "models" or w.endswith((".json", ".xml")) else w
            for w in words
        ]
        assert main([*words, "--no-config"]) == 0, command
    for block in re.findall(r"```yaml\n(.*?)```", text, re.S):
        yaml.safe_load(block)


def test_the_hook_is_as_pre_commit_wants_it() -> None:
    hooks = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert [h["id"] for h in hooks] == ["opscope-check"]
    for hook in hooks:
        assert set(hook) <= HOOK_KEYS
        assert {"id", "name", "entry", "language"} <= set(hook)
        assert all(isinstance(hook[k], str) for k in ("id", "name", "entry", "language", "files"))
    (hook,) = hooks
    assert re.search(hook["files"], "models/a.onnx")
    assert not re.search(hook["files"], "models/a.onnx.json")
    config = yaml.safe_load(
        next(b for b in re.findall(r"```yaml\n(.*?)```", README.read_text(), re.S) if "repos:" in b)
    )
    assert config["repos"][0]["hooks"][0]["id"] == hook["id"]


def test_the_hooks_command_checks_the_files_it_is_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (hook,) = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    save(tmp_path / "models" / "a.onnx", "Relu")
    save(tmp_path / "models" / "b.onnx", "Neg")
    program, *words = shlex.split(hook["entry"])
    assert program == "opscope"
    files = [str(p) for p in sorted((tmp_path / "models").iterdir())]
    assert main([*words, "--no-config", *files]) == 0
    out = capsys.readouterr().out
    assert "a.onnx" in out
    assert "b.onnx" in out
