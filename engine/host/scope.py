"""What an operator can see beyond its inputs: outer values, functions, opsets, bound attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..ir.model import Function
from ..ops.use import OpUse
from .work import Work

MAX_DEPTH = 64  # nested calls and branches; deeper is taken for a function that calls itself


@dataclass(frozen=True, slots=True)
class Scope:
    """The surroundings of an operator.

    Attributes:
        functions: (domain, name, overload) -> model-local function.
        opset_imports: domain -> version, for the nodes of subgraphs.
        values: outer values that a subgraph may capture, by name.
        attributes: what a function's attribute references stand for; None outside functions.
        depth: how many calls and branches deep this is.
        work: what loops may spend; None in a run, which has no such limit.
    """

    functions: Mapping[tuple[str, str, str], Function] = field(default_factory=dict)
    opset_imports: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] | None = None
    depth: int = 0
    work: Work | None = None

    def with_values(self, values: Mapping[str, Any]) -> Scope:
        """A copy in which subgraphs capture from ``values``."""
        return replace(self, values=values)

    def inside(self, function: Function, attributes: Mapping[str, Any]) -> Scope:
        """The scope of a function's body: its own opsets, no outer values."""
        return replace(
            self,
            opset_imports={**self.opset_imports, **function.opset_imports},
            values={},
            attributes=attributes,
        )

    def trip(self, use: OpUse) -> None:
        """Count one run of a body of ``use``; WorkError where a plan may spend no more."""
        if self.work is not None:
            self.work.trip(use)

    def deeper(self, use: OpUse) -> Scope:
        """A copy one level down; NodeError past :data:`MAX_DEPTH`."""
        if self.depth >= MAX_DEPTH:
            raise use.error(f"calls and subgraphs nest over {MAX_DEPTH} deep")
        return replace(self, depth=self.depth + 1)
