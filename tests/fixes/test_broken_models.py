"""Models that contradict ONNX: a rule may refuse them or leave nodes alone, and never fails.

By hand, for longer: ``OPSCOPE_FUZZ=0:300 pytest -m slow tests/fixes/test_broken_models.py``.
"""

import os

import numpy as np
import pytest
from onnx import helper
from opscope.engine.errors import OpscopeError
from opscope.engine.fixes.rule import Options, Subject
from opscope.engine.fixes.rules import RULES
from random_model import make

FIRST, _, LAST = os.environ.get("OPSCOPE_FUZZ", "0:60").partition(":")
OPERATORS = (
    *("MaxPool", "Split", "Softmax", "Pad", "Clip", "TopK", "Range", "Shape", "Cast", "Mod"),
    *("GridSample", "Resize", "ReduceSum", "BatchNormalization", "Constant", "Loop", "If"),
    *("Slice", "Gather", "OneHot"),
)
ATTRIBUTES = (
    *("axis", "axes", "to", "start", "end", "ceil_mode", "kernel_shape", "num_outputs"),
    *("value", "mode"),
)
VALUES = (0, -7, 5, 10**12, "edge", [1, 2, 3], [2, 2], [], 1.5)


def corrupt(graph, rng):
    """Break some nodes of a graph, those of its subgraphs too."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                corrupt(attribute.g, rng)
        if rng.random() < 0.25:
            BREAKS[rng.integers(len(BREAKS))](node, rng)


def drop_one(names, rng):
    if names:
        del names[rng.integers(len(names))]


def leave_out(node, rng):
    if node.input:
        node.input[rng.integers(len(node.input))] = ""


def add_attribute(node, rng):
    value = VALUES[rng.integers(len(VALUES))]
    if value != []:  # of which nobody can tell the type
        node.attribute.append(helper.make_attribute(str(rng.choice(ATTRIBUTES)), value))


def set_attribute(node, rng):
    plain = [a for a in node.attribute if not a.HasField("g")]
    if plain:
        value = VALUES[rng.integers(len(VALUES))]
        name = plain[0].name
        kind = helper.AttributeProto.INTS if value == [] else None
        plain[0].CopyFrom(helper.make_attribute(name, value, attr_type=kind))


def rename(node, rng):
    node.op_type = str(rng.choice(OPERATORS))


BREAKS = (
    lambda node, rng: drop_one(node.input, rng),
    lambda node, rng: drop_one(node.output, rng),
    leave_out,
    add_attribute,
    set_attribute,
    rename,
    rename,
)


def run(seed):
    """How many rules changed a broken model."""
    model, _ = make(seed)
    rng = np.random.default_rng(seed)
    corrupt(model.graph, rng)
    data, changed = model.SerializeToString(), 0
    for name, rule in RULES.items():
        try:
            given = Subject.of(data, "", Options())
            nodes = tuple(i for i in given.model.nodes if rule.takes_nodes and rng.random() < 0.5)
            opset = int(rng.integers(7, 20)) if name == "lower-opset" else None
            dims = {"N": 2} if name == "fix-shapes" else {}
            asked = Options(opset=opset, nodes=nodes, dims=dims)
            proposal = rule.propose(Subject(data, given.model, asked))
            if proposal.edits:
                given.after(proposal.edits)
                changed += 1
        except OpscopeError:
            continue  # one line for the user
    return changed


def test_no_rule_fails_on_a_broken_model():
    assert sum(map(run, range(1, 7))) > 6


@pytest.mark.slow
def test_no_rule_fails_on_many_broken_models():
    assert sum(map(run, range(int(FIRST), int(LAST or int(FIRST) + 1)))) > 0
