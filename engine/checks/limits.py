"""What the adapter does not have: a tensor over its binding limit, f16."""

from __future__ import annotations

from collections.abc import Iterator

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic, Severity
from ..ir.model import Graph, Node, TensorType
from ..plan.fallback import f16_unavailable
from ..providers.borders import value_bytes
from .context import OPSCOPE, Context, finding

BINDING = "binding-limit"
LARGEST_BINDING = 2 << 30
"""Bytes. No adapter that was measured offers more."""


def check(context: Context) -> Iterator[Diagnostic]:
    """Tensors that do not fit one binding, and f16 on an adapter without it."""
    if OPSCOPE not in context.verdicts:
        return
    for graph in context.model.graphs():
        yield from _oversized(context, graph)
    if context.profile is not None and not context.profile.f16 and f16_tensors(context):
        yield f16_unavailable(context.profile)


def f16_tensors(context: Context) -> bool:
    """True if any value of the model is f16."""
    return any(kind.dtype == "float16" for kind in context.types.values())


def _oversized(context: Context, graph: Graph) -> Iterator[Diagnostic]:
    profile = context.profile or DeviceProfile()
    limits = profile.limits
    allowed = min(limits.max_buffer_size, limits.max_storage_buffer_binding_size)
    for node in graph.nodes:
        for role, names in (("input", node.inputs), ("output", node.outputs)):
            for name in names:
                weight = graph.initializers.get(name)
                if role == "input" and weight is None:
                    continue
                kind = weight.type if weight else context.types.get((graph.path, name))
                size = value_bytes(kind)
                if kind is not None and size is not None and size > allowed:
                    sure = context.profile is not None or size > LARGEST_BINDING
                    yield _too_large(node, role, name, kind, size, profile, sure)


def _too_large(
    node: Node,
    role: str,
    name: str,
    kind: TensorType,
    size: int,
    profile: DeviceProfile,
    sure: bool,
) -> Diagnostic:
    limits = profile.limits
    outcome = "cannot run on the GPU" if sure else "needs an adapter that allows more"
    return finding(
        BINDING,
        Severity.ERROR if sure else Severity.WARNING,
        node,
        f"its {role} '{name}' {list(kind.dims)} {kind.dtype} needs {size:,} bytes; the limit is "
        f"{limits.max_buffer_size:,} bytes per buffer and "
        f"{limits.max_storage_buffer_binding_size:,} per binding ({profile.name}), so the node "
        f"{outcome}",
        "split the tensor, or choose an adapter with larger limits",
        target=OPSCOPE,
        data={
            "value": name,
            "bytes": size,
            "allowed": min(limits.max_buffer_size, limits.max_storage_buffer_binding_size),
        },
    )
