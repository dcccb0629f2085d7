"""One-node models for kernel tests: run an operator on the GPU alone and get its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from opscope.engine.ir.load import load_bytes
from opscope.engine.ir.model import Model
from opscope.engine.results import RunResult
from opscope.engine.session import Session


@cache
def session() -> Session:
    """The session that all kernel tests share."""
    return Session()


def op_model(
    op_type: str,
    inputs: Sequence[np.ndarray | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    opset: int = 21,
    outputs: int | Sequence[str] = 1,
    constants: Sequence[int] = (),
    domain: str = "",
    name: str = "node",
) -> tuple[Model, dict[str, np.ndarray]]:
    """A model of one node, and its feeds.

    Args:
        inputs: values, None for an absent input.
        outputs: how many, or their names ("" for an unwanted one).
        constants: indices of the inputs that become initializers instead of graph inputs.
    """
    names = ["" if a is None else f"x{i}" for i, a in enumerate(inputs)]
    out_names = [f"y{i}" for i in range(outputs)] if isinstance(outputs, int) else list(outputs)
    node = helper.make_node(
        op_type, names, out_names, name=name, domain=domain, **(attributes or {})
    )
    graph_inputs, initializers, feeds = [], [], {}
    for i, array in enumerate(inputs):
        if array is None:
            continue
        if i in constants:
            initializers.append(numpy_helper.from_array(array, names[i]))
        else:
            kind = helper.np_dtype_to_tensor_dtype(array.dtype)
            graph_inputs.append(helper.make_tensor_value_info(names[i], kind, array.shape))
            feeds[names[i]] = array
    # The outputs' declared types are left open: shapes must come from the kernel itself.
    graph_outputs = [onnx.ValueInfoProto(name=n) for n in out_names if n]
    graph = helper.make_graph([node], "g", graph_inputs, graph_outputs, initializers)
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    proto = helper.make_model(graph, opset_imports=imports, ir_version=10)
    return load_bytes(proto.SerializeToString()), feeds


def run_op_result(
    op_type: str,
    inputs: Sequence[np.ndarray | None],
    attributes: Mapping[str, Any] | None = None,
    *,
    run: Mapping[str, Any] | None = None,
    on: Session | None = None,
    **options: Any,
) -> RunResult:
    """Run on the GPU alone; ``run`` goes to Session.run, ``options`` to :func:`op_model`."""
    model, feeds = op_model(op_type, inputs, attributes, **options)
    return (on or session()).run(model, feeds, fallback="error", **(run or {}))


def run_op(
    op_type: str,
    inputs: Sequence[np.ndarray | None],
    attributes: Mapping[str, Any] | None = None,
    **options: Any,
) -> list[np.ndarray]:
    """The wanted outputs in order, computed on the GPU alone."""
    result = run_op_result(op_type, inputs, attributes, **options)
    return list(result.outputs.values())
