"""What GRU and LSTM are to the planner; their modules add the equations' particulars."""

from __future__ import annotations

from typing import ClassVar

from ..ir.model import TensorType
from ..providers.support import Support
from . import recurrent, recurrent_steps
from .registry import Kernel
from .steps import TYPES, Cost, StepBuilder
from .use import OpUse

ATTRIBUTES = (
    "activation_alpha",
    "activation_beta",
    "activations",
    "clip",
    "direction",
    "hidden_size",
    "layout",
    "output_sequence",
)


class RecurrentKernel(Kernel):
    """One product for all inputs, then a dispatch per sequence or per step.

    Attributes:
        cell: gates, activations and states.
    """

    types: ClassVar = {"T": TYPES.floats}
    attributes = frozenset(ATTRIBUTES)
    host_inputs = (recurrent.SEQUENCE_LENS,)
    cell: ClassVar[recurrent.Cell]

    def check(self, use: OpUse) -> Support:
        """Refuse attribute values that ONNX does not define."""
        return recurrent.check_attributes(use, self.cell)

    def shapes(self, use: OpUse) -> tuple[TensorType, ...]:
        """Types of Y, Y_h (and Y_c)."""
        return recurrent.output_types(use, self.cell)

    def plan(self, use: OpUse) -> recurrent_steps.CellPlan:
        """What the dispatches need to know of the cell."""
        raise NotImplementedError

    def build(self, use: OpUse, steps: StepBuilder) -> None:
        """Add the projection and the recurrence."""
        recurrent_steps.build(use, steps, recurrent.read(use, self.cell), self.plan(use))

    def cost(self, use: OpUse) -> Cost:
        """Two operations per multiply-add of both products."""
        return recurrent_steps.cost(super().cost(use), recurrent.read(use, self.cell))
