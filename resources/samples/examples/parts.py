"""What an example is, and short ways to make one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

Make = Callable[[], "onnx.ModelProto | bytes"]
Shape = Sequence["int | str"]

IR_VERSION = 10  # what every onnx that is supported can write, and ONNX Runtime reads


@dataclass(frozen=True)
class Example:
    """The smallest model that has a finding.

    Attributes:
        make: makes the model; deterministic.
        node: name of the node with the finding, "" where it is about the model or nameless nodes.
        mended: the same without the finding, where that is a change of the model.
        options: what ``opscope check`` is given besides the file.
        fix: what ``opscope fix`` is given besides the code's rule, where that mends it.
        run: true where only a run shows it: ``opscope run FILE --stats``.
        download: the most bytes that a test allows, where only a test with a budget shows it.
        beside: files to be written beside the model, by name.
    """

    make: Make
    node: str = ""
    mended: Make | None = None
    options: tuple[str, ...] = ()
    fix: tuple[str, ...] = ()
    run: bool = False
    download: int = 0
    beside: Mapping[str, bytes] = field(default_factory=dict)

    def model_bytes(self, *, mended: bool = False) -> bytes:
        """The model's file, or that of the mended one."""
        make = self.mended if mended else self.make
        if make is None:
            raise ValueError("this example has no mended variant")
        made = make()
        return made if isinstance(made, bytes) else made.SerializeToString(deterministic=True)


WEBGPU = ("--target", "ort-webgpu")
OPSCOPE = ("--target", "opscope")


def node(op: str, inputs: str, outputs: str, name: str, **attributes: Any) -> onnx.NodeProto:
    """A node; its inputs and outputs are given in one string each, "_" is an absent one."""
    ins, outs = (["" if n == "_" else n for n in text.split()] for text in (inputs, outputs))
    return helper.make_node(op, ins, outs, name=name, **attributes)


def port(name: str, dtype: str, shape: Shape | None) -> onnx.ValueInfoProto:
    """A tensor that goes in or out, of numpy's type ``dtype``."""
    return helper.make_tensor_value_info(
        name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
    )


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Mapping[str, np.ndarray] | None = None,
    opset: int = 17,
    **more: Any,
) -> onnx.ModelProto:
    """A model; ``more`` are further arguments of ``onnx.helper.make_model``."""
    constants = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "example", inputs, outputs, constants)
    more.setdefault("opset_imports", [helper.make_opsetid("", opset)])
    return helper.make_model(graph, producer_name="opscope", ir_version=IR_VERSION, **more)


def ramp(shape: Sequence[int], dtype: str = "float32") -> np.ndarray:
    """Small numbers around zero; f16 holds them exactly."""
    count = int(np.prod(shape))
    return (np.arange(count) % 7 / 8 - 0.375).astype(dtype).reshape(shape)


X = port("x", "float32", (2, 6))
Y = port("y", "float32", (2, 6))


def chain(*operators: str, **more: Any) -> onnx.ModelProto:
    """Operators of one input in a row, from x to y; a node is named as its operator and place."""
    values = ["x", *(f"v{i}" for i in range(1, len(operators))), "y"]
    ends = enumerate(zip(operators, values, values[1:], strict=False))
    return model([node(op, a, b, f"{op.lower()}_{i}") for i, (op, a, b) in ends], [X], [Y], **more)
