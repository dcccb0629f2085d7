"""Everything without a handler of our own: onnx.reference, one operator at a time.

Only operators that pass ONNX's own test cases there come this way; what it computes wrongly has a
handler (and a test), or is refused in :data:`REFUSED`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

import numpy as np
import onnx.defs

from ..ir.model import Graph
from ..ir.node_model import input_name, node_model, output_name
from ..ops.use import OpUse
from ..providers.support import Reason, Status, Support
from .trees import refuse_endless
from .values import Value, type_of

# Operators that onnx.reference lists but does not compute as the text says, and why.
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "ImageDecoder": "decoding images needs Pillow, which Opscope does not bring",
    }
)


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
    # onnx's type stubs lack these two.
    if getattr(schema, "has_function") or getattr(schema, "has_context_dependent_function"):  # noqa: B009
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


def evaluate(use: OpUse, inputs: Sequence[Value]) -> tuple[Value, ...]:
    """The outputs of ``use`` by onnx.reference, unwanted ones as None."""
    from onnx.reference import ReferenceEvaluator  # slow to import, rarely needed

    refuse_endless(use)
    types = [None if value is None else type_of(value) for value in inputs]
    model = node_model(use, types)
    feeds = {input_name(i): _fed(v) for i, v in enumerate(inputs) if v is not None}
    results = ReferenceEvaluator(model).run(None, feeds)
    found = dict(zip((port.name for port in model.graph.output), results, strict=True))
    return tuple(found.get(output_name(i)) for i in range(len(use.outputs)))


def _fed(value: Value) -> Value:
    return np.asarray(value) if isinstance(value, np.ndarray) else value  # a memmap is plain there
