"""What is known of the values of a graph: types, and constants as far as they are small."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...errors import OpscopeError
from ...host.evaluate import evaluate
from ...ir.model import Graph, TensorType
from .left import Left

SMALL = 1_024
"""Constants of at most so many elements are computed, to see what depends on them."""
UNKNOWN = TensorType("?")

Value = Callable[[], np.ndarray | None]


class Values:
    """Types and constants by name.

    Attributes:
        changed: whether anything was done or learnt since this was last set to False.
    """

    def __init__(self, graph: Graph, outer: Mapping[str, Value] | None = None) -> None:
        self._constants: dict[str, Value] = {n: w.numpy for n, w in graph.initializers.items()}
        self._outer = _seen_from(graph, outer or {})
        self._types: dict[str, TensorType] = {n: w.type for n, w in graph.initializers.items()}
        self.changed = False

    def type(self, name: str) -> TensorType:
        """The type of a value."""
        return self._types.get(name, UNKNOWN)

    def set_type(self, name: str, kind: TensorType) -> None:
        """The type of a value of ORT's own making."""
        self._types[name] = kind

    def learn(self, names: Sequence[str], kinds: Sequence[TensorType | None]) -> None:
        """The types of values, as far as none was known."""
        for name, kind in zip(names, kinds, strict=False):
            if name and kind is not None:
                self._types.setdefault(name, kind)

    def set_constant(self, name: str, value: Value) -> None:
        """``name`` is an initializer from now on."""
        self._constants[name] = value

    def dims(self, name: str) -> tuple[int, ...] | None:
        """The shape of a value where ORT knows every dimension."""
        return self.type(name).known_dims

    def rank(self, name: str) -> int | None:
        """The rank of a value, where known."""
        shape = self.type(name).shape
        return None if shape is None else len(shape)

    def is_constant(self, name: str) -> bool:
        """Whether a value is an initializer by now."""
        return name in self._constants or name in self._outer

    def constant(self, name: str) -> np.ndarray | None:
        """The value of a small constant; None where it is none, large, or cannot be computed."""
        read = self._constants.get(name) or self._outer.get(name)
        if read is None:
            return None
        dims = self.dims(name)
        if dims is not None and math.prod(dims) > SMALL:
            return None
        try:
            return read()
        except OpscopeError:
            return None  # a weight that cannot be read: whoever runs the model is told

    def scalar(self, name: str) -> float | None:
        """The value of a constant of one element."""
        value = self.constant(name)
        if value is None or value.size != 1 or value.dtype.kind not in "fiub":
            return None
        return float(value.reshape(-1)[0])

    def add_constant(
        self, name: str, kind: TensorType, values: Sequence[int] | None = None
    ) -> None:
        """An initializer of ORT's own making; without ``values`` nobody here needs them."""
        array = None if values is None else np.array(values, np.int64)
        self.set_constant(name, lambda: array)
        self._types[name] = kind

    def constants(self) -> Mapping[str, Value]:
        """Every constant by now, for the graphs inside."""
        # A copy for each of many branches would take as long as the whole model, each time.
        return ChainMap(self._constants, self._outer) if self._outer else self._constants  # type: ignore[arg-type]

    def _computed(self, left: Left, index: int) -> Value:
        """The value of a folded output, computed when somebody asks, if it is small."""
        names = left.inputs
        shape = self.dims(left.input(0)) if left.op == "Shape" else None
        if shape is not None:
            taken = np.array(shape[left.attr("start", 0) : left.attr("end")], np.int64)
            return lambda: taken

        def read() -> np.ndarray | None:
            dims = self.dims(left.outputs[index])
            if dims is not None and math.prod(dims) > SMALL:
                return None
            arrays = [self.constant(n) if n else None for n in names]
            if any(a is None for a, n in zip(arrays, names, strict=True) if n):
                return None
            try:
                value = evaluate(left.use, arrays)[index]
            except OpscopeError:
                return None  # then nothing depends on it that could be known here
            return value if isinstance(value, np.ndarray) else None

        cache: list[np.ndarray | None] = []

        def once() -> np.ndarray | None:
            if not cache:
                cache.append(read())
            return cache[0]

        return once


def _seen_from(graph: Graph, outer: Mapping[str, Value]) -> Mapping[str, Value]:
    """``outer`` without what values of the graph's own hide by having the same name."""
    own = (*(port.name for port in graph.inputs), *graph.producers)
    hidden = {name for name in own if name in outer}
    return {n: v for n, v in outer.items() if n not in hidden} if hidden else outer


def says_more(found: TensorType, known: TensorType) -> bool:
    """Whether ``found`` says more than ``known``."""
    if known.dtype == "?" or known.shape is None:
        return found.dtype != "?" and (found.shape is not None or known.dtype == "?")
    if found.shape is None or len(found.shape) != len(known.shape):
        return False
    return sum(isinstance(d, int) for d in found.shape) > sum(
        isinstance(d, int) for d in known.shape
    )
