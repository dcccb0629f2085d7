"""What ONNX Runtime does to a graph on its way to a session, matched to the user's nodes.

ORT does not place the graph in the file. It rewrites it first, places what is left, rewrites that
again, and only then makes kernels. In its order, with who repeats each part here::

    the file
       |   function calls are put in place, under new names          ../placement, ../ort_graph
       v
    level 1, over and over until nothing changes (10 rounds)         level_one
       |   Constants become initializers                             folding
       |   two pairs of quantizers in a row become one               quantizers
       |   what changes nothing is dropped                           removals
       |   MatMul, Gemm, Conv take their neighbours over             products, convolutions
       |   equal nodes become one                                    common
       |   what depends on no input is computed; an If with a        folding, branches
       |     constant condition gives way to the branch it takes
       |   Reshapes in a row; LayerNormalization, Gelu spelt out     reshapes, normalizations
       |   Transposes move until they cancel (first round alone)     transposes
       v
    placing: each node that is left is looked up, by the steps of    ../ort_steps, ../ort_host
       |     one provider after the other; the CPU takes the rest
       |   with NHWC: Transposes around what computes                transposes (wrap)
       |     channels-last, moved until they cancel; then ORT
       |     asks the provider again
       |   with NCHW: what only shuffles host values goes to         ../ort_graph
       |     the CPU
       v
    level 2, within one provider: Conv and its activation,           activations, normalizations
       |     MatMul and Transpose, QuickGelu, LayerNormalization
       |
    Casts around what the CPU has in float32 alone; what they        casts
       |     undo is dropped
       v
    kernels: no match anywhere ends the session                      ../ort_failures

``Work`` (``graph``) is the graph while this happens: ``values`` has types and small constants,
``edges`` who makes and who reads what, and the order in which ORT visits the nodes. A rule edits it
as ORT's does. A user's node that goes leaves a verdict (folded, or fused into another node); what
is left is looked up, and ``../ort_graph`` brings every verdict back to the user's nodes. What ORT
makes anew stands under the id of the user's node whose output it gives, without that node's name:
ORT gives it one of its own, which is why forceCpuNodeNames does not find it.

Where ORT moves nodes in a way that is not repeated here the verdict is unknown (``../quantizers``).
Fusions of level 2 that are not repeated (SkipLayerNormalization, BiasGelu, FastGelu, Attention,
EmbedLayerNormalization) join nodes of one provider: their verdicts hold all the same.
"""

from __future__ import annotations

from . import (
    casts,
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
    "casts",
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
