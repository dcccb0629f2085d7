"""A node of the graph while ONNX Runtime rewrites it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...ir.model import Node, NodeId
from ...ops.use import OpUse


@dataclass(frozen=True)
class Left:
    """A node that is still there, with the inputs and outputs that it has by now.

    Attributes:
        key: ORT's number for it.
        use: what it is; its operator may be another than the user's.
        reads: outer values that its subgraphs take.
        parts: the user's nodes whose work it does beside its own.
        sound: whether it has the inputs, outputs and kinds of attributes that its operator needs;
            no rule looks at one that has not.
    """

    key: int
    node: Node
    use: OpUse
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    reads: tuple[str, ...] = ()
    parts: tuple[NodeId, ...] = ()
    sound: bool = True

    @cached_property
    def id(self) -> NodeId:
        """The id of the user's node."""
        return self.node.id

    @cached_property
    def op(self) -> str:
        """The operator by now, ``Op`` or ``domain::Op``; "" where the node is not sound."""
        return self.use.op if self.sound else ""

    def but(self, **changes: Any) -> Left:
        """The same with other values for some attributes.

        As ``dataclasses.replace``, which takes several times as long; a large model has a hundred
        thousand such edits.
        """
        made = object.__new__(Left)
        made.__dict__.update(self.__dict__)
        if "use" in changes or "sound" in changes:
            made.__dict__.pop("op", None)
        made.__dict__.update(changes)
        return made

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, or ``default``."""
        return self.use.attr(name, default)

    def input(self, index: int) -> str:
        """The name of input ``index``; "" where absent."""
        return self.inputs[index] if index < len(self.inputs) else ""


def left_of(
    key: int,
    node: Node,
    use: OpUse,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    reads: tuple[str, ...],
) -> Left:
    """The node, and whether it is sound."""
    sound = bool(node.outputs) and not use.missing_input and use.wrong_attribute() is None
    return Left(key, node, use, inputs, outputs, reads, sound=sound)
