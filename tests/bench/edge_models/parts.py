"""What the edge models are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Node = onnx.NodeProto
Shape = Sequence[int | str] | None
Ports = Mapping[str, tuple[str, Shape]]
F32 = np.float32

X: Ports = {"x": ("float32", (1, 4, 8, 8))}
V: Ports = {"x": ("float32", (2, 6))}
FREE: Ports = {"x": ("float32", ("N", 4, "H", "W"))}


@dataclass(frozen=True)
class Edge:
    """One model.

    Attributes:
        options: of the WebGPU target.
    """

    id: str
    model: onnx.ModelProto = field(repr=False)
    options: str = ""


def op(kind: str, inputs: str, outputs: str, name: str = "", **attributes: Any) -> Node:
    """A node; names in one string, "_" is an absent one; "domain::Op" is of another domain."""
    domain, _, op_type = kind.rpartition("::")
    ins, outs = ([n.replace("_", "") for n in text.split()] for text in (inputs, outputs))
    return helper.make_node(op_type, ins, outs, name=name, domain=domain, **attributes)


def port(name: str, dtype: str, shape: Shape) -> onnx.ValueInfoProto:
    """A typed value."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
    )


def model(
    nodes: Sequence[Node],
    inputs: Ports,
    outputs: str,
    weights: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """A model whose outputs have no stated type."""
    graph = helper.make_graph(
        list(nodes),
        "g",
        [port(n, t, s) for n, (t, s) in inputs.items()],
        [onnx.ValueInfoProto(name=n) for n in outputs.split()],
        [numpy_helper.from_array(a, n) for n, a in (weights or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    # The oldest file format that the opset allows, as an exporter would write it.
    return helper.make_model(
        graph, opset_imports=imports, functions=list(functions), ir_version=8 if opset < 25 else 13
    )


def edge(
    name: str,
    nodes: Sequence[Node],
    inputs: Ports,
    *,
    outputs: str = "y",
    opset: int = 17,
    options: str = "",
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
    **weights: np.ndarray,
) -> Edge:
    """A model of ``nodes``, ``inputs`` and ``weights``, whose outputs have no stated type."""
    made = model(nodes, inputs, outputs, weights, opset, functions, domains)
    return Edge(name, made, options)


def body(
    nodes: Sequence[Node],
    inputs: Ports,
    outputs: Ports,
    name: str = "body",
) -> onnx.GraphProto:
    """A subgraph."""
    return helper.make_graph(
        list(nodes),
        name,
        [port(n, t, s) for n, (t, s) in inputs.items()],
        [port(n, t, s) for n, (t, s) in outputs.items()],
    )


def ramp(*shape: int, dtype: Any = F32) -> np.ndarray:
    """Small values that repeat."""
    return (np.arange(int(np.prod(shape))) % 7 / 8 - 0.375).astype(dtype).reshape(shape)


def ints(*values: int) -> np.ndarray:
    """An int64 vector."""
    return np.array(values, np.int64)
