"""fold-shapes and drop-dead: what goes, what stays, and random graphs before and after."""

import numpy as np
import onnx
import pytest
from fix_case import assert_same_outputs, changed, info, ops, propose, proto, texts
from onnx import helper, numpy_helper

F, I64 = "float32", "int64"


def n(op, ins, outs, name="", **attributes):
    ins, outs = ([s.replace("_", "") for s in t.split()] for t in (ins, outs))
    return helper.make_node(op, ins, outs, name=name or op, **attributes)


def reshaping(dims, ends=None, nodes=()):
    """x is reshaped to [first dimension, -1], as exporters write it."""
    chain = [
        n("Shape", "x", "s"),
        n("Gather", "s zero", "g", axis=0),
        n("Unsqueeze", "g zeros", "u"),
        n("Concat", "u minus", "c", axis=0),
        n("Reshape", "x c", "y"),
        *nodes,
    ]
    weights = {"zero": np.array(0), "zeros": np.array([0]), "minus": np.array([-1])}
    return proto(chain, {"x": (F, dims)}, ends or {"y": (F, None)}, weights)


def test_shape_arithmetic_becomes_an_initializer():
    old = reshaping((2, 3, 4))
    new = changed("fold-shapes", old)
    assert ops(new) == ["Reshape"]
    assert [t.name for t in new.graph.initializer] == ["c"]
    assert numpy_helper.to_array(new.graph.initializer[0]).tolist() == [2, -1]
    assert new.graph.node[0].input[1] == "c"
    assert_same_outputs(old, new)


def test_open_shapes_stay():
    _, proposal = propose("fold-shapes", reshaping(("n", 3, 4)))
    assert not proposal.edits
    assert texts(proposal, "Shape") == ["the shape of its input is float32[n, 3, 4]: not fixed"]


@pytest.mark.parametrize(
    ("index", "known"), [([1], [3]), ([-1, 1], [4, 3]), ([0], None), ([1, 0], None), ([], [])]
)
def test_a_known_size_of_an_open_shape_is_constant(index, known):
    """Of [n, 3, 4], the last two are the same for every input."""
    nodes = [n("Shape", "x", "s"), n("Gather", "s i", "g"), n("Concat", "g minus", "c", axis=0)]
    nodes += [n("Reshape", "x c", "y")]
    weights = {"i": np.array(index, np.int64), "minus": np.array([-1])}
    old = proto(nodes, {"x": (F, ("n", 3, 4))}, {"y": (F, None)}, weights)
    _, proposal = propose("fold-shapes", old)
    if known is None:
        assert not proposal.edits
        return
    new = changed("fold-shapes", old)
    assert ops(new) == ["Reshape"]
    assert numpy_helper.to_array(new.graph.initializer[0]).tolist() == [*known, -1]
    assert_same_outputs(old, new, {"x": np.ones((5, 3, 4), np.float32)})


def test_an_open_size_reaches_nothing_but_what_moves_it():
    """Max of [n, 3] and 2 has an open element, whatever stands for n while it is computed."""
    nodes = [n("Shape", "x", "s"), n("Max", "s two", "m"), n("Gather", "m zero", "g")]
    nodes.append(n("Neg", "g", "y"))
    old = proto(nodes, {"x": (F, ("n", 3))}, {"y": (I64, ())},
                {"two": np.array(2), "zero": np.array(0)})  # fmt: skip
    _, proposal = propose("fold-shapes", old)
    assert not proposal.edits


def test_a_place_that_is_open_picks_nothing():
    """k[:n] is open, though any number in the place of n would give some part of k."""
    nodes = [n("Shape", "x", "s"), n("Slice", "k zero s", "c"), n("Neg", "c", "y")]
    weights = {"k": np.array([7, 8, 9]), "zero": np.array([0])}
    old = proto(nodes, {"x": (F, ("n",))}, {"y": (I64, (None,))}, weights)
    _, proposal = propose("fold-shapes", old)
    assert not proposal.edits


def test_what_is_drawn_at_random_is_no_constant():
    """Though all that it reads is the same for every input."""
    nodes = [n("Shape", "x", "s"), n("RandomNormalLike", "s", "r", dtype=1), n("Neg", "r", "y")]
    _, proposal = propose("fold-shapes", proto(nodes, {"x": (F, (2, 3))}, {"y": (F, (2,))}))
    assert set(proposal.edits.weights) == {((), "s")}


