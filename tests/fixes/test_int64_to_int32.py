"""int64-to-int32: only what is proven to fit, and bounds that no value leaves."""

import numpy as np
import onnx
import pytest
from fix_case import assert_same_outputs, changed, info, ops, propose, proto, subject, texts
from onnx import helper, numpy_helper
from opscope.engine.fixes import int64_to_int32
from opscope.engine.fixes.ranges import fits_int32, integer_bounds
from opscope.engine.host.evaluate import evaluate_model

I64, J, F = "int64", "int32", "float32"
LOW, HIGH = np.array(-1000), np.array(1000)


def n(op, ins, outs, name="", **attributes):
    return helper.make_node(op, ins.split(" "), outs.split(" "), name=name or op, **attributes)


def clipped(*nodes, ends, weights=None, inputs=None):
    """x, clipped to +-1000, and what follows."""
    return proto(
        [n("Clip", "x low high", "c"), *nodes],
        {"x": (I64, (2, 3)), **(inputs or {})},
        ends,
        {"low": LOW, "high": HIGH, **(weights or {})},
    )


X = np.array([[2**40, -(2**50), 7], [0, -1, 999]])


def test_a_chain_between_clips_runs_in_int32():
    old = clipped(
        n("Add", "c k", "a"), n("Mul", "a a", "m"), n("Cast", "m", "y", to=1),
        ends={"y": (F, (2, 3))}, weights={"k": np.array([5, 6, 7])},
    )  # fmt: skip
    new = changed("int64-to-int32", old)
    assert ops(new) == ["Clip", "Cast", "Add", "Mul", "Cast"]
    given, proposal = propose("int64-to-int32", old)
    after, origins = given.after(proposal.edits)
    placed = {origins.get(i): v for i, v in after.verdicts["ort-webgpu"].items()}
    on_gpu = [given.model.nodes[i].op for i, v in placed.items() if i and v.on_gpu]
    assert on_gpu == ["Add", "Mul", "Cast"]
    (k,) = (t for t in new.graph.initializer if t.name == "k")
    assert numpy_helper.to_array(k).dtype == np.int32
    assert_same_outputs(old, new, {"x": X})


@pytest.mark.parametrize(
    ("nodes", "label", "reason"),
    [
        ([n("Add", "x x", "y")], "Add", "nothing bounds its input 0 ('x')"),
        ([n("Mul", "c big", "y")], "Mul", "its input 1 ('big') may be from"),
        ([n("Mul", "c c", "a"), n("Mul", "a a", "y", "second")], "second", "its output 0 ('y')"),
        ([n("Cast", "f", "a", to=7), n("Add", "a c", "y")], "Add", "nothing bounds its input 0"),
    ],
)
def test_what_may_not_fit_is_left_with_the_numbers(nodes, label, reason):
    old = clipped(
        *nodes,
        ends={"y": (I64, (2, 3))},
        weights={"big": np.array(2**33)},
        inputs={"f": (F, (2, 3))},
    )
    _, proposal = propose("int64-to-int32", old)
    (text,) = texts(proposal, label)
    assert reason in text
    assert not any(note.changed for note in proposal.notes if note.label == label)


def test_casts_stand_where_others_read_int64():
    old = clipped(
        n("Add", "c k", "a"), n("Neg", "a", "y"), n("Mul", "a a", "z"),
        ends={"a": (I64, (2, 3)), "y": (I64, (2, 3)), "z": (I64, (2, 3))},
        weights={"k": np.array([5, 6, 7])},
    )  # fmt: skip
    new = changed("int64-to-int32", old)
    assert [p.type.tensor_type.elem_type for p in new.graph.output] == [onnx.TensorProto.INT64] * 3
    assert_same_outputs(old, new, {"x": X})


