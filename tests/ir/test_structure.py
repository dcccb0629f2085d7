"""Names, definitions and order: findings that nothing else would make."""

from __future__ import annotations

import pytest
from onnx import TensorProto, helper
from opscope.engine.diagnostics import Severity
from opscope.engine.ir.load import load_bytes


def info(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs, outputs, name=name, **attributes)


def load(nodes, inputs=("x",), outputs=("y",), opset=17):
    graph = helper.make_graph(nodes, "g", [info(n) for n in inputs], [info(n) for n in outputs])
    imports = [helper.make_opsetid("", opset)] if opset else [helper.make_opsetid("my", 1)]
    return load_bytes(helper.make_model(graph, opset_imports=imports).SerializeToString())


def only(model):
    (found,) = model.diagnostics
    return found


def test_undefined_input(caplog):
    model = load([node("Add", ["x", "ghost"], ["y"], "sum")])
    found = only(model)
    assert (found.code, found.severity) == ("undefined-input", Severity.ERROR)
    assert found.text == "node 'sum' (Add) reads 'ghost', which nothing defines"
    assert found.node == model.graph.nodes[0].id
    assert not caplog.records


def test_missing_output():
    found = only(load([node("Relu", ["x"], ["a"])], outputs=("y",)))
    assert (found.code, found.severity) == ("missing-output", Severity.ERROR)
    assert found.text == "the output 'y' is produced by no node"


def test_absent_optional_inputs_are_fine():
    assert not load([node("Clip", ["x", "", ""], ["y"])]).diagnostics


def test_values_of_outer_graphs_are_seen_but_not_of_inner_ones():
    def branch(read):
        return helper.make_graph([node("Relu", [read], ["t"], "inner")], "b", [], [info("t")])

    def model(read):
        last = node("If", ["c"], ["y"], then_branch=branch(read), else_branch=branch("x"))
        return load([node("Relu", ["x"], ["a"]), last], inputs=("x", "c"))

    assert not model("a").diagnostics
    found = only(model("b"))
    assert (found.code, found.node.graph) == ("undefined-input", ("1.then_branch",))

    outer = node("If", ["c"], ["b"], then_branch=branch("x"), else_branch=branch("x"))
    leak = load([outer, node("Relu", ["t"], ["y"])], inputs=("x", "c"))
    assert only(leak).code == "undefined-input"


def test_nodes_out_of_order_are_sorted():
    model = load([node("Relu", ["a"], ["y"], "last"), node("Relu", ["x"], ["a"], "first")])
    found = only(model)
    assert (found.code, found.severity) == ("unsorted-nodes", Severity.INFO)
    assert found.text.startswith("1 of 2 nodes stand before a node that they read from")
    assert [n.name for n in model.graph.sorted_nodes] == ["first", "last"]


def test_order_counts_what_a_branch_captures():
    branch = helper.make_graph([node("Relu", ["a"], ["t"])], "b", [], [info("t")])
    early = node("If", ["c"], ["y"], "branches", then_branch=branch, else_branch=branch)
    model = load([early, node("Relu", ["x"], ["a"], "late")], inputs=("x", "c"))
    assert only(model).code == "unsorted-nodes"
    assert [n.name for n in model.graph.sorted_nodes] == ["late", "branches"]


@pytest.mark.parametrize(
    ("edges", "ring", "stuck", "said"),
    [
        ([("a", "a")], 1, 1, "1 node feeds itself"),
        ([("b", "a"), ("a", "b")], 2, 2, "2 nodes feed each other"),
        (
            [("x", "p"), ("c", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")],
            3,
            5,
            "3 nodes feed each other",
        ),
    ],
)
def test_cycle(edges, ring, stuck, said):
    nodes = [node("Relu", [a], [b], f"make {b}") for a, b in edges]
    found = only(load(nodes, outputs=(edges[-1][1],)))
    assert (found.code, found.severity) == ("cycle", Severity.ERROR)
    assert found.text.startswith(f"{said} in a circle: 'make ")
    assert f"{stuck} cannot start" in found.text
    assert len(found.data["indices"]) == ring


def test_a_long_cycle_is_told_in_short():
    nodes = [node("Relu", [f"v{i}"], [f"v{(i + 1) % 2000}"], f"n{i}") for i in range(2000)]
    found = only(load(nodes, outputs=("v0",)))
    assert found.text.startswith("2,000 nodes feed each other in a circle")
    assert len(found.text) < 200


def test_a_name_may_return_in_another_graph():
    branch = helper.make_graph([node("Relu", ["x"], ["t"], "same")], "b", [], [info("t")])
    last = node("If", ["c"], ["y"], "same", then_branch=branch, else_branch=branch)
    assert not load([last], inputs=("x", "c")).diagnostics


def test_no_opset_import():
    assert only(load([node("Relu", ["x"], ["y"])], opset=None)).code == "no-opset-import"
