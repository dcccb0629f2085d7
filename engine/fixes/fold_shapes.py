"""``fold-shapes``: shape arithmetic that is the same for every input becomes an initializer.

Only in the main graph, and only what :mod:`.constants` computes. A value that is an output of the
model stays computed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..device.profile import DeviceProfile
from ..errors import FeedError, LimitError, ModelFileError, NodeError
from ..feeds import stand_in_feeds
from ..ir.edits import Edits
from ..ir.model import Graph, Model, Node, NodeId, ValueId, subgraph_reads
from ..ops import load_kernels
from ..plan.planner import PlanOptions, make_plan
from ..providers.uses import Types, graph_uses
from ..units import counted
from .constants import SOURCES, constants
from .liveness import dead
from .rule import Note, Proposal, Subject, note


def propose(subject: Subject) -> Proposal:
    """Fold what is constant; the outputs stay the same bit for bit."""
    model = subject.model
    types = best_types(model, subject.inferred)
    found = constants(model, types, subject.outside.overridable)
    known = found.values
    notes = [note(node, False, f"it cannot be computed: {why}") for node, why in found.failures]
    graph = model.graph
    ends = {port.name for port in graph.outputs} | subject.outside.noted
    folded = [n for n in graph.nodes if n.op_type != "Constant" and _is_known(n, known)]
    stay = [n for n in folded if any(name in ends for name in n.outputs)]
    notes += [note(n, False, "its output is one that others know by name") for n in stay]
    gone = frozenset(n.id for n in folded) - {n.id for n in stay}
    if not gone:
        notes += _open(model, types, known, frozenset())
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
    notes += _open(model, types, known, gone | fallen)
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


def _is_known(node: Node, known: Mapping[str, np.ndarray]) -> bool:
    names = [name for name in node.outputs if name]
    return bool(names) and all(name in known for name in names)


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


def _open(
    model: Model, types: Types, known: Mapping[str, np.ndarray], without: frozenset[NodeId]
) -> list[Note]:
    """Notes about Shape nodes that are not constant and stay."""
    notes = []
    for node, use in graph_uses(model, model.graph, types):
        if node.op not in SOURCES or not node.outputs or node.id in without:
            continue
        if node.outputs[0] not in known:
            kind = use.inputs[0] if use.inputs else None
            text = "unknown" if kind is None or kind.shape is None else f"{kind}: not fixed"
            notes.append(note(node, False, f"the shape of its input is {text}"))
    return notes
