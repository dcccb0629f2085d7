"""Placement over a graph: the verdict of a target on every node of a model."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.model import Model, NodeId
from .imports import import_verdicts
from .ort import OrtProvider
from .ort_graph import place_ort
from .own_graph import place_ours
from .schema_check import schema_verdicts
from .support import Reason, Status, Support
from .targets import target
from .uses import Types

CALL = Support(Status.FOLDED, Reason.NONE, "a function call: its body is put in place of the node")
"""The body's nodes are judged instead."""


def place(
    model: Model, target_id: str, types: Types, concrete: Types | None = None
) -> Mapping[NodeId, Support]:
    """The verdict on every node of every graph.

    Args:
        model: the model.
        target_id: id of a target.
        types: static types of the model's values (``ir.infer``).
        concrete: a plan's types, where one was made. ORT places without having seen an input: for
            its targets they say nothing.
    """
    chosen = target(target_id).provider
    if isinstance(chosen, OrtProvider):
        verdicts = {
            **place_ort(model, types, chosen),
            **schema_verdicts(model, types),
            **import_verdicts(model, chosen),
        }
    else:
        verdicts = place_ours(model, concrete or types, chosen)
    calls = (n for n in model.nodes.values() if model.function_of(n) is not None)
    return verdicts | {node.id: CALL for node in calls}
