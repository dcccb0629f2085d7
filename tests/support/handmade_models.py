"""Small models made by hand, for tests that need no file."""

from __future__ import annotations

import numpy as np
from opscope.engine.ir.model import Model, Node, NodeId, Weight


def node(index, op, inputs, outputs, *, path=(), name="", domain="", **attributes):
    return Node(NodeId(path, index), op, domain, name, tuple(inputs), tuple(outputs), attributes)


def weight(name, shape, values=None, dtype="float32"):
    array = np.zeros(shape, dtype) if values is None else np.array(values, dtype).reshape(shape)
    return Weight(name, dtype, tuple(shape), array.nbytes, read=lambda: array)


def model_of(graph, functions=None, opset=17):
    return Model("made.onnx", "0" * 64, 0, graph, 9, {"": opset}, functions=functions or {})
