"""What is known of each value while planning: its type, its contents, where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..host.evaluate import evaluate
from ..host.scope import Scope
from ..ir.dtypes import dtype_of
from ..ir.model import TensorType, Weight
from ..ops.steps import Tensor
from ..ops.use import OpUse
from .types import ValueId

KNOWN_LIMIT_BYTES = 256 << 20  # a folded result over this stays an operator


@dataclass(frozen=True)
class Origin:
    """The node that produces a value, and from what."""

    use: OpUse
    inputs: tuple[ValueId | None, ...]
    outputs: tuple[ValueId | None, ...]
    captured: Mapping[str, ValueId] = field(default_factory=dict)


class Values:
    """The planner's table of values."""

    def __init__(self, feeds: Mapping[str, np.ndarray], scope: Scope) -> None:
        self._feeds = feeds
        self._scope = scope
        self._weights: dict[ValueId, Weight] = {}
        self._known: dict[ValueId, np.ndarray] = {}
        self.origins: dict[ValueId, Origin] = {}
        self.types: dict[ValueId, TensorType] = {}
        self.tensors: dict[ValueId, Tensor] = {}
        self.host_keyed: dict[str, None] = {}
        self.inputs: dict[ValueId, str] = {}

    def add_input(self, value: ValueId, kind: TensorType) -> None:
        """A graph input, whose contents are read only on demand."""
        self.inputs[value] = value[1]
        self.types[value] = kind

    def add_weight(self, value: ValueId, weight: Weight) -> None:
        """An initializer; its file is read when someone needs the contents."""
        self._weights[value] = weight
        self.types[value] = weight.type

    def add_known(self, value: ValueId, array: np.ndarray) -> None:
        """A folded result."""
        self._known[value] = array
        self.types[value] = array_type(array)

    def is_known(self, value: ValueId) -> bool:
        """True if the contents are fixed before the run."""
        return value in self._known or value in self._weights

    def reader(self, value: ValueId) -> Callable[[], np.ndarray]:
        """A function that gives the contents of a known value."""
        return lambda: self.known(value)

    def known(self, value: ValueId) -> np.ndarray:
        """The contents of a known value."""
        if value not in self._known:
            self._known[value] = self._weights[value].numpy()
        return self._known[value]

    def snapshot(self) -> dict[ValueId, np.ndarray]:
        """Every known value whose contents were read or computed."""
        return dict(self._known)

    def demand(self, value: ValueId) -> np.ndarray:
        """Make the contents known now, computing on the host from the feed where it must.

        The graph inputs that were read are noted in ``host_keyed``: their contents shape the plan.
        """
        stack = [value]
        while stack:
            top = stack[-1]
            if self.is_known(top):
                stack.pop()
            elif top in self.inputs:
                name = self.inputs[top]
                self.host_keyed[name] = None
                self.add_known(top, np.asarray(self._feeds[name]))
                stack.pop()
            else:
                origin = self.origins[top]
                needs = [v for v in (*origin.inputs, *origin.captured.values()) if v is not None]
                missing = [v for v in needs if not self.is_known(v)]
                if missing:
                    stack += missing
                else:
                    self.compute(origin)
                    stack.pop()
        return self.known(value)

    def evaluate(
        self,
        use: OpUse,
        arrays: Sequence[np.ndarray | None],
        captured: Mapping[str, np.ndarray] | None = None,
    ) -> list[np.ndarray | None]:
        """The outputs of one operator, computed on the host."""
        return evaluate(use, arrays, self._scope.with_values(captured or {}))

    def compute(self, origin: Origin) -> None:
        """Evaluate a node whose inputs are all known; its outputs become known."""
        arrays = [None if v is None else self.known(v) for v in origin.inputs]
        captured = {name: self.known(v) for name, v in origin.captured.items()}
        results = self.evaluate(origin.use, arrays, captured)
        for output, result in zip(origin.outputs, results, strict=False):
            if output is not None and result is not None:
                self.add_known(output, result)


def array_type(array: np.ndarray | list[object] | None) -> TensorType:
    """The type of a value that the host computed (a sequence is a list)."""
    if isinstance(array, np.ndarray) or np.isscalar(array):
        array = np.asarray(array)
        return TensorType(dtype_of(array), array.shape)
    return TensorType("?", None, kind="sequence" if isinstance(array, list) else "optional")


def known_among(values: Values, inputs: Sequence[ValueId | None]) -> bool:
    """True if every present input is known."""
    return all(values.is_known(v) for v in inputs if v is not None)
