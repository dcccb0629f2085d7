"""``lower-opset``: the newest older opset at which more nodes run on the GPU and all mean the same.

ORT's kernels are matched by the version of an operator's schema, so a newer stamp alone can move
nodes to the CPU. Only ONNX's own operators are restamped, in the model and in its functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..ir.edits import Edits
from ..ir.model import Graph, GraphPath, Model, Node, NodeId
from ..ir.schema import newest_opset
from ..providers.ort import OrtProvider
from ..providers.placement import place
from ..providers.support import Reason, Status
from ..providers.targets import target
from ..providers.uses import model_uses
from ..units import counted
from .rule import Note, Proposal, RefusedError, Subject, failing, note, on_gpu
from .version_facts import Settled
from .versions import Meaning, meaning

LOWEST = 7
"""Below, ONNX broadcast by attributes; nothing is lowered so far."""


@dataclass(frozen=True)
class Candidate:
    """The model at an older opset.

    Attributes:
        opset: the version.
        meanings: each of ONNX's own nodes there.
    """

    opset: int
    meanings: Mapping[NodeId, Meaning]

    @property
    def against(self) -> tuple[tuple[NodeId, str], ...]:
        """The nodes that do not mean the same there, and why."""
        return tuple((i, m.difference) for i, m in self.meanings.items() if m.difference)

    @property
    def attributes(self) -> Mapping[NodeId, Settled]:
        """What must change besides the stamp."""
        return {i: m.attributes for i, m in self.meanings.items() if m.attributes}


def propose(subject: Subject) -> Proposal:
    """Lower the stamp to ``options.opset``, or to the version that serves the targets best.

    Raises:
        RefusedError: ``options.opset`` cannot be reached; names the first node and why.
    """
    model, wanted = subject.model, subject.options.opset
    opset = max(_stamps(model).values(), default=0)
    if not opset:
        return Proposal(Edits(), (), "the model imports none of ONNX's own operators")
    if opset > newest_opset():
        raise RefusedError(
            f"{model.path}: opset {opset} is newer than the {newest_opset()} that the installed "
            "onnx knows, so nothing can be compared"
        )
    if wanted is not None:
        return _forced(subject, opset, wanted)
    return _best(subject, opset)


def _best(subject: Subject, opset: int) -> Proposal:
    """The proposal for the newest version with the most nodes on the GPU.

    Placing a large model takes seconds. So it is placed only while a node is off the GPU for its
    version, and only at versions at which some node has another schema.
    """
    model = subject.model
    standing = _standing(subject, model)
    if not standing.gated:
        return Proposal(Edits(), (), f"opset {opset} stays: no node is off the GPU because of it")
    best, best_score, seen = None, standing.score, _signature(subject, opset, None)
    barrier: tuple[Note, ...] = ()
    for version in range(opset - 1, LOWEST - 1, -1):
        candidate = _candidate(subject, version)
        if against := candidate.against:
            barrier = tuple(note(model.nodes[i], False, _text(version, t)) for i, t in against)
            break
        if (signature := _signature(subject, version, candidate)) == seen:
            continue
        seen, standing = signature, _standing(subject, _restamped(model, candidate))
        if standing.score > best_score:
            best, best_score = candidate, standing.score
        if not standing.gated:
            break
    if best is None:
        what = f"opset {opset} stays: no older one puts more nodes on the GPU"
        if barrier:
            what += f" (those below {version + 1} would change what a node means)"
        return Proposal(Edits(), barrier, what)
    return _proposal(subject, best, barrier)


def _forced(subject: Subject, opset: int, wanted: int) -> Proposal:
    model = subject.model
    if wanted < LOWEST:
        raise RefusedError(f"{model.path}: opset {wanted} is below {LOWEST}, the lowest compared")
    if wanted >= opset:
        return Proposal(Edits(), (), f"the model is stamped opset {opset}, not above {wanted}")
    candidate = _candidate(subject, wanted)
    if candidate.against:
        raise RefusedError(_refusal(subject, candidate, opset))
    return _proposal(subject, candidate, ())


def _refusal(subject: Subject, candidate: Candidate, opset: int) -> str:
    """The first node that stands against a version, why, and how far the stamp can be lowered."""
    model, wanted = subject.model, candidate.opset
    (first, difference), *others = candidate.against
    node, lowest = model.nodes[first], opset
    while not _candidate(subject, lowest - 1).against:
        lowest -= 1
    what = f"node '{node.label}' ({node.op}) does not mean the same at opset {wanted}: {difference}"
    more = f" (and {counted(len(others), 'more node')})" if others else ""
    reach = f"--opset {lowest} is as far as every node means the same"
    if lowest == opset:
        reach = f"opset {opset} is the oldest at which every node means the same"
    return f"{model.path}: {what}{more}; {reach}"


def _text(version: int, difference: str) -> str:
    return f"opset {version}: {difference}"


def _candidate(subject: Subject, version: int) -> Candidate:
    """The model at ``version``.

    What the file declares of values in between is not relied on: it may be wrong.
    """
    model = subject.model
    meanings: dict[NodeId, Meaning] = {}
    for node, use in model_uses(model, subject.inferred):
        current = model.opset(node)
        if node.domain or current is None or model.function_of(node) is not None:
            continue
        if current <= version:
            continue
        meanings[node.id] = meaning(node, use, version, current)
    return Candidate(version, meanings)


@dataclass(frozen=True)
class _Standing:
    """How a model stands with the targets.

    Attributes:
        score: better is larger: first few failures, then many nodes on the GPU.
        gated: whether a node fails or is off the GPU because of a version.
    """

    score: tuple[int, int]
    gated: bool


def _standing(subject: Subject, model: Model) -> _Standing:
    placed = [place(model, t, subject.types) for t in subject.options.targets]
    gated = any(
        not v.on_gpu and (v.reason is Reason.SCHEMA_VERSION or v.status is Status.FAILS)
        for verdicts in placed
        for v in verdicts.values()
    )
    return _Standing((-sum(map(failing, placed)), sum(map(on_gpu, placed))), gated)


def _signature(subject: Subject, version: int, candidate: Candidate | None) -> tuple[object, ...]:
    """What placement sees of a version: the schemas, and whether a provider takes it at all."""
    providers = (target(t).provider for t in subject.options.targets)
    ranges = [p.table.opsets for p in providers if isinstance(p, OrtProvider)]
    within = (r is None or r[0] <= version <= r[1] for r in ranges)
    schemas = () if candidate is None else (m.older for m in candidate.meanings.values())
    return (*within, *schemas)


def _stamps(model: Model) -> dict[GraphPath, int]:
    """The version of ONNX's own operators of the model, ``()``, and of each function."""
    found: dict[GraphPath, Mapping[str, int]] = {(): model.opset_imports}
    found |= {f.graph.path: f.opset_imports for f in model.functions.values()}
    return {path: imports[""] for path, imports in found.items() if "" in imports}


