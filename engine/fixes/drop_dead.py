"""``drop-dead``: takes out nodes and initializers that nobody reads, and Identity nodes.

An Identity goes only where its output is no output of a graph and no subgraph reads it, so that no
name that anyone outside may know is lost.
"""

from __future__ import annotations

from ..ir.edits import Edits
from ..ir.model import Graph, Model, Node, NodeId, ValueId, subgraph_reads
from ..units import counted
from .liveness import dead
from .rule import Note, Proposal, Subject, note


def propose(subject: Subject) -> Proposal:
    """Drop what is dead; the outputs stay the same bit for bit."""
    model, outside = subject.model, subject.outside
    kept = outside.noted
    renamed, bypassed, notes = _bypass(model, kept)
    found = dead(model, kept | outside.overridable, frozenset(bypassed), renamed)
    inputs: dict[NodeId, dict[int, str]] = {}
    for graph in model.graphs():
        for node in graph.nodes:
            if node.id in found.nodes or node.id in bypassed:
                continue
            for i, name in enumerate(node.inputs):
                if (graph.path, name) in renamed:
                    inputs.setdefault(node.id, {})[i] = renamed[graph.path, name]
    notes += [
        note(model.nodes[i], True, "nobody reads its outputs, so it is dropped")
        for i in sorted(found.nodes)
    ]
    notes += [
        Note(None, name, "initializer", True, "nobody reads it, so it is dropped")
        for _, name in sorted(found.weights)
    ]
    removed = found.nodes | frozenset(bypassed)
    edits = Edits(removed=removed, inputs=inputs, dropped=found.weights)
    if not edits:
        return Proposal(edits, tuple(notes), "everything is read by something")
    summary = (
        f"dropped: {counted(len(found.nodes), 'dead node')}, "
        f"{counted(len(bypassed), 'Identity node')}, "
        f"{counted(len(found.weights), 'unused initializer')}"
    )
    return Proposal(edits, tuple(notes), summary)


def _bypass(
    model: Model, kept: frozenset[str]
) -> tuple[dict[ValueId, str], dict[NodeId, None], list[Note]]:
    """What to read instead of the output of each Identity that can go, those, and notes."""
    renamed: dict[ValueId, str] = {}
    bypassed: dict[NodeId, None] = {}
    notes: list[Note] = []
    for graph in model.graphs():
        captured = {name for node in graph.nodes for name in subgraph_reads(node)}
        ends = {port.name for port in graph.outputs} | (kept if not graph.path else frozenset())
        for node in graph.sorted_nodes:
            if node.op != "Identity" or model.function_of(node) is not None:
                continue
            if reason := _must_stay(graph, node, ends, captured):
                notes.append(note(node, False, reason))
                continue
            source = node.inputs[0]
            renamed[graph.path, node.outputs[0]] = renamed.get((graph.path, source), source)
            bypassed[node.id] = None
            notes.append(note(node, True, f"its readers take '{source}' instead"))
    return renamed, bypassed, notes


def _must_stay(graph: Graph, node: Node, ends: set[str], captured: set[str]) -> str:
    output = node.outputs[0] if node.outputs else ""
    if len(node.inputs) != 1 or not node.inputs[0] or not output:
        return "it is not of one input and one output"
    if output in ends:
        return f"its output '{output}' is one that others know by name"
    if output in captured:
        return f"a subgraph reads its output '{output}' by name"
    return ""
