"""``cast-f32``: runs f16 nodes in f32 where a provider has kernels for f32 alone.

By default those that the target puts on the CPU for their type; what then still runs there is left
as it is.
"""

from __future__ import annotations

from ..ir.model import NodeId
from ..providers.uses import model_uses
from .retype import Slots, slots
from .rule import Note, Proposal, Subject, note
from .settle import refused_for_its_type, settle

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
        if node.id not in forced and (forced or not refused_for_its_type(subject, node)):
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
