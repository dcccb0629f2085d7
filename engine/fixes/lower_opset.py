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
from ..providers.placement import place
from ..providers.uses import model_uses
from .rule import Note, Proposal, RefusedError, Subject, counted, failing, note, on_gpu
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
    def attributes(self) -> Mapping[NodeId, Settled]:
        """What must change besides the stamp."""
        return {i: m.attributes for i, m in self.meanings.items() if m.attributes}


def propose(subject: Subject) -> Proposal:
    """Lower the stamp to ``options.opset``, or to the version that serves the targets best.

    Raises:
        RefusedError: ``options.opset`` cannot be reached; names the first node and why.
    """
    model, wanted = subject.model, subject.options.opset
    opset = model.opset_imports.get("")
    if opset is None:
        return Proposal(Edits(), (), "the model imports none of ONNX's own operators")
    if opset > newest_opset():
        raise RefusedError(
            f"{model.path}: opset {opset} is newer than the {newest_opset()} that the installed "
            "onnx knows, so nothing can be compared"
        )
    if wanted is not None:
        return _forced(subject, opset, wanted)
    best, best_score = None, _score(subject, model)
    barrier: tuple[Note, ...] = ()
    for version in range(opset - 1, LOWEST - 1, -1):
        candidate, barrier = _candidate(subject, version)
        if candidate is None:
            break
        score = _score(subject, _restamped(model, candidate))
        if score > best_score:
            best, best_score = candidate, score
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
    candidate, barrier = _candidate(subject, wanted)
    if candidate is None:
        more = f" (and {len(barrier) - 1} more)" if len(barrier) > 1 else ""
        raise RefusedError(
            f"{model.path}: node '{barrier[0].label}' ({barrier[0].op}) does not mean the same at "
            f"opset {wanted}: {barrier[0].text.partition(': ')[2]}{more}"
        )
    return _proposal(subject, candidate, ())


def _candidate(subject: Subject, version: int) -> tuple[Candidate | None, tuple[Note, ...]]:
    """The model at ``version``; None, and the nodes that stand against it, where it changes."""
    model = subject.model
    meanings: dict[NodeId, Meaning] = {}
    against: list[Note] = []
    for node, use in model_uses(model, subject.types):
        current = model.opset(node)
        if node.domain or current is None or model.function_of(node) is not None:
            continue
        if current <= version:
            continue
        found = meaning(node, use, version, current)
        meanings[node.id] = found
        if found.difference:
            against.append(note(node, False, f"opset {version}: {found.difference}"))
    return (None, tuple(against)) if against else (Candidate(version, meanings), ())


def _score(subject: Subject, model: Model) -> tuple[int, int]:
    """Better is larger: first few failures, then many nodes on the GPU, over all targets."""
    placed = [place(model, t, subject.types) for t in subject.options.targets]
    return -sum(map(failing, placed)), sum(map(on_gpu, placed))


def _opsets(model: Model, version: int) -> dict[GraphPath, int]:
    """The stamps to change: the model's, and those of functions that are above ``version``."""
    found: dict[GraphPath, int] = {(): version}
    for function in model.functions.values():
        if function.opset_imports.get("", 0) > version:
            found[function.graph.path] = version
    return found


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
    functions = f", in {counted(len(opsets) - 1, 'function')} too" if len(opsets) > 1 else ""
    summary = f"opset {model.opset_imports['']} becomes {chosen.opset}{functions}"
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
        opset_imports={**model.opset_imports, "": chosen.opset},
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
