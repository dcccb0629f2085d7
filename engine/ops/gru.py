"""GRU 1, 3, 7, 14, 22 (ONNX), in f32 arithmetic whatever the storage.

Gates z (update), r (reset), h (hidden), defaults f = Sigmoid, g = Tanh::

    zt = f(Xt Wz' + Ht-1 Rz' + Wbz + Rbz)
    rt = f(Xt Wr' + Ht-1 Rr' + Wbr + Rbr)
    ht = g(Xt Wh' + (rt * Ht-1) Rh' + Rbh + Wbh)       linear_before_reset = 0
    ht = g(Xt Wh' + rt * (Ht-1 Rh' + Rbh) + Wbh)       linear_before_reset != 0
    Ht = (1 - zt) * ht + zt * Ht-1

Version 1 has no linear_before_reset (it is 0). ``output_sequence`` of versions 1 and 3 only allows
Y to be left out. Refused: f64 and bfloat16, and attribute values that ONNX does not define.
"""

from __future__ import annotations

from .recurrent import GRU
from .recurrent_kernel import ATTRIBUTES, RecurrentKernel
from .recurrent_steps import CellPlan
from .registry import kernel
from .use import OpUse


@kernel("GRU", since=(1, 3, 7, 14, 22))
class Gru(RecurrentKernel):
    """GRU."""

    attributes = frozenset((*ATTRIBUTES, "linear_before_reset"))
    cell = GRU

    def plan(self, use: OpUse) -> CellPlan:
        """One dispatch a step where the reset gate comes after the product, else two."""
        after = use.attr("linear_before_reset", 0) != 0
        return CellPlan(
            shader="gru",
            # Rb of the hidden gate is scaled by the reset gate when that comes after the product.
            biased_gates=2 if after else 3,
            step_bias=after,
            passes=(("all", 0, 3),) if after else (("gates", 0, 2), ("candidate", 2, 1)),
            variables={"linear_before_reset": after},
        )
