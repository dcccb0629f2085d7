"""Model files that ``check`` has something to say about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

WEBGPU_HOST_OP = "Elu"
"""At opset 22 ORT WebGPU 0.4.0 leaves it to the CPU: a warning for that target, none for ours."""


def write(
    path: Path,
    *nodes: onnx.NodeProto,
    shape: Any = (3, 1, 6),
    dtype: str = "float32",
    opset: int = 17,
    outputs: Sequence[str] = ("y",),
) -> str:
    """A model of ``nodes`` with the input x, and w and r as the weights of a GRU."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    port = helper.make_tensor_value_info("x", kind, shape)
    weights = [
        numpy_helper.from_array(np.zeros(s, dtype), n)
        for n, s in (("w", (1, 12, 6)), ("r", (1, 12, 4)))
    ]
    ends = [onnx.ValueInfoProto(name=n) for n in outputs]
    graph = helper.make_graph(list(nodes), "g", [port], ends, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    return str(path)


def gru(path: Path, dtype: str = "float32", **more: Any) -> str:
    """One GRU called rnn; in f16 ORT WebGPU has no kernel for it."""
    node = helper.make_node("GRU", ["x", "w", "r"], ["y"], name="rnn", hidden_size=4)
    return write(path, node, dtype=dtype, **more)


def chain(path: Path, ops: Sequence[tuple[str, str]], **more: Any) -> str:
    """One operator after the other, each (op, name)."""
    values = ["x", *(f"v{i}_{name or op}" for i, (op, name) in enumerate(ops[:-1])), "y"]
    nodes = [
        helper.make_node(op, [values[i]], [values[i + 1]], name=name)
        for i, (op, name) in enumerate(ops)
    ]
    return write(path, *nodes, **{"opset": 22, **more})


def elus(path: Path, names: Sequence[str], **more: Any) -> str:
    """A chain of Elu, which ORT WebGPU leaves to the CPU at opset 22."""
    return chain(path, [(WEBGPU_HOST_OP, name) for name in names], **more)
