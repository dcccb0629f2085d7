"""What ONNX Runtime does to a whole graph before and after it looks kernels up, in its order.

Constants are folded and a Dropout without effect is dropped, each remaining node is looked up, then
(with the layout NCHW) nodes that only shuffle host values are moved to the CPU. What else ORT
rewrites (fusions, equal nodes made one, transposes for its layout) changes which nodes there are,
not where the rest runs.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import replace

from ..ir.model import Graph, Model, Node, NodeId, TensorType, captured_inputs
from ..ops.use import OpUse
from .ort import OrtProvider
from .support import Reason, Status, Support
from .uses import Types, graph_uses

# Initializers of at most so many elements count as host values in the CPU-preferred pass
# (kSmallInitializerThreshold in include/onnxruntime/ep/get_capability_utils.h).
SMALL_INITIALIZER = 100
RANDOM = frozenset(
    (
        "RandomNormal",
        "RandomUniform",
        "RandomNormalLike",
        "RandomUniformLike",
        "Bernoulli",
        "Multinomial",
    )
)
# ORT's constant folding keeps these (they carry quantization, or control flow).
NOT_FOLDED = RANDOM | {"QuantizeLinear", "DequantizeLinear", "If", "Loop", "Scan"}
# Schema versions in EliminateDropout (onnxruntime/core/optimizer/dropout_elimination.cc); 22 was
# seen with 1.32.0.
DROPOUT_DROPPED = frozenset((1, 6, 7, 10, 12, 13, 22))
NOT_MOVED = (
    "float16",
    "bfloat16",
    "float8e4m3fn",
    "float8e4m3fnuz",
    "float8e5m2",
    "float8e5m2fnuz",
)


def place_ort(
    model: Model, graph: Graph, types: Types, provider: OrtProvider
) -> dict[NodeId, Support]:
    """The verdict on each node of one graph; calls of local functions are left out."""
    uses = {node.id: use for node, use in graph_uses(model, graph, types)}
    verdicts: dict[NodeId, Support] = {}
    constants = set(graph.initializers)
    # With fixed inputs ORT's inference and folding take turns until every shape is known.
    fixed = not graph.path and has_fixed_inputs(graph)
    for node in graph.sorted_nodes:
        if model.function_of(node) is not None:
            continue
        use = uses[node.id]
        verdict = _folded(node, use, constants, fixed) or _dropped(node, use, graph)
        if verdict is not None and verdict.data.get("constant"):
            constants |= set(node.outputs)
        verdicts[node.id] = verdict or provider.support(use)
    return verdicts | _HostValues(graph, uses, verdicts, constants, provider).verdicts()


def ort_types(model: Model, static: Types, concrete: Types) -> Types:
    """What ORT knows of each value when it places: of ``concrete`` no assumed dimension."""
    if has_fixed_inputs(model.graph):
        return concrete
    found = dict(static)
    for value, kind in concrete.items():
        before = static.get(value, TensorType("?"))
        if before.dtype == "?" or before.shape is None:
            rank = None if kind.shape is None else (None,) * len(kind.shape)
            found[value] = TensorType(kind.dtype, before.shape or rank, kind.kind)
    return found


def has_fixed_inputs(graph: Graph) -> bool:
    """True if the file states every input's shape: ORT then knows nearly every shape."""
    return all(p.type is not None and p.type.known_dims is not None for p in graph.inputs)


def _folded(node: Node, use: OpUse, constants: set[str], fixed_shapes: bool) -> Support | None:
    """ORT's constant folding, before any node is placed."""
    data = {"step": "constant folding", "constant": True}
    if node.op == "Constant":
        return Support(Status.FOLDED, Reason.NONE, "ORT makes it an initializer", data)
    if node.domain not in ("", "ai.onnx") or node.op in NOT_FOLDED or not node.inputs:
        return None
    kind = use.inputs[0] or TensorType("?")
    if node.op in ("Shape", "Size") and (fixed_shapes or kind.known_dims is not None):
        detail = "the input's shape is fixed in the file, so ORT folds the node"
        return Support(Status.FOLDED, Reason.NONE, detail, data)
    if all(name in constants for name in captured_inputs(node)):
        return Support(Status.FOLDED, Reason.NONE, "ORT folds it: all inputs are constants", data)
    return None


def _dropped(node: Node, use: OpUse, graph: Graph) -> Support | None:
    """A Dropout whose mask nobody reads is the identity when a model is not trained."""
    if node.op != "Dropout" or use.since_version not in DROPOUT_DROPPED:
        return None
    ends = {p.name for p in graph.outputs}
    first, others = node.outputs[:1], node.outputs[1:]
    if not ends.isdisjoint(first) or any(n in ends or n in graph.consumers for n in others):
        return None
    return Support(
        Status.FOLDED,
        Reason.NONE,
        "ORT drops it: without training it does nothing",
        {"step": "dropped"},
    )


class _HostValues:
    """The values of one graph that ORT has in host memory, and the nodes that this concerns."""

    def __init__(
        self,
        graph: Graph,
        uses: Mapping[NodeId, OpUse],
        verdicts: Mapping[NodeId, Support],
        constants: set[str],
        provider: OrtProvider,
    ) -> None:
        self._graph = graph
        self._uses = uses
        self._verdicts = verdicts
        self._constants = constants
        self._provider = provider
        self._inputs = {port.name for port in graph.inputs}
        self._order = {node.id: place for place, node in enumerate(graph.sorted_nodes)}
        self._seeds = {
            node.outputs[index]
            for node in graph.nodes
            if self._on_gpu(node.id)
            for index in provider.host_outputs(uses[node.id])
            if index < len(node.outputs) and node.outputs[index]
        }

    def verdicts(self) -> dict[NodeId, Support]:
        """The verdicts that change: nodes moved, and CPU nodes that need no copy from the GPU."""
        free = set(self._seeds)
        # With NHWC, ORT asks the provider again after its layout transformation. By then what made
        # the host values is assigned, the pass finds no start, and the nodes go back to the GPU
        # (seen with the 0.4.0 plugin: NCHW moves what the source says, NHWC nothing).
        changed = (
            self._preferred_on_cpu() if self._provider.options.preferred_layout == "NCHW" else {}
        )
        for node in self._graph.sorted_nodes:
            verdict = changed.get(node.id) or self._verdicts.get(node.id)
            if verdict is None or verdict.status is not Status.HOST:
                continue
            names = captured_inputs(node)
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
            node = self._graph.sorted_nodes[heapq.heappop(queue)]
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

    def _consumers(self, name: str) -> tuple[Node, ...]:
        return self._graph.consumers.get(name, ())

    def _is_free(self, name: str, free: set[str]) -> bool:
        return name in free or name in self._inputs or name in self._constants

    def _stays(self, index: int, name: str, node: Node, values: set[str]) -> bool:
        use = self._uses[node.id]
        kind = use.inputs[index] or TensorType("?")
        if kind.dtype in NOT_MOVED:
            return False
        if name in self._inputs:
            return True
        if name in self._constants:
            weight = self._graph.initializers.get(name)
            size = weight.shape if weight is not None else kind.known_dims
            return size is not None and math.prod(size) <= SMALL_INITIALIZER
        return name in values and index not in self._provider.host_inputs(use)