def test_fixed_shapes_of_computed_values_come_from_the_plan():
    """onnx loses the shape behind Range; our planner computes it."""
    nodes = [n("Range", "zero len one", "i"), n("Expand", "i to", "e"), n("Shape", "e", "t")]
    nodes += [n("Cast", "t", "y", to=1)]
    weights = {"zero": np.array(0), "len": np.array(5), "one": np.array(1), "to": np.array([2, 5])}
    old = proto(nodes, {"x": (F, (1,))}, {"y": (F, (2,))}, weights)
    new = changed("fold-shapes", old)
    assert ops(new) == ["Cast"]
    assert_same_outputs(old, new, {"x": np.zeros(1, np.float32)})


def test_a_shape_that_hangs_on_a_value_is_not_constant():
    """The input's own shape is fixed; the length of the Range is what the caller gives."""
    nodes = [n("Range", "zero len one", "i"), n("Shape", "i", "t"), n("Cast", "t", "y", to=1)]
    weights = {"zero": np.array(0), "one": np.array(1)}
    old = proto(nodes, {"len": (I64, ())}, {"y": (F, (1,))}, weights)
    _, proposal = propose("fold-shapes", old)
    assert not proposal.edits


def test_outputs_of_the_model_stay_computed():
    old = reshaping((2, 3, 4), {"y": (F, None), "c": (I64, (2,))})
    new = changed("fold-shapes", old)
    assert ops(new) == ["Concat", "Reshape"]
    assert {t.name for t in new.graph.initializer} == {"u", "minus"}
    assert_same_outputs(old, new)


def test_a_subgraph_reads_the_folded_value():
    inner = n("Reshape", "x c", "t", "inner")
    then = helper.make_graph([inner], "t", [], [info("t", F, (2, 12))])
    orelse = helper.make_graph([n("Flatten", "x", "e")], "e", [], [info("e", F, (2, 12))])
    branch = helper.make_node("If", ["k"], ["z"], name="if", then_branch=then, else_branch=orelse)
    old = reshaping((2, 3, 4), {"z": (F, (2, 12))}, [branch])
    old.graph.input.append(info("k", "bool", ()))
    new = changed("fold-shapes", old)
    assert "c" in {t.name for t in new.graph.initializer}
    feeds = {"x": np.ones((2, 3, 4), np.float32), "k": np.array(True)}
    assert_same_outputs(old, new, feeds)


def test_an_initializer_that_callers_may_replace_is_not_folded():
    old = reshaping((2, 3, 4))
    old.graph.input.append(info("minus", I64, (1,)))
    new = changed("fold-shapes", old)
    assert ops(new) == ["Concat", "Reshape"]


def test_old_models_list_the_new_initializer_as_an_input():
    """Before IR version 4 every initializer had to be one."""
    old = reshaping((2, 3, 4))
    old.ir_version = 3
    del old.opset_import[:]
    old.opset_import.append(helper.make_opsetid("", 21))
    for tensor in old.graph.initializer:
        old.graph.input.append(info(tensor.name, I64, tuple(tensor.dims)))
    given, proposal = propose("fold-shapes", old)
    new = onnx.load_model_from_string(given.after(proposal.edits)[0].data)
    assert [p.name for p in new.graph.input] == ["x", "c"]
    assert [t.name for t in new.graph.initializer] == ["c"]
    onnx.checker.check_model(new)
    assert_same_outputs(old, new)


def test_floats_are_not_computed():
    nodes = [n("Shape", "x", "s"), n("Cast", "s", "f", to=1), n("Sqrt", "f", "y")]
    old = proto(nodes, {"x": (F, (2, 3))}, {"y": (F, (2,))})
    new = changed("fold-shapes", old)
    assert ops(new) == ["Sqrt"]
    assert_same_outputs(old, new)


def test_a_shape_of_a_million_elements_is_not_made():
    nodes = [n("ConstantOfShape", "big", "y", value=numpy_helper.from_array(np.array([1])))]
    old = proto(nodes, {"x": (F, (1,))}, {"y": (I64, None)}, {"big": np.array([1 << 40])})
    _, proposal = propose("fold-shapes", old)
    assert not proposal.edits


def test_dead_nodes_go_with_all_that_only_they_read():
    nodes = [
        n("Relu", "x", "y"),
        n("Neg", "x", "d1"),
        n("Mul", "d1 k", "d2"),
        n("Split", "x", "p q", num_outputs=2),
        n("Abs", "p", "z"),
    ]
    weights = {"k": np.ones(4, np.float32), "unused": np.ones(2, np.float32)}
    old = proto(nodes, {"x": (F, (4,))}, {"y": (F, None), "z": (F, None)}, weights)
    old.graph.value_info.extend([info("d1", F, (4,)), info("q", F, (2,))])
    new = changed("drop-dead", old)
    assert [m.name for m in new.graph.node] == ["Relu", "Split", "Abs"]
    assert not new.graph.initializer
    assert [v.name for v in new.graph.value_info] == ["q"]
    assert_same_outputs(old, new)


