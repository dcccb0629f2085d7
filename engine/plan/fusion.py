"""Activations that the kernel before them applies while it stores: one dispatch less."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..ir.model import Model, Node
from ..ops.registry import Kernel, Registry
from ..ops.steps import Activation
from ..ops.use import OpUse
from .flatten import Frame
from .uses import Uses


@dataclass(frozen=True, slots=True)
class Follower:
    """A node whose work the kernel before it does."""

    node: Node
    activation: Activation


class Fusion:
    """Finds the activation that follows a node."""

    def __init__(self, model: Model, registry: Registry, uses: Uses) -> None:
        self._model = model
        self._registry = registry
        self._uses = uses

    def follower(self, frame: Frame, node: Node, kernel: Kernel, use: OpUse) -> Follower | None:
        """The activation that alone reads output 0, if this kernel can apply it while storing.

        Args:
            frame: where the node is.
            node: the node.
            kernel: its kernel.
            use: its use, with the types of its outputs.
        """
        if not kernel.fuses_activation or not use.wants(0) or any(node.outputs[1:]):
            return None
        reader = self._only_reader(frame, node.outputs[0])
        if reader is None or self._model.function_of(reader) is not None:
            return None
        inputs = [frame.resolve(n) if n else None for n in reader.inputs]
        # An input whose producer comes later in the file's order is not known yet.
        named = zip(reader.inputs, inputs, strict=True)
        if any(n and v is None for n, v in named if n != node.outputs[0]):
            return None
        following = self._uses.use(frame, reader, inputs)
        following = replace(following, inputs=(use.outputs[0], *following.inputs[1:]))
        chosen, _ = self._registry.support(following)
        activation = chosen.activation(following) if chosen is not None else None
        return None if activation is None else Follower(reader, activation)

    @staticmethod
    def _only_reader(frame: Frame, name: str) -> Node | None:
        """The node that has ``name`` as its first input, where nobody else reads it."""
        readers = frame.readers.get(name, ())
        if len(readers) != 1 or any(p.name == name for p in frame.graph.outputs):
            return None
        (reader,) = readers
        # One without it among its inputs captures the value.
        return reader if reader.inputs and reader.inputs[0] == name else None
