"""``opscope.toml``: what it may say; every mistake in it is an error that names the key."""

from __future__ import annotations

import re
from pathlib import Path

import guard_models as models
import pytest
from opscope.engine.diagnostics import Severity
from opscope.engine.errors import UsageError
from opscope.engine.guard import ModelPolicy, Policy, Rule, TargetPolicy, find_policy, read_policy

DOCUMENT = Path(__file__).parents[2] / "docs/ci/opscope-toml.md"


def read(folder: Path, text: str) -> Policy:
    path = folder / "opscope.toml"
    path.write_text(text, encoding="utf-8")
    return read_policy(path)


def examples() -> list[str]:
    return re.findall(r"^```toml\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)


def test_the_complete_example_of_the_documentation(tmp_path: Path) -> None:
    policy = read(tmp_path, examples()[0])
    assert policy == Policy(
        targets=("ort-webgpu", "ort-webgpu@0.4.0,enableInt64=1", "opscope"),
        fail_on=Severity.ERROR,
        require=("GRU",),
        strict=True,
        per_target=(
            TargetPolicy("ort-webgpu", ("ConvTranspose",), ("Shape", "NonZero")),
            TargetPolicy("opscope", (), ()),
        ),
        severities={"copies": Severity.WARNING, "f16-long-sum": Severity.ERROR},
        rules=(
            Rule(
                None,
                "runs once per file, measured: 0.2 ms",
                code="host-node",
                node="/decoder/*",
                target="ort-webgpu",
            ),
            Rule(Severity.INFO, code="opset-gate", op="MaxPool", model="models/old/*.onnx"),
        ),
        limits="browser",
        max_download=20 << 20,
        max_gpu_memory=256 << 20,
        models=(
            ModelPolicy("models/*.onnx", {"batch": 1}, {}),
            ModelPolicy("models/vad.onnx", {}, {"input": (1, 512)}),
        ),
        source=str(tmp_path / "opscope.toml"),
    )


@pytest.mark.parametrize("index", range(len(examples())))
def test_every_example_of_the_documentation_is_read(tmp_path: Path, index: int) -> None:
    assert read(tmp_path, examples()[index]).source


def test_the_python_of_the_documentation_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    models.elus(tmp_path / "models/vad.onnx", ["a"])
    read(tmp_path, examples()[0])
    exec(compile(code, str(DOCUMENT), "exec"), {})
    assert "opset-gate a " in capsys.readouterr().out


def test_an_empty_file_demands_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "") == Policy(source=str(tmp_path / "opscope.toml"))


