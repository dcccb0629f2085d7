"""A model of one node, for onnx's own functions: its reference operators and its inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import onnx

from .model import Function, TensorType
from .proto import opset_imports, value_info
from .schema import newest_opset
from .writer import Writer

if TYPE_CHECKING:
    from ..ops.use import OpUse


def input_name(index: int) -> str:
    """The name of a node model's graph input for the node's input ``index``."""
    return f"input:{index}"


def output_name(index: int) -> str:
    """The name of a node model's graph output for the node's output ``index``."""
    return f"output:{index}"


def node_model(
    use: OpUse,
    input_types: Sequence[TensorType | None] | None = None,
    output_count: int | None = None,
    captured: Mapping[str, TensorType] | None = None,
    functions: Iterable[Function] = (),
) -> onnx.ModelProto:
    """A model of one node, for onnx's reference operators.

    Its inputs are called :func:`input_name` (absent ones are absent there too) and, under their
    own names, the outer values that its subgraphs capture; its outputs :func:`output_name`.

    Args:
        use: the node; its attributes' tensors are read.
        input_types: instead of ``use.inputs``.
        output_count: give so many outputs, all of them; by default those that ``use`` wants.
        captured: types of the captured values.
        functions: the model-local functions that the node or its subgraphs call.

    Raises:
        ModelFileError: a tensor among the attributes cannot be read.
    """
    types = use.inputs if input_types is None else tuple(input_types)
    wanted = [use.wants(i) for i in range(len(use.outputs))]
    if output_count is not None:
        wanted = [True] * output_count
    inputs = [input_name(i) if t is not None else "" for i, t in enumerate(types)]
    outputs = [output_name(i) if want else "" for i, want in enumerate(wanted)]
    opset = use.opset or use.since_version or newest_opset(use.domain)
    functions = tuple(functions)
    writer = Writer(imports={use.domain: opset})
    node = writer.node(use.op_type, use.domain, inputs, outputs, use.attributes, use.op_type)
    graph = onnx.GraphProto(name="one_node", node=[node])
    for name, kind in zip(inputs, types, strict=True):
        if name:
            graph.input.append(value_info(name, kind))
    for name, kind in (captured or {}).items():
        graph.input.append(value_info(name, kind))
    graph.output.extend(onnx.ValueInfoProto(name=name) for name in outputs if name)
    imports = {"": newest_opset(), use.domain: opset}
    for function in functions:
        for domain in (function.domain, *function.opset_imports):
            imports.setdefault(domain, function.opset_imports.get(domain, 1))
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION, graph=graph)
    model.opset_import.extend(opset_imports(imports))
    model.functions.extend(writer.function(f) for f in functions)
    return model
