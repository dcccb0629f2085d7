"""``fold-shapes``: shape arithmetic that is the same for every input becomes an initializer.

Only in the main graph, only integers and booleans (and casts of them, which are exact), computed on
the host in their own types. A value that is an output of the model stays computed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..device.profile import DeviceProfile
from ..errors import FeedError, LimitError, ModelFileError, NodeError
from ..feeds import stand_in_feeds
from ..host.evaluate import evaluate
from ..ir.edits import Edits, ValueId
from ..ir.model import Graph, Model, Node, NodeId, TensorType, subgraph_reads
from ..ops import load_kernels
from ..plan.planner import PlanOptions, make_plan
from ..providers.uses import Types, graph_uses
from .liveness import dead
from .rule import Note, Proposal, Subject, counted, note

MAX_ELEMENTS = 1024
"""Values of more elements are no shape arithmetic."""

_SOURCES = frozenset(("Shape", "Size"))
_EXACT = frozenset(
    (
        *("Gather", "Slice", "Concat", "Squeeze", "Unsqueeze", "Reshape", "Flatten"),
        *("Transpose", "Cast", "Identity", "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Abs"),
        *("Min", "Max", "Where", "Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"),
        *("And", "Or", "Not", "Sign", "ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"),
        *("Range", "ConstantOfShape", "Expand", "Tile", "Split", "GatherElements"),
        *("ScatterND", "ScatterElements", "NonZero", "Clip", "Pad"),
    )
)
_GROWS = frozenset(("Range", "ConstantOfShape", "Expand", "Tile", "Pad"))
"""Operators whose output can be of any size; they are computed only where it is known."""
_MOVES = frozenset(
    ("Cast", "Gather", "Slice", "Concat", "Squeeze", "Unsqueeze", "Reshape", "Identity", "Split")
)
"""What is exact for floats too."""


def propose(subject: Subject) -> Proposal:
    """Fold what is constant; the outputs stay the same bit for bit."""
    model = subject.model
    types = best_types(model, subject.inferred)
    known, notes = _folded(model, types, subject.outside.overridable)
    graph = model.graph
    ends = {port.name for port in graph.outputs} | subject.outside.noted
    folded = [n for n in graph.nodes if n.op_type != "Constant" and _is_known(n, known)]
    stay = [n for n in folded if any(name in ends for name in n.outputs)]
    notes += [note(n, False, "its output is one that others know by name") for n in stay]
    gone = frozenset(n.id for n in folded) - {n.id for n in stay}
    notes += _open(model, types, known)
    if not gone:
        return Proposal(Edits(), tuple(notes), "no shape arithmetic is constant")
    kept = subject.outside.noted | subject.outside.overridable
    before = dead(model, kept)
    # What was dead before is not this rule's to drop, so what it reads stays, too.
    kept |= _read_by_others(graph, frozenset(n.id for n in graph.nodes) - before.nodes)
    after = dead(model, kept, gone)
    fallen = after.nodes - before.nodes
    read = _read_by_others(graph, gone | fallen)
    weights: dict[ValueId, np.ndarray] = {
        ((), name): known[name]
        for n in folded
        if n.id in gone
        for name in n.outputs
        if name and name in read
    }
    for n in folded:
        if n.id in gone:
            notes.append(note(n, True, _text(n, known)))
    for i in sorted(fallen):
        notes.append(note(model.nodes[i], True, "only what was folded read it, so it is dropped"))
    dropped = after.weights - before.weights
    edits = Edits(removed=gone | fallen, weights=weights, dropped=dropped)
    summary = (
        f"{counted(len(gone), 'node')} folded into {counted(len(weights), 'initializer')}; no "
        f"longer needed: {counted(len(fallen), 'node')}, {counted(len(dropped), 'initializer')}"
    )
    return Proposal(edits, tuple(notes), summary)


def best_types(model: Model, static: Types) -> Types:
    """``static``, with a plan's types where all inputs are fixed and no shape hangs on a value."""
    fixed = all(p.type is not None and p.type.known_dims is not None for p in model.graph.inputs)
    if not fixed:
        return static
    try:
        feeds = stand_in_feeds(model)
        plan = make_plan(model, feeds.arrays, DeviceProfile(), load_kernels(), PlanOptions())
    except (FeedError, NodeError, LimitError, ModelFileError):
        return static  # the plan only adds to what is known; `check` says why none can be made
    if feeds.assumed or plan.host_keyed:
        return static
    main = {(), *(graph.path for graph in model.graphs())}
    found = {v: t for v, t in plan.types.items() if v[0] in main and t.dtype != "?"}
    return {**static, **found}


