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

from .recurrent import LSTM
from .recurrent_kernel import ATTRIBUTES, RecurrentKernel
from .recurrent_steps import CellPlan
from .registry import kernel
from .use import OpUse


@kernel("LSTM", since=(1, 7, 14, 22))
class Lstm(RecurrentKernel):
    """LSTM."""

    attributes = frozenset((*ATTRIBUTES, "input_forget"))
    cell = LSTM

    def plan(self, use: OpUse) -> CellPlan:
        """One dispatch a step; all of B is added with the projection."""
        return CellPlan(
            shader="lstm",
            biased_gates=4,
            step_bias=False,
            passes=(("all", 0, 4),),
            variables={"input_forget": bool(use.attr("input_forget", 0))},
        )
