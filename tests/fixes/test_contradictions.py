"""What a file says of its values may be wrong: no rule relies on it, and no new file keeps it."""

import pytest
from fix_case import fixed, info, propose, proto, saved
from onnx import helper
from opscope.engine.cli.main import main
from opscope.engine.fixes.rule import RefusedError
from opscope.engine.ir.load import load_model

F = "float32"


def model(dtype=F, shape=(1, 3)):
    """x of [2, 3] through a Relu to r, of which the file says something, and dead nodes."""
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Neg", ["r"], ["y"])]
    nodes.append(helper.make_node("Abs", ["x"], ["dead"]))
    made = proto(nodes, {"x": (F, (2, 3))}, {"y": (F, (2, 3))})
    made.graph.value_info.append(info("r", dtype, shape))
    return made


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (model("float16", (2, 3)), "is float16[2, 3], its nodes give float32[2, 3]; export"),
        (model(), "is float32[1, 3], its nodes give float32[2, 3]; fix-shapes as the first rule"),
        (model(shape=(2, 3, 1)), "is float32[2, 3, 1], its nodes give float32[2, 3]"),
    ],
)
def test_a_declaration_that_cannot_be_true_is_named(tmp_path, made, text):
    path = saved(made, tmp_path)
    with pytest.raises(RefusedError) as error:
        fixed(path, "drop-dead")
    assert str(error.value).startswith(f"{path}: the file says that 'r' {text}")


@pytest.mark.parametrize("shape", [(2, 3), ("n", 3), (None, None), None])
def test_what_may_be_true_is_no_contradiction(tmp_path, shape):
    assert fixed(saved(model(shape=shape), tmp_path), "drop-dead").changes


def test_a_model_that_needs_no_change_is_not_refused(tmp_path):
    assert not fixed(saved(model(), tmp_path), "fold-shapes").changes


def test_fixing_the_shapes_first_mends_it(tmp_path, capsys):
    """The input's shape is the one that it has; only what the file says of r is another."""
    path, new = saved(model(), tmp_path), tmp_path / "new.onnx"
    rules = ["--rule", "fix-shapes,drop-dead", "--shape", "x=2,3"]
    assert main(["fix", str(path), *rules, "-o", str(new)]) == 0
    assert "its shape is now known: [2, 3]; the file said [1, 3]" in capsys.readouterr().out
    assert load_model(new).graph.values["r"].shape == (2, 3)


def test_a_constant_shape_is_computed_not_believed():
    """The file says [1, 3] of what has the input's size; the Shape of it is [2, 3]."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Shape", ["r"], ["s"]),
        helper.make_node("Reshape", ["flat", "s"], ["y"]),
    ]
    made = proto(nodes, {"x": (F, (2, 3)), "flat": (F, (6,))}, {"y": (F, (2, 3))})
    made.graph.value_info.append(info("r", F, (1, 3)))
    _, proposal = propose("fold-shapes", made)
    assert proposal.edits.weights[(), "s"].tolist() == [2, 3]


def test_a_stamp_is_not_lowered_on_a_rank_that_the_file_only_claims(tmp_path):
    """Softmax means the same before opset 13 for the last axis alone, and the rank tells which."""
    nodes = [
        helper.make_node("Reshape", ["x", "to"], ["u"]),
        helper.make_node("Softmax", ["u"], ["y"], name="soft", axis=1),
    ]
    ends = {"y": (F, (None, None))}
    made = proto(nodes, {"x": (F, (2, 3, 4)), "to": ("int64", ("rank",))}, ends, None, 13)
    made.graph.value_info.append(info("u", F, (2, 12)))
    with pytest.raises(RefusedError, match="'soft'"):
        fixed(saved(made, tmp_path), "lower-opset", opset=12)