RULE = '[[rule]]\nseverity = "ignore"\nreason = "because"\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fail_on = 'error'", "fail_on: unknown key; did you mean 'fail-on'?"),
        ("zzz = 1", "zzz: unknown key; there is limits, targets, fail-on, "),
        ("fail-on = 'never'", "fail-on: must be one of error, warning, not 'never'"),
        ("fail-on = 1", "fail-on: must be a string, not 1"),
        ("strict = 1", "strict: must be true or false, not 1"),
        ("require = 'GRU'", "require: must be a list of strings, not 'GRU'"),
        ("require = [1]", "require: must be a list of non-empty strings, not [1]"),
        ("targets = []", "targets: is empty; leave it out to check opscope and ort-webgpu"),
        (
            "targets = ['wholly']",
            "targets: there is no target 'wholly'; there is opscope, ort-webgpu",
        ),
        ("targets = ['ort-webgpu@9']", "targets: target 'ort-webgpu@9'"),
        ("target = 1", "target: must be a table, not 1"),
        (
            "[target.ort-tpu]",
            "target.ort-tpu: there is no target 'ort-tpu'; did you mean 'ort-cpu'?",
        ),
        ("[target.ort-webgpu]\nallow_host = []", "allow_host: unknown key; did you mean 'allow-ho"),
        ("[target.ort-webgpu]\nallow-host = 'a'", "target.ort-webgpu.allow-host: must be a list"),
        (
            "[severity]\nhost-nodes = 'info'",
            "severity.host-nodes: there is no code 'host-nodes'; did you mean host-node",
        ),
        ("[severity]\ncopies = 'bad'", "severity.copies: must be one of error, warning, info"),
        ("[severity]\ncopies = 'ignore'", "severity.copies: to ignore a code, write a [[rule]]"),
        ("[severity]\ncopies = false", "severity.copies: must be a string, not False"),
        ("[rule]\ncode = 'copies'", "rule: must be a list of tables, [[rule]]"),
        ("rule = [1]", "rule: must be a list of tables, [[rule]]"),
        ("[[rule]]\ncode = 'copies'", "rule[1].severity: is missing; it is one of error"),
        (RULE, "rule[1].severity: the rule says of what: one of code, node, op, target, model"),
        (RULE + "node = ''", "rule[1].node: must not be empty"),
        (
            RULE + "code = 'host-nod'",
            "rule[1].code: there is no code 'host-nod'; did you mean host-node",
        ),
        (RULE + "code = 'qqqqqq'", "there is no code 'qqqqqq'; 'opscope explain' lists them"),
        (RULE + "op = 'a'\n" + RULE + "nodes = 'a'", "rule[2].nodes: unknown key; did you mean"),
        (
            RULE + "target = 'ort-wegbpu'",
            "rule[1].target: there is no target 'ort-wegbpu'; did you",
        ),
        (RULE + "target = 'ort-webgpu@9'", "rule[1].target: target 'ort-webgpu@9': of ort-webgpu"),
        (RULE + "target = ''", "rule[1].target: must not be empty"),
        ("[[rule]]\nseverity = 'ignore'\nop = 'a'", "rule[1].reason: a rule that ignores"),
        ("[[rule]]\nseverity='ignore'\nop='a'\nreason=' '", "rule[1].reason: a rule that ignores"),
        ("[limits]\nprofil = 'browser'", "limits.profil: unknown key; did you mean 'profile'?"),
        ("[limits]\nprofile = 128", "limits.profile: must be a string, not 128"),
        ("[limits]\ndownload = 128", "limits.download: must be a string, not 128"),
        ("[limits]\ngpu-memory = 'much'", "limits.gpu-memory: 'much' is not a number of bytes"),
        ("[[model]]\ndims = { n = 1 }", "model[1].path: is missing"),
        ("[[model]]\npath = 'a'\ndims = { n = -1 }", "model[1].dims.n: must be whole numbers of 0"),
        ("[[model]]\npath = 'a'\ndims = { n = true }", "model[1].dims.n: must be a whole number,"),
        ("[[model]]\npath = 'a'\nshapes = { x = [1, 'n'] }", "model[1].shapes.x: must be whole"),
        ("[[model]]\npath = 'a'\nshapes = { x = 3 }", "model[1].shapes.x: must be a list of whole"),
        ("a = ", "is no TOML: "),
        ("x = " + "[" * 5000, "is no TOML: "),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'opscope.toml'}")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value).replace("\\n", "")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml cannot be read: No such file"):
        read_policy(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"a = '\xe9'")
    with pytest.raises(UsageError, match=r"latin\.toml is no TOML"):
        read_policy(tmp_path / "latin.toml")
    (tmp_path / "huge.toml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(UsageError, match=r"huge\.toml is larger than a megabyte"):
        read_policy(tmp_path / "huge.toml")


def test_saved_limits_lie_beside_the_policy(tmp_path: Path) -> None:
    assert read(tmp_path, "[limits]\nprofile = 'phone.json'").limits == str(tmp_path / "phone.json")
    assert read(tmp_path, "[limits]\nprofile = 'adapter:Radeon'").limits == "adapter:Radeon"


# -- which file holds ------------------------------------------------------------------------------


def test_the_policy_is_found_up_to_the_root_of_the_repository(tmp_path: Path) -> None:
    outside, root, deep = tmp_path, tmp_path / "repo", tmp_path / "repo/a/b"
    deep.mkdir(parents=True)
    (outside / "opscope.toml").touch()
    (root / ".git").mkdir()
    assert find_policy(deep) is None
    (root / "opscope.toml").touch()
    assert find_policy(deep) == root / "opscope.toml"
    (deep / "opscope.toml").touch()
    assert find_policy(deep) == deep / "opscope.toml"


def test_outside_a_repository_only_the_folder_itself_is_looked_at(tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "opscope.toml").touch()
    assert find_policy(below) is None
    assert find_policy(tmp_path) == tmp_path / "opscope.toml"


def test_a_link_to_nowhere_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "opscope.toml").symlink_to("gone.toml")
    found = find_policy(tmp_path)
    assert found is not None
    with pytest.raises(UsageError, match=r"opscope\.toml cannot be read: No such file"):
        read_policy(found)


# -- what it says of a target and a model ----------------------------------------------------------


def test_what_is_said_of_a_family_holds_for_its_versions_and_options() -> None:
    policy = Policy(
        require=("GRU",),
        per_target=(
            TargetPolicy("ort-webgpu", ("LSTM",), ("Shape",)),
            TargetPolicy("ort-webgpu@0.4.0", ("Conv",)),
            TargetPolicy("ort-webgpu,enableInt64=1", (), ("Gather",)),
        ),
    )
    assert policy.required("opscope") == ("GRU",)
    assert policy.required("ort-webgpu") == ("GRU", "LSTM")
    assert policy.required("ort-webgpu@0.4.0,enableInt64=1") == ("GRU", "LSTM", "Conv")
    assert policy.allowed_on_host("opscope") is None
    assert policy.allowed_on_host("ort-webgpu@0.4.0") == ("Shape",)
    assert policy.allowed_on_host("ort-webgpu,enableInt64=1") == ("Gather",)


def test_shapes_of_several_entries_add_up_and_the_later_wins() -> None:
    policy = Policy(
        models=(
            ModelPolicy("models/*", {"n": 1, "t": 2}, {"x": (1,)}),
            ModelPolicy("models/a.onnx", {"t": 3}, {"y": (2,)}),
        )
    )
    assert policy.shapes_of("models/a.onnx") == ({"n": 1, "t": 3}, {"x": (1,), "y": (2,)})
    assert policy.shapes_of("models/deep/b.onnx") == ({"n": 1, "t": 2}, {"x": (1,)})
    assert policy.shapes_of("other.onnx") == ({}, {})


def test_a_rule_may_name_a_family_a_version_options_or_a_pattern(tmp_path: Path) -> None:
    for name in ("ort-cpu", "ort-webgpu@0.4.0", "ort-webgpu,enableInt64=1", "ort-*"):
        assert read(tmp_path, f"{RULE}target = '{name}'").rules[0].target == name
