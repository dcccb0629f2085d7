"""Which of the nodes that could have another element type gain from it, and the edits for those."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..ir.edits import Edits
from ..ir.model import Node, NodeId
from ..providers.support import Reason, Status
from ..units import counted
from .retype import Slots, retype
from .rule import Note, Proposal, Subject, note


def refused_for_its_type(subject: Subject, node: Node) -> bool:
    """Whether a target leaves ``node`` to the CPU because of its element type."""
    verdicts = (placed.get(node.id) for placed in subject.verdicts.values())
    return any(v and v.status is Status.HOST and v.reason is Reason.TYPE for v in verdicts)


def settle(
    subject: Subject,
    chosen: Mapping[str, Mapping[NodeId, Slots]],
    to: str,
    notes: list[Note],
    *,
    keep: Collection[NodeId],
    exact: bool,
) -> Proposal:
    """The proposal that retypes ``chosen``, without the nodes to which it brings nothing.

    Args:
        subject: the model.
        chosen: element type -> the nodes that are to leave it.
        to: the type that they are to have.
        notes: what has been said so far.
        keep: nodes that the user asked for, whatever they bring.
        exact: whether the outputs stay the same bit for bit.
    """
    model = subject.model
    nothing = f"no node gains from {to}"
    source = next((s for s, found in chosen.items() if found), None)
    if source is None:
        return Proposal(Edits(), tuple(notes), nothing, exact)
    text = f"this run of the rule is for {source}; run it again for this node"
    others = [i for s, found in chosen.items() if s != source for i in found]
    picked, edits, useless = _gaining(subject, chosen[source], source, to, keep)
    notes = [*notes, *(note(model.nodes[i], False, text) for i in others), *useless]
    if not picked:
        return Proposal(Edits(), tuple(notes), nothing, exact)
    notes += [note(model.nodes[i], True, _text(found, source, to)) for i, found in picked.items()]
    casts = sum(len(n) for part in (edits.before, edits.after) for n in part.values())
    summary = (
        f"{counted(len(picked), 'node')} in {to} instead of {source}, with "
        f"{counted(casts, 'Cast')} and {counted(len(edits.weights), 'converted initializer')}"
    )
    return Proposal(edits, tuple(notes), summary, exact)


def _gaining(
    subject: Subject,
    chosen: Mapping[NodeId, Slots],
    source: str,
    to: str,
    keep: Collection[NodeId],
) -> tuple[Mapping[NodeId, Slots], Edits, list[Note]]:
    """The nodes that gain or are asked for, the edits that retype them, and notes on the others.

    Without one node, others have other neighbours, so what is left is looked at again.
    """
    picked, outside = dict(chosen), subject.outside
    notes: list[Note] = []
    while picked:
        edits = retype(subject.model, picked, source, to, outside.overridable | outside.noted)
        useless = _useless(subject, edits, picked.keys() - set(keep))
        if not useless:
            return picked, edits, notes
        for i, detail in useless.items():
            text = f"in {to} it would not run on the GPU either: {detail}"
            notes.append(note(subject.model.nodes[i], False, text))
            del picked[i]
    return {}, Edits(), notes


def _useless(subject: Subject, edits: Edits, nodes: Collection[NodeId]) -> Mapping[NodeId, str]:
    """Those of ``nodes`` that ``edits`` bring to no target's GPU, in file order, and why."""
    after, origins = subject.after(edits)
    now = {
        target: {origins[i]: verdict for i, verdict in placed.items() if i in origins}
        for target, placed in after.verdicts.items()
    }
    before = subject.verdicts
    return {
        i: next(placed[i].detail for placed in now.values())
        for i in sorted(nodes)
        if not any(now[t][i].on_gpu and not before[t][i].on_gpu for t in now)
    }


def _text(found: Slots, source: str, to: str) -> str:
    ins = ", ".join(map(str, sorted(found.inputs)))
    outs = ", ".join(map(str, sorted(found.outputs))) or "none"
    return f"inputs {ins} and outputs {outs} are {to} instead of {source}"