def test_indices_stay_int64_where_only_the_data_must_change():
    """Gather takes both for its indices; only T decides where it runs."""
    old = clipped(
        n("Mul", "c k", "m"), n("Gather", "m i", "g", axis=1), n("Cast", "g", "y", to=1),
        ends={"y": (F, (2, 2))}, weights={"k": np.array([5, 6, 7]), "i": np.array([2, 0])},
    )  # fmt: skip
    new = changed("int64-to-int32", old)
    (i,) = (t for t in new.graph.initializer if t.name == "i")
    assert numpy_helper.to_array(i).dtype == np.int64
    assert_same_outputs(old, new, {"x": X})


def test_an_initializer_that_callers_may_replace_proves_nothing():
    old = clipped(n("Add", "c k", "y"), ends={"y": (I64, (2, 3))}, weights={"k": np.array(5)})
    assert propose("int64-to-int32", old)[1].edits
    old.graph.input.append(helper.make_tensor_value_info("k", onnx.TensorProto.INT64, ()))
    _, proposal = propose("int64-to-int32", old)
    assert not proposal.edits
    assert "nothing bounds its input 1 ('k')" in texts(proposal, "Add")[0]


def test_equal_is_compared_in_int32():
    old = clipped(n("Equal", "c k", "y"), ends={"y": ("bool", (2, 3))}, weights={"k": np.array(7)})
    new = changed("int64-to-int32", old)
    assert ops(new) == ["Clip", "Cast", "Equal"]
    assert_same_outputs(old, new, {"x": X})


def test_nodes_that_are_asked_for():
    old = clipped(n("Add", "c k", "y"), ends={"y": (I64, (2, 3))}, weights={"k": np.array(5)})
    new = changed("int64-to-int32", old, nodes=("Add",), targets=("opscope",))
    assert ops(new) == ["Clip", "Cast", "Add", "Cast"]
    assert_same_outputs(old, new, {"x": X})


BINARY = ("Add", "Sub", "Mul", "Div", "Mod", "Min", "Max")
UNARY = ("Neg", "Abs", "Sign", "Identity", "ReduceMax", "ReduceMin", "ReduceSum", "CumSum", "Clip")


@pytest.mark.parametrize("seed", range(20))
def test_no_value_leaves_its_bounds(seed):
    """Random integer graphs on extreme inputs: every computed value lies within what was proven."""
    rng = np.random.default_rng(seed)
    nodes, names, weights = [], ["a", "b"], {"axis": np.array(1), "low": LOW, "high": HIGH}
    nodes += [n("Cast", "x8", "a", "c0", to=7), n("Clip", "x low high", "b", "c1")]
    for step in range(14):
        out = f"v{step}"
        if rng.random() < 0.5:
            op = str(rng.choice(BINARY))
            left, right = rng.choice(names, 2)
            if op in ("Div", "Mod"):
                right = f"k{step}"
                weights[right] = rng.integers(1, 50, (2, 3)) * (1 if op == "Mod" else -1)
            nodes.append(n(op, f"{left} {right}", out, f"n{step}"))
        else:
            op = str(rng.choice(UNARY))
            source = str(rng.choice(names))
            more = {"Clip": " low high", "CumSum": " axis"}.get(op, "")
            attributes = {"keepdims": 1} if op.startswith("Reduce") else {}
            nodes.append(n(op, source + more, out, f"n{step}", **attributes))
        names.append(out)
    ends = {name: (I64, None) for name in names}
    model = proto(nodes, {"x": (I64, (2, 3)), "x8": ("int8", (2, 3))}, ends, weights)
    given = subject(model)
    bounds = integer_bounds(given.model, given.types)
    for x in (X, np.full((2, 3), 2**62), rng.integers(-2000, 2000, (2, 3))):
        x8 = rng.choice(np.array([-128, 127, 0, 1], np.int8), (2, 3))
        found = evaluate_model(given.model, {"x": x, "x8": x8})
        for name, value in found.items():
            low, high = bounds[(), name]
            assert low <= value.min(), name
            assert value.max() <= high, name
    assert any(bounds[(), name] != (-(2**63), 2**63 - 1) for name in names[2:])


