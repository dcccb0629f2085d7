"""One file against a policy: severities, ignored findings, allowed operators, the installed ORT."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import guard_models as models
import opscope_testdata as testdata
import pytest
from onnx import helper
from opscope.engine.checks.judge import judge
from opscope.engine.diagnostics import Severity
from opscope.engine.errors import FeedError, ModelFileError, UsageError
from opscope.engine.guard import (
    Checked,
    ModelPolicy,
    OffGpu,
    Policy,
    Rule,
    TargetPolicy,
    check_model,
)
from opscope.engine.guard.applied import apply_policy, says_on_host
from opscope.engine.guard.checking import Request, check_or_error
from opscope.engine.guard.fingerprints import Places
from opscope.engine.guard.worker import plain
from opscope.engine.ir.model import Model, NodeId
from opscope.engine.live import LiveSession
from opscope.engine.live.answer import LiveNode, LivePlacement, LiveUnavailable
from opscope.engine.providers.support import Status
from small_model import findings, model, node

WEBGPU = ["ort-webgpu"]


def told(checked: Checked) -> list[tuple[str, str, str]]:
    """(severity, code, node's name) of what counts."""
    return [(d.severity.value, d.code, d.name) for d in (f.diagnostic for f in checked.findings)]


@pytest.fixture
def two(tmp_path: Path) -> str:
    """Two Elu that ORT WebGPU leaves to the CPU, and a Relu that it takes."""
    ops = [("Elu", "/enc/elu"), ("Relu", "/enc/relu"), ("Elu", "/dec/elu")]
    return models.chain(tmp_path / "models/two.onnx", ops)


def gates(*names: str, severity: str = "warning") -> list[tuple[str, str, str]]:
    return [(severity, "opset-gate", name) for name in names]


def off_the_gpu(checked: Checked) -> list[tuple[str, str, str]]:
    return [entry for entry in told(checked) if entry[1] == "opset-gate"]


def test_without_a_policy_findings_are_as_the_checks_have_them(two: str) -> None:
    checked = check_model(two, WEBGPU)
    assert off_the_gpu(checked) == gates("/enc/elu", "/dec/elu")
    assert (checked.exit_code, checked.failing) == (0, ())
    assert [(n.node, n.op) for n in checked.off_gpu["ort-webgpu"]] == [
        (NodeId((), 0), "Elu"),
        (NodeId((), 2), "Elu"),
    ]
    assert check_model(two, policy=Policy(fail_on=Severity.WARNING)).exit_code == 1


def test_targets_come_from_the_call_then_the_policy_then_the_default(two: str) -> None:
    assert check_model(two).targets == ("opscope", "ort-webgpu")
    policy = Policy(targets=("opscope",))
    assert check_model(two, policy=policy).targets == ("opscope",)
    assert check_model(two, WEBGPU, policy=policy).targets == ("ort-webgpu",)
    assert len(check_model(two, ["all"]).targets) > 4
    with pytest.raises(UsageError, match="ort-tpu"):
        check_model(two, ["ort-tpu"])


def test_a_code_gets_another_severity(two: str) -> None:
    checked = check_model(two, WEBGPU, policy=Policy(severities={"opset-gate": Severity.ERROR}))
    assert off_the_gpu(checked) == gates("/enc/elu", "/dec/elu", severity="error")
    assert checked.exit_code == 1


def test_a_later_rule_wins_and_what_is_ignored_has_its_reason(two: str) -> None:
    rules = (
        Rule(Severity.ERROR, code="opset-*", op="Elu"),
        Rule(None, "measured", node="/dec/*"),
        Rule(None, "never", op="Softmax"),
    )
    policy = Policy(rules=rules, severities={"opset-gate": Severity.INFO})
    checked = check_model(two, WEBGPU, policy=policy)
    assert off_the_gpu(checked) == gates("/enc/elu", severity="error")
    ignored = [(f.diagnostic.name, f.reason) for f in checked.ignored]
    assert ("/dec/elu", "measured") in ignored
    assert checked.rules_used == (0, 1)


@pytest.mark.parametrize(
    ("rule", "hit"),
    [
        ({"model": "models/*.onnx"}, True),
        ({"model": "*.onnx"}, True),
        ({"model": "two.onnx"}, False),
        ({"target": "ort-webgpu"}, True),
        ({"target": "opscope"}, False),
        ({"op": "elu"}, False),
        ({"node": "/enc/elu"}, True),
        ({"code": "opset-gate", "op": "Relu"}, False),
    ],
)
def test_which_findings_a_rule_is_about(
    two: str, tmp_path: Path, rule: dict[str, str], hit: bool
) -> None:
    policy = Policy(rules=(Rule(None, "x", **rule),), source=str(tmp_path / "opscope.toml"))
    checked = check_model(two, WEBGPU, policy=policy)
    assert (("warning", "opset-gate", "/enc/elu") not in told(checked)) is hit


def test_a_rule_for_a_family_is_about_its_versions(two: str) -> None:
    policy = Policy(rules=(Rule(None, "x", target="ort-webgpu"),))
    checked = check_model(two, ["ort-webgpu,enableInt64=1"], policy=policy)
    assert off_the_gpu(checked) == []
    assert checked.ignored


# -- operators that may be on the host -------------------------------------------------------------


def allowing(*operators: str, target: str = "ort-webgpu", **more: Any) -> Policy:
    return Policy(per_target=(TargetPolicy(target, (), operators),), **more)


def test_a_host_node_that_is_not_allowed_is_an_error(two: str) -> None:
    checked = check_model(two, policy=allowing("Shape"))
    assert off_the_gpu(checked) == gates("/enc/elu", "/dec/elu", severity="error")
    text = checked.failing[0].diagnostic.text
    assert "(allow-host of ort-webgpu does not have Elu)" in text
    assert checked.exit_code == 1


def test_a_host_node_that_is_allowed_passes_and_is_counted(two: str) -> None:
    checked = check_model(two, policy=allowing("Shape", "Elu", fail_on=Severity.WARNING))
    assert off_the_gpu(checked) == []
    assert [f.reason for f in checked.ignored] == ["allow-host of ort-webgpu has Elu"] * 2
    assert checked.exit_code == 0


def test_a_code_made_milder_does_not_open_an_allow_list(two: str) -> None:
    policy = allowing("Shape", severities={"opset-gate": Severity.INFO})
    assert off_the_gpu(check_model(two, policy=policy))[0][0] == "error"
    rules = (Rule(Severity.INFO, node="/enc/*"),)
    checked = check_model(two, policy=allowing("Shape", rules=rules))
    assert {(s, n) for s, _, n in off_the_gpu(checked)} == {
        ("info", "/enc/elu"),
        ("error", "/dec/elu"),
    }


def test_shape_arithmetic_on_the_host_is_judged_by_an_allow_list_too(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["s"], name="shape"),
        helper.make_node("Add", ["s", "s"], ["y"], name="add"),
    ]
    path = models.write(tmp_path / "m.onnx", *nodes, shape=["a", "b"])
    plain_check = check_model(path, WEBGPU)
    assert [n.name for n in plain_check.off_gpu["ort-webgpu"]] == ["add"]
    assert [(s, n) for s, _, n in told(plain_check) if n == "add"] == [("info", "add")]
    checked = check_model(path, policy=allowing())
    assert [f.diagnostic.name for f in checked.failing] == ["add"]
    assert check_model(path, policy=allowing("Add")).exit_code == 0


