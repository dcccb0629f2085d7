"""Changes to a model file, as data: what a fix asks for and :mod:`.edit_apply` carries out.

Values and nodes are named as :class:`~.model.Model` names them, before the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np

from .model import GraphPath, NodeId, Shape, ValueId

Scalar = int | str


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node to add, of ONNX's own domain."""

    op_type: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    name: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class Edits:
    """A set of changes that are made together.

    Attributes:
        opsets: the version of ONNX's own operators, by ``()`` for the model or a function's path.
        attributes: node -> attribute -> its new value; None takes the attribute away.
        inputs, outputs: node -> position -> the name to read or write there.
        before, after: nodes to add before or after a node.
        removed: nodes to take out.
        weights: initializers to add, or whose values to replace.
        dropped: initializers to take out, sparse ones too.
        dtypes: element types to declare, where the file declares one.
        shapes: shapes to declare, where the file declares a type.
    """

    opsets: Mapping[GraphPath, int] = field(default_factory=dict)
    attributes: Mapping[NodeId, Mapping[str, Scalar | None]] = field(default_factory=dict)
    inputs: Mapping[NodeId, Mapping[int, str]] = field(default_factory=dict)
    outputs: Mapping[NodeId, Mapping[int, str]] = field(default_factory=dict)
    before: Mapping[NodeId, tuple[NewNode, ...]] = field(default_factory=dict)
    after: Mapping[NodeId, tuple[NewNode, ...]] = field(default_factory=dict)
    removed: frozenset[NodeId] = frozenset()
    weights: Mapping[ValueId, np.ndarray] = field(default_factory=dict)
    dropped: frozenset[ValueId] = frozenset()
    dtypes: Mapping[ValueId, str] = field(default_factory=dict)
    shapes: Mapping[ValueId, Shape] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """True if there is anything to change."""
        return any(getattr(self, part.name) for part in fields(self))
