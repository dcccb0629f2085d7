"""Nodes without outputs: they contradict ONNX, and no rule may break on them."""

import pytest
from fix_case import propose, proto
from onnx import helper
from opscope.engine.fixes.rules import RULES

OPERATORS = (
    "Shape",
    "Size",
    "Constant",
    "Concat",
    "Gather",
    "Add",
    "Identity",
    "Cast",
    "TopK",
    "Foo",
)


@pytest.mark.parametrize("rule", [r for r in RULES if r != "fix-shapes"])
def test_no_rule_breaks_on_a_node_without_outputs(rule):
    ports = {"x": ("int64", (2,))}
    broken = proto([helper.make_node("Abs", ["x"], ["y"])], ports, {"y": ("int64", (2,))})
    broken.graph.node.extend(
        helper.make_node(op, [] if op == "Constant" else ["x"] * 2, [], op) for op in OPERATORS
    )
    propose(rule, broken)