@pytest.mark.parametrize("status", list(Status))
def test_a_node_that_no_rule_speaks_of_is_judged_by_where_it_runs(status: Status) -> None:
    subject = model([node("Elu", "x", "y", "elu")], {"x": ("float32", (2,))}, "y")
    (number,) = subject.nodes
    off = {"ort-webgpu": (OffGpu(number, "elu", "Elu", status, "", "said so"),)}
    kept = apply_policy(allowing("Shape"), (), off, Places(subject), "m.onnx").kept
    on_cpu = status in (Status.HOST, Status.FUSED)  # the rest fails, or is not known
    assert [f.diagnostic.text for f in kept] == (
        ["it runs on the CPU: said so (allow-host of ort-webgpu does not have Elu)"] * on_cpu
    )
    assert apply_policy(allowing("Elu"), (), off, Places(subject), "m.onnx").kept == ()


def test_on_ort_cpu_the_cpu_is_where_nodes_belong(two: str) -> None:
    checked = check_model(two, ["ort-cpu"], policy=allowing(target="ort-cpu", require=("Elu",)))
    assert checked.failing == ()
    assert checked.off_gpu == {"ort-cpu": ()}


# -- required --------------------------------------------------------------------------------------


def test_operators_are_required_of_every_target_or_of_one(tmp_path: Path) -> None:
    path = models.gru(tmp_path / "half.onnx", "float16")

    def required(policy: Policy) -> list[tuple[str, str]]:
        found = check_model(path, policy=policy).failing
        return [
            (f.diagnostic.code, f.diagnostic.target)
            for f in found
            if f.diagnostic.code in ("required-op", "strict-placement")
        ]

    assert required(Policy()) == []
    assert required(Policy(require=("GRU",))) == [("required-op", "ort-webgpu")]
    own = TargetPolicy("opscope", ("GRU",))
    assert required(Policy(per_target=(own,))) == []
    own = TargetPolicy("ort-webgpu", ("GRU",))
    assert required(Policy(per_target=(own,))) == [("required-op", "ort-webgpu")]
    assert required(Policy(require=("Softmax",))) == []  # a policy is for many models
    assert required(Policy(strict=True)) == [("strict-placement", "ort-webgpu")]


