"""What a baseline knows again after the model, its place or our texts have changed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import guard_models as models
import onnx
import pytest
from onnx import helper
from opscope.engine.errors import UsageError
from opscope.engine.guard import Checked, Policy, check_model
from opscope.engine.guard.baseline import compare, read_baseline, write_baseline
from opscope.engine.guard.checking import Request, failed
from opscope.engine.guard.fingerprints import Places, fingerprint
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import NodeId


def check(path: str) -> Checked:
    return check_model(path, ["ort-webgpu"])


def gated(checked: Checked) -> list[str]:
    return [f.diagnostic.name for f in checked.findings if f.diagnostic.code == "opset-gate"]


def against(baseline: Path, *paths: str) -> list[Checked]:
    return list(compare([check(p) for p in paths], read_baseline(baseline)))


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """A baseline of a model with the Elu nodes a and b."""
    path = models.elus(tmp_path / "models/m.onnx", ["a", "b"])
    number = write_baseline(tmp_path / "known.json", [check(path)])
    assert number == len(check(path).findings)
    return tmp_path / "known.json"


def test_what_was_known_is_not_new(known: Path) -> None:
    (checked,) = against(known, str(known.parent / "models/m.onnx"))
    assert checked.findings == ()
    assert {f.diagnostic.name for f in checked.known} >= {"a", "b"}
    assert checked.exit_code == 0


def test_a_finding_at_another_node_is_new(known: Path) -> None:
    path = models.elus(known.parent / "models/m.onnx", ["a", "new", "b"])
    assert gated(against(known, path)[0]) == ["new"]
    assert against(known, path)[0].gone == 0


def test_what_is_gone_is_counted(known: Path) -> None:
    before = against(known, str(known.parent / "models/m.onnx"))[0]
    path = models.elus(known.parent / "models/m.onnx", ["b"])
    checked = against(known, path)[0]
    assert checked.findings == ()
    assert checked.gone == len(before.known) - len(checked.known) > 0


def test_nodes_may_move_in_the_file(known: Path) -> None:
    ops = [("Relu", "r"), ("Elu", "b"), ("Relu", "s"), ("Elu", "a")]
    path = models.chain(known.parent / "models/m.onnx", ops)
    assert gated(against(known, path)[0]) == []


def test_another_target_is_new(known: Path) -> None:
    path = str(known.parent / "models/m.onnx")
    found = check_model(path, ["ort-webgpu,enableInt64=1"])
    assert gated(compare([found], read_baseline(known))[0]) == ["a", "b"]


def test_the_text_and_the_severity_may_change(known: Path) -> None:
    checked = check(str(known.parent / "models/m.onnx"))
    reworded = tuple(
        replace(f, diagnostic=replace(f.diagnostic, text="anew")) for f in checked.findings
    )
    assert compare([replace(checked, findings=reworded)], read_baseline(known))[0].findings == ()


def test_a_model_may_be_moved_or_renamed_but_not_copied(known: Path) -> None:
    folder = known.parent
    old = folder / "models/m.onnx"
    copy = models.elus(folder / "copy/m.onnx", ["a", "b"])
    assert gated(against(known, copy)[0]) == ["a", "b"]
    old.unlink()
    assert gated(against(known, copy)[0]) == []
    renamed = models.elus(folder / "copy/renamed.onnx", ["a", "b"])
    assert gated(against(known, renamed)[0]) == []  # the same content
    changed = models.elus(folder / "copy/renamed.onnx", ["a", "b", "c"])
    assert gated(against(known, changed)[0]) == ["a", "b", "c"]
    changed = models.elus(folder / "copy/m.onnx", ["a", "b", "c"])
    assert gated(against(known, changed)[0]) == ["c"]  # the same name


def test_of_two_lost_models_of_one_name_none_is_taken_for_the_moved_one(tmp_path: Path) -> None:
    paths = [models.elus(tmp_path / f"{d}/m.onnx", [d]) for d in ("one", "two")]
    write_baseline(tmp_path / "known.json", [check(p) for p in paths])
    for path in paths:
        Path(path).unlink()
    moved = models.elus(tmp_path / "three/m.onnx", ["one", "two"])
    assert gated(against(tmp_path / "known.json", moved)[0]) == ["one", "two"]


def test_of_two_new_models_of_one_name_none_is_taken_for_the_moved_one(known: Path) -> None:
    folder = known.parent
    (folder / "models/m.onnx").unlink()
    names = ["a", "b", "c"]
    new = [models.elus(folder / f"{d}/m.onnx", names) for d in ("one", "two")]
    assert [gated(c) for c in against(known, *new)] == [names, names]
    assert gated(against(known, new[0])[0]) == ["c"]


def test_the_current_folder_does_not_matter(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(known.parent / "models")
    assert gated(against(Path("../known.json"), "m.onnx")[0]) == []


def test_findings_that_look_alike_are_counted(tmp_path: Path) -> None:
    """Two nodes of one name in two branches are one place each; three in one list are three."""
    path = models.elus(tmp_path / "m.onnx", ["a"])
    checked = check(path)
    gate = next(f for f in checked.findings if f.diagnostic.code == "opset-gate")
    two = replace(checked, findings=(gate, gate))
    three = replace(checked, findings=(gate, gate, gate))
    write_baseline(tmp_path / "known.json", [two])
    assert len(compare([three], read_baseline(tmp_path / "known.json"))[0].findings) == 1


def test_a_baseline_is_written_the_same_twice_and_keeps_what_was_known(known: Path) -> None:
    path = str(known.parent / "models/m.onnx")
    before = known.read_text()
    write_baseline(known, against(known, path))
    assert known.read_text() == before
    entries = json.loads(before)["models"]["models/m.onnx"]["findings"].values()
    assert {"opset-gate"} <= {e["code"] for e in entries}
    assert not any("text" in e for e in entries)


def test_a_baseline_without_an_unreadable_model_is_not_written(tmp_path: Path) -> None:
    fine = check(models.elus(tmp_path / "m.onnx", ["a"]))
    bad = failed(Request("bad.onnx", policy=Policy()), "bad.onnx: nothing there", 2)
    with pytest.raises(UsageError, match=r"known\.json is not written: bad\.onnx could not"):
        write_baseline(tmp_path / "known.json", [fine, bad])
    assert not (tmp_path / "known.json").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no baseline: Expecting value"),
        ("[]", "it is not what 'opscope check --write-baseline' writes"),
        ('{"schema": 2, "models": {}}', "its schema is 2, and 1 is what is known"),
        ('{"schema": 1, "tool": "eslint", "models": {}}', "it is of 'eslint'"),
        ('{"schema": 1, "models": {"m": []}}', "'m' has no findings"),
        ('{"schema": 1, "models": {"m": {"findings": {"f": {"count": "1"}}}}}', "'f' has no count"),
        ("[" * 100_000, "is no baseline"),
    ],
)
def test_what_is_no_baseline_is_told(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_baseline(path)
    assert why in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_baseline_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="write one first with --write-baseline"):
        read_baseline(tmp_path / "none.json")


# -- places ----------------------------------------------------------------------------------------


def test_a_link_that_leads_to_itself_stops_no_other_file(known: Path) -> None:
    loop = known.parent / "loop"
    loop.symlink_to("loop")
    unread = failed(Request(str(loop)), "it cannot be read", 2)
    found = compare((unread, check(str(known.parent / "models/m.onnx"))), read_baseline(known))
    assert [c.error for c in found] == ["it cannot be read", ""]
    with pytest.raises(UsageError, match="loop cannot be written: Too many levels"):
        write_baseline(loop, ())


def nested(before: int, name: str = "choose") -> onnx.ModelProto:
    """An If whose branch has nodes: one named, one not, two of one name."""
    end = helper.make_tensor_value_info("t", 1, None)
    inner = [
        helper.make_node("Elu", ["x"], ["p"], name="named"),
        helper.make_node("Elu", ["p"], ["q"]),
        helper.make_node("Elu", ["q"], ["r"], name="twin"),
        helper.make_node("Elu", ["r"], ["t"], name="twin"),
    ]
    branch = helper.make_graph(inner, "b", [], [end])
    other = helper.make_graph([helper.make_node("Elu", ["x"], ["t"])], "o", [], [end])
    nodes = [helper.make_node("Relu", ["x"], [f"u{i}"]) for i in range(before)]
    nodes.append(
        helper.make_node("If", ["c"], ["y"], name=name, then_branch=branch, else_branch=other)
    )
    ports = [helper.make_tensor_value_info("c", 9, []), helper.make_tensor_value_info("x", 1, [2])]
    graph = helper.make_graph(nodes, "g", ports, [onnx.ValueInfoProto(name="y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def places(model: onnx.ModelProto) -> list[str]:
    loaded = load_bytes(model.SerializeToString())
    found = Places(loaded)
    return [found.of(i) for i, n in loaded.nodes.items() if n.op != "Relu"]


def test_a_place_names_the_node_and_those_around_it() -> None:
    assert places(nested(0)) == [
        "choose",
        "choose.else_branch/> t",
        "choose.then_branch/named",
        "choose.then_branch/> q",
        "choose.then_branch/> r",
        "choose.then_branch/> t",
    ]
    assert places(nested(5)) == places(nested(0))
    assert places(nested(1, name="")) == [p.replace("choose", "> y") for p in places(nested(0))]


def test_a_fingerprint_depends_on_code_target_operator_and_place_alone(known: Path) -> None:
    d = check(str(known.parent / "models/m.onnx")).findings[0].diagnostic
    same = fingerprint(d, "p")
    assert len(same) == 32
    assert fingerprint(replace(d, text="x", remedy="y", node=NodeId((), 9), data={}), "p") == same
    changed = [
        fingerprint(d, "q"),
        fingerprint(replace(d, code="x"), "p"),
        fingerprint(replace(d, target="x"), "p"),
        fingerprint(replace(d, op="x"), "p"),
    ]
    assert len({same, *changed}) == 5
    assert fingerprint(d, "\udc92")  # a name that is half a pair
