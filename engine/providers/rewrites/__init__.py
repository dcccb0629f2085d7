"""What ONNX Runtime's optimizers do to a graph, matched to the user's nodes: one module per kind.

Level 1 runs before any provider is asked, over and over until nothing changes. Level 2 runs after
the nodes are placed, each fusion for the providers that have its kernel.
"""

from __future__ import annotations

from . import (
    common,
    convolutions,
    folding,
    normalizations,
    products,
    quantizers,
    removals,
    reshapes,
    transposes,
)
from .activations import SEEN, level_two
from .folding import Able
from .graph import MADE, Work
from .left import Left
from .transposes import CHANNELS_LAST, wrap
from .values import Value

__all__ = [
    "CHANNELS_LAST",
    "MADE",
    "SEEN",
    "Left",
    "Value",
    "Work",
    "level_one",
    "level_two",
    "wrap",
]

ROUNDS = 10
"""How often ORT runs the passes of one level at most."""


def level_one(work: Work, able: Able) -> None:
    """The passes that run before any provider is asked, in ORT's order.

    Args:
        work: the graph, which is edited.
        able: whether ORT's CPU provider has a kernel for a node.
    """
    folding.constants(work)
    for round_ in range(ROUNDS):
        work.changed = False
        quantizers.doubled(work)
        removals.apply(work)
        products.apply_rules(work)
        convolutions.apply(work)
        common.apply(work)
        folding.apply(work, able)
        products.apply(work)
        reshapes.apply(work)
        normalizations.apply(work)
        if round_ == 0:
            transposes.apply(work)
        if not work.changed:
            return
