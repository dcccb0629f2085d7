"""Placement over a graph: the verdict of a target on every node of a model.

For ORT three things depend on the whole graph, in the order in which ORT does them: constants are
folded before anything is placed, each remaining node is looked up, then nodes that only shuffle
host values are moved to the CPU.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..ir.model import Graph, Model, Node, NodeId, TensorType, captured_inputs
from ..ops.use import OpUse
from .ort import OrtProvider
from .provider import OPSCOPE, Provider
from .support import Reason, Status, Support
from .tables import load_table, table_names
from .uses import Types, graph_uses

# Initializers of at most so many elements count as host values in ORT's CPU-preferred pass
# (kSmallInitializerThreshold in onnxruntime/core/framework/fallback_cpu_capability.cc).
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


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a model can be placed for.

    Attributes:
        id: what the command line calls it.
        label: what the window calls it.
    """

    id: str
    label: str
    provider: Provider


def targets() -> tuple[Target, ...]:
    """Every target: Opscope first, then the tables that ship with it."""
    found = [Target("opscope", "Opscope", OPSCOPE)]
    for name in table_names():
        provider = OrtProvider(load_table(name))
        found.append(Target(provider.name, provider.label, provider))
    return tuple(found)


def target(name: str) -> Target:
    """The target called ``name``; KeyError if there is none."""
    return {t.id: t for t in targets()}[name]


def place(
    model: Model, target_id: str, types: Types, concrete: Types | None = None
) -> Mapping[NodeId, Support]:
    """The verdict on every node of every graph.

    Args:
        model: the model.
        target_id: id of a target.
        types: static types of the model's values (``ir.infer``).
        concrete: a plan's types, where one was made. ORT places without having seen an input, so
            for its targets they add element types and ranks alone, unless all inputs are fixed.
    """
    chosen = target(target_id).provider
    known = concrete or types
    verdicts: dict[NodeId, Support] = {}
    for graph in model.graphs():
        if isinstance(chosen, OrtProvider):
            verdicts |= _place_ort(model, graph, ort_types(model, types, known), chosen)
        else:
            verdicts |= _place_ours(model, graph, known, chosen)
    return verdicts


def ort_types(model: Model, static: Types, concrete: Types) -> Types:
    """What ORT knows of each value when it places: of ``concrete`` no assumed dimension."""
    if has_fixed_inputs(model.graph):
        return concrete
    found = dict(static)
    for value, kind in concrete.items():
        before = static.get(value, TensorType("?"))
        if before.dtype == "?" or before.shape is None:
            shape = None if kind.shape is None else (None,) * len(kind.shape)
            found[value] = TensorType(kind.dtype, before.shape or shape, kind.kind)
    return found


def has_fixed_inputs(graph: Graph) -> bool:
    """True if the file states every input's shape: ORT then knows nearly every shape."""
    return all(p.type is not None and p.type.known_dims is not None for p in graph.inputs)


def _call(model: Model, node: Node) -> Support | None:
    """A call of a model-local function is opened in place; its body's nodes are judged."""
    if model.function_of(node) is None:
        return None
    return Support(
        Status.FOLDED, Reason.NONE, "a function call: its body is put in place of the node"
    )


def _place_ours(
    model: Model, graph: Graph, types: Types, provider: Provider
) -> dict[NodeId, Support]:
    """Before a plan exists: constants and shapes fold, the registry says the rest."""
    verdicts: dict[NodeId, Support] = {}
    constants = set(graph.initializers)
    uses = {node.id: use for node, use in graph_uses(model, graph, types)}
    for node in graph.sorted_nodes:
        verdict = _call(model, node)
        if verdict is None and node.op == "If":
            detail = "its condition is read while planning, and the branch that it takes is opened"
            verdict = Support(Status.FOLDED, Reason.NONE, detail)
        if verdict is None and node.op in ("Shape", "Size"):
            verdict = Support(Status.FOLDED, Reason.NONE, "computed while planning, from shapes")
            constants |= set(node.outputs)
        if verdict is None and _all_known(node, constants) and node.op not in RANDOM:
            verdict = Support(Status.FOLDED, Reason.NONE, "computed on the host while planning")
            constants |= set(node.outputs)
        verdicts[node.id] = verdict or provider.support(uses[node.id])
    return verdicts