def _opsets(model: Model, version: int) -> dict[GraphPath, int]:
    """The stamps to change: those that are above ``version``."""
    return {path: version for path, stamp in _stamps(model).items() if stamp > version}


def _proposal(subject: Subject, chosen: Candidate, barrier: tuple[Note, ...]) -> Proposal:
    model = subject.model
    opsets = _opsets(model, chosen.opset)
    notes = []
    for identity, found in chosen.meanings.items():
        node = model.nodes[identity]
        if found.older != found.newer or found.attributes:
            text = f"schema version {found.newer} becomes {found.older}, which means the same here"
            text += "".join(_attribute_text(k, v) for k, v in found.attributes.items())
            notes.append(note(node, True, text))
        else:
            text = f"its schema is version {found.newer} at both opsets"
            notes.append(note(node, False, text))
    before = ", ".join(str(s) for s in sorted({_stamps(model)[path] for path in opsets}))
    own = len(opsets) - (() in opsets)
    functions = f", in {counted(own, 'function')}" if own else ""
    summary = f"opset {before} becomes {chosen.opset}{functions}"
    edits = Edits(opsets=opsets, attributes=chosen.attributes)
    return Proposal(edits, (*notes, *barrier), summary)


def _attribute_text(name: str, value: int | str | None) -> str:
    return f"; {name} is left out" if value is None else f"; {name} becomes {value!r}"


def _restamped(model: Model, chosen: Candidate) -> Model:
    """``model`` as it would be read at the older opset."""
    opsets = _opsets(model, chosen.opset)
    functions = {
        key: replace(
            f,
            graph=_settled(f.graph, chosen.attributes),
            opset_imports=(
                {**f.opset_imports, "": chosen.opset} if f.graph.path in opsets else f.opset_imports
            ),
        )
        for key, f in model.functions.items()
    }
    return replace(
        model,
        graph=_settled(model.graph, chosen.attributes),
        opset_imports={**model.opset_imports, **({"": chosen.opset} if () in opsets else {})},
        functions=functions,
    )


def _settled(graph: Graph, changes: Mapping[NodeId, Settled]) -> Graph:
    """``graph`` with changed attributes, those of its subgraphs too."""
    if not changes:
        return graph
    return replace(graph, nodes=tuple(_settled_node(n, changes) for n in graph.nodes))


def _settled_node(node: Node, changes: Mapping[NodeId, Settled]) -> Node:
    attributes: dict[str, Any] = dict(node.attributes)
    for name, value in attributes.items():
        if isinstance(value, Graph):
            attributes[name] = _settled(value, changes)
        elif isinstance(value, tuple) and any(isinstance(v, Graph) for v in value):
            attributes[name] = tuple(_settled(v, changes) for v in value)
    for name, new in changes.get(node.id, {}).items():
        if new is None:
            attributes.pop(name, None)
        else:
            attributes[name] = new
    return replace(node, attributes=attributes)
