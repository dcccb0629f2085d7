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

from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import Support
from . import recurrent, recurrent_steps
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder
from .use import OpUse


@kernel("GRU", since=(1, 3, 7, 14, 22))
class Gru(Kernel):
    """GRU: one product for all inputs, then a dispatch per sequence or per step."""

    types: ClassVar = {"T": TYPES.floats}
    attributes = frozenset(
        (
            "activation_alpha",
            "activation_beta",
            "activations",
            "clip",
            "direction",
            "hidden_size",
            "layout",
            "linear_before_reset",
            "output_sequence",
        )
    )
    host_inputs = (recurrent.SEQUENCE_LENS,)

    def check(self, use: OpUse) -> Support:
        """Refuse attribute values that ONNX does not define."""
        return recurrent.check_attributes(use, recurrent.GRU)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Types of Y and Y_h."""
        return recurrent.output_types(use, recurrent.GRU)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """Add the projection and the recurrence."""
        node = recurrent.read(use, recurrent.GRU)
        after = use.attr("linear_before_reset", 0) != 0
        plan = recurrent_steps.CellPlan(
            shader="gru",
            # Rb of the hidden gate is scaled by the reset gate when that comes after the product.
            biased_gates=2 if after else 3,
            step_bias=after,
            passes=(("all", 0, 3),) if after else (("gates", 0, 2), ("candidate", 2, 1)),
            variables={"linear_before_reset": after},
        )
        recurrent_steps.build(use, steps, node, plan)

    def cost(self, use: OpUse) -> Cost:
        """Two operations per multiply-add of both products."""
        return recurrent_steps.cost(super().cost(use), recurrent.read(use, recurrent.GRU))
