"""``int64-to-int32``: integer arithmetic in int32 where every value is proven to fit.

ORT's WebGPU provider keeps int64 arithmetic off the GPU. Only nodes change whose inputs and outputs
have bounds within int32 for any input (:mod:`.ranges`), so the outputs stay the same exactly.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.edits import ValueId
from ..ir.model import Node, NodeId
from ..ops.use import OpUse
from ..providers.support import Reason, Status
from ..providers.uses import model_uses
from .cast_f32 import settle
from .ranges import EXACT, INT64, Bound, fits_int32, integer_bounds
from .retype import Slots, slots
from .rule import Note, Proposal, Subject, note

SOURCE, TARGET = "int64", "int32"


def propose(subject: Subject) -> Proposal:
    """Run the chosen nodes in int32, by default those that the target keeps off the GPU.

    Raises:
        RefusedError: a node of ``options.nodes`` that does not exist.
        ModelFileError: an initializer cannot be read.
    """
    forced = {node.id for node in subject.chosen()}
    bounds = integer_bounds(subject.model, subject.inferred, subject.outside.overridable)
    notes: list[Note] = []
    chosen: dict[NodeId, Slots] = {}
    for node, use in model_uses(subject.model, subject.types):
        kinds = [k.dtype for k in (*use.inputs, *use.outputs) if k is not None]
        if node.id not in forced:
            if forced or SOURCE not in kinds or not _refused_for_its_type(subject, node):
                continue
            if any(p[node.id].data.get("host_values_only") for p in subject.verdicts.values()):
                text = "it computes shapes from host values, which costs no copy where it is"
                notes.append(note(node, False, text))
                continue
        elif SOURCE not in kinds:
            notes.append(note(node, False, "it has no value of int64"))
            continue
        found = slots(node, use, SOURCE, TARGET, every=False)
        reason = found.refusal or _unproven(node, use, found, bounds)
        if reason:
            notes.append(note(node, False, reason))
        else:
            chosen[node.id] = found
    return settle(subject, {SOURCE: chosen}, TARGET, notes, keep=forced, exact=True)


def _refused_for_its_type(subject: Subject, node: Node) -> bool:
    verdicts = (placed.get(node.id) for placed in subject.verdicts.values())
    return any(v and v.status is Status.HOST and v.reason is Reason.TYPE for v in verdicts)


def _unproven(node: Node, use: OpUse, found: Slots, bounds: Mapping[ValueId, Bound]) -> str:
    """Why the node's values may leave int32, or ""."""
    if node.op_type not in EXACT:
        return f"nothing is known of the values inside {node.op_type}"
    ports = [("input", i, node.inputs[i]) for i in sorted(found.inputs)]
    ports += [("output", i, node.outputs[i]) for i in sorted(found.outputs)]
    for what, index, name in ports:
        bound = bounds.get((node.id.graph, name))
        if bound is None or bound == INT64:
            return f"nothing bounds its {what} {index} ('{name}')"
        if not fits_int32(bound):
            return f"its {what} {index} ('{name}') may be from {bound[0]:,} to {bound[1]:,}"
    return ""
