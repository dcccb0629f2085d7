"""Rules one after the other: which nodes are meant, and when a rule has done all that it can."""

import numpy as np
import onnx
import pytest
from fix_case import fixed, proto, saved
from onnx import external_data_helper, helper, numpy_helper
from opscope.engine.fixes.rule import RefusedError
from opscope.engine.fixes.saving import Demand, save_fix
from opscope.engine.ir.load import load_model

F, HALF, I64 = "float32", "float16", "int64"


@pytest.fixture
def halves(tmp_path):
    """A dead node, an Add and a Mul of f16, none of which has a name."""
    nodes = [
        helper.make_node("Neg", ["x"], ["dead"]),
        helper.make_node("Add", ["x", "x"], ["a"]),
        helper.make_node("Mul", ["a", "x"], ["y"]),
    ]
    return saved(proto(nodes, {"x": (HALF, (3,))}, {"y": (HALF, (3,))}), tmp_path)


def operators(fix):
    return [node.op for node in fix.after.model.graph.nodes]


@pytest.mark.parametrize(
    ("index", "expected"),
    [("1", ["Cast", "Add", "Cast", "Mul"]), ("2", ["Add", "Cast", "Cast", "Mul", "Cast"])],
)
def test_an_index_is_that_of_the_file_whatever_went_before(halves, index, expected):
    fix = fixed(halves, "drop-dead", "cast-f32", nodes=(index,))
    assert [op for op in operators(fix) if op != "Cast"] == ["Add", "Mul"]
    assert operators(fix) == expected


def test_a_node_that_an_earlier_rule_takes_out_is_named(halves):
    with pytest.raises(RefusedError, match=r"\(Neg\) was asked for, and an earlier rule takes"):
        fixed(halves, "drop-dead", "cast-f32", nodes=("0",))
    assert fixed(halves, "cast-f32", "drop-dead", nodes=("0",)).changes


def test_folding_goes_on_while_it_finds_more(tmp_path):
    """Only once `to` is constant does onnx know what shape r has, and so what Shape of r is."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Where", ["yes", "s", "s"], ["to"]),
        helper.make_node("Reshape", ["open", "to"], ["r"]),
        helper.make_node("Shape", ["r"], ["t"]),
        helper.make_node("Reshape", ["open", "t"], ["y"]),
    ]
    inputs = {"x": (F, (2, 3)), "open": (F, ("n",))}
    made = proto(nodes, inputs, {"y": (F, (None, None))}, {"yes": np.array(True)})
    fix = fixed(saved(made, tmp_path), "fold-shapes")
    assert operators(fix) == ["Reshape"]
    assert [step.proposal.summary.partition(" folded")[0] for step in fix.steps] == [
        "2 nodes",
        "1 node",
    ]


def test_a_rule_that_finds_nothing_says_so_once(halves):
    (step,) = fixed(halves, "fold-shapes").steps
    assert step.proposal.summary == "no shape arithmetic is constant"


def test_the_full_check_reads_no_external_data(tmp_path):
    """Which is no objection: onnx cannot tell the shape of a Range whose step lies elsewhere."""
    nodes = [
        helper.make_node("Size", ["x"], ["end"]),
        helper.make_node("Range", ["zero", "end", "step"], ["y"]),
    ]
    weights = {"zero": np.array(0), "step": np.array(2)}
    made = proto(nodes, {"x": (F, (4, 3))}, {"y": (I64, (None,))}, weights)
    (tmp_path / "w.bin").write_bytes(np.array(2).tobytes())
    step = made.graph.initializer[1]
    step.CopyFrom(numpy_helper.from_array(np.array(2), "step"))
    external_data_helper.set_external_data(step, "w.bin", 0, 8)
    step.ClearField("raw_data")
    path = saved(made, tmp_path)
    fix = fixed(path, "fold-shapes")
    done = save_fix(fix, str(tmp_path / "new.onnx"), Demand(trial=None))
    assert done.checker.startswith("passed (its full check reads no external data: ")
    assert [n.op for n in load_model(tmp_path / "new.onnx").graph.nodes] == ["Range"]
    onnx.checker.check_model(tmp_path / "new.onnx")
