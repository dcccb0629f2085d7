"""What a GPU does not allow: tensors over its buffer and binding limits, too many of them, no f16.

How each engine binds a tensor decides:

- Opscope binds it whole: one buffer, one binding.
- ONNX Runtime's WebGPU provider makes one buffer of it, so maxBufferSize counts; over
  maxStorageBufferBindingSize it binds it in segments, each a storage buffer of the shader, of which
  maxStorageBuffersPerShaderStage counts (CalculateSegmentsForInputsAndOutputs in
  onnxruntime/core/providers/webgpu/program_manager.cc; measured with the 0.4.0 plugin). Its Concat
  takes as many passes as it needs, its Split does not.
- The older JS provider of ONNX Runtime Web binds it whole, and never asks for more storage buffers
  than the default (js/web/lib/wasm/jsep/backend-webgpu.ts); Concat and Split bind all at once.

Other providers have no WebGPU limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from ..device.profile import DeviceProfile, Limits
from ..diagnostics import Diagnostic, Severity
from ..ir.model import Node, NodeId, TensorType
from ..ops.use import OpUse
from ..plan.fallback import f16_unavailable
from ..plan.memory import Memory
from ..providers.borders import value_bytes
from ..providers.flow import Ports, host_ports, side_of
from ..providers.liveness import VIEWS
from ..providers.targets import target
from ..units import told_apart
from .context import OPSCOPE, ORT_WEBGPU, Context, finding

BINDING = "binding-limit"
STORAGE_BUFFERS = "storage-buffer-limit"
F16 = "f16-unavailable"
BELOW_DEFAULT = "limits-below-default"
LARGEST_BINDING = 2 << 30
"""Bytes. No adapter that was measured offers more."""
ORT_WEB = "ort-web"
SEGMENTS_LINK = "https://github.com/microsoft/onnxruntime/pull/25962"
# ORT computes these in one program that binds every input and output.
_ONE_PROGRAM = (
    "Abs Add And Cast Ceil Clip Cos Div Elu Equal Erf Exp Expand Floor Gather GatherElements Gelu "
    "Greater GreaterOrEqual HardSigmoid LeakyRelu Less LessOrEqual Log Mul Neg Not Or Pad Pow "
    "Reciprocal Relu Round Sigmoid Sin Slice Softplus Split Sqrt Sub Tan Tanh ThresholdedRelu Tile "
    "Transpose Where"
)
ONE_PROGRAM = frozenset(_ONE_PROGRAM.split())
DEFAULT = Limits()


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor that a node's kernel binds."""

    role: str
    name: str
    kind: TensorType
    size: int


def check(context: Context) -> Iterator[Diagnostic]:
    """Per target that runs on WebGPU: tensors over its limits, too many of them, f16 it lacks."""
    for name in context.verdicts:
        family = target(name).family
        if family in (OPSCOPE, ORT_WEBGPU, ORT_WEB):
            yield from _Judge(context, name, family).findings()
    if context.profile is not None and context.verdicts:
        yield from _below_default(context.profile)


def f16_tensors(context: Context) -> bool:
    """True if any value of the model is f16."""
    return any(kind.dtype == "float16" for kind in context.types.values())