def test_bounds_of_shapes_need_known_dimensions():
    nodes = [n("Shape", "x", "s"), n("Size", "x", "z"), n("ArgMax", "x", "m", axis=1)]
    ends = {"s": (I64, None), "z": (I64, None), "m": (I64, None)}
    for dims, expected in (((4, 9), [(4, 9), (36, 36), (0, 8)]), ((4, "n"), [None, None, None])):
        given = subject(proto(nodes, {"x": (F, dims)}, ends))
        found = integer_bounds(given.model, given.types)
        whole = (-(2**63), 2**63 - 1)
        assert [found[(), name] for name in "szm"] == [e or whole for e in expected]


def test_what_wraps_around_can_be_anything_of_its_type():
    nodes = [n("Add", "x x", "a"), n("Cast", "a", "b", to=7), n("Mul", "big big", "c")]
    ends = {"a": ("int8", None), "b": (I64, None), "c": (I64, None)}
    weights = {"big": np.array([2**40])}
    given = subject(proto(nodes, {"x": ("int8", (2,))}, ends, weights))
    found = integer_bounds(given.model, given.types)
    assert found[(), "a"] == found[(), "b"] == (-128, 127)
    assert found[(), "c"] == (-(2**63), 2**63 - 1)
    x = {"x": np.array([100, -100], np.int8)}
    assert evaluate_model(given.model, x)["a"].tolist() == [-56, 56]


def test_a_range_may_step_once_past_its_end():
    """An int32 counter would overflow there."""
    last = 2**31 - 2
    weights = {"start": np.array(last - 4), "limit": np.array(last), "step": np.array(3)}
    old = proto(
        [n("Range", "start limit step", "y")], {"x": ("int8", (1,))}, {"y": (I64, (2,))}, weights
    )
    _, proposal = propose("int64-to-int32", old, nodes=("Range",))
    assert not proposal.edits
    assert "2,147,483,649" in texts(proposal, "Range")[0]


def bounds_of(model):
    return int64_to_int32.bounds_of(subject(model))


def test_a_bound_that_a_caller_gives_is_none():
    """Clip(x, low) with low an input is as large as low."""
    nodes = [n("Cast", "b", "c", to=7), n("Clip", "c low", "a"), n("Mul", "a a", "y")]
    old = proto(nodes, {"b": ("bool", (3,)), "low": (I64, ())}, {"y": (I64, (3,))})
    found = bounds_of(old)
    assert found[(), "c"] == (0, 1)
    assert found[(), "a"][1] == 2**63 - 1
    _, proposal = propose("int64-to-int32", old)
    assert not proposal.edits


def test_inputs_of_narrow_types_are_bounded_by_them():
    nodes = [n("Add", "i i", "a"), n("Cast", "i", "w", to=7), n("Add", "w one", "y")]
    ends = {"y": (I64, (3,)), "a": (J, (3,))}
    found = bounds_of(proto(nodes, {"i": (J, (3,))}, ends, {"one": np.array(1)}))
    assert found[(), "y"] == (1 - 2**31, 2**31)
    assert found[(), "a"] == (-(2**31), 2**31 - 1)


def test_large_unsigned_constants_do_not_turn_negative():
    big = np.array([2**64 - 1], np.uint64)
    old = proto([n("Max", "x big", "y")], {"x": ("uint64", (1,))}, {"y": ("uint64", (1,))},
                {"big": big})  # fmt: skip
    assert bounds_of(old)[(), "y"] == (2**64 - 1, 2**64 - 1)


def test_a_stale_declaration_bounds_nothing():
    """The file says that r is [1, 3]; its input says that any batch goes."""
    nodes = [n("Relu", "x", "r"), n("Shape", "r", "s"), n("Mul", "s s", "y")]
    old = proto(nodes, {"x": (F, ("n", 3))}, {"y": (I64, (2,))})
    old.graph.value_info.append(info("r", F, (1, 3)))
    assert bounds_of(old)[(), "s"] == (-(2**63), 2**63 - 1)


