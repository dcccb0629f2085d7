"""From a model and its feeds to a Plan: fold, place, fuse, list the dispatches, assign memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..device.profile import DeviceProfile
from ..diagnostics import Diagnostic
from ..errors import NodeError, NotCoveredError
from ..feeds import check_feeds
from ..host.evaluate import can_evaluate
from ..host.scope import Scope
from ..host.work import Work
from ..ir.calls import callers_first, expanded_nodes
from ..ir.infer import infer_node
from ..ir.model import Function, Model, Node, NodeId, TensorType, subgraph_reads
from ..ir.static_types import MAX_EXPANDED_NODES
from ..ops.registry import Kernel, Registry
from ..ops.steps import Activation, Cost
from ..ops.use import OpUse
from ..providers.support import SUPPORTED, Reason, Status, Support
from .builder import NodeBuilder
from .fallback import f16_unavailable, host_diagnostic, unsupported_diagnostic
from .flatten import Frame, branch_frame, call_frame, main_frame
from .folding import fold
from .fusion import Fusion
from .memory import Memory
from .segments import Segments
from .stats import StatsCollector
from .tensors import DeviceValues, lifetimes_of
from .types import NodePlacement, Plan, ValueId
from .uses import Uses
from .values import Origin, Values, array_type
from .watch import IndexWatcher


@dataclass(frozen=True)
class PlanOptions:
    """How to plan.

    Attributes:
        strict: a node that would run on the host is an error (``--fallback error``).
        stats: gather minimum, maximum, NaN and Inf of each float intermediate; nothing is fused.
        assumed: symbolic dimensions that were assumed, to be shown.
        for_run: a run follows, which would do the work of a constant loop anyway; otherwise loops
            get what ``host.work`` allows.
    """

    strict: bool = False
    stats: bool = False
    assumed: Mapping[str, int] | None = None
    for_run: bool = False


def make_plan(
    model: Model,
    feeds: Mapping[str, np.ndarray],
    profile: DeviceProfile,
    registry: Registry,
    options: PlanOptions = PlanOptions(),
) -> Plan:
    """Plan one run of ``model`` for inputs of the shapes of ``feeds``.

    No GPU object is made. Only inputs that an operator needs on the host (a shape, k, lengths) are
    read; they are listed in ``Plan.host_keyed``.

    Raises:
        NodeError: a node's inputs contradict the ONNX text, or a limit is exceeded (LimitError).
        WorkError: a loop that is computed while planning takes too long for a plan without a run.
        NotCoveredError: with ``strict``, a node without a GPU kernel.
        FeedError: an input is missing, or does not fit the model.
    """
    return _Planner(model, feeds, profile, registry, options).plan()


class _Planner:
    def __init__(
        self,
        model: Model,
        feeds: Mapping[str, np.ndarray],
        profile: DeviceProfile,
        registry: Registry,
        options: PlanOptions,
    ) -> None:
        self._model = model
        self._feeds = feeds
        self._profile = profile
        self._registry = registry
        self._options = options
        work = None if options.for_run else Work()
        self._values = Values(feeds, Scope(model.functions, model.opset_imports, work=work))
        self._memory = Memory(profile.f16)
        self._device = DeviceValues(self._values, self._memory, profile)
        self._segments = Segments(self._values)
        self._uses = Uses(self._values)
        self._fusion = Fusion(model, registry, self._uses)
        self._placement: list[NodePlacement] = []
        self._diagnostics: list[Diagnostic] = []
        self._fused: set[NodeId] = set()
        self._expanded = expanded_nodes(model, callers_first(model)) if model.functions else 0
        self._stats = StatsCollector(self._memory)
        self._watcher = IndexWatcher(self._memory)

    def plan(self) -> Plan:
        frame = main_frame(self._model)
        check_feeds(self._model, self._feeds)
        for port in self._model.graph.inputs:
            self._values.add_input(((), port.name), array_type(self._feeds[port.name]))
        self._add_weights(frame)
        self._walk(frame)
        outputs = self._outputs(frame)
        self._segments.flush([value for _, value in outputs])
        return self._finish(outputs)

    def _add_weights(self, frame: Frame) -> None:
        for name, weight in frame.graph.initializers.items():
            self._values.add_weight((frame.path, name), weight)

    # -- walking -------------------------------------------------------------------------------

    def _walk(self, frame: Frame) -> None:
        for node in frame.graph.sorted_nodes:
            if frame.node_id(node) in self._fused:
                continue
            function = self._model.function_of(node)
            if function is not None:
                self._call(frame, node, function)
            elif node.op == "If":
                self._branch(frame, node)
            else:
                self._node(frame, node)

    def _call(self, frame: Frame, node: Node, function: Function) -> None:
        if self._expanded > MAX_EXPANDED_NODES:
            reason = (
                f"with all calls expanded the model has {self._expanded:,} nodes; at most "
                f"{MAX_EXPANDED_NODES:,} are planned"
            )
            raise NodeError(frame.node_id(node), node.label, node.op, reason)
        inner = call_frame(frame, node, function)
        self._open(frame, node, inner, f"calls {function.domain}::{function.name}")

    def _branch(self, frame: Frame, node: Node) -> None:
        use = self._uses.use(frame, node)
        if wrong := use.wrong_attribute():
            raise use.error(f"it {wrong[1]}")
        if not node.inputs:
            raise use.error("it has no condition")
        condition = frame.resolve(node.inputs[0])
        if condition is None:
            raise use.error(f"its condition {node.inputs[0]!r} is not defined")
        value = np.asarray(self._values.demand(condition))
        if value.size != 1:
            raise use.error(f"its condition has {value.size} elements, not one")
        taken = bool(value.reshape(-1)[0])
        attribute = "then_branch" if taken else "else_branch"
        graph = frame.bound_attributes(node)[attribute]
        inner = branch_frame(frame, node, attribute, graph)
        self._open(
            frame, node, inner, f"its condition is {taken}: {attribute} was taken while planning"
        )

    def _open(self, frame: Frame, node: Node, inner: Frame, detail: str) -> None:
        self._add_weights(inner)
        self._walk(inner)
        for name, port in zip(node.outputs, inner.graph.outputs, strict=False):
            value = inner.resolve(port.name)
            if name and value is not None:
                frame.names[name] = value
        support = Support(Status.FOLDED, Reason.NONE, detail)
        self._place(frame, node, self._uses.use(frame, node), support, (), Cost())

    def _node(self, frame: Frame, node: Node) -> None:
        inputs = self._uses.inputs(frame, node)
        use = self._uses.use(frame, node, inputs)
        captured = {n: v for n in subgraph_reads(node) if (v := frame.resolve(n))}
        outputs = tuple(
            frame.define(name) if name and name in frame.wanted else None for name in node.outputs
        )
        if not any(outputs):
            support = Support(Status.FOLDED, Reason.NONE, "nobody reads its outputs: no work")
            self._place(frame, node, use, support, (), Cost())
            return
        origin = Origin(use, inputs, outputs, captured)
        for output in outputs:
            if output is not None:
                self._values.origins[output] = origin
        if self._blocked(frame, node, origin) or self._fold(frame, node, origin):
            return
        kernel, support = self._registry.support(use)
        if kernel is not None and any(
            use.has(i) and i not in use.values for i in kernel.host_inputs
        ):
            use = self._read_host_inputs(origin, kernel)  # which may change the verdict
            origin = replace(origin, use=use)
            kernel, support = self._registry.support(use)
        if kernel is not None:
            self._gpu(frame, node, origin, kernel)
        else:
            self._host(frame, node, origin, support)

    def _blocked(self, frame: Frame, node: Node, origin: Origin) -> bool:
        """A node behind an unsupported one: nothing can be planned, its verdict is still told."""
        values = self._values
        missing = [v for v in origin.inputs if v is not None and not values.is_known(v)]
        if all(v in values.types and values.types[v].known_dims is not None for v in missing):
            return False
        _, support = self._registry.support(origin.use)
        for output in origin.outputs:
            if output is not None:
                values.types[output] = TensorType("?")
        self._place(frame, node, origin.use, support, (), Cost())
        return True

    def _fold(self, frame: Frame, node: Node, origin: Origin) -> bool:
        if not fold(self._values, origin):
            return False
        support = Support(Status.FOLDED, Reason.NONE, "computed on the host while planning")
        self._place(frame, node, origin.use, support, self._types(origin.outputs), Cost())
        return True

    # -- the GPU -------------------------------------------------------------------------------

    def _gpu(self, frame: Frame, node: Node, origin: Origin, kernel: Kernel) -> None:
        types = kernel.shapes(origin.use)
        wanted = zip(types, origin.use.outputs, strict=False)
        use = replace(origin.use, outputs=tuple(t if w is not None else None for t, w in wanted))
        for index, kind in enumerate(types[: len(node.outputs)]):
            if use.wants(index):
                self._device.check(use, f"its output '{node.outputs[index]}'", kind)
        fuses = not self._options.stats
        follower = self._fusion.follower(frame, node, kernel, use) if fuses else None
        activation = follower.activation if follower else Activation()
        builder = self._build(replace(origin, use=use), kernel, types, activation)
        for index, output in enumerate(origin.outputs):
            if output is not None:
                self._values.types[output] = types[index]
                self._values.tensors[output] = builder.output(index)
        self._place(frame, node, use, SUPPORTED, types, kernel.cost(use))
        if self._options.stats:
            self._stats.gather(builder, ["" if o is None else o[1] for o in origin.outputs])
        self._segments.add_dispatches(builder.dispatches)
        if follower:
            self._fuse(frame, follower.node, builder.node, origin.outputs[0])

    def _build(
        self, origin: Origin, kernel: Kernel, types: Sequence[TensorType], activation: Activation
    ) -> NodeBuilder:
        """The kernel's dispatches and outputs."""
        use = origin.use
        assert use.node is not None
        builder = NodeBuilder(
            self._profile,
            self._memory,
            self._watcher,
            use,
            use.node,
            lambda i: self._device.tensor(origin.inputs[i], use),
            types,
            activation,
        )
        kernel.build(use, builder)
        return builder

    def _read_host_inputs(self, origin: Origin, kernel: Kernel) -> OpUse:
        values = dict(origin.use.values)
        for index in kernel.host_inputs:
            value = origin.inputs[index] if index < len(origin.inputs) else None
            if value is not None:
                self._values.demand(value)
                values[index] = self._values.reader(value)
        return replace(origin.use, values=values)

    def _fuse(self, frame: Frame, node: Node, into: NodeId, source: ValueId | None) -> None:
        if source is None:
            return
        name = node.outputs[0]
        inputs = [frame.resolve(n) if n else None for n in node.inputs]
        use = self._uses.use(frame, node, inputs)
        kind = self._values.types[source]
        if name in frame.wanted:
            value = frame.define(name)
            self._values.types[value] = kind
            self._values.tensors[value] = self._values.tensors[source]
            self._values.origins[value] = Origin(use, tuple(inputs), (value,))
        self._fused.add(frame.node_id(node))
        producer = self._placement[-1].op
        support = Support(Status.FUSED, Reason.NONE, f"applied by the kernel of {producer}")
        self._place(frame, node, use, support, (kind,), Cost(), into)

    # -- the host ------------------------------------------------------------------------------

    def _host(self, frame: Frame, node: Node, origin: Origin, declined: Support) -> None:
        use = origin.use
        able = can_evaluate(use)
        if able.status is not Status.HOST:
            reason = able if able.reason is not Reason.NONE else declined
            self._unsupported(frame, node, origin, declined, reason)
            return
        if self._options.strict:
            raise NotCoveredError(
                f"{self._model.path or 'the model'}: node '{use.label}' ({use.op}) would run on "
                f"the host: {declined.detail}"
            )
        types = list(infer_node(use))
        types += [None] * (len(origin.outputs) - len(types))
        for index, output in enumerate(origin.outputs):
            kind = types[index]
            if output is not None and (kind is None or kind.known_dims is None):
                self._values.demand(output)  # its shape depends on data: computed while planning
        if all(o is None or self._values.is_known(o) for o in origin.outputs):
            detail = (
                f"{declined.detail}; its shape depends on data, so it was computed from the feed"
            )
            support = Support(Status.HOST, declined.reason, detail, declined.data)
        else:
            support = declined
            self._segments.add_host(origin, types)
        placed = self._place(frame, node, use, support, self._types(origin.outputs), Cost())
        self._diagnostics.append(host_diagnostic(placed, use))

    def _unsupported(
        self, frame: Frame, node: Node, origin: Origin, declined: Support, why: Support
    ) -> None:
        detail = f"{declined.detail}; the host cannot compute it either: {why.detail}"
        support = Support(Status.UNSUPPORTED, declined.reason, detail)
        for output in origin.outputs:
            if output is not None:
                self._values.types[output] = TensorType("?")
        placed = self._place(frame, node, origin.use, support, (), Cost())
        self._diagnostics.append(unsupported_diagnostic(placed))

    # -- the end -------------------------------------------------------------------------------

    def _types(self, outputs: Sequence[ValueId | None]) -> tuple[TensorType | None, ...]:
        return tuple(None if v is None else self._values.types.get(v) for v in outputs)

    def _place(
        self,
        frame: Frame,
        node: Node,
        use: OpUse,
        support: Support,
        outputs: Sequence[TensorType | None],
        cost: Cost,
        fused_into: NodeId | None = None,
    ) -> NodePlacement:
        placed = NodePlacement(
            frame.node_id(node),
            NodeId(frame.source, node.id.index),
            node.name,
            node.op,
            support,
            use.inputs,
            tuple(outputs),
            fused_into,
            cost,
        )
        self._placement.append(placed)
        return placed

    def _outputs(self, frame: Frame) -> tuple[tuple[str, ValueId], ...]:
        found = []
        for port in self._model.graph.outputs:
            value = frame.resolve(port.name)
            if value is None:
                continue
            if self._values.is_known(value):
                self._values.known(value)  # the run takes it from Plan.known
            found.append((port.name, value))
        return tuple(found)

    def _finish(self, outputs: tuple[tuple[str, ValueId], ...]) -> Plan:
        values = self._values
        if not self._profile.f16 and any(t.dtype == "float16" for t in values.types.values()):
            self._diagnostics.append(f16_unavailable(self._profile))
        stats, segments = self._stats.finish(self._segments.done)
        watch = self._watcher.finish()
        spans = lifetimes_of(values, segments, outputs, stats, watch)
        storages, arena = self._memory.finish(spans)
        used = {v: t for v, t in values.tensors.items() if t.storage_id in spans}
        return Plan(
            segments=tuple(segments),
            storages=storages,
            arena=arena,
            tensors=used,
            types=dict(values.types),
            known=values.snapshot(),
            inputs=tuple(p.name for p in self._model.graph.inputs),
            outputs=outputs,
            placement=tuple(self._placement),
            profile=self._profile,
            host_keyed=tuple(values.host_keyed),
            assumed=dict(self._options.assumed or {}),
            stats=stats,
            stats_rows=tuple(self._stats.rows),
            watch=watch,
            watched=tuple(self._watcher.watched),
            diagnostics=tuple(self._diagnostics),
        )
