"""What ONNX Runtime does to a whole graph before and after it looks kernels up, in its order.

The graph is rewritten (``rewrites``: constants, equal nodes, fusions), each node that is left is
looked up, layouts are put around what wants them, nodes that only shuffle host values are moved to
the CPU (with the layout NCHW), and what is left is fused once more. Every verdict is brought back
to the user's nodes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import replace

from ..ir.model import Graph, GraphPath, Model, NodeId
from .ort import OrtProvider
from .quantizers import moved_quantizers
from .rewrites import (
    CHANNELS_LAST,
    MADE,
    SEEN,
    Left,
    Value,
    Work,
    casts,
    level_one,
    level_two,
    wrap,
)
from .support import Reason, Status, Support
from .uses import Types, model_uses
from .value_types import completed

# Initializers of at most so many elements count as host values in the CPU-preferred pass
# (kSmallInitializerThreshold in include/onnxruntime/ep/get_capability_utils.h).
SMALL_INITIALIZER = 100
NOT_MOVED = (
    "float16",
    "bfloat16",
    "float8e4m3fn",
    "float8e4m3fnuz",
    "float8e5m2",
    "float8e5m2fnuz",
)


def place_ort(model: Model, types: Types, provider: OrtProvider) -> dict[NodeId, Support]:
    """The verdict on each node of every graph; calls of local functions are left out."""
    bodies = {f.graph.path for f in model.functions.values()}
    uses = {
        # Within a function ORT gives the nodes other names when it puts the body in place.
        node.id: replace(use, name="") if node.id.graph[:1] in bodies else use
        for node, use in model_uses(model, completed(model, types))
    }
    verdicts: dict[NodeId, Support] = {}
    constants: dict[GraphPath, Mapping[str, Value]] = {}
    settled: set[GraphPath] = set()
    for graph in model.graphs():
        if graph.path in settled:
            continue
        around = graph.path[:-1]
        outer = constants.get(around, {}) if graph.path and graph.path not in bodies else {}
        work = Work(graph, uses, outer, lambda node: model.function_of(node) is not None)
        verdicts |= _place_graph(graph, work, provider)
        for path in (graph.path, *work.opened):
            constants[path] = work.constants()
        settled.update(work.opened, work.forgotten)
    return verdicts | _out_of_reach(model, verdicts, provider.options.force_cpu_node_names)


def _place_graph(graph: Graph, work: Work, provider: OrtProvider) -> dict[NodeId, Support]:
    """The verdicts on one graph, and on those of its branches that ORT puts in place of an If."""
    level_one(work, lambda left: provider.host_kernel(left.use) == "kernel")
    there = (origins for made, origins in work.moved.items() if work.get(made) is not None)
    cancelled = work.verdicts.keys() - frozenset[NodeId]().union(*there)
    found = {left.id: provider.support(left.use) for left in work}
    if provider.channels_last:
        _lay_out(work, found)
    found |= _HostValues(work, found, provider).verdicts()
    sides = {node: side_of(verdict) for node, verdict in found.items()}
    level_two(work, sides, SEEN.get((provider.table.id, provider.table.version), {}))
    casts.apply(work, sides, {node for node, verdict in found.items() if verdict.data.get("casts")})
    found |= work.verdicts
    found |= _moved(work, found, provider)
    mine = (node for node in found if node.graph != (MADE,))
    placed = {node: _resolved(node, found, work.into) for node in mine}
    if provider.channels_last:
        placed |= moved_quantizers(graph, placed, cancelled)
    return placed


def _out_of_reach(
    model: Model, verdicts: Mapping[NodeId, Support], forced: frozenset[str]
) -> dict[NodeId, Support]:
    """Nodes named in forceCpuNodeNames that run on the GPU all the same: the reader is told why."""
    found: dict[NodeId, Support] = {}
    for node_id, verdict in verdicts.items():
        node = model.nodes[node_id] if forced else None
        if node is None or node.name not in forced or side_of(verdict) != "gpu":
            continue
        fused = verdict.status is Status.FUSED
        why = "it is part of another node" if fused else "ORT has given it another name"
        detail = f"{verdict.detail}; forceCpuNodeNames does not reach it: {why} by then"
        found[node_id] = replace(verdict, detail=detail)
    return found


def _lay_out(work: Work, found: Mapping[NodeId, Support]) -> None:
    """Put what the provider computes channels-last between Transposes."""
    wrap(
        work,
        [
            left
            for left in work
            if left.use.op_type in CHANNELS_LAST
            and left.use.domain in ("", "ai.onnx")
            and side_of(found[left.id]) == "gpu"
        ],
    )


def _moved(
    work: Work, found: Mapping[NodeId, Support], provider: OrtProvider
) -> dict[NodeId, Support]:
    """The user's Transposes that ORT has put elsewhere: one of its own does their work there."""
    verdicts: dict[NodeId, Support] = {}
    for made, origins in work.moved.items():
        left = work.get(made)
        before = work.maker(left.input(0)) if left is not None else None
        if left is None or before is None or before.id.graph == (MADE,):
            continue
        side = side_of(found.get(made) or provider.support(left.use))
        for origin in origins:
            if origin in work.verdicts and origin not in work.into:
                detail = f"ORT moves it behind '{before.node.label}' ({before.op})"
                data = {"step": "Transposes moved", "into": str(before.id), "provider": side}
                verdicts[origin] = Support(Status.FUSED, Reason.NONE, detail, data)
    return verdicts


