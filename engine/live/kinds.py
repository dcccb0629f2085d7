"""What ORT does to nodes of which kind when it drops them, moves them, or takes them in."""

from __future__ import annotations

from ..ir.model import Node

# They only pass on or lay out values anew: where they are gone, nothing computes them any more.
MOVERS = frozenset(
    (
        "Identity",
        "Dropout",
        "Cast",
        "CastLike",
        "Transpose",
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
    )
)
IDLE = frozenset(("Identity", "Dropout"))
MAY_BE_IDLE = MOVERS | {"Slice", "Expand", "Concat", "Tile", "Pad", "Sum"}
QUANTIZERS = frozenset(("QuantizeLinear", "DequantizeLinear"))  # ORT adds some of its own
NEUTRAL = frozenset(("Add", "Sub", "Mul", "Div"))  # ORT drops them where they add 0, multiply by 1
TAKES_LAYOUTS = ("Gemm", "MatMul", "Attention")  # a Transpose becomes their attribute
TAKES_CONSTANTS = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul", "FusedConv"))


def is_idle(node: Node, survivor: Node) -> bool:
    """Whether ``node`` needs no work now that ``survivor`` gives its output."""
    if node.op_type in MAY_BE_IDLE and node.op_type != survivor.op_type:
        return True
    return node.op_type in NEUTRAL and survivor.op_type not in TAKES_CONSTANTS