def test_what_a_subgraph_reads_is_alive_and_dead_nodes_inside_are_not():
    inner = [n("Add", "a x", "t"), n("Mul", "b b", "dead")]
    then = helper.make_graph(inner, "t", [], [info("t", F, (4,))])
    orelse = helper.make_graph([n("Neg", "x", "e")], "e", [], [info("e", F, (4,))])
    nodes = [n("Relu", "x", "a"), n("Abs", "x", "b")]
    nodes.append(
        helper.make_node("If", ["k"], ["y"], name="if", then_branch=then, else_branch=orelse)
    )
    old = proto(nodes, {"x": (F, (4,)), "k": ("bool", ())}, {"y": (F, (4,))})
    new = changed("drop-dead", old)
    assert ops(new) == ["Relu", "If"]
    (branch,) = (a.g for a in new.graph.node[1].attribute if a.name == "then_branch")
    assert [m.op_type for m in branch.node] == ["Add"]
    assert_same_outputs(old, new, {"x": np.ones(4, np.float32), "k": np.array(True)})


def test_identities_go_but_for_outputs_and_what_subgraphs_read():
    inner = helper.make_graph([n("Neg", "i3", "t", "inner")], "t", [], [info("t", F, (4,))])
    other = helper.make_graph([n("Abs", "x", "e", "other")], "e", [], [info("e", F, (4,))])
    nodes = [
        n("Identity", "x", "i1", "first"),
        n("Identity", "i1", "i2", "second"),
        n("Relu", "i2", "y"),
        n("Identity", "i1", "out", "end"),
        n("Identity", "x", "i3", "captured"),
        helper.make_node("If", ["k"], ["z"], name="if", then_branch=inner, else_branch=other),
    ]
    ends = {"y": (F, (4,)), "out": (F, (4,)), "z": (F, (4,))}
    old = proto(nodes, {"x": (F, (4,)), "k": ("bool", ())}, ends)
    new = changed("drop-dead", old)
    assert [m.name for m in new.graph.node] == ["Relu", "end", "captured", "if"]
    assert [m.input[0] for m in new.graph.node[:2]] == ["x", "x"]
    _, proposal = propose("drop-dead", old)
    assert texts(proposal, "end") == ["its output 'out' is one that others know by name"]
    assert texts(proposal, "captured") == ["a subgraph reads its output 'i3' by name"]
    assert_same_outputs(old, new, {"x": np.ones(4, np.float32), "k": np.array(True)})


def test_what_training_and_annotations_speak_of_stays():
    weights = {n: np.ones(4, np.float32) for n in ("moment", "scale", "unused")}
    old = proto([n("Relu", "x", "y")], {"x": (F, (4,))}, {"y": (F, (4,))}, weights)
    training = old.training_info.add()
    training.algorithm.name = "step"
    training.algorithm.node.append(n("Neg", "moment", "next"))
    training.update_binding.add(key="moment", value="next")
    note = old.graph.quantization_annotation.add(tensor_name="y")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    _, proposal = propose("drop-dead", old)
    assert proposal.edits.dropped == {((), "unused")}


def test_an_identity_whose_output_is_spoken_of_stays():
    nodes = [n("Identity", "x", "i"), n("Relu", "i", "y")]
    old = proto(nodes, {"x": (F, (4,))}, {"y": (F, (4,))})
    assert propose("drop-dead", old)[1].edits
    old.graph.quantization_annotation.add(tensor_name="i")
    _, proposal = propose("drop-dead", old)
    assert not proposal.edits
    assert texts(proposal, "Identity") == ["its output 'i' is one that others know by name"]


def test_a_model_without_anything_dead():
    _, proposal = propose("drop-dead", reshaping((2, 3, 4)))
    assert not proposal.edits
    assert proposal.summary == "everything is read by something"