def test_a_type_that_is_not_known_keeps_the_node_as_it_is():
    """Its three inputs must be of one type, so two of them cannot change alone."""
    nodes = [n("Mystery", "x", "low", domain="custom"), n("Clip", "c low high", "y", "clip")]
    old = proto(nodes, {"x": (I64, ()), "c": (I64, (3,))}, {"y": (I64, (3,))}, {"high": HIGH},
                domains={"custom": 1})  # fmt: skip
    _, proposal = propose("int64-to-int32", old, nodes=("clip",))
    assert not proposal.edits
    assert texts(proposal, "clip") == ["its 'min' must have the same type, and that is not known"]


def test_a_loop_counts_no_further_than_it_runs():
    body = helper.make_graph(
        [n("Mul", "i i", "s"), n("Identity", "go", "on")],
        "body",
        [info("i", I64, ()), info("go", "bool", ())],
        [info("on", "bool", ()), info("s", I64, ())],
    )
    node = helper.make_node("Loop", ["trips", ""], ["y"], name="loop", body=body)
    trips = {"trips": np.array(100)}
    found = bounds_of(proto([node], {}, {"y": (I64, (100,))}, trips))
    assert [b for (path, name), b in found.items() if name == "s"] == [(0, 99 * 99)]
    found = bounds_of(proto([node], {"trips": (I64, ())}, {"y": (I64, (None,))}))
    assert [b for (path, name), b in found.items() if name == "s"] == [(-(2**63), 2**63 - 1)]


@pytest.mark.parametrize(
    ("op", "more", "attributes", "bound"),
    [
        ("Pad", ["two"], {}, (0, 9)),
        ("Pad", ["two", "five"], {}, (-5, 9)),
        ("Pad", ["two"], {"mode": "edge"}, (3, 9)),
        ("Trilu", [], {}, (0, 9)),
    ],
)
def test_what_is_put_beside_values_counts(op, more, attributes, bound):
    nodes = [n("Clip", "x low high", "c"), helper.make_node(op, ["c", *more], ["y"], **attributes)]
    weights = {"low": np.array(3), "high": np.array(9), "two": np.array([1, 1, 1, 1])}
    weights["five"] = np.array(-5)
    old = proto(nodes, {"x": (I64, (2, 2))}, {"y": (I64, None)}, weights)
    assert bounds_of(old)[(), "y"] == bound


@pytest.mark.parametrize(
    ("node", "label", "origin"),
    [
        (n("Add", "x x", "y"), "Add", "input 'x', which a caller may set to anything"),
        (n("Add", "s s", "y"), "Add", "the sizes of 'f', float32[n, 3]"),
        (n("Add", "t t", "y"), "Add", "the sizes of 'f', float32[n, 3]"),
        (n("Add", "r r", "y"), "Add", "'cast' (Cast)"),
        (n("Add", "k k", "y"), "Add", "initializer 'k', which a caller may set to anything"),
        (n("Gather", "many x", "y"), "Gather", "initializer 'many', of more than 65,536 elements"),
    ],
)
def test_a_refusal_says_where_the_value_comes_from(node, label, origin):
    nodes = [n("Shape", "f", "s"), n("Neg", "s", "t"), n("Cast", "f", "r", "cast", to=7), node]
    inputs = {"x": (I64, (2,)), "f": (F, ("n", 3)), "k": (I64, (2,))}
    weights = {"k": np.array([1, 2]), "many": np.zeros(65_537, np.int64)}
    old = proto(nodes, inputs, {"y": (I64, None)}, weights)
    _, proposal = propose("int64-to-int32", old, nodes=(label,))
    (text,) = texts(proposal, label)
    assert f": it comes from {origin}" in text


