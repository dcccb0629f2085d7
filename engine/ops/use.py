"""One use of an operator: all that kernels, providers and checks know of a node."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import NodeError
from ..ir.model import NO_OPERATOR, Graph, NodeId, TensorType, Weight
from ..ir.schema import Schema, newest_opset, schema

_DRAWING = frozenset(
    (
        "RandomNormal",
        "RandomUniform",
        "RandomNormalLike",
        "RandomUniformLike",
        "Bernoulli",
        "Multinomial",
    )
)
_KINDS: Mapping[str, tuple[type, ...]] = {
    "INT": (Integral,),
    "FLOAT": (Real,),
    "STRING": (str, bytes),
    "TENSOR": (Weight,),
    "GRAPH": (Graph,),
}


def _is_of_kind(value: Any, kind: str) -> bool:
    """Whether an attribute's value is of ONNX's ``kind``; types and sparse tensors always are."""
    if kind in _KINDS:
        return isinstance(value, _KINDS[kind])
    each = _KINDS.get(kind.removesuffix("S"))
    if each is None:
        return True
    return isinstance(value, tuple | list) and all(isinstance(v, each) for v in value)


@dataclass(frozen=True)
class OpUse:
    """An operator with its attributes and what is known of its inputs and outputs.

    Attributes:
        since_version: version of the operator's schema (not the model's opset).
        inputs: type of each input, None where it is absent.
        outputs: type of each output as far as known, None where nobody wants it. Kernels compute
            the output types themselves (:meth:`Kernel.shapes`); here they tell which are wanted.
        values: input index -> a function that gives its value, where the value is known before the
            run: an initializer, a folded result, a graph input that was read from the feed.
        opset: the opset version that governs the node, or 0 when unknown.
        complete: ``attributes`` holds all that the node has; not so for an operator of which only
            the name is known, and in a function's body before it is called.
    """

    op_type: str
    domain: str = ""
    since_version: int = 0
    inputs: tuple[TensorType | None, ...] = ()
    outputs: tuple[TensorType | None, ...] = (TensorType("?"),)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[int, Callable[[], np.ndarray]] = field(default_factory=dict)
    node: NodeId | None = None
    name: str = ""
    opset: int = 0
    complete: bool = True

    @property
    def op(self) -> str:
        """``Op``, or ``domain::Op`` outside ONNX's own domain."""
        op = self.op_type or NO_OPERATOR
        return f"{self.domain}::{op}" if self.domain else op

    @property
    def label(self) -> str:
        """What the user calls the node."""
        if self.name or self.node is None:
            return self.name or self.op_type
        return f"{self.op_type or NO_OPERATOR} #{self.node.index}"

    @property
    def draws(self) -> bool:
        """Whether each run draws anew, so that no value of the node is known before it."""
        return not self.domain and self.op_type in _DRAWING

    @property
    def schema(self) -> Schema | None:
        """The operator's schema, if ONNX has one."""
        return schema(self.domain, self.op_type, self.since_version or newest_opset(self.domain))

    def attr(self, name: str, default: Any = None) -> Any:
        """Attribute ``name``, or ``default`` (the ONNX text's default value)."""
        return self.attributes.get(name, default)

    @property
    def missing_attribute(self) -> str:
        """The first attribute that ONNX requires here and the node lacks, or ""."""
        found = self.schema
        required = (n for n, needed in found.attributes.items() if needed) if found else ()
        return min((name for name in required if name not in self.attributes), default="")

    def wrong_attribute(self) -> tuple[str, str] | None:
        """The name of an attribute that is missing or of another kind than ONNX's, and the fault.

        A use that is not complete may lack what it will.
        """
        missing = self.missing_attribute if self.complete else ""
        if missing:
            return missing, f"lacks the attribute {missing!r}, which ONNX requires"
        kinds = self.schema.kinds if self.attributes and self.schema else {}
        for name, value in self.attributes.items():
            kind = kinds.get(name, "")
            if not _is_of_kind(value, kind):
                given = reprlib.repr(value)
                return name, f"has the attribute {name!r} = {given}, which ONNX has as {kind}"
        return None

    @property
    def missing_input(self) -> str:
        """The first input that ONNX requires here and the node lacks, or ""."""
        formal = self.schema.inputs if self.schema else ()
        required = (i for i, p in enumerate(formal) if not p.optional and not p.variadic)
        return next((formal[i].name for i in required if not self.has(i)), "")

    @property
    def surplus_input(self) -> int | None:
        """Index of the first input that is present though ONNX has no parameter for it."""
        most = self.schema.input_counts[1] if self.schema else len(self.inputs)
        return next((i for i in range(most, len(self.inputs)) if self.has(i)), None)

    def has(self, index: int) -> bool:
        """True if input ``index`` is present."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def wants(self, index: int) -> bool:
        """True if output ``index`` is read by anyone."""
        return index < len(self.outputs) and self.outputs[index] is not None

    def input(self, index: int) -> TensorType:
        """The type of input ``index``; NodeError if it is absent."""
        found = self.inputs[index] if index < len(self.inputs) else None
        if found is None:
            raise self.error(f"input {index} is missing")
        return found

    def known_dims(self, index: int) -> tuple[int, ...] | None:
        """The concrete shape of input ``index``; None where absent or not known yet."""
        found = self.inputs[index] if index < len(self.inputs) else None
        return None if found is None else found.known_dims

    def dims(self, index: int) -> tuple[int, ...]:
        """The concrete shape of input ``index``; NodeError if absent or not concrete."""
        known = self.input(index).known_dims
        if known is None:
            raise self.error(f"the shape of input {index} is not known: {self.input(index)}")
        return known

    def value(self, index: int) -> np.ndarray | None:
        """The value of input ``index`` where it is known before the run, else None."""
        read = self.values.get(index)
        return None if read is None else read()

    def error(self, reason: str) -> NodeError:
        """A NodeError about this node, to be raised by the caller."""
        return NodeError(self.node, self.label, self.op, reason)