def _resolved(
    node: NodeId, found: Mapping[NodeId, Support], into: Mapping[NodeId, NodeId]
) -> Support:
    """The verdict, with the provider of the node that does the work where that is another one."""
    verdict = found[node]
    if verdict.status is not Status.FUSED or node not in into:
        return verdict
    last = node
    for _ in range(len(into) + 1):
        if last not in into:
            break
        last = into[last]
    target = found[last]
    side = side_of(target)
    data = {**verdict.data, "into": str(last), "provider": side}
    if target.status is Status.FOLDED:
        return replace(target, data={**target.data})
    if not side:
        detail = f"{verdict.detail}; where that runs is not known: {target.detail}"
        return Support(Status.UNKNOWN, Reason.UNKNOWN, detail, {"step": verdict.data["step"]})
    return replace(verdict, data=data)


def side_of(verdict: Support) -> str:
    """Where a node runs: "gpu", "cpu", or "" where that is not known or nothing is left to run."""
    if verdict.status is Status.GPU:
        return "gpu"
    if verdict.status is Status.HOST:
        return "cpu"
    if verdict.status is Status.FAILS:
        return "gpu" if verdict.data.get("when") == "run time" else "cpu"
    return str(verdict.data.get("provider", ""))


class _HostValues:
    """The values of one graph that ORT has in host memory, and the nodes that this concerns."""

    def __init__(
        self,
        work: Work,
        verdicts: Mapping[NodeId, Support],
        provider: OrtProvider,
    ) -> None:
        self._work = work
        self._nodes = [left for left in work if left.id in verdicts]
        self._verdicts = verdicts
        self._provider = provider
        self._inputs = work.inputs
        self._order = {left.id: place for place, left in enumerate(self._nodes)}
        self._seeds = {
            left.outputs[index]
            for left in self._nodes
            if self._on_gpu(left.id)
            for index in provider.host_outputs(left.use)
            if index < len(left.outputs) and left.outputs[index]
        }

    def verdicts(self) -> dict[NodeId, Support]:
        """The verdicts that change: nodes moved, and CPU nodes that need no copy from the GPU."""
        free = set(self._seeds)
        # With NHWC, ORT asks the provider again after its layout transformation. By then what made
        # the host values is assigned, the pass finds no start, and the nodes go back to the GPU
        # (seen with the 0.4.0 plugin: NCHW moves what the source says, NHWC nothing).
        again = (
            self._provider.table.prefers_nhwc and self._provider.options.preferred_layout == "NHWC"
        )
        changed = {} if again else self._preferred_on_cpu()
        for node in self._nodes:
            verdict = changed.get(node.id) or self._verdicts.get(node.id)
            if verdict is None or verdict.status is not Status.HOST:
                continue
            names = tuple(n for n in (*node.inputs, *node.reads) if n)
            if any(n in free for n in names) and all(self._is_free(n, free) for n in names):
                free.update(node.outputs)
                data = {**verdict.data, "host_values_only": True}
                changed[node.id] = replace(verdict, data=data)
        return changed

    def _preferred_on_cpu(self) -> dict[NodeId, Support]:
        """ORT's CPU-preferred pass: what only shuffles host values leaves the GPU.

        It starts at the consumers of outputs that a GPU kernel keeps in host memory (Shape), goes
        on through whatever they feed on the CPU, and takes a GPU node whose inputs are all such
        values, graph inputs or small initializers; an f16 input, or an input that the kernel itself
        wants in host memory, stops it. Source: GetCpuPreferredNodes in
        include/onnxruntime/ep/get_capability_utils.h.
        """
        values = set(self._seeds)
        queue = [self._order[c.id] for name in values for c in self._consumers(name)]
        heapq.heapify(queue)
        moved: dict[NodeId, Support] = {}
        seen: set[NodeId] = set()
        while queue:
            node = self._nodes[heapq.heappop(queue)]
            if node.id in seen:
                continue
            seen.add(node.id)
            if self._on_gpu(node.id):
                if not all(self._stays(i, n, node, values) for i, n in enumerate(node.inputs) if n):
                    continue
                detail = (
                    "ORT prefers the CPU for it: its inputs are host values (shape arithmetic), so "
                    "the GPU would only add copies"
                )
                data = {"step": "CPU-preferred pass"}
                moved[node.id] = Support(Status.HOST, Reason.HOST_ON_PURPOSE, detail, data)
            values.update(filter(None, node.outputs))
            for name in node.outputs:
                for consumer in self._consumers(name):
                    heapq.heappush(queue, self._order[consumer.id])
        return moved

    def _on_gpu(self, node_id: NodeId) -> bool:
        verdict = self._verdicts.get(node_id)
        return verdict is not None and verdict.status in (Status.GPU, Status.FAILS)

    def _consumers(self, name: str) -> list[Left]:
        return self._work.readers(name)

    def _is_free(self, name: str, free: set[str]) -> bool:
        return name in free or name in self._inputs or self._work.is_constant(name)

    def _stays(self, index: int, name: str, node: Left, values: set[str]) -> bool:
        kind = self._work.type(name)
        if kind.dtype in NOT_MOVED:
            return False
        if name in self._inputs:
            return True
        if self._work.is_constant(name):
            size = kind.known_dims
            return size is not None and math.prod(size) <= SMALL_INITIALIZER
        return name in values and index not in self._provider.host_inputs(node.use)
