"""``opscope fix`` as its users call it."""

import json

import numpy as np
import onnx
import pytest
from fix_case import info, proto, saved
from onnx import helper
from opscope.engine.cli.main import main
from opscope.engine.fixes import comparing, saving
from opscope.engine.fixes.equality import Comparison
from opscope.engine.fixes.rules import RULES
from opscope.engine.ir import edit_file, save_file
from opscope.engine.ir.load import load_model

F = "float32"


def gru(opset=22, seed=1):
    rng = np.random.default_rng(seed)
    node = helper.make_node("GRU", ["x", "w", "r"], ["y"], name="gru", hidden_size=2)
    weights = {
        "w": rng.standard_normal((1, 6, 3)).astype(np.float32),
        "r": rng.standard_normal((1, 6, 2)).astype(np.float32),
    }
    return proto([node], {"x": (F, (4, 1, 3))}, {"y": (F, (4, 1, 1, 2))}, weights, opset)


def test_a_preview_writes_nothing(tmp_path, capsys):
    path = saved(gru(), tmp_path)
    assert main(["fix", str(path), "--rule", "lower-opset"]) == 0
    text = capsys.readouterr().out
    assert "lower-opset: opset 22 becomes 21" in text
    assert "'gru' (GRU): schema version 22 becomes 14" in text
    assert "ort-webgpu  CPU 1   GPU 1" in text
    assert "preview: -o FILE writes it" in text
    assert [p.name for p in tmp_path.iterdir()] == ["model.onnx"]


def test_a_new_file_is_written_and_told(tmp_path, capsys):
    path, new, out = saved(gru(), tmp_path), tmp_path / "new.onnx", tmp_path / "fix.json"
    before = path.read_bytes()
    arguments = ["fix", str(path), "--rule", "lower-opset", "-o", str(new), "--json", str(out)]
    assert main(arguments) == 0
    text = capsys.readouterr().out
    assert "Opscope's host provider: all outputs are the same bit for bit" in text
    assert "inputs      random, seed 0: x float32[4, 1, 3]\n" in text
    assert "checker     passed" in text
    assert "opset ai.onnx 22  1 node\n" in text
    assert f"written     {new}" in text
    assert path.read_bytes() == before
    assert load_model(new).opset_imports == {"": 21}
    data = json.loads(out.read_text())
    assert data["output"] == str(new)
    assert data["placement"]["ort-webgpu"]["before"] == {"host": 1}
    assert data["placement"]["ort-webgpu"]["after"] == {"gpu": 1}
    assert data["placement"]["ort-webgpu"]["moved"][0]["node"]["name"] == "gru"
    assert data["comparisons"][0]["exact"]
    assert (data["comparisons"][0]["outputs"], data["comparisons"][0]["elements"]) == (1, 8)
    assert data["inputs"] == "random, seed 0: x float32[4, 1, 3]"
    assert data["rules"][0]["changed"] == 1


def test_the_sizes_that_were_assumed_are_told(tmp_path, capsys):
    node = helper.make_node("Sin", ["x"], ["y"], name="sin")
    ports = {"x": (F, ("batch", "time", None))}
    path = saved(proto([node], ports, {"y": (F, None)}, None, 22), tmp_path)
    arguments = ["fix", str(path), "--rule", "lower-opset", "--dim", "time=5", "-o"]
    assert main([*arguments, str(tmp_path / "new.onnx")]) == 0
    text = capsys.readouterr().out
    assert "random, seed 0: x float32[1, 5, 64]; assumed: batch = 1, x[2] = 64\n" in text
    assert "host provider, with x float32[2, 5, 64]: all outputs are the same" in text


def test_what_holds_for_the_assumed_batch_alone_is_caught(tmp_path, capsys, monkeypatch):
    """Both are the same where the batch is 1, which is what was assumed."""
    node = helper.make_node("Sin", ["x"], ["y"], name="sin")
    model = proto([node], {"x": (F, ("batch", 3))}, {"y": (F, None)}, None, 22)
    nodes = [helper.make_node("ReduceMax", ["x", "axes"], ["m"]), node]
    node.input[0] = "m"
    ends = {"y": (F, ("batch", 3))}
    wrong = proto(nodes, {"x": (F, ("batch", 3))}, ends, {"axes": np.array([0])}, 21)
    wrong_model = load_model(saved(wrong, tmp_path, "wrong.onnx"))
    monkeypatch.setattr(saving, "load_model", lambda path: wrong_model)
    path, new = saved(model, tmp_path), tmp_path / "new.onnx"
    assert main(["fix", str(path), "--rule", "lower-opset", "-o", str(new)]) == 1
    assert "with x float32[2, 3]: output 'y'" in capsys.readouterr().err
    assert not new.exists()