def test_what_one_call_requires_the_model_has_to_have(two: str) -> None:
    found = check_model(two, WEBGPU, require=["Elu", "GRU"]).findings
    asked = [(f.diagnostic.code, f.diagnostic.op) for f in found if "req" in f.diagnostic.code]
    assert asked == [("required-op", "Elu"), ("required-op", "Elu"), ("required-op-absent", "GRU")]


def test_what_is_required_says_what_would_bring_it_to_the_gpu(tmp_path: Path) -> None:
    path = models.gru(tmp_path / "m.onnx", opset=22)
    found = check_model(path, WEBGPU, policy=Policy(strict=True), require=["GRU"]).failing
    remedies = {f.diagnostic.code: f.diagnostic.remedy for f in found}
    assert remedies.keys() == {"required-op", "strict-placement", "opset-gate"}
    assert set(remedies.values()) == {remedies["opset-gate"]}
    assert "opset 21" in remedies["required-op"]


# -- shapes ----------------------------------------------------------------------------------------


def test_shapes_of_the_policy_hold_where_the_model_has_them(tmp_path: Path) -> None:
    path = models.gru(tmp_path / "m.onnx", shape=["steps", 1, 6])
    entry = ModelPolicy("*m.onnx", {"steps": 7, "elsewhere": 1}, {"nothing": (1,)})
    assert check_model(path).assumed == {"steps": 1}
    assert check_model(path, policy=Policy(models=(entry,))).assumed == {}
    # A shape that the call gives leaves nothing for the policy to say of its dimensions.
    given = check_model(path, shapes={"x": (3, 1, 6)}, policy=Policy(models=(entry,)))
    assert given.assumed == {}
    with pytest.raises(FeedError, match="elsewhere"):
        check_model(path, dims={"elsewhere": 1})
    with pytest.raises(FeedError):
        check_model(path, shapes={"x": (7, 1, 5)}, policy=Policy(models=(entry,)))


# -- budgets ---------------------------------------------------------------------------------------


def test_what_costs_more_than_allowed_is_an_error(tmp_path: Path) -> None:
    path = models.gru(tmp_path / "m.onnx")  # 120 weights of 4 bytes
    size = Path(path).stat().st_size
    fine = Policy(max_download=size, max_gpu_memory=1 << 20)
    checked = check_model(path, policy=fine)
    assert checked.exit_code == 0
    assert [b["target"] for b in checked.budgets] == ["opscope", "ort-webgpu"]
    assert {b["download_bytes"] for b in checked.budgets} == {size}

    def failing(policy: Policy) -> list[tuple[str, str, str]]:
        found = [f.diagnostic for f in check_model(path, policy=policy).failing]
        return [(d.code, d.target, d.data["what"]) for d in found]

    assert failing(Policy(max_download=size - 1)) == [("web-budget", "", "download")]
    assert failing(Policy(max_gpu_memory=480 - 1)) == [
        ("web-budget", "opscope", "memory"),
        ("web-budget", "ort-webgpu", "memory"),
    ]


# -- errors ----------------------------------------------------------------------------------------


