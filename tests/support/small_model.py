"""Small models from onnx nodes, for tests of placement and checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from opscope.engine.checks.judge import Judgement, judge
from opscope.engine.diagnostics import Diagnostic
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model
from opscope.engine.providers.support import Support

IR_VERSION = 10
"""One that every ORT of our tables takes, whatever the installed onnx would write."""
Shape = Sequence[int | str]


def node(op: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> onnx.NodeProto:
    """A node; names are given in one string, "_" is an absent one."""
    ins, outs = ([n.replace("_", "") for n in text.split()] for text in (inputs, outputs))
    return helper.make_node(op, ins, outs, name=name, **attributes)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, tuple[str, Shape | None]],
    outputs: str,
    weights: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
) -> Model:
    """A model; ``inputs`` are (numpy's type name, shape), ``outputs`` names in one string."""
    ports = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), s)
        for n, (t, s) in inputs.items()
    ]
    ends = [onnx.ValueInfoProto(name=n) for n in outputs.split()]
    constants = [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()]
    graph = helper.make_graph(list(nodes), "g", ports, ends, constants)
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    made = helper.make_model(
        graph, opset_imports=imports, functions=list(functions), ir_version=IR_VERSION
    )
    return load_bytes(made.SerializeToString())


def half(*shape: int) -> np.ndarray:
    """Small f16 weights."""
    return (np.arange(np.prod(shape)) % 7 / 8 - 0.375).astype(np.float16).reshape(shape)


def findings(judged: Judgement | Model, code: str, target: str | None = None) -> list[Diagnostic]:
    """The findings with ``code``, of one target if given."""
    if isinstance(judged, Model):
        judged = judge(judged)
    found = [d for d in judged.diagnostics if d.code == code]
    return [d for d in found if target is None or d.target == target]


def only(judged: Judgement | Model, code: str, target: str | None = None) -> Diagnostic:
    """The one finding with ``code``."""
    found = findings(judged, code, target)
    assert len(found) == 1, found
    return found[0]


def verdict(judged: Judgement, name: str, target: str = "ort-webgpu") -> Support:
    """The verdict on the node called ``name``."""
    return next(v for i, v in judged.verdicts[target].items() if judged.model.nodes[i].name == name)


def gru(dtype: str = "float32", opset: int = 17, **attributes: object) -> Model:
    """One GRU called rnn."""
    weights = {"w": half(1, 12, 6).astype(dtype), "r": half(1, 12, 4).astype(dtype)}
    return model(
        [node("GRU", "x w r", "y", "rnn", hidden_size=4, **attributes)],
        {"x": (dtype, (3, 1, 6))},
        "y",
        weights,
        opset,
    )