def test_given_inputs_that_contradict_a_fixed_shape_are_an_error(tmp_path, capsys):
    node = helper.make_node("Sin", ["x"], ["y"], name="sin")
    path = saved(proto([node], {"x": (F, ("n",))}, {"y": (F, None)}), tmp_path)
    np.savez(tmp_path / "in.npz", x=np.ones(3, np.float32))
    arguments = ["fix", str(path), "--rule", "fix-shapes", "--dim", "n=2"]
    arguments += ["--inputs", str(tmp_path / "in.npz"), "-o", str(tmp_path / "new.onnx")]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert "nothing is written: the fixed model: input 'x': expected float32[2], got" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "new.onnx").exists()


def test_json_alone_on_standard_output(tmp_path, capsys):
    path = saved(gru(), tmp_path)
    assert main(["fix", str(path), "--rule", "lower-opset", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] is None


def test_nothing_to_change_writes_nothing(tmp_path, capsys):
    path, new = saved(gru(21), tmp_path), tmp_path / "new.onnx"
    assert main(["fix", str(path), "--rule", "lower-opset", "-o", str(new)]) == 0
    assert f"nothing to change; {new} is not written" in capsys.readouterr().out
    assert not new.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--rule", "polish"], 2, "there is lower-opset"),
        (["--rule", "drop-dead,drop-dead"], 2, "named twice"),
        (["--rule", "drop-dead", "--opset", "13"], 2, "--opset is for the rule lower-opset"),
        (["--rule", "drop-dead", "--node", "gru"], 2, "--node is for"),
        (["--rule", "drop-dead", "--force"], 2, "--force needs -o FILE"),
        (["--rule", "drop-dead", "--target", "nobody"], 2, "nobody"),
        (["--rule", "cast-f32", "--node", "nobody"], 1, "no node"),
        (["--rule", "lower-opset", "--opset", "6"], 1, "below 7"),
        (["--rule", "fix-shapes"], 1, "wants shapes"),
        (["--rule", "drop-dead", "--tolerance", "7"], 2, "--tolerance"),
        (["--rule", "drop-dead", "--tolerance", "0"], 2, "--tolerance needs -o FILE"),
        (["--rule", "drop-dead", "--seed", "0"], 2, "--seed needs -o FILE"),
        (
            ["--rule", "drop-dead", "-o", "n", "--inputs", "i.npz", "--seed", "3"],
            2,
            "--inputs gives the values; leave --seed out",
        ),
        (["--rule", "drop-dead", "-o", "n", "--no-compare", "--seed", "3"], 2, "--seed is for"),
        (["--rule", "drop-dead", "--shape", "x=4,1,3"], 2, "are for the rule fix-shapes"),
        (["--rule", "drop-dead", "-o", "n", "--no-compare", "--live"], 2, "leave --no-compare out"),
        (["--rule", "drop-dead", "-o", "n", "--inputs", "i", "--dim", "n=1"], 2, "leave --shape"),
        (["--rule", "drop-dead", "--json", "no/where"], 2, "there is no folder no"),
        (["--rule", "lower-opset", "--no-compare", "-o", "n" * 300], 2, "File name too long"),
        (["--rule", "drop-dead", "-o", ""], 2, "-o wants the name of a file"),
    ],
)
def test_errors_are_one_line(tmp_path, capsys, arguments, code, text):
    path = saved(gru(), tmp_path)
    assert main(["fix", str(path), *arguments]) == code
    error = capsys.readouterr().err
    assert error.startswith("opscope: error: ")
    assert text in error
    assert error.count("\n") == 1


def test_the_report_goes_not_over_the_new_model(tmp_path, capsys):
    path, new = saved(gru(), tmp_path), tmp_path / "new.onnx"
    arguments = ["--rule", "lower-opset", "-o", str(new), "--json", f"{tmp_path}/./new.onnx"]
    assert main(["fix", str(path), *arguments]) == 2
    assert "is the model to write" in capsys.readouterr().err
    assert not new.exists()