def _all_known(node: Node, constants: set[str]) -> bool:
    return all(name in constants for name in captured_inputs(node))


def _place_ort(
    model: Model, graph: Graph, types: Types, provider: OrtProvider
) -> dict[NodeId, Support]:
    uses = {node.id: use for node, use in graph_uses(model, graph, types)}
    verdicts: dict[NodeId, Support] = {}
    constants = set(graph.initializers)
    # With fixed inputs ORT's inference and folding take turns until every shape is known.
    fixed = not graph.path and has_fixed_inputs(graph)
    for node in graph.sorted_nodes:
        verdict = _call(model, node) or _folded_by_ort(node, uses[node.id], constants, fixed)
        if verdict is not None and verdict.data.get("constant"):
            constants |= set(node.outputs)
        verdicts[node.id] = verdict or provider.support(uses[node.id])
    return verdicts | _prefer_cpu(graph, uses, verdicts, constants, provider)


def _folded_by_ort(
    node: Node, use: OpUse, constants: set[str], fixed_shapes: bool
) -> Support | None:
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
    if _all_known(node, constants):
        return Support(Status.FOLDED, Reason.NONE, "ORT folds it: all inputs are constants", data)
    return None


def _prefer_cpu(
    graph: Graph,
    uses: Mapping[NodeId, OpUse],
    verdicts: Mapping[NodeId, Support],
    constants: set[str],
    provider: OrtProvider,
) -> dict[NodeId, Support]:
    """ORT's CPU-preferred pass: what only shuffles host values leaves the GPU.

    It starts at the consumers of outputs that a GPU kernel keeps in host memory (Shape) and follows
    them while every input is such a value, a graph input or a small initializer; an f16 input, or
    an input that the kernel itself wants in host memory, stops it.
    Source: GetCpuPreferredNodes in onnxruntime/core/framework/fallback_cpu_capability.cc.
    """
    order = {node.id: i for i, node in enumerate(graph.sorted_nodes)}
    on_gpu = {n for n, v in verdicts.items() if v.status in (Status.GPU, Status.FAILS)}
    host_values: set[str] = set()
    queue: list[tuple[int, NodeId]] = []
    nodes = {node.id: node for node in graph.nodes}

    def follow(name: str) -> None:
        host_values.add(name)
        for consumer in graph.consumers.get(name, ()):
            heapq.heappush(queue, (order[consumer.id], consumer.id))

    for node in graph.nodes:
        if node.id in on_gpu:
            for row in provider.matching(uses[node.id])[:1]:
                for index in row.host_outputs:
                    if index < len(node.outputs) and node.outputs[index]:
                        follow(node.outputs[index])
    moved: dict[NodeId, Support] = {}
    inputs = {port.name for port in graph.inputs}
    while queue:
        _, node_id = heapq.heappop(queue)
        if node_id in moved or node_id not in on_gpu:
            continue
        node, use = nodes[node_id], uses[node_id]
        if all(
            _stays_on_host(i, name, use, graph, host_values, inputs, constants, provider)
            for i, name in enumerate(node.inputs)
            if name
        ):
            detail = (
                "ORT prefers the CPU for it: its inputs are host values (shape arithmetic), so the "
                "GPU would only add copies"
            )
            moved[node_id] = Support(
                Status.HOST, Reason.HOST_ON_PURPOSE, detail, {"step": "CPU-preferred pass"}
            )
            for name in node.outputs:
                if name:
                    follow(name)
    return moved


def _stays_on_host(
    index: int,
    name: str,
    use: OpUse,
    graph: Graph,
    host_values: set[str],
    inputs: set[str],
    constants: set[str],
    provider: OrtProvider,
) -> bool:
    kind = use.inputs[index] or TensorType("?")
    if kind.dtype in ("float16", "bfloat16"):
        return False
    if name in inputs:
        return True
    if name in constants:
        size = graph.initializers[name].shape if name in graph.initializers else kind.known_dims
        return size is not None and math.prod(size) <= SMALL_INITIALIZER
    return name in host_values and index not in provider.host_inputs(use)
