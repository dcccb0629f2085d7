"""What a check may look at: the model, types, verdicts, perhaps a plan and an adapter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic, Severity
from ..ir.model import GraphPath, Model, Node, NodeId, TensorType
from ..ops.use import OpUse
from ..providers.borders import Crossing, flow_crossings, model_flow
from ..providers.flow import Flow
from ..providers.support import Reason, Status, Support
from ..providers.targets import targets_of
from ..providers.uses import Types, model_uses

OPSCOPE = "opscope"
ORT_CPU = "ort-cpu"  # these two are families of targets
ORT_WEBGPU = "ort-webgpu"

Verdicts = Mapping[str, Mapping[NodeId, Support]]


@dataclass(frozen=True)
class Context:
    """The subject of the checks.

    Attributes:
        types: static types, or concrete ones where a plan was made.
        verdicts: target -> verdict of each node.
        static: what is known without assumed dimensions; ``types`` where nothing was assumed.
        profile: the adapter whose limits count; None where none was chosen.
    """

    model: Model
    types: Types
    verdicts: Verdicts = field(default_factory=dict)
    static: Types | None = None
    profile: DeviceProfile | None = None

    @cached_property
    def uses(self) -> tuple[tuple[Node, OpUse], ...]:
        """Each node of every graph with what is known of it."""
        return tuple(model_uses(self.model, self.types))

    @cached_property
    def _flows(self) -> dict[str, tuple[Flow, tuple[Crossing, ...]]]:
        return {}

    def flow(self, target: str) -> tuple[Flow, tuple[Crossing, ...]]:
        """Where ``target`` makes and reads values, and which of them cross; found once."""
        if target not in self._flows:
            uses = {node.id: use for node, use in self.uses}
            flow = model_flow(self.model, target, self.verdicts[target], self.types, uses)
            self._flows[target] = flow, flow_crossings(flow, self.types)
        return self._flows[target]

    def targets_of(self, family: str) -> tuple[str, ...]:
        """Those targets of ``family`` that are looked at, whatever their version and options."""
        return targets_of(family, self.verdicts)

    def runs_on_gpu(self, target: str, node: Node) -> bool:
        """True if ``target`` is looked at and runs ``node`` on the GPU."""
        verdict = self.verdicts.get(target, {}).get(node.id)
        return verdict is not None and verdict.status is Status.GPU

    def on_gpu_of(self, family: str, node: Node) -> tuple[str, ...]:
        """The targets of ``family`` that run ``node`` on the GPU."""
        return tuple(t for t in self.targets_of(family) if self.runs_on_gpu(t, node))

    def is_assumed(self, graph: GraphPath, name: str, first_axis: int = 0) -> bool:
        """True if a value's shape from ``first_axis`` on holds for assumed dimensions only."""
        if self.static is None:
            return False
        shape = self.static.get((graph, name), TensorType("?")).shape
        return shape is None or not all(isinstance(d, int) for d in shape[first_axis:])

    def f16_uses(self) -> Iterator[tuple[Node, OpUse]]:
        """The nodes whose first input is f16 and whose attributes are as ONNX has them."""
        for node, use in self.uses:
            if use.has(0) and use.input(0).dtype == "float16" and not use.wrong_attribute():
                yield node, use


def runs_where_it_should(target: str, verdict: Support) -> bool:
    """True on a target that is a CPU, of what it runs there."""
    on_its_cpu = verdict.status is Status.HOST and verdict.reason is Reason.NONE
    return on_its_cpu and bool(targets_of(ORT_CPU, (target,)))


def finding(
    code: str,
    severity: Severity,
    node: Node | None,
    text: str,
    remedy: str = "",
    **more: Any,
) -> Diagnostic:
    """A diagnostic about ``node`` (or the model); ``more`` are Diagnostic's other fields."""
    if node is None:
        return Diagnostic(code, severity, text, remedy, **more)
    return Diagnostic(code, severity, text, remedy, node.id, node.name, node.op, **more)
