"""What the planner knows of a node: its inputs as values, and its use of an operator."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.model import Node, TensorType
from ..ops.use import OpUse
from .flatten import Frame
from .types import ValueId
from .values import Values

_UNKNOWN = TensorType("?")


class Uses:
    """Makes the use of each node from the table of values."""

    def __init__(self, values: Values) -> None:
        self._values = values

    def inputs(self, frame: Frame, node: Node) -> tuple[ValueId | None, ...]:
        """The value of each input, None where it is absent.

        Raises:
            NodeError: nothing defines an input.
        """
        return tuple(self._input(frame, node, name) for name in node.inputs)

    def _input(self, frame: Frame, node: Node, name: str) -> ValueId | None:
        if not name or frame.is_absent(name):
            return None
        value = frame.resolve(name)
        if value is None:
            raise self.use(frame, node).error(f"its input {name!r} is not defined by anything")
        return value

    def use(self, frame: Frame, node: Node, inputs: Sequence[ValueId | None] = ()) -> OpUse:
        """The node's use of its operator, with what is known of ``inputs`` so far."""
        values = self._values
        known = {
            i: values.reader(v)
            for i, v in enumerate(inputs)
            if v is not None and values.is_known(v)
        }
        return OpUse(
            op_type=node.op_type,
            domain=node.domain,
            since_version=frame.since_version(node),
            inputs=tuple(None if v is None else values.types.get(v, _UNKNOWN) for v in inputs),
            outputs=tuple(_UNKNOWN if n and n in frame.wanted else None for n in node.outputs),
            attributes=frame.bound_attributes(node),
            values=known,
            node=frame.node_id(node),
            name=node.name,
            opset=frame.imports.get(node.domain, 0),
        )
