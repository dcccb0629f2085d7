"""What is said of a model as a whole."""

from dataclasses import replace

import window_fakes as fakes
from opscope.engine.ir.model import Node, NodeId, Weight
from opscope.gui.model_facts import opsets_text, weights_text


def constant(index, size):
    value = Weight("", "float32", (size // 4,), size, read=lambda: None)
    return Node(NodeId((), index), "Constant", "", "", (), (f"c{index}",), {"value": value})


def test_weights_in_constant_nodes_are_counted_apart():
    model = fakes.model()
    assert weights_text(model) == "1 weight (48 bytes)"
    kept = replace(
        model.graph,
        nodes=(*model.graph.nodes, constant(4, 1024), constant(5, 2048)),
        initializers={},
    )
    assert weights_text(replace(model, graph=kept)) == "no weights, 2 constants (3 KiB)"


def test_a_constant_without_a_tensor_is_no_weight():
    model = fakes.model()
    number = Node(NodeId((), 4), "Constant", "", "", (), ("c",), {"value_int": 3})
    graph = replace(model.graph, nodes=(*model.graph.nodes, number))
    assert weights_text(replace(model, graph=graph)) == "1 weight (48 bytes)"


def test_opsets_have_their_domains():
    model = replace(fakes.model(), opset_imports={"": 22, "com.microsoft": 1})
    assert opsets_text(model) == "opset ONNX 22, com.microsoft 1"
