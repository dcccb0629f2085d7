"""``int64-to-int32``: integer arithmetic in int32 where every value is proven to fit.

ORT's WebGPU provider keeps int64 arithmetic off the GPU. Only nodes change whose inputs and outputs
have bounds within int32 for any input (:mod:`.ranges`), so the outputs stay the same exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.model import Graph, GraphPath, Node, NodeId, ValueId
from ..providers.uses import model_uses
from .constants import SOURCES, constants
from .range_rules import EXACT, INT64, MAX_ELEMENTS, Bound
from .ranges import fits_int32, integer_bounds
from .retype import Slots, slots
from .rule import Note, Proposal, Subject, note
from .settle import refused_for_its_type, settle

SOURCE, TARGET = "int64", "int32"


def propose(subject: Subject) -> Proposal:
    """Run the chosen nodes in int32, by default those that the target keeps off the GPU.

    Raises:
        RefusedError: a node of ``options.nodes`` that does not exist.
        ModelFileError: an initializer cannot be read.
    """
    forced = {node.id for node in subject.chosen()}
    bounds = bounds_of(subject)
    notes: list[Note] = []
    chosen: dict[NodeId, Slots] = {}
    for node, use in model_uses(subject.model, subject.types):
        kinds = [k.dtype for k in (*use.inputs, *use.outputs) if k is not None]
        if node.id not in forced:
            if forced or SOURCE not in kinds or not refused_for_its_type(subject, node):
                continue
            if any(p[node.id].data.get("host_values_only") for p in subject.verdicts.values()):
                text = "it computes shapes from host values, which costs no copy where it is"
                notes.append(note(node, False, text))
                continue
        elif SOURCE not in kinds:
            notes.append(note(node, False, "it has no value of int64"))
            continue
        found = slots(node, use, SOURCE, TARGET, every=False)
        reason = found.refusal or _unproven(subject, node, found, bounds)
        if reason:
            notes.append(note(node, False, reason))
        else:
            chosen[node.id] = found
    return settle(subject, {SOURCE: chosen}, TARGET, notes, keep=forced, exact=True)


def bounds_of(subject: Subject) -> Mapping[ValueId, Bound]:
    """The proven bounds of the model's integers, those of its constants among them."""
    model, overridable = subject.model, subject.outside.overridable
    fixed = constants(model, subject.inferred, overridable).values
    return integer_bounds(model, subject.inferred, overridable, fixed)


def _unproven(subject: Subject, node: Node, found: Slots, bounds: Mapping[ValueId, Bound]) -> str:
    """Why the node's values may leave int32, or ""."""
    if node.op_type not in EXACT:
        return f"nothing is known of the values inside {node.op_type}"
    ports = [("input", i, node.inputs[i]) for i in sorted(found.inputs)]
    ports += [("output", i, node.outputs[i]) for i in sorted(found.outputs)]
    for what, index, name in ports:
        bound = bounds.get((node.id.graph, name))
        if bound is None or bound == INT64:
            origin = _origin(subject, (node.id.graph, name), bounds)
            return f"nothing bounds its {what} {index} ('{name}'): it comes from {origin}"
        if not fits_int32(bound):
            return f"its {what} {index} ('{name}') may be from {bound[0]:,} to {bound[1]:,}"
    return ""


def _origin(subject: Subject, value: ValueId, bounds: Mapping[ValueId, Bound]) -> str:
    """Where a value that nothing bounds comes from, as far back as that can be followed."""
    graphs = {graph.path: graph for graph in subject.model.graphs()}
    seen: set[ValueId] = set()
    value = _defined(graphs, value)
    while True:
        seen.add(value)
        path, name = value
        node = graphs[path].producers.get(name)
        if node is None:
            if name not in graphs[path].initializers:
                whose = (
                    "of a subgraph or function" if path else "which a caller may set to anything"
                )
                return f"input '{name}', {whose}"
            if not path and name in subject.outside.overridable:
                return f"initializer '{name}', which a caller may set to anything"
            return f"initializer '{name}', of more than {MAX_ELEMENTS:,} elements or unreadable"
        if node.op in SOURCES and node.inputs:
            kind = subject.inferred.get(_defined(graphs, (path, node.inputs[0])))
            known = kind is not None and kind.shape is not None
            return f"the sizes of '{node.inputs[0]}', {kind if known else 'which are unknown'}"
        inputs = (_defined(graphs, (path, n)) for n in node.inputs if n)
        value = next((i for i in inputs if _is_unbounded(subject, i, bounds)), (path, name))
        if value in seen:
            return f"'{node.label}' ({node.op})"


def _is_unbounded(subject: Subject, value: ValueId, bounds: Mapping[ValueId, Bound]) -> bool:
    kind = subject.inferred.get(value)
    return kind is not None and kind.dtype == SOURCE and bounds.get(value, INT64) == INT64


def _defined(graphs: Mapping[GraphPath, Graph], value: ValueId) -> ValueId:
    """The value by the graph that defines it: its own, or one around it."""
    path, name = value
    for depth in range(len(path), 0, -1):
        graph = graphs[path[:depth]]
        names = (*graph.producers, *graph.initializers, *(port.name for port in graph.inputs))
        if name in names:
            return graph.path, name
    return path[:0], name