def _folded(
    model: Model, types: Types, overridable: frozenset[str]
) -> tuple[dict[str, np.ndarray], list[Note]]:
    """The values of the main graph that are the same for every input, and notes."""
    graph = model.graph
    known: dict[str, np.ndarray] = {}
    notes: list[Note] = []
    for name, weight in graph.initializers.items():
        if name not in overridable and _is_small(weight.type):
            known[name] = weight.numpy()
    uses = {node.id: use for node, use in graph_uses(model, graph, types)}
    for node in graph.sorted_nodes:
        if node.domain or not node.outputs or model.function_of(node) is not None:
            continue
        use = uses[node.id]
        if node.op_type in _SOURCES:
            found = _of_type(node, use.inputs[0] if use.inputs else None)
            if found is not None and node.outputs[0]:
                known[node.outputs[0]] = found
            continue
        constant = node.op_type == "Constant"
        if not constant and (
            node.op_type not in _EXACT or not all(n in known for n in node.inputs if n)
        ):
            continue
        if not _may_compute(node, use.outputs, [known[n] for n in node.inputs if n]):
            continue
        arrays = [known[name] if name else None for name in node.inputs]
        try:
            results = evaluate(use, arrays)
        except (NodeError, ModelFileError) as error:
            notes.append(note(node, False, f"it cannot be computed: {error}"))
            continue
        for name, value in zip(node.outputs, results, strict=True):
            if name and isinstance(value, np.ndarray) and value.size <= MAX_ELEMENTS:
                known[name] = value
    return {k: v for k, v in known.items() if k not in graph.initializers}, notes


def _may_compute(
    node: Node, outputs: tuple[TensorType | None, ...], arrays: list[np.ndarray]
) -> bool:
    floats = any(a.dtype.kind not in "iub" for a in arrays)
    if floats and node.op_type not in _MOVES:
        return False
    if floats and node.op_type == "Cast":
        return False  # of a float it may round
    if node.op_type in _GROWS or node.op_type == "Constant":
        kinds = [kind for kind in outputs if kind is not None]
        if not all(map(_is_small, kinds)):
            return False
        return node.op_type == "Constant" or all(_is_whole(kind) for kind in kinds)
    return True


def _is_whole(kind: TensorType) -> bool:
    return "int" in kind.dtype or kind.dtype == "bool"


def _is_known(node: Node, known: Mapping[str, np.ndarray]) -> bool:
    names = [name for name in node.outputs if name]
    return bool(names) and all(name in known for name in names)


def _is_small(kind: TensorType) -> bool:
    dims = kind.known_dims
    return dims is not None and kind.dtype != "string" and math.prod(dims) <= MAX_ELEMENTS


def _of_type(node: Node, kind: TensorType | None) -> np.ndarray | None:
    """What Shape or Size gives for a value of type ``kind``, where that is known."""
    if kind is None or kind.shape is None or kind.kind != "tensor" or kind.dtype == "?":
        return None
    dims = kind.shape
    if node.op_type == "Shape":
        start, end = node.attributes.get("start", 0), node.attributes.get("end")
        if not isinstance(start, int) or not (end is None or isinstance(end, int)):
            return None
        rank = len(dims)
        low = max(0, min(rank, start + rank if start < 0 else start))
        high = rank if end is None else max(0, min(rank, end + rank if end < 0 else end))
        dims = dims[low:high]
    if not all(isinstance(d, int) for d in dims):
        return None
    sizes = [int(d) for d in dims if isinstance(d, int)]
    return np.array(math.prod(sizes) if node.op_type == "Size" else sizes, np.int64)


def _read_by_others(graph: Graph, without: frozenset[NodeId]) -> set[str]:
    """The values that nodes other than ``without`` read, or subgraphs of theirs."""
    found: set[str] = set()
    for node in graph.nodes:
        if node.id not in without:
            found.update((*node.inputs, *subgraph_reads(node)))
    return found


def _text(node: Node, known: Mapping[str, np.ndarray]) -> str:
    value = known[next(name for name in node.outputs if name)]
    shown = " ".join(np.array2string(value, threshold=8, separator=", ").split())
    shown = shown.replace("[ ", "[")  # numpy aligns columns
    return f"it is {shown} for every input, so it becomes a constant"


def _open(model: Model, types: Types, known: Mapping[str, np.ndarray]) -> list[Note]:
    """Notes about Shape nodes that are not constant."""
    notes = []
    for node, use in graph_uses(model, model.graph, types):
        if node.op in _SOURCES and node.outputs and node.outputs[0] not in known:
            kind = use.inputs[0] if use.inputs else None
            notes.append(note(node, False, f"the shape of its input is {kind}: not fixed"))
    return notes