def test_a_result_that_is_too_large_for_a_file_is_one_line(tmp_path, capsys, monkeypatch):
    """As where a fix stores values that lay outside: a message ends at 2 GiB."""
    path = saved(gru(), tmp_path)
    monkeypatch.setattr(edit_file, "MAX_MODEL_BYTES", 100)
    assert main(["fix", str(path), "--rule", "lower-opset"]) == 2
    error = capsys.readouterr().err
    assert "model.onnx: the changed model takes " in error
    assert error.count("\n") == 1


def test_a_folder_that_takes_no_file_is_one_line(tmp_path, capsys, monkeypatch):
    path, new = saved(gru(), tmp_path), tmp_path / "new.onnx"

    def refuse(name, mode="r", *arguments, **options):
        if mode == "xb":
            raise PermissionError(13, "Permission denied", name)
        return open(name, mode, *arguments, **options)

    monkeypatch.setattr(save_file, "open", refuse, raising=False)
    assert main(["fix", str(path), "--rule", "lower-opset", "-o", str(new)]) == 2
    assert capsys.readouterr().err == (
        f"opscope: error: {new} cannot be written: Permission denied\n"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["model.onnx"]


def test_other_outputs_are_an_error_and_write_nothing(tmp_path, capsys, monkeypatch):
    """A rule that is wrong is caught by running both."""
    path, new = saved(gru(), tmp_path), tmp_path / "new.onnx"
    wrong = load_model(saved(gru(seed=2), tmp_path, "wrong.onnx"))
    monkeypatch.setattr(saving, "load_model", lambda path: wrong)
    assert main(["fix", str(path), "--rule", "lower-opset", "-o", str(new)]) == 1
    assert "must be the same bit for bit" in capsys.readouterr().err
    assert not new.exists()


def test_what_the_checker_refuses_is_not_written(tmp_path, capsys, monkeypatch):
    path, new = saved(gru(), tmp_path), tmp_path / "new.onnx"
    monkeypatch.setattr(
        saving, "checker_objection", lambda p, full: "" if p == str(path) else f"{p} is bad"
    )
    assert main(["fix", str(path), "--rule", "lower-opset", "-o", str(new)]) == 1
    assert "does not pass onnx.checker: the new file is bad" in capsys.readouterr().err
    assert not new.exists()


def test_a_model_that_nobody_can_run_needs_a_word(tmp_path, capsys):
    model = gru()
    call = helper.make_node("Mystery", ["y"], ["z"], name="m", domain="custom")
    model.graph.node.append(call)
    model.graph.output[0].CopyFrom(info("z", F, (4, 1, 1, 2)))
    model.opset_import.append(helper.make_opsetid("custom", 1))
    path, new = saved(model, tmp_path), tmp_path / "new.onnx"
    arguments = ["fix", str(path), "--rule", "lower-opset", "-o", str(new)]
    assert main(arguments) == 1
    assert "--no-compare writes the file" in capsys.readouterr().err
    assert not new.exists()
    assert main([*arguments, "--no-compare"]) == 0
    assert "compared    not at all" in capsys.readouterr().out
    assert new.exists()


def test_random_models_are_told_apart(tmp_path, capsys, monkeypatch):
    absent = Comparison("the installed ORT", skipped="it is not installed")
    monkeypatch.setattr(comparing, "compare_live", lambda *_: (absent, None, None))
    node = helper.make_node("RandomNormalLike", ["x"], ["r"], name="r")
    dead = helper.make_node("Neg", ["x"], ["d"], name="d")
    path = saved(proto([node, dead], {"x": (F, (4,))}, {"r": (F, (4,))}), tmp_path)
    new = tmp_path / "new.onnx"
    assert main(["fix", str(path), "--rule", "drop-dead", "-o", str(new)]) == 1
    assert "it draws at random" in capsys.readouterr().err


def test_a_damaged_file_is_not_changed(tmp_path, capsys):
    model = gru()
    model.graph.node.append(model.graph.node[0])
    path = saved(model, tmp_path)
    assert main(["fix", str(path), "--rule", "drop-dead"]) == 2
    assert "the file is damaged" in capsys.readouterr().err


def test_names_of_the_model_are_printable(tmp_path, capsys):
    model = gru()
    model.graph.node[0].name = "evil\x1b[2J\nname"
    path = saved(model, tmp_path)
    assert main(["fix", str(path), "--rule", "lower-opset"]) == 0
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert r"evil\x1b[2J\nname" in text


def test_rules_in_the_order_given(tmp_path):
    half = onnx.TensorProto.FLOAT16
    model = gru()
    for tensor in model.graph.initializer:
        values = onnx.numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
    for port in (model.graph.input[0], model.graph.output[0]):
        port.type.tensor_type.elem_type = half
    path, new = saved(model, tmp_path), tmp_path / "new.onnx"
    arguments = ["--rule", "lower-opset,cast-f32", "--opset", "21", "-o", str(new)]
    assert main(["fix", str(path), *arguments]) == 0
    made = load_model(new)
    assert made.opset_imports[""] == 21
    assert [n.op for n in made.graph.nodes] == ["Cast", "GRU", "Cast"]


def test_the_help_names_every_rule(capsys):
    assert main(["fix", "--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {rule} " in text for rule in RULES)
    assert "exit codes: 0" in text


def test_a_preview_of_a_large_model_is_short(tmp_path, capsys):
    """What happens alike to many nodes is said once, and at most so often."""
    count, nodes = 40, []
    for i in range(count):
        nodes += [
            helper.make_node("Sin", [f"s{i - 1}" if i else "x"], [f"s{i}"], name=f"sin{i}"),
            helper.make_node("Shape", [f"s{i}"], [f"d{i}"]),
            helper.make_node("Mul", [f"d{i}", f"k{i}"], [f"m{i}"]),
            helper.make_node("Expand", ["x", f"m{i}"], [f"o{i}"]),
        ]
    ends = {f"s{count - 1}": (F, (1,)), **{f"o{i}": (F, None) for i in range(count)}}
    weights = {f"k{i}": np.array([i + 1]) for i in range(count)}
    path = saved(proto(nodes, {"x": (F, (1,))}, ends, weights, 22), tmp_path)
    assert main(["fix", str(path), "--rule", "fold-shapes,lower-opset"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 45
    assert max(map(len, lines)) < 250
    assert any("more (" in line and "--json FILE lists them all" in line for line in lines)
    (moved,) = (line for line in lines if "CPU -> GPU" in line)
    assert "'sin0' (Sin), 'sin1' (Sin), 'sin2' (Sin) and 37 more CPU -> GPU" in moved


def test_a_tolerance_of_nothing_is_one(tmp_path, monkeypatch):
    allowed = []

    def compare(old, new, feeds, limit, heals):
        allowed.append(limit)
        return Comparison("somebody", exact=True)

    monkeypatch.setattr(comparing, "compare_on_host", compare)
    node = helper.make_node("Add", ["x", "x"], ["y"], name="add")
    path = saved(proto([node], {"x": ("float16", (3,))}, {"y": ("float16", (3,))}), tmp_path)
    arguments = ["fix", str(path), "--rule", "cast-f32", "--node", "add", "-o"]
    assert main([*arguments, str(tmp_path / "a.onnx"), "--tolerance", "0"]) == 0
    assert main([*arguments, str(tmp_path / "b.onnx")]) == 0
    assert allowed == [0, 5e-3]


@pytest.mark.parametrize(("dtype", "limit"), [(F, 1e-3), ("float16", 2e-2)])
def test_the_gpu_may_round_as_its_type_does(tmp_path, monkeypatch, dtype, limit):
    """An exact rule moves nodes to kernels that add in another order; f16 has three digits."""
    allowed = []

    def compare(session, old, new, feeds, most, heals):
        allowed.append(most)
        return Comparison("somebody", exact=True)

    monkeypatch.setattr(comparing, "compare_on_gpu", compare)
    nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Neg", ["x"], ["dead"])]
    path = saved(proto(nodes, {"x": (dtype, (3,))}, {"y": (dtype, (3,))}), tmp_path)
    arguments = ["fix", str(path), "--rule", "drop-dead", "-o", str(tmp_path / "new.onnx")]
    assert main(arguments) == 0
    assert allowed == [limit]


def test_two_objections_of_the_checker_are_both_told(tmp_path, capsys, monkeypatch):
    """A model that never passed may still get worse."""
    path, new = saved(gru(), tmp_path), tmp_path / "new.onnx"
    monkeypatch.setattr(
        saving, "checker_objection", lambda p, full: "old" if p == str(path) else f"{p} is bad"
    )
    assert main(["fix", str(path), "--rule", "lower-opset", "-o", str(new)]) == 0
    text = capsys.readouterr().out
    assert "neither the unchanged model (old) nor the new file (the new file is bad)" in text
