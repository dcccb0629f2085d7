"""Everything without a handler of our own: onnx.reference, one operator at a time.

Only operators that pass ONNX's own test cases there come this way; what it computes wrongly has a
handler (and a test), or is refused in :data:`REFUSED`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
import onnx.defs
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from ..ir.model import Graph, TensorType, Weight
from ..ops.use import OpUse
from ..providers.support import Reason, Status, Support

# Operators that onnx.reference lists but does not compute as the text says, and why.
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "ImageDecoder": "decoding images needs Pillow, which Opscope does not bring",
    }
)
_IR_VERSION = 10
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def support(use: OpUse) -> Support:
    """Whether onnx.reference can compute ``use``: HOST, or UNSUPPORTED with the reason."""
    if use.op in REFUSED:
        return Support(Status.UNSUPPORTED, Reason.NO_KERNEL, REFUSED[use.op])
    found = use.schema
    if found is None:
        detail = f"the host does not know the operator {use.op}"
        return Support(Status.UNSUPPORTED, Reason.NO_KERNEL, detail)
    unknown = sorted(set(use.attributes) - set(found.attributes))
    if unknown:
        detail = f"{use.op} has no attribute {unknown[0]!r} in schema version {found.since_version}"
        return Support(Status.UNSUPPORTED, Reason.ATTRIBUTE, detail)
    if any(isinstance(v, Graph) for v in use.attributes.values()):
        detail = f"the host does not evaluate the subgraph of {use.op}"
        return Support(Status.UNSUPPORTED, Reason.ATTRIBUTE, detail)
    if not _is_implemented(use.domain, use.op_type, found.since_version):
        detail = f"the host has no implementation of {use.op} version {found.since_version}"
        return Support(Status.UNSUPPORTED, Reason.NO_KERNEL, detail)
    return Support(Status.HOST)


@cache
def _is_implemented(domain: str, op_type: str, version: int) -> bool:
    from onnx.reference.ops._op_list import load_op
    from onnx.reference.ops.aionnx_preview._op_list import load_op as load_preview
    from onnx.reference.ops.aionnx_preview_training._op_list import load_op as load_training
    from onnx.reference.ops.aionnxml._op_list import load_op as load_ml

    try:
        schema = onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return False
    if schema.has_function or schema.has_context_dependent_function:
        return True
    load = {
        "": load_op,
        "ai.onnx.ml": load_ml,
        "ai.onnx.preview": load_preview,
        "ai.onnx.preview.training": load_training,
    }.get(domain)
    if load is None:
        return False
    try:
        load(domain, op_type, version)
    except (RuntimeError, NotImplementedError, ValueError, KeyError):
        return False
    return True


def evaluate(use: OpUse, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """The outputs of ``use`` by onnx.reference, unwanted ones as None."""
    names = ["" if value is None else f"i{k}" for k, value in enumerate(inputs)]
    outputs = [f"o{k}" if use.wants(k) else "" for k in range(len(use.outputs))]
    feeds = {n: _fed(v) for n, v in zip(names, inputs, strict=True) if n}
    node = helper.make_node(
        use.op_type,
        names,
        outputs,
        domain=use.domain,
        **{name: _attribute(value) for name, value in use.attributes.items()},
    )
    graph = helper.make_graph(
        [node],
        "node",
        [_input(n, feeds[n]) for n in names if n],
        [helper.make_empty_tensor_value_info(n) for n in outputs if n],
    )
    version = use.opset or use.since_version or onnx.defs.onnx_opset_version()
    imports = [helper.make_opsetid(use.domain, version)]
    if use.domain:
        imports.append(helper.make_opsetid("", onnx.defs.onnx_opset_version()))
    model = helper.make_model(graph, opset_imports=imports, ir_version=_IR_VERSION)
    results = iter(ReferenceEvaluator(model).run(None, feeds))
    return tuple(next(results) if name else None for name in outputs)


def _fed(value: Any) -> Any:
    return np.asarray(value) if isinstance(value, np.ndarray) else value


def _input(name: str, value: Any) -> onnx.ValueInfoProto:
    if not isinstance(value, np.ndarray):
        return helper.make_empty_tensor_value_info(name)
    code = (
        onnx.TensorProto.STRING
        if value.dtype.kind in "OUS"
        else helper.np_dtype_to_tensor_dtype(value.dtype)
    )
    return helper.make_tensor_value_info(name, code, value.shape)


def _attribute(value: Any) -> Any:
    if isinstance(value, Weight):
        return numpy_helper.from_array(value.numpy(), value.name)
    if isinstance(value, TensorType):
        raise TypeError("a type attribute is not handed to onnx.reference")
    if isinstance(value, tuple):
        return [_attribute(item) for item in value]
    return value
