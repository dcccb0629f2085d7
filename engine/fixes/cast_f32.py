"""``cast-f32``: runs f16 nodes in f32 where a provider has kernels for f32 alone.

By default those that the target puts on the CPU for their type; what then still runs there is left
as it is.
"""

from __future__ import annotations

from ..ir.edits import Edits
from ..ir.model import Node, NodeId
from ..providers.support import Reason, Status
from ..providers.uses import model_uses
from ..units import counted
from .retype import Slots, retype, slots
from .rule import Note, Proposal, Subject, note

SOURCES = ("float16", "bfloat16")
TARGET = "float32"


def propose(subject: Subject) -> Proposal:
    """Cast the chosen nodes' inputs to f32 and their outputs back.

    Raises:
        RefusedError: a node of ``options.nodes`` that does not exist.
        ModelFileError: an initializer cannot be read.
    """
    forced = {node.id for node in subject.chosen()}
    notes: list[Note] = []
    chosen: dict[str, dict[NodeId, Slots]] = {source: {} for source in SOURCES}
    for node, use in model_uses(subject.model, subject.types):
        if node.id not in forced and (forced or not _refused_for_its_type(subject, node)):
            continue
        kinds = [k.dtype for k in (*use.inputs, *use.outputs) if k is not None]
        source = next((s for s in SOURCES if s in kinds), None)
        if source is None:
            if node.id in forced:
                notes.append(note(node, False, "it has no value of float16 or bfloat16"))
            continue
        found = slots(node, use, source, TARGET, every=True)
        if found.refusal:
            notes.append(note(node, False, found.refusal))
        else:
            chosen[source][node.id] = found
    return settle(subject, chosen, TARGET, notes, keep=forced, exact=False)


def _refused_for_its_type(subject: Subject, node: Node) -> bool:
    verdicts = (placed.get(node.id) for placed in subject.verdicts.values())
    return any(v and v.status is Status.HOST and v.reason is Reason.TYPE for v in verdicts)


def settle(
    subject: Subject,
    chosen: dict[str, dict[NodeId, Slots]],
    to: str,
    notes: list[Note],
    *,
    keep: set[NodeId],
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
    model, notes = subject.model, list(notes)
    source = next((s for s, found in chosen.items() if found), None)
    if source is None:
        return Proposal(Edits(), tuple(notes), f"no node gains from {to}", exact)
    if any(found for s, found in chosen.items() if s != source):
        others = [i for s, found in chosen.items() if s != source for i in found]
        text = f"this run of the rule is for {source}; run it again for this node"
        notes += [note(model.nodes[i], False, text) for i in others]
    picked = dict(chosen[source])
    edits = Edits()
    while picked:
        outside = subject.outside
        edits = retype(model, picked, source, to, outside.overridable | outside.noted)
        after, origins = subject.after(edits)
        now = {
            t: {origins[i]: v for i, v in placed.items() if i in origins}
            for t, placed in after.verdicts.items()
        }
        useless = {
            i: next(v[i].detail for v in now.values())
            for i in picked
            if i not in keep
            and not any(now[t][i].on_gpu and not subject.verdicts[t][i].on_gpu for t in now)
        }
        if not useless:
            break
        for i, detail in useless.items():
            text = f"in {to} it would not run on the GPU either: {detail}"
            notes.append(note(model.nodes[i], False, text))
            del picked[i]
    if not picked:
        return Proposal(Edits(), tuple(notes), f"no node gains from {to}", exact)
    for i, found in picked.items():
        notes.append(note(model.nodes[i], True, _text(found, source, to)))
    casts = sum(len(n) for part in (edits.before, edits.after) for n in part.values())
    summary = (
        f"{counted(len(picked), 'node')} in {to} instead of {source}, with "
        f"{counted(casts, 'Cast')} and {counted(len(edits.weights), 'converted initializer')}"
    )
    return Proposal(edits, tuple(notes), summary, exact)


def _text(found: Slots, source: str, to: str) -> str:
    ins = ", ".join(map(str, sorted(found.inputs)))
    outs = ", ".join(map(str, sorted(found.outputs))) or "none"
    return f"inputs {ins} and outputs {outs} are {to} instead of {source}"