def test_the_origin_of_what_a_subgraph_reads_is_outside():
    then = helper.make_graph([n("Add", "t t", "u", "inner")], "t", [], [info("u", I64, (2,))])
    orelse = helper.make_graph([n("Neg", "x", "e")], "e", [], [info("e", I64, (2,))])
    branch = helper.make_node("If", ["c"], ["y"], name="if", then_branch=then, else_branch=orelse)
    inputs = {"x": (I64, (2,)), "c": ("bool", ())}
    old = proto([n("Neg", "x", "t"), branch], inputs, {"y": (I64, (2,))})
    _, proposal = propose("int64-to-int32", old, nodes=("inner",))
    assert texts(proposal, "inner")[0].endswith(
        "it comes from input 'x', which a caller may set to anything"
    )


FITS = 2**31 - 1
PICK = [n("Shape", "f", "s"), n("Gather", "s i", "a")]


@pytest.mark.parametrize(
    ("nodes", "inputs", "weights", "fits"),
    [
        # A size, and one more than int32 holds.
        ([n("Shape", "f", "a")], {"f": (F, (FITS, 1))}, {}, True),
        ([n("Shape", "f", "a")], {"f": (F, (FITS + 1, 1))}, {}, False),
        # One known size of an open shape.
        (PICK, {"f": (F, ("n", FITS))}, {"i": [1]}, True),
        (PICK, {"f": (F, ("n", FITS + 1))}, {"i": [1]}, False),
        (PICK, {"f": (F, ("n", 4))}, {"i": [0]}, False),
        # A position along an axis of known size, whatever the others are: at most size - 1.
        ([n("ArgMax", "f", "a", axis=1)], {"f": (F, ("n", FITS + 1))}, {}, True),
        ([n("ArgMax", "f", "a", axis=1)], {"f": (F, ("n", FITS + 2))}, {}, False),
        ([n("ArgMax", "f", "a", axis=0)], {"f": (F, ("n", 4))}, {}, False),
        ([n("TopK", "f k", "v a")], {"f": (F, ("n", FITS + 1))}, {"k": [1]}, True),
        ([n("TopK", "f k", "v a")], {"f": (F, ("n", FITS + 2))}, {"k": [1]}, False),
        ([n("NonZero", "f", "a")], {"f": (F, (2, FITS + 1))}, {}, True),
        ([n("NonZero", "f", "a")], {"f": (F, (2, FITS + 2))}, {}, False),
        # What only takes values from elsewhere.
        ([n("OneHot", "f d v", "a")], {"f": (F, (2,))}, {"d": 3, "v": [0, FITS]}, True),
        ([n("OneHot", "f d v", "a")], {"f": (F, (2,))}, {"d": 3, "v": [0, FITS + 1]}, False),
        ([n("Where", "c k m", "a")], {"c": ("bool", (2,))}, {"k": -FITS - 1, "m": FITS}, True),
        ([n("Where", "c k m", "a")], {"c": ("bool", (2,))}, {"k": -FITS - 2, "m": FITS}, False),
        ([n("Concat", "k m", "a", axis=0)], {}, {"k": [FITS], "m": [0]}, True),
        # Arithmetic up to the edge and over it.
        ([n("Clip", "x k m", "a")], {"x": (I64, (2,))}, {"k": -FITS - 1, "m": FITS}, True),
        ([n("Clip", "x k m", "a")], {"x": (I64, (2,))}, {"k": 0, "m": FITS + 1}, False),
        ([n("Clip", "x k", "a")], {"x": (I64, (2,))}, {"k": 0}, False),
        ([n("Mod", "x k", "a")], {"x": (I64, (2,))}, {"k": FITS + 1}, True),
        ([n("Mod", "x k", "a")], {"x": (I64, (2,))}, {"k": FITS + 2}, False),
        ([n("Cast", "b", "t", "c", to=7), n("Mul", "t k", "a")], {"b": ("bool", (2,))}, {"k": FITS},
         True),
        ([n("Cast", "b", "t", "c", to=7), n("Mul", "t k", "a")], {"b": ("uint8", (2,))},
         {"k": FITS // 255 + 1}, False),
        ([n("Cast", "b", "a", to=7)], {"b": ("int32", (2,))}, {}, True),
        ([n("Cast", "b", "a", to=7)], {"b": ("uint32", (2,))}, {}, False),
        ([n("Range", "k m d", "a")], {}, {"k": 0, "m": FITS - 1, "d": 1}, True),
        ([n("Range", "k m d", "a")], {}, {"k": 0, "m": FITS, "d": 1}, False),
    ],
)  # fmt: skip
def test_bounds_at_the_edge_of_int32(nodes, inputs, weights, fits):
    """Each rule once just within int32 and once just beyond; nothing is computed."""
    arrays = {name: np.array(value, np.int64) for name, value in weights.items()}
    given = subject(proto(nodes, inputs, {"a": (I64, None)}, arrays))
    found = int64_to_int32.bounds_of(given)[(), "a"]
    assert fits_int32(found) is fits, found


def test_the_bound_of_a_range_is_not_that_of_its_constant():
    """All three inputs are constant, so its values are known; the counter still steps past them."""
    weights = {"k": np.array(0), "m": np.array(6), "d": np.array(5)}
    given = subject(proto([n("Range", "k m d", "a")], {}, {"a": (I64, None)}, weights))
    assert int64_to_int32.bounds_of(given)[(), "a"] == (-5, 11)


def test_an_unsigned_value_of_unknown_bounds_is_any_of_its_type():
    nodes = [n("Max", "x k", "a"), n("Min", "x k", "b"), n("Clip", "x k", "c")]
    ends = {name: ("uint64", None) for name in "abc"}
    given = subject(proto(nodes, {"x": ("uint64", (2,))}, ends, {"k": np.array(7, np.uint64)}))
    found = int64_to_int32.bounds_of(given)
    assert [found[(), name] for name in "abc"] == [(7, 2**64 - 1), (0, 7), (7, 2**64 - 1)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_outputs_has_bounds(count):
    """A TopK of three outputs contradicts ONNX, and breaks no rule."""
    outputs = ["v", "i", "more"][:count]
    node = helper.make_node("TopK", ["x", "k"], outputs, name="top")
    made = proto([n("Identity", "x", "y")], {"x": (I64, (5,))}, {"y": (I64, (5,))},
                 {"k": np.array([2])})  # fmt: skip
    made.graph.node.append(node)
    found = bounds_of(made)
    assert found.get(((), "i"), (0, 4)) == (0, 4)
    assert not propose("int64-to-int32", made)[1].edits


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (n("ArgMax", "c", "y", axis=1), (I64, (2, 1))),
        (n("ArgMin", "c", "y", axis=1), (I64, (2, 1))),
        (n("NonZero", "c", "y"), (I64, (2, None))),
    ],
)
def test_positions_are_those_of_the_same_values(node, kind):
    """Where values stand does not hang on their type."""
    old = clipped(node, ends={"y": kind})
    new = changed("int64-to-int32", old, nodes=(node.name,))
    assert ops(new) == ["Clip", "Cast", node.op_type]
    assert_same_outputs(old, new, {"x": X})


def test_the_greatest_are_the_same_in_int32():
    top = n("TopK", "c k", "v y")
    ends = {"v": (I64, (2, 2)), "y": (I64, (2, 2))}
    old = clipped(top, ends=ends, weights={"k": np.array([2])})
    new = changed("int64-to-int32", old, nodes=("TopK",))
    assert ops(new) == ["Clip", "Cast", "TopK", "Cast"]
    assert_same_outputs(old, new, {"x": X})


def test_an_operator_that_nobody_looked_into_is_left():
    """Its input is bounded and its output is no integer, which says nothing of what it does."""
    old = clipped(n("EyeLike", "c", "y", dtype=1), ends={"y": (F, (2, 3))})
    _, proposal = propose("int64-to-int32", old, nodes=("EyeLike",))
    assert not proposal.edits
    assert texts(proposal, "EyeLike") == ["nothing is known of the values inside EyeLike"]