def test_an_error_is_raised_or_is_the_file_s_answer(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.onnx")
    with pytest.raises(ModelFileError):
        check_model(missing)
    answer = check_or_error(Request(missing))
    assert (answer.exit_code, answer.readable, answer.findings) == (2, False, ())
    assert "missing.onnx" in answer.error
    assert Checked.from_json(answer.to_json()) == answer


def test_a_name_that_no_system_takes_is_one_line() -> None:
    answer = check_or_error(Request("x" * 5000))
    assert (answer.exit_code, answer.error.count("\n")) == (2, 0)
    assert answer.error.endswith("the file cannot be read: File name too long")


def test_a_shape_of_the_policy_that_does_not_fit_says_where_it_stands(tmp_path: Path) -> None:
    path = models.gru(tmp_path / "m.onnx", shape=["steps", 1, 6])
    entry = ModelPolicy("*m.onnx", {}, {"x": (1, 2)})
    policy = Policy(models=(entry,), source=str(tmp_path / "opscope.toml"))
    answer = check_or_error(Request(path, policy=policy))
    assert answer.error.startswith(f"{path}: input 'x': expected ")
    assert answer.error.endswith(f"; {policy.source} has sizes for this model")
    # Not where the call itself gives the shape.
    answer = check_or_error(Request(path, policy=policy, shapes={"x": (1, 2)}))
    assert policy.source not in answer.error


# -- the installed ORT -----------------------------------------------------------------------------


def answering(**places: LiveNode) -> Any:
    """An installed ORT that puts the nodes of these names there."""

    def ask(_: LiveSession, model: Model, target_id: str) -> LivePlacement:
        nodes = {i: places[n.name] for i, n in model.nodes.items()}
        return LivePlacement(target_id, {"onnxruntime": "1.99.0"}, nodes)

    return ask


GPU = LiveNode(Status.GPU, "WebGpuExecutionProvider", "same name")
CPU = LiveNode(Status.HOST, "CPUExecutionProvider", "same name")


def test_a_difference_from_the_installed_ort_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = models.chain(tmp_path / "m.onnx", [("Elu", "elu"), ("Relu", "relu")])
    monkeypatch.setattr(LiveSession, "ask", answering(elu=CPU, relu=GPU))
    checked = check_model(path, live=True)
    assert [t.target for t in checked.live] == ["ort-webgpu"]  # nobody asks ORT about ours
    assert [row["agrees"] for row in checked.live[0].rows] == [True, True]
    assert checked.exit_code == 0
    monkeypatch.setattr(LiveSession, "ask", answering(elu=GPU, relu=GPU))
    checked = check_model(path, live=True)
    assert [(f.diagnostic.code, f.diagnostic.name) for f in checked.failing] == [
        ("table-differs", "elu")
    ]
    assert checked.exit_code == 1
    assert Checked.from_json(json.loads(json.dumps(checked.to_json()))) == checked


def test_an_ort_that_cannot_be_asked_is_no_usable_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: Any, **__: Any) -> LivePlacement:
        raise LiveUnavailable("onnxruntime is not installed; pip install opscope[ort]")

    monkeypatch.setattr(LiveSession, "ask", ask)
    checked = check_model(models.gru(tmp_path / "m.onnx"), live=True)
    assert checked.exit_code == 3
    assert "not installed" in checked.live[0].unavailable
    assert checked.placement["ort-webgpu"] == {"gpu": 1}  # the prediction stands
    assert Checked.from_json(checked.to_json()).exit_code == 3


# -- as JSON ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model_id", ["derived.dfn3_enc_fp16", "silero.silero_vad"])
def test_an_answer_crosses_processes_whole(model_id: str) -> None:
    policy = allowing(rules=(Rule(None, "because", op="Shape"),))
    checked = check_model(testdata.model_path(model_id), ["all"], policy=policy)
    data = json.loads(json.dumps(checked.to_json(), allow_nan=False, default=plain))
    assert Checked.from_json(data) == checked


@pytest.mark.parametrize(
    ("target", "on_host"), [("ort-webgpu", True), ("ort-webgpu,enableInt64=1", False)]
)
def test_int64_arithmetic_says_on_the_cpu_only_where_it_is(target: str, on_host: bool) -> None:
    adding = model([node("Add", "x x", "y", "add")], {"x": ("int64", (2,))}, "y")
    (found,) = findings(judge(adding, [target]), "int64-narrowing")
    assert says_on_host(found) is on_host