class _Judge:
    """One target under one adapter's limits (WebGPU's defaults where none was chosen)."""

    def __init__(self, context: Context, name: str, family: str) -> None:
        self._context = context
        self._target = name
        self._family = family
        self._profile = context.profile or DeviceProfile()
        self._memory = Memory(self._profile.f16)
        self._told: set[tuple[tuple[str, ...], str]] = set()
        self._label = target(name).label
        self._graphs = {graph.path: graph for graph in context.model.graphs()}
        limits = self._profile.limits
        if family == ORT_WEB:  # it asks for no more than the default
            most = DEFAULT.max_storage_buffers_per_shader_stage
            limits = replace(limits, max_storage_buffers_per_shader_stage=most)
        self._limits = limits

    def findings(self) -> Iterator[Diagnostic]:
        verdicts = self._context.verdicts[self._target]
        uses: Mapping[NodeId, OpUse] = {node.id: use for node, use in self._context.uses}
        host_inputs, host_outputs = host_ports(self._target, uses)
        lacks_f16 = []
        for node, use in self._context.uses:
            verdict = verdicts.get(node.id)
            if side_of(verdict) is not True:
                continue  # what is computed before the run counts where the GPU reads it
            tensors = self._tensors(node, use, host_inputs, host_outputs)
            yield from self._sizes(node, tensors)
            if any(t.kind.dtype == "float16" for t in tensors):
                lacks_f16.append(node)
        if self._context.profile is not None and not self._profile.f16:
            if self._family != OPSCOPE:
                yield from self._without_f16(lacks_f16)
            elif f16_tensors(self._context):
                yield f16_unavailable(self._profile)

    def _tensors(
        self, node: Node, use: OpUse, host_inputs: Ports, host_outputs: Ports
    ) -> tuple[_Tensor, ...]:
        found = []
        for role, names, types in (
            ("input", node.inputs, use.inputs),
            ("output", node.outputs, use.outputs),
        ):
            for index, (name, kind) in enumerate(zip(names, types, strict=False)):
                size = self._bytes(kind) if name and kind is not None else None
                if kind is not None and size:
                    found.append((role, index, _Tensor(role, name, kind, size)))
        large = any(t.size > (1 << 16) for _, _, t in found)
        if not large and len(found) <= DEFAULT.max_storage_buffers_per_shader_stage:
            return tuple(t for _, _, t in found)  # the ports do not matter
        kept = {("input", i) for i in host_inputs(node)} | {
            ("output", i) for i in host_outputs(node)
        }
        return tuple(t for role, index, t in found if (role, index) not in kept)

    def _bytes(self, kind: TensorType) -> int | None:
        """Bytes in device memory; None where unknown, or where it does not go there."""
        if kind.kind != "tensor" or kind.dtype in ("?", "string"):
            return None
        if self._family != OPSCOPE or kind.known_dims is None:
            return value_bytes(kind)
        try:
            return self._memory.size_bytes(kind.dtype, kind.known_dims)
        except KeyError:  # a type that our device memory cannot hold
            return None

    def _sizes(self, node: Node, tensors: tuple[_Tensor, ...]) -> Iterator[Diagnostic]:
        limits = self._limits
        in_segments = self._family == ORT_WEBGPU
        allowed = limits.max_buffer_size
        if not in_segments:
            allowed = min(allowed, limits.max_storage_buffer_binding_size)
        over = [t for t in tensors if t.size > allowed]
        fresh = [t for t in over if (node.id.graph, t.name) not in self._told]
        if fresh:
            self._told.update((node.id.graph, t.name) for t in fresh)
            yield self._too_large(node, max(fresh, key=lambda t: t.size), allowed)
        # Of a view ORT keeps the memory and changes the shape: nothing is bound.
        if not over and self._family != OPSCOPE and node.op not in VIEWS:
            yield from self._too_many(node, tensors, in_segments)

    def _too_large(self, node: Node, tensor: _Tensor, allowed: int) -> Diagnostic:
        limits = self._limits
        by_buffer = allowed == limits.max_buffer_size
        needed, most = told_apart(tensor.size, allowed)
        assumed = self._is_assumed(node, tensor)
        certain = self._context.profile is not None or tensor.size > LARGEST_BINDING
        outcome = "cannot run on the GPU" if certain else "needs an adapter that allows more"
        consumers = self._graphs[node.id.graph].consumers
        others = [n for n in consumers.get(tensor.name, ()) if n.id != node.id]
        text = (
            f"this {node.op} needs a {'buffer' if by_buffer else 'binding'} of {needed} for its "
            f"{tensor.role} '{tensor.name}' {list(tensor.kind.dims)} {tensor.kind.dtype}; "
            f"{self._profile.allow} {most}, so the node {outcome}"
        )
        if others:
            text += f"; {len(others):,} more {'nodes read' if len(others) > 1 else 'node reads'} it"
        text += " (for assumed dimensions)" if assumed else ""
        return finding(
            BINDING,
            Severity.ERROR if certain and not assumed else Severity.WARNING,
            node,
            text,
            "split the tensor, or choose an adapter with larger limits",
            target=self._target,
            data={
                "value": tensor.name,
                "bytes": tensor.size,
                "allowed": allowed,
                "limit": "maxBufferSize" if by_buffer else "maxStorageBufferBindingSize",
            },
        )

    def _too_many(
        self, node: Node, tensors: tuple[_Tensor, ...], in_segments: bool
    ) -> Iterator[Diagnostic]:
        """More storage buffers than one shader may bind."""
        size = self._segment_bytes()
        counts = {t.name: math.ceil(t.size / size) if in_segments else 1 for t in tensors}
        inputs = [counts[t.name] for t in tensors if t.role == "input"]
        outputs = [counts[t.name] for t in tensors if t.role == "output"]
        if in_segments and node.op == "Concat":  # as many passes as it takes
            inputs = [max(inputs, default=0)]
        needed = sum(inputs) + sum(outputs)
        allowed = self._limits.max_storage_buffers_per_shader_stage
        if needed <= allowed:
            return
        split = any(count > 1 for count in counts.values())
        one_program = node.op in ONE_PROGRAM or node.op == "Concat"
        if not split and not one_program:
            return  # not every kernel binds all that its node has
        certain = one_program or max((*inputs, *outputs)) + 1 > allowed
        certain = (certain and self._context.profile is not None) or self._family == ORT_WEB
        assumed = any(self._is_assumed(node, t) for t in tensors) and split
        remedy = "split the tensor, or choose an adapter with larger limits"
        if not split:
            remedy = f"use several {node.op} nodes of at most {allowed - 1} parts each"
        whole = max(t.size for t in tensors) if split else 0
        yield finding(
            STORAGE_BUFFERS,
            Severity.ERROR if certain and not assumed else Severity.WARNING,
            node,
            self._too_many_text(node, needed, whole, certain)
            + (" (for assumed dimensions)" if assumed else ""),
            remedy,
            target=self._target,
            data={
                "needed": needed,
                "allowed": allowed,
                "limit": "maxStorageBuffersPerShaderStage",
            },
            links=(SEGMENTS_LINK,) if split else (),
        )

    def _too_many_text(self, node: Node, needed: int, whole: int, certain: bool) -> str:
        """``whole``: bytes of the largest tensor where any is bound in segments, else 0."""
        allowed = self._limits.max_storage_buffers_per_shader_stage
        text = (
            f"this {node.op} binds {needed:,} storage buffers in one shader; "
            f"{self._profile.allow} {allowed:,}"
        )
        if whole:
            most, part = told_apart(whole, self._segment_bytes())
            text += f" ({self._label} binds its tensors of up to {most} in parts of {part})"
        if self._family == ORT_WEB:
            text += f" ({self._label} asks for no more than the default)"
        return text + (
            ", so the run fails" if certain else ", and needs an adapter that allows more"
        )

    def _segment_bytes(self) -> int:
        """A segment starts where an offset may: https://github.com/microsoft/onnxruntime/pull/27853."""
        align = self._limits.min_storage_buffer_offset_alignment
        return max(self._limits.max_storage_buffer_binding_size // align, 1) * align

    def _without_f16(self, nodes: list[Node]) -> Iterator[Diagnostic]:
        if not nodes:
            return
        more = f" and {len(nodes) - 1:,} more" if len(nodes) > 1 else ""
        yield finding(
            F16,
            Severity.ERROR,
            nodes[0],
            f"{self._profile.name} has no shader-f16, and {self._label} makes f16 shaders for this "
            f"{nodes[0].op}{more}: the run fails there",
            "ship an f32 model for adapters without shader-f16, and ask the adapter which to load",
            target=self._target,
            data={"nodes": len(nodes)},
        )

    def _is_assumed(self, node: Node, tensor: _Tensor) -> bool:
        if tensor.name in self._graphs[node.id.graph].initializers:
            return False
        return self._context.is_assumed(node.id.graph, tensor.name)


def _below_default(profile: DeviceProfile) -> Iterator[Diagnostic]:
    """Limits under what WebGPU grants everywhere: nobody's shaders are written for these."""
    # An alignment is the better the smaller it is.
    names = [f.name for f in fields(Limits) if not f.name.startswith("min_")]
    low = {
        name: (getattr(profile.limits, name), getattr(DEFAULT, name))
        for name in names
        if getattr(profile.limits, name) < getattr(DEFAULT, name)
    }
    if not low:
        return
    listed = ", ".join(
        f"{name} {have:,} (default {usual:,})" for name, (have, usual) in low.items()
    )
    yield finding(
        BELOW_DEFAULT,
        Severity.WARNING,
        None,
        f"{profile.name} offers less than WebGPU's default limits: {listed}; workgroup sizes and "
        "bindings of shaders are chosen for the defaults, so some cannot be made there",
        "choose an adapter with WebGPU's core limits",
        data={name: have for name, (have, _) in low.items()},
    )
