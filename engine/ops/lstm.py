"""LSTM 1, 7, 14, 22 (ONNX), in f32 arithmetic whatever the storage.

Gates i (input), o (output), f (forget), c (cell), defaults f = Sigmoid, g = h = Tanh::

    it = f(Xt Wi' + Ht-1 Ri' + Pi * Ct-1 + Wbi + Rbi)
    ft = f(Xt Wf' + Ht-1 Rf' + Pf * Ct-1 + Wbf + Rbf)      or 1 - it with input_forget
    ct = g(Xt Wc' + Ht-1 Rc' + Wbc + Rbc)
    Ct = ft * Ct-1 + it * ct
    ot = f(Xt Wo' + Ht-1 Ro' + Po * Ct + Wbo + Rbo)
    Ht = ot * h(Ct)

``output_sequence`` of version 1 only allows Y to be left out. Refused: f64 and bfloat16, and
attribute values that ONNX does not define.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import Support
from . import recurrent, recurrent_steps
from .registry import Kernel, kernel
from .steps import TYPES, Cost, StepBuilder
from .use import OpUse


@kernel("LSTM", since=(1, 7, 14, 22))
class Lstm(Kernel):
    """LSTM: one product for all inputs, then a dispatch per sequence or per step."""

    types: ClassVar = {"T": TYPES.floats}
    attributes = frozenset(
        (
            "activation_alpha",
            "activation_beta",
            "activations",
            "clip",
            "direction",
            "hidden_size",
            "input_forget",
            "layout",
            "output_sequence",
        )
    )
    host_inputs = (recurrent.SEQUENCE_LENS,)

    def check(self, use: OpUse) -> Support:
        """Refuse attribute values that ONNX does not define."""
        return recurrent.check_attributes(use, recurrent.LSTM)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Types of Y, Y_h and Y_c."""
        return recurrent.output_types(use, recurrent.LSTM)

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """Add the projection and the recurrence."""
        node = recurrent.read(use, recurrent.LSTM)
        plan = recurrent_steps.CellPlan(
            shader="lstm",
            biased_gates=4,
            step_bias=False,
            passes=(("all", 0, 4),),
            variables={"input_forget": bool(use.attr("input_forget", 0))},
        )
        recurrent_steps.build(use, steps, node, plan)

    def cost(self, use: OpUse) -> Cost:
        """Two operations per multiply-add of both products."""
        return recurrent_steps.cost(super().cost(use), recurrent.read(use, recurrent.LSTM))