@pytest.mark.parametrize("seed", range(25))
def test_random_graphs_give_the_same_outputs(seed):
    """Shape arithmetic, dead ends and Identities at random; both rules, in both orders."""
    rng = np.random.default_rng(seed)
    floats, whole, nodes = ["x"], ["k1", "k2"], []
    for step in range(rng.integers(8, 30)):
        kind, out = rng.integers(0, 8), f"v{step}"
        if kind == 0:
            nodes.append(n("Identity", str(rng.choice(floats)), out, f"n{step}"))
            floats.append(out)
        elif kind == 1:
            op = str(rng.choice(("Relu", "Neg", "Abs")))
            nodes.append(n(op, str(rng.choice(floats)), out, f"n{step}"))
            floats.append(out)
        elif kind == 2:
            nodes.append(n("Shape", str(rng.choice(floats)), out, f"n{step}"))
            whole.append(out)
        elif kind in (3, 4):
            op = str(rng.choice(("Add", "Mul", "Sub", "Max")))
            left, right = rng.choice(whole, 2)
            nodes.append(n(op, f"{left} {right}", out, f"n{step}"))
            whole.append(out)
        elif kind == 5:
            nodes.append(n("Cast", str(rng.choice(whole)), out + "c", f"n{step}c", to=1))
            nodes.append(n("Add", f"{rng.choice(floats)} {out}c", out, f"n{step}"))
            floats.append(out)
        elif kind == 6:
            nodes.append(n("Identity", str(rng.choice(whole)), out, f"n{step}"))
            whole.append(out)
        else:
            source = str(rng.choice(floats))
            nodes.append(n("Shape", source, out + "s", f"n{step}s"))
            nodes.append(n("Reshape", f"{source} {out}s", out, f"n{step}"))
            floats.append(out)
    made = {o for node in nodes for o in node.output}
    ends = {str(e): (F if str(e) in floats else I64, (2, 2)[: 2 if str(e) in floats else 1])
            for e in rng.choice(sorted(made), min(3, len(made)), replace=False)
            if str(e)[-1] not in "cs"}  # fmt: skip
    if not ends:
        ends = {nodes[-1].output[0]: (F, (2, 2)) if nodes[-1].output[0] in floats else (I64, (2,))}
    weights = {"k1": np.array([3, -1]), "k2": np.array([2, 2])}
    old = proto(nodes, {"x": (F, (2, 2))}, ends, weights)
    first = changed("drop-dead", changed("fold-shapes", old))
    second = changed("fold-shapes", changed("drop-dead", old))
    feeds = {"x": rng.standard_normal((2, 2)).astype(np.float32)}
    assert_same_outputs(old, first, feeds)
    assert_same_outputs(old, second, feeds)
    assert [p.name for p in first.graph.output] == [p.name for p in old.graph.output]
    left = {o for m in first.graph.node if m.op_type == "Shape" for o in m.output}
    assert left <= {p.name for p in first.graph.output}


def test_a_cast_of_a_float_is_not_computed():
    """Out of range it is undefined, and each engine has its own answer."""
    nodes = [n("Cast", "f", "i", to=7), n("Add", "i i", "j"), n("Cast", "j", "y", to=1)]
    old = proto(nodes, {"x": (F, (1,))}, {"y": (F, (1,))}, {"f": np.float32([3e38])})
    _, proposal = propose("fold-shapes", old)
    assert not proposal.edits


def test_a_stale_declaration_folds_nothing():
    """Its input takes any batch; a 1 that a file states of a value in between is an old one."""
    nodes = [n("Relu", "x", "r"), n("Shape", "r", "s"), n("Gather", "s zero", "g")]
    nodes += [n("Mul", "g g", "y")]
    old = proto(nodes, {"x": (F, ("n", 3))}, {"y": (I64, ())}, {"zero": np.array(0)})
    old.graph.value_info.append(info("r", F, (1, 3)))
    _, proposal = propose("fold-shapes", old)
    assert not proposal.edits


def test_declarations_of_what_onnx_does_not_know_are_trusted():
    """For an operator of a foreign domain they are all that there is."""
    nodes = [n("Mystery", "x", "r", domain="custom"), n("Shape", "r", "s")]
    nodes += [n("Mul", "s s", "y")]
    old = proto(nodes, {"x": (F, ("n", 3))}, {"y": (I64, (2,))}, domains={"custom": 1})
    old.graph.value_info.append(info("r", F, (4, 3)))
    _, proposal = propose("fold-shapes", old)
    assert [a.tolist() for a in proposal.edits.weights.values()] == [[4, 3]]


def test_the_shape_of_a_sparse_constant_is_not_guessed():
    """Its type is not known to inference, which says neither a type nor three elements."""
    sparse = helper.make_sparse_tensor(
        numpy_helper.from_array(np.ones(1, np.float32)), numpy_helper.from_array(np.array([1])), [3]
    )
    nodes = [helper.make_node("Constant", [], ["c"], sparse_value=sparse)]
    nodes += [n("Shape", "c", "s"), n("Concat", "s s", "t", axis=0), n("Neg", "t", "y")]
    _, proposal = propose("fold-shapes", proto(nodes, {}, {"y": (I64, (2,))}))
    assert not proposal.edits
